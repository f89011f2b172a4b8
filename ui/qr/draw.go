package qr

import (
	"strings"

	"github.com/charmbracelet/colorprofile"
)

// Look is what is known of a terminal. Dark says that its background is dark, ASCII that it draws nothing else.
type Look struct {
	Dark, ASCII bool
	Profile     colorprofile.Profile
}

// Room is the size in cells of the code with a quiet zone of quiet modules around it, as Lines draws it.
func (q Code) Room(l Look, quiet int) (w, h int) {
	n := q.size + 2*quiet
	if l.ASCII {
		return 2 * n, n
	}
	return n, (n + 1) / 2
}

// Lines draws the code, dark on light whatever the theme: two modules per cell as half blocks, or two cells per module
// where only ASCII can be drawn. With colours it sets both colours. Without, it draws light modules in the terminal's
// own colour on a dark background and dark ones on a light background.
func (q Code) Lines(l Look, quiet int) []string {
	if l.ASCII {
		return q.asciiLines(l, quiet)
	}
	ink := l.ink()
	n := q.size + 2*quiet
	var out []string
	for y := 0; y < n; y += 2 {
		var b strings.Builder
		for x := range n {
			top := q.Dark(x-quiet, y-quiet) == ink.dark
			low := q.Dark(x-quiet, y+1-quiet) == ink.dark
			switch {
			case top && low:
				b.WriteString("█")
			case top:
				b.WriteString("▀")
			case low:
				b.WriteString("▄")
			default:
				b.WriteByte(' ')
			}
		}
		out = append(out, ink.open+b.String()+ink.close)
	}
	return out
}

// asciiLines colours both kinds of modules where there are colours: # alone does not fill its cell.
func (q Code) asciiLines(l Look, quiet int) []string {
	ink := l.ink()
	n := q.size + 2*quiet
	out := make([]string, 0, n)
	for y := range n {
		var b strings.Builder
		drawn, begun := false, false
		for x := range n {
			on := q.Dark(x-quiet, y-quiet) == ink.dark
			if on != drawn || !begun {
				if begun {
					b.WriteString(ink.close)
				}
				drawn, begun = on, true
				if on {
					b.WriteString(ink.solid)
				} else {
					b.WriteString(ink.open)
				}
			}
			if on {
				b.WriteString("##")
			} else {
				b.WriteString("  ")
			}
		}
		out = append(out, b.String()+ink.close)
	}
	return out
}

// ink is the look of the drawn modules, and which ones are drawn: the dark or the light ones.
type ink struct {
	dark        bool
	open, close string
	solid       string // opens a cell that is filled whatever its content
}

// ink is black on white wherever there are colours: a camera reads the code, so the theme does not matter.
func (l Look) ink() ink {
	switch {
	case l.Profile >= colorprofile.ANSI256:
		return ink{dark: true, open: "\x1b[38;5;16;48;5;231m", solid: "\x1b[38;5;16;48;5;16m", close: "\x1b[m"}
	case l.Profile == colorprofile.ANSI:
		return ink{dark: true, open: "\x1b[30;107m", solid: "\x1b[30;40m", close: "\x1b[m"}
	}
	return ink{dark: !l.Dark}
}
