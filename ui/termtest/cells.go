package termtest

import "image/color"

// Cell is one cell of the screen. Text is "" in the second cell of a wide character; nil colours are the terminal's
// own.
type Cell struct {
	Text                       string
	Fg, Bg                     color.Color
	Bold, Faint, Reverse, Line bool
}

const (
	attrBold = 1 << iota
	attrFaint
	_ // italic
	_ // slow blink
	_ // rapid blink
	attrReverse
)

// Cells returns the screen, one slice for each line.
func (t *Terminal) Cells() [][]Cell {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([][]Cell, t.emu.Height())
	for y := range out {
		out[y] = make([]Cell, t.emu.Width())
		for x := range out[y] {
			c := t.emu.CellAt(x, y)
			if c == nil {
				continue
			}
			out[y][x] = Cell{
				Text: c.Content, Fg: c.Style.Fg, Bg: c.Style.Bg, Bold: c.Style.Attrs&attrBold != 0,
				Faint: c.Style.Attrs&attrFaint != 0, Reverse: c.Style.Attrs&attrReverse != 0,
				Line: c.Style.Underline != 0,
			}
		}
	}
	return out
}
