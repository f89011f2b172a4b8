package kit

import (
	"strings"

	"github.com/charmbracelet/colorprofile"

	"coffer/ui/tui/theme"
)

// Room is the size in cells of the code with a quiet zone of quiet modules around it, as Lines draws it.
func (q QR) Room(th theme.Theme, quiet int) (w, h int) {
	n := q.size + 2*quiet
	if th.ASCII {
		return 2 * n, n
	}
	return n, (n + 1) / 2
}

// Lines draws the code, dark on light whatever the theme: two modules per cell as half blocks, or two cells per module
// where only ASCII can be drawn. With colours it sets both colours. Without, it draws light modules in the terminal's
// own colour on a dark background and dark ones on a light background.
func (q QR) Lines(th theme.Theme, quiet int) []string {
	if th.ASCII {
		return q.asciiLines(th, quiet)
	}
	ink := q.ink(th)
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
func (q QR) asciiLines(th theme.Theme, quiet int) []string {
	ink := q.ink(th)
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

// qrInk is the look of the drawn modules, and which ones are drawn: the dark or the light ones.
type qrInk struct {
	dark        bool
	open, close string
	solid       string // opens a cell that is filled whatever its content
}

// ink is black on white wherever there are colours: a camera reads the code, so the theme does not matter.
func (q QR) ink(th theme.Theme) qrInk {
	switch {
	case th.Profile >= colorprofile.ANSI256:
		return qrInk{dark: true, open: "\x1b[38;5;16;48;5;231m", solid: "\x1b[38;5;16;48;5;16m", close: "\x1b[m"}
	case th.Profile == colorprofile.ANSI:
		return qrInk{dark: true, open: "\x1b[30;107m", solid: "\x1b[30;40m", close: "\x1b[m"}
	}
	return qrInk{dark: !th.Dark}
}
