package kit

import (
	"strings"

	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

// Align is the alignment of a column's text.
type Align int

// The alignments.
const (
	Left Align = iota
	Right
)

// Column is one column of a table. Widths are cells, without the gap between columns.
type Column struct {
	Title string
	Min   int   // the width it needs
	Max   int   // the width it never exceeds; 0: no bound
	Grow  int   // its share of spare width; 0: it stays at Min
	Hide  int   // when the columns do not fit, the largest Hide goes first; 0: it always stays
	Align Align // amounts align right; Short or Exact put the point in line
}

// Cell is the text of one column in one row, in up to two segments. A Span cell takes the whole width of the row; cells
// after it are ignored.
type Cell struct {
	Text      string
	Style     theme.Style
	Tail      string
	TailStyle theme.Style
	Span      bool
}

// Text is a cell in the terminal's own colour.
func Text(s string) Cell { return Cell{Text: s} }

// Styled is a cell in one style.
func Styled(s string, st theme.Style) Cell { return Cell{Text: s, Style: st} }

// Table shows a window on N rows that a function writes on demand, so the number of rows costs nothing. One row is
// selected. The zero value has no columns; use NewTable.
type Table struct {
	cols   []Column
	widths []int // per column for the width last laid out; -1: hidden
	laidW  int
	n      int
	sel    int
	top    int
	height int // rows that fit, without the title line
	titles bool
	buf    []Cell
}

const tableGap = 2

// NewTable makes a table with a title line when any column has a title.
func NewTable(cols ...Column) *Table {
	t := &Table{cols: cols, buf: make([]Cell, 0, len(cols)), height: 1}
	for _, c := range cols {
		t.titles = t.titles || c.Title != ""
	}
	return t
}

// Need sets the width that column i needs.
func (t *Table) Need(i, w int) {
	if t.cols[i].Min != w {
		t.cols[i].Min, t.widths = w, nil
	}
}

// Resize sets the height of the table in lines, its title line included.
func (t *Table) Resize(h int) {
	if t.titles {
		h--
	}
	t.height = max(1, h)
	t.clamp()
}

// SetRows sets the number of rows and keeps the selection as close as it can.
func (t *Table) SetRows(n int) { t.n = max(0, n); t.clamp() }

// Rows is the number of rows.
func (t *Table) Rows() int { return t.n }

// Selected is the index of the selected row, -1 without rows.
func (t *Table) Selected() int {
	if t.n == 0 {
		return -1
	}
	return t.sel
}

// Chosen is the item of a table's selected row; false without one.
func Chosen[T any](t *Table, items []T) (item T, ok bool) {
	if i := t.Selected(); i >= 0 && i < len(items) {
		return items[i], true
	}
	return item, false
}

// Select selects a row and scrolls it into view.
func (t *Table) Select(i int) { t.sel = i; t.clamp() }

// Window is the first visible row and the one after the last.
func (t *Table) Window() (from, to int) { return t.top, min(t.n, t.top+t.height) }

func (t *Table) clamp() {
	t.sel = max(0, min(t.sel, t.n-1))
	if t.sel < t.top {
		t.top = t.sel
	}
	if t.sel >= t.top+t.height {
		t.top = t.sel - t.height + 1
	}
	t.top = max(0, min(t.top, t.n-t.height))
}

// Press handles the keys that move in a table: j k arrows, pgup pgdown, ctrl+u ctrl+d, g G, home end. It reports
// whether the key was one.
func (t *Table) Press(key string) bool {
	switch key {
	case "j", "down":
		t.Select(t.sel + 1)
	case "k", "up":
		t.Select(t.sel - 1)
	case "pgdown", "ctrl+f":
		t.page(t.height)
	case "pgup", "ctrl+b":
		t.page(-t.height)
	case "ctrl+d":
		t.page(t.height / 2)
	case "ctrl+u":
		t.page(-t.height / 2)
	case "g", "home":
		t.Select(0)
	case "G", "end":
		t.Select(t.n - 1)
	default:
		return false
	}
	return true
}

// Click selects the row on line y of the table's own view, its title line included, and reports whether there is one.
func (t *Table) Click(y int) bool {
	if t.titles {
		y--
	}
	if y < 0 || y >= t.height || t.top+y >= t.n {
		return false
	}
	t.Select(t.top + y)
	return true
}

func (t *Table) page(d int) {
	t.top += d
	t.sel += d
	t.clamp()
}

// MoveKeys are the keys of Press for the help.
func MoveKeys() []Key {
	return []Key{
		{Press: []string{"up", "k"}, Label: "up", Quiet: true},
		{Press: []string{"down", "j"}, Label: "down", Quiet: true},
		{Press: []string{"pgup", "ctrl+u"}, Label: "page up", Quiet: true},
		{Press: []string{"pgdown", "ctrl+d"}, Label: "page down", Quiet: true},
		{Press: []string{"g", "home"}, Label: "first line", Quiet: true},
		{Press: []string{"G", "end"}, Label: "last line", Quiet: true},
	}
}

// layout computes the column widths for w cells. Hide decides which columns go first, Grow how spare width is shared.
func (t *Table) layout(w int) {
	if w == t.laidW && t.widths != nil {
		return
	}
	t.laidW = w
	t.widths = make([]int, len(t.cols))
	for i, c := range t.cols {
		t.widths[i] = c.Min
	}
	for t.needed() > w {
		worst := -1
		for i, c := range t.cols {
			if t.widths[i] >= 0 && c.Hide > 0 && (worst < 0 || c.Hide >= t.cols[worst].Hide) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		t.widths[worst] = -1
	}
	t.spread(w - t.needed())
}

// needed is the width of the shown columns with the two cells of the selection mark.
func (t *Table) needed() int {
	n := 0
	for _, w := range t.widths {
		if w >= 0 {
			n += w + tableGap
		}
	}
	return n
}

func (t *Table) spread(spare int) {
	for spare > 0 {
		weight := 0
		for i, c := range t.cols {
			if t.growable(i) {
				weight += c.Grow
			}
		}
		if weight == 0 {
			return
		}
		left := spare
		for i, c := range t.cols {
			if !t.growable(i) {
				continue
			}
			add := max(1, spare*c.Grow/weight)
			if c.Max > 0 {
				add = min(add, c.Max-t.widths[i])
			}
			add = min(add, left)
			t.widths[i] += add
			left -= add
		}
		spare = left
	}
}

func (t *Table) growable(i int) bool {
	c := t.cols[i]
	return t.widths[i] >= 0 && c.Grow > 0 && (c.Max == 0 || t.widths[i] < c.Max)
}

// Shows reports whether column i has room at width w.
func (t *Table) Shows(i, w int) bool { t.layout(w); return t.widths[i] >= 0 }

// WidthOf is the width of column i at width w, 0 when it is hidden.
func (t *Table) WidthOf(i, w int) int { t.layout(w); return max(0, t.widths[i]) }

// View draws the title line and the visible rows, each exactly w cells wide, and blank lines up to the height of
// Resize. row appends the cells of row i to its argument and returns it.
func (t *Table) View(th theme.Theme, w int, row func(i int, cells []Cell) []Cell) string {
	t.layout(w)
	var b strings.Builder
	b.Grow((t.height + 1) * (w + 64))
	if t.titles {
		t.writeTitles(&b, th, w)
	}
	var line strings.Builder
	for k := range t.height {
		if k > 0 || t.titles {
			b.WriteByte('\n')
		}
		i := t.top + k
		if i >= t.n {
			Spaces(&b, w)
			continue
		}
		t.buf = row(i, t.buf[:0])
		if i != t.sel {
			t.writeRow(&b, th, w, false)
			continue
		}
		line.Reset()
		t.writeRow(&line, th, w, true)
		b.WriteString(th.Selected.Over(line.String()))
	}
	return b.String()
}

func (t *Table) writeTitles(b *strings.Builder, th theme.Theme, w int) {
	t.buf = t.buf[:0]
	for _, c := range t.cols {
		t.buf = append(t.buf, Cell{Text: c.Title, Style: th.Dim})
	}
	t.writeRow(b, th, w, false)
}

func (t *Table) writeRow(b *strings.Builder, th theme.Theme, w int, selected bool) {
	if w < tableGap {
		Spaces(b, w)
		return
	}
	if selected {
		th.Accent.Write(b, th.Signs.Cursor)
		b.WriteByte(' ')
	} else {
		Spaces(b, tableGap)
	}
	used := tableGap
	for i, c := range t.buf {
		if selected {
			c.Style, c.TailStyle = undimmed(th, c.Style), undimmed(th, c.TailStyle)
		}
		if c.Span {
			writeCell(b, th, c, w-used, Left)
			return
		}
		if i >= len(t.widths) || t.widths[i] < 0 {
			continue
		}
		if used > tableGap {
			n := min(tableGap, w-used)
			Spaces(b, n)
			used += n
		}
		cw := min(t.widths[i], w-used)
		writeCell(b, th, c, cw, t.cols[i].Align)
		used += cw
	}
	Spaces(b, w-used)
}

// undimmed is the style of a segment in the selected row, where nothing is secondary.
func undimmed(th theme.Theme, s theme.Style) theme.Style {
	if s == th.Dim {
		return th.Text
	}
	return s
}

// writeCell writes both segments of a cell into exactly w cells; when they do not fit, the cut is marked.
func writeCell(b *strings.Builder, th theme.Theme, c Cell, w int, align Align) {
	if w <= 0 {
		return
	}
	n, m := present.Width(c.Text), present.Width(c.Tail)
	if n+m > w {
		if n >= w {
			c.Text, c.Tail = Cut(c.Text+cutMark(n, m), w, th.Signs.More), ""
		} else {
			c.Tail = Cut(c.Tail, w-n, th.Signs.More)
		}
		n, m = present.Width(c.Text), present.Width(c.Tail)
	}
	if align == Right {
		Spaces(b, w-n-m)
	}
	c.Style.Write(b, c.Text)
	c.TailStyle.Write(b, c.Tail)
	if align == Left {
		Spaces(b, w-n-m)
	}
}

// cutMark makes a text that fits by itself one cell too long when its tail is lost, so that the loss shows.
func cutMark(n, tail int) string {
	if tail > 0 && n > 0 {
		return " "
	}
	return ""
}

// SelectAt selects row i and scrolls it to the given line of the window, as far as there are rows.
func (t *Table) SelectAt(i, line int) {
	t.sel, t.top = i, i-line
	t.clamp()
}
