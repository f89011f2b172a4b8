package kit

import (
	"strings"

	"coffer/ui/present"

	"github.com/charmbracelet/x/ansi"
)

// Overlay draws the lines of top over the body at column x and line y, both from 0. Lines below or beyond the body are
// not drawn.
func Overlay(body, top string, x, y int) string {
	lines := strings.Split(body, "\n")
	for i, over := range strings.Split(top, "\n") {
		at := y + i
		if at < 0 || at >= len(lines) {
			continue
		}
		lines[at] = lay(lines[at], over, x)
	}
	return strings.Join(lines, "\n")
}

func lay(line, over string, x int) string {
	w, ow := present.Width(line), present.Width(over)
	if x < 0 || x >= w {
		return line
	}
	if x+ow > w {
		over = Cut(over, w-x, "")
		ow = present.Width(over)
	}
	left := Fit(ansi.Truncate(line, x, ""), x)
	room := w - x - ow
	right := ansi.TruncateLeft(line, x+ow, "")
	if present.Width(right) > room { // the cut splits a wide character, which TruncateLeft keeps
		right = ansi.TruncateLeft(line, x+ow+1, "")
	}
	return left + over + strings.Repeat(" ", max(0, room-present.Width(right))) + right
}

// CursorMark marks the place of the terminal's cursor in a view. It takes no cell, and cleaned text cannot contain it.
// The shell removes it and places the cursor there.
const CursorMark = "\x1b[7770z"

// TakeCursor removes the mark from a view and returns its column and line, from 0; ok is false without a mark.
func TakeCursor(view string) (clean string, x, y int, ok bool) {
	before, _, ok := strings.Cut(view, CursorMark)
	if !ok {
		return view, 0, 0, false
	}
	y = strings.Count(before, "\n")
	x = present.Width(before[strings.LastIndexByte(before, '\n')+1:])
	return strings.ReplaceAll(view, CursorMark, ""), x, y, true
}
