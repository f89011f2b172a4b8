package wire

import (
	"fmt"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/api/client/httplog"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

func grouped(n int) string { return amount.Group(strconv.Itoa(n)) }

// View draws the body.
func (m *Model) View(f screen.Frame) string {
	if m.w != f.W || m.h != f.H {
		m.resize(f.W, f.H)
	}
	th := f.Theme
	switch {
	case m.deps.Log == nil:
		return kit.Notice(th, theme.None, f.W, f.H, "This program keeps no exchanges.", "Press esc to go back.")
	case m.detail != nil:
		return m.detail.view(th, f.W, f.H)
	case len(m.all) == 0:
		return kit.Notice(th, theme.None, f.W, f.H, "Nothing went over the wire yet.",
			"Every request of this program and its answer will be listed here, without keys and signatures.")
	case len(m.shown) == 0:
		return kit.Lines(m.titleLine(th, f.W), kit.Notice(th, theme.None, f.W, f.H-1, "No exchange matches the filter.",
			"Press / to change it or esc to clear it."))
	}
	list := m.table.View(th, f.W, func(i int, c []kit.Cell) []kit.Cell { return cells(th, m.all[m.shown[i]], c) })
	return kit.Box(kit.Lines(m.titleLine(th, f.W), list, m.stateLine(th, f.W)), f.W, f.H)
}

func (m *Model) titleLine(th theme.Theme, w int) string {
	right := th.Dim.Render("keys and signatures are left out ")
	switch {
	case m.filter.Focused():
		right = th.Dim.Render(kit.FilterPrefix) + m.filter.Text(th, min(24, w/3))
	case m.filter.Value() != "":
		right = th.Accent.Render(kit.FilterPrefix+present.Clean(m.filter.Value(), 24)) + " "
	}
	return kit.Sides("  "+th.Strong.Render("Wire")+"  "+th.Dim.Render("newest last"), right, w)
}

func (m *Model) stateLine(th theme.Theme, w int) string {
	left := present.Plural(len(m.all), "exchange", "exchanges")
	if len(m.shown) != len(m.all) {
		left = grouped(len(m.shown)) + " of " + left + " match"
	}
	right := th.Dim.Render("following ")
	if !m.follow {
		right = th.Accent.Render("G") + th.Dim.Render(" follows the newest again ")
	}
	return kit.Sides("  "+th.Dim.Render(left), right, w)
}

func cells(th theme.Theme, e httplog.Exchange, c []kit.Cell) []kit.Cell {
	look := lookOf(e)
	ms, size := "", ""
	if e.Done {
		ms = grouped(int(e.Took.Milliseconds()))
		if e.Status > 0 {
			size = grouped(e.ResponseSize)
		}
	}
	path := kit.Cell{Text: present.Clean(e.Path, 200), TailStyle: th.Dim}
	if e.Query != "" {
		path.Tail = "?" + present.Clean(e.Query, 300)
	}
	return append(c, kit.Styled(e.At.Format("15:04:05.000"), th.Dim), kit.Text(present.Clean(e.Method, 6)), path,
		kit.Styled(sign(th, e, look)+" "+statusText(e), th.Style(look)), kit.Text(ms), kit.Styled(size, th.Dim))
}

// lookOf is the meaning of a status.
func lookOf(e httplog.Exchange) theme.Meaning {
	switch {
	case !e.Done:
		return theme.None
	case e.Err != "", e.Status >= 500:
		return theme.Danger
	case e.Status >= 300:
		return theme.Warn
	}
	return theme.Good
}

func sign(th theme.Theme, e httplog.Exchange, look theme.Meaning) string {
	if !e.Done {
		return th.Signs.More
	}
	return th.Sign(look)
}

func statusText(e httplog.Exchange) string {
	switch {
	case !e.Done:
		return "waits"
	case e.Status == 0:
		return "failed"
	case e.Err != "":
		return fmt.Sprint(e.Status, " cut")
	}
	return strconv.Itoa(e.Status)
}

// view draws a detail: title, tree, and the selected value in full.
func (d *detail) view(th theme.Theme, w, h int) string {
	if d.w != w || d.h != h {
		d.resize(w, h)
	}
	e := d.e
	look := lookOf(e)
	left := "  " + th.Strong.Render(present.Clean(e.Method+" "+e.Path, max(8, w-34))) + "  " +
		th.Style(look).Render(sign(th, e, look)+" "+statusText(e))
	right := th.Dim.Render(e.At.Format("15:04:05.000") + " ")
	if e.Done {
		right = th.Dim.Render(grouped(int(e.Took.Milliseconds()))+" ms at ") + right
	}
	tree := d.table.View(th, w, func(i int, c []kit.Cell) []kit.Cell { return append(c, d.cell(th, w, d.rows[i])) })
	return kit.Box(kit.Lines(kit.Sides(left, right, w), tree, th.Rule.Render(kit.Rule(th.Signs.Rule, w)),
		d.value(th, w)), w, h)
}

// cell is one line of the tree.
func (d *detail) cell(th theme.Theme, w int, l line) kit.Cell {
	n := l.n
	var lead strings.Builder
	kit.Spaces(&lead, 2*l.depth)
	switch {
	case n.container() && n.open:
		lead.WriteString(th.Signs.Open + " ")
	case n.container():
		lead.WriteString(th.Signs.Closed + " ")
	default:
		lead.WriteString("  ")
	}
	name := present.Clean(n.name, w)
	if n.parent.kind == '[' {
		name = strconv.Itoa(n.index)
	}
	c := kit.Cell{Text: lead.String() + name, Style: th.Accent, Span: true}
	switch {
	case n.parent == d.root:
		c.Style, c.Tail, c.TailStyle = th.Strong, "  "+present.Clean(n.text, 300), th.Dim
	case n.kind == noteKind:
		c.Tail, c.TailStyle = n.text, th.Warn
	case n.kind == '{':
		c.Tail, c.TailStyle = brief(name, "{", "}", len(n.kids), "member", "members"), th.Dim
	case n.kind == '[':
		c.Tail, c.TailStyle = brief(name, "[", "]", len(n.kids), "element", "elements"), th.Dim
	default:
		c.Tail = between(name) + present.Clean(n.text, w)
	}
	return c
}

// brief is the text behind the name of an object or an array.
func brief(name, open, end string, n int, one, many string) string {
	if n == 0 {
		return between(name) + open + end
	}
	return between(name) + open + " " + present.Plural(n, one, many) + " " + end
}

func between(name string) string {
	if name == "" {
		return ""
	}
	return "  "
}

// value shows the place of the selection, and its value over at most three lines.
func (d *detail) value(th theme.Theme, w int) string {
	n := d.selected()
	if n == nil {
		return ""
	}
	right := ""
	switch {
	case d.find.Focused():
		right = th.Dim.Render(kit.FilterPrefix) + d.find.Text(th, min(24, w/3))
	case d.find.Value() != "" && d.hits == 0:
		right = th.Warn.Render(th.Signs.Warn+" nothing matches "+present.Clean(d.find.Value(), 20)) + " "
	case d.find.Value() != "":
		right = th.Accent.Render(kit.FilterPrefix+present.Clean(d.find.Value(), 20)) +
			th.Dim.Render("  "+kit.Count(d.hit, d.hits)) + " "
	}
	if !n.isDocument() {
		return kit.Lines(kit.Sides("", right, w))
	}
	out := []string{kit.Sides("  "+th.Dim.Render(present.Clean(n.place(), w)), right, w)}
	if n.container() {
		return kit.Lines(out...)
	}
	const lines = valueLines - 2
	room := lines * (w - 4)
	full := present.Clean(n.text, len(n.text))
	rest := 0
	if r := []rune(full); len(r) > room-24 {
		rest = len(r) - (room - 24)
		full = string(r[:room-24])
	}
	spans := []kit.Span{kit.Plain(full)}
	if rest > 0 {
		spans = append(spans, th.Dim.Span(" "+th.Signs.More+grouped(rest)+" more, v copies"))
	}
	return kit.Lines(append(out, kit.Prose(w-2, 2, spans...)...)...)
}
