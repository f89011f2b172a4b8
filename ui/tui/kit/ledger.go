package kit

import (
	"slices"
	"strings"

	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

// Entry is one line of a Ledger: a label, the figure with its unit, its value and a remark.
type Entry struct {
	Label      string
	Lead       Span // before the figure's column, such as an arrow
	Figure     Figure
	FigureLook theme.Style
	Unit       string
	Aside      string
	AsideLook  theme.Style
	Note       []Span
}

// Ledger aligns figures on their decimal points: label, figure, unit, value, remark. A line that does not fit into w
// cells takes several lines instead; nothing is cut.
func Ledger(th theme.Theme, w, indent, labelW int, entries []Entry) []string {
	return slices.Concat(LedgerRows(th, w, indent, labelW, entries)...)
}

// LedgerRows is Ledger with the lines of each entry apart.
func LedgerRows(th theme.Theme, w, indent, labelW int, entries []Entry) [][]string {
	c := columns{indent: indent, label: labelW}
	for _, e := range entries {
		if c.with(e).total() <= w {
			c = c.with(e)
		}
	}
	var out [][]string
	for _, e := range entries {
		if c.with(e) == c {
			out = append(out, c.line(th, w, e))
			continue
		}
		spans := append([]Span{}, e.Lead)
		spans = append(spans, e.Figure.Spans(th, e.FigureLook)...)
		spans = append(spans, Plain(" "+e.Unit+"  "), e.AsideLook.Span(e.Aside), Plain("  "))
		out = append(out, Row(th, w, indent, labelW, e.Label, append(spans, e.Note...)...))
	}
	return out
}

// columns are the shared widths of a ledger's lines.
type columns struct{ indent, label, lead, whole, frac, unit, aside int }

func parts(f Figure) (whole, frac int) {
	s := f.String()
	if i := strings.IndexByte(s, '.'); i >= 0 {
		return i, present.Width(s) - i
	}
	return present.Width(s), 0
}

func (c columns) with(e Entry) columns {
	whole, frac := parts(e.Figure)
	c.label, c.lead = max(c.label, present.Width(e.Label)+1), max(c.lead, present.Width(e.Lead.Text))
	c.whole, c.frac = max(c.whole, whole), max(c.frac, frac)
	c.unit, c.aside = max(c.unit, present.Width(e.Unit)), max(c.aside, present.Width(e.Aside))
	return c
}

func (c columns) total() int {
	return c.indent + c.label + c.lead + c.whole + c.frac + 1 + c.unit + 2 + c.aside
}

func (c columns) line(th theme.Theme, w int, e Entry) []string {
	whole, frac := parts(e.Figure)
	var b strings.Builder
	Spaces(&b, c.indent)
	th.Dim.Write(&b, Fit(e.Label, c.label))
	e.Lead.Style.Write(&b, e.Lead.Text)
	Spaces(&b, c.lead-present.Width(e.Lead.Text)+c.whole-whole)
	b.WriteString(e.FigureLook.Render(e.Figure.Main) + th.Dim.Render(e.Figure.Zeros))
	if c.unit+c.aside == 0 {
		return withNote(b.String(), w, c.indent+c.label, e.Note)
	}
	Spaces(&b, c.frac-frac+1)
	b.WriteString(Fit(e.Unit, c.unit))
	if e.Aside == "" && len(e.Note) == 0 {
		return []string{strings.TrimRight(b.String(), " ")}
	}
	b.WriteString("  ")
	e.AsideLook.Write(&b, FitRight(e.Aside, c.aside))
	return withNote(b.String(), w, c.indent+c.label, e.Note)
}

// withNote puts a remark behind a line when there is room, else below it.
func withNote(line string, w, indent int, note []Span) []string {
	n := 0
	for _, s := range note {
		n += present.Width(s.Text)
	}
	if n == 0 {
		return []string{line}
	}
	if present.Width(line)+2+n > w {
		return append([]string{line}, Prose(w, indent, note...)...)
	}
	for i, s := range note {
		if i == 0 {
			line += "  "
		}
		line += s.Style.Render(s.Text)
	}
	return []string{line}
}
