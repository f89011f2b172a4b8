// Package kit holds the widgets that the screens share: table, fields, dropdown, scroll area, key line, overlay, and
// the formats of amounts, addresses, ages and countdowns.
//
// Promise: widgets are plain structs with imperative methods; they do no input or output, start no timer and never
// animate. Every view fits its width, counted in terminal cells. Strings of a service pass through present.Clean before
// they get here. Amounts are base units with decimals, never floats; an unknown amount is "?" and never zero. Style
// comes from package theme only.
package kit

import (
	"strings"

	"coffer/ui/present"

	"github.com/charmbracelet/x/ansi"
)

// Cut shortens s to at most w cells and ends it with more when something was cut.
func Cut(s string, w int, more string) string {
	if w <= 0 {
		return ""
	}
	if present.Width(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, more)
}

// Fit makes s exactly w cells wide: cut with an ellipsis, or padded with spaces on the right.
func Fit(s string, w int) string {
	var b strings.Builder
	writeFit(&b, s, w, false, "…")
	return b.String()
}

// FitRight is Fit with the spaces on the left.
func FitRight(s string, w int) string {
	var b strings.Builder
	writeFit(&b, s, w, true, "…")
	return b.String()
}

func writeFit(b *strings.Builder, s string, w int, right bool, more string) {
	n := present.Width(s)
	if n > w {
		s = Cut(s, w, more)
		n = present.Width(s)
	}
	if right {
		Spaces(b, w-n)
	}
	b.WriteString(s)
	if !right {
		Spaces(b, w-n)
	}
}

// Spaces appends n spaces; nothing for n ≤ 0.
func Spaces(b *strings.Builder, n int) {
	const blank = "                                                                "
	for n > len(blank) {
		b.WriteString(blank)
		n -= len(blank)
	}
	if n > 0 {
		b.WriteString(blank[:n])
	}
}

// Sides puts left at the left edge and right at the right edge of a line of w cells; left gives way when there is no
// room for both.
func Sides(left, right string, w int) string {
	rw := present.Width(right)
	if rw >= w {
		return Fit(right, w)
	}
	if rw == 0 {
		return Fit(left, w)
	}
	return Fit(left, w-rw-1) + " " + right
}

// Box makes a body of exactly h lines of exactly w cells: it cuts or pads lines and adds blank ones.
func Box(body string, w, h int) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	var b strings.Builder
	b.Grow(len(body) + w)
	for i := range h {
		line, rest, _ := strings.Cut(body, "\n")
		body = rest
		if i > 0 {
			b.WriteByte('\n')
		}
		writeFit(&b, line, w, false, "…")
	}
	return b.String()
}

// Lines joins lines into a body.
func Lines(lines ...string) string { return strings.Join(lines, "\n") }

// Wrap breaks plain text into lines of at most w cells, at spaces where it can.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	return strings.Split(ansi.Wrap(s, w, ""), "\n")
}

// Rule is a horizontal line of w cells made of a one-cell sign.
func Rule(sign string, w int) string { return strings.Repeat(sign, max(0, w)) }
