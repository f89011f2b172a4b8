package kit

import (
	"strings"

	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

// Cells from which a screen has two and three columns beside each other.
const (
	TwoPanes   = 120
	ThreePanes = 160
)

// paneGap is the width of the rule between two panes, with a blank at each side.
const paneGap = 3

// Pane is one column of Beside: W cells wide, a title line, and a body for the lines below it.
type Pane struct {
	W     int
	Title string // plain
	Note  string // behind the title, styled
	State string // at the right end of the title line, styled
	Head  string // in the place of the title line, styled
	Body  string
}

// PaneWidths divides w cells among as many of the panes as fit, by their shares, and leaves out the rules between them:
// one pane below TwoPanes cells, two below ThreePanes, else three.
func PaneWidths(w int, shares ...int) []int {
	fit := 1
	switch {
	case w >= ThreePanes:
		fit = 3
	case w >= TwoPanes:
		fit = 2
	}
	shares = shares[:min(fit, len(shares))]
	left, all := w-paneGap*(len(shares)-1), 0
	for _, s := range shares {
		all += s
	}
	out := make([]int, len(shares))
	for i, s := range shares {
		out[i] = left * s / all
		left, all = left-out[i], all-s
	}
	return out
}

// PaneAt is the pane at cell x of a screen with panes of these widths, and the cell in it; a rule belongs to the pane
// on its left.
func PaneAt(widths []int, x int) (pane, at int) {
	for i, w := range widths {
		if x < w+paneGap || i == len(widths)-1 {
			return i, x
		}
		x -= w + paneGap
	}
	return 0, x
}

// Beside draws panes beside each other in h lines, each under its title, with a rule between two of them as far down
// as one of the two has something: on blank lines a rule would be most of what is written. Only the title of the pane
// that has the keyboard is bold, and a mark is before it unless it is the first pane.
func Beside(th theme.Theme, h int, focus Focus, panes ...Pane) string {
	rule := " " + th.Rule.Render(th.Signs.Divider) + " "
	var b strings.Builder
	last := make([]int, len(panes)) // the last line with something in each
	for i, p := range panes {
		if body := strings.TrimRight(p.Body, " \n"); body != "" {
			last[i] = 1 + strings.Count(body, "\n")
		}
	}
	for y := range h {
		if y > 0 {
			b.WriteByte('\n')
		}
		for i := range panes {
			p := &panes[i]
			if i > 0 && y <= max(last[i-1], last[i]) {
				b.WriteString(rule)
			} else if i > 0 {
				b.WriteString(strings.Repeat(" ", paneGap))
			}
			if y == 0 {
				b.WriteString(p.head(th, Focus(i) == focus, i > 0))
				continue
			}
			line, rest, _ := strings.Cut(p.Body, "\n")
			p.Body = rest
			writeFit(&b, line, p.W, false, th.Signs.More)
		}
	}
	return b.String()
}

func (p *Pane) head(th theme.Theme, focused, mark bool) string {
	if p.Head != "" {
		return Fit(p.Head, p.W)
	}
	title := " " + th.Dim.Render(p.Title)
	if focused {
		title = " " + th.Strong.Render(p.Title)
	}
	if focused && mark {
		title = th.Accent.Render(th.Signs.Cursor) + th.Strong.Render(p.Title)
	}
	if p.Note != "" {
		title += "  " + p.Note
	}
	if present.Width(p.State) > 0 {
		return Sides(title, p.State+" ", p.W)
	}
	return Fit(title, p.W)
}

// Focus is the pane that has the keyboard, counted from 0.
type Focus int

// Press moves the keyboard among n panes: tab to the next one, shift+tab to the one before, esc to the first. It
// reports whether the key did so; with one pane none does.
func (f *Focus) Press(key string, n int) bool {
	was := f.In(n)
	switch {
	case n < 2:
		return false
	case key == "tab":
		*f = (was + 1) % Focus(n)
	case key == "shift+tab":
		*f = (was + Focus(n) - 1) % Focus(n)
	case key == "esc" && was > 0:
		*f = 0
	default:
		return false
	}
	return true
}

// In is the pane that has the keyboard when n of them fit.
func (f Focus) In(n int) Focus { return max(0, min(f, Focus(n-1))) }
