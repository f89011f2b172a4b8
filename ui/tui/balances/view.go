package balances

import (
	"fmt"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/network"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

const shownDecimals = 6

// View draws the body.
func (m *Model) View(f screen.Frame) string {
	if m.w != f.W || m.h != f.H {
		m.resize(f.W, f.H)
	}
	th := f.Theme
	var body string
	switch {
	case m.data == nil && m.err != nil:
		body = m.failedView(f)
	case m.data == nil:
		body = kit.Notice(th, theme.None, f.W, f.H, "Reading balances for the first time.",
			"Asking "+m.serviceName()+" since "+m.since.Format("15:04:05")+".")
	case len(m.rows) == 0:
		body = kit.Lines(m.stateLine(f), kit.Notice(th, theme.None, f.W, f.H-1, m.emptyWords()...))
	default:
		cells := func(i int, c []kit.Cell) []kit.Cell { return m.cells(th, f.W, i, c) }
		body = kit.Lines(m.stateLine(f), m.table.View(th, f.W, cells), m.noteLine(f))
	}
	switch {
	case m.receive:
		body = m.receiveView(th, body, f.W, f.H)
	case m.inspect:
		body = m.inspectView(th, body, f.W, f.H)
	}
	return kit.Box(body, f.W, f.H)
}

func (m *Model) serviceName() string {
	if m.ctx.Network.Kind == network.Embedded {
		return "the service inside this program"
	}
	return kit.Clean(m.ctx.BaseURL, 120)
}

func (m *Model) failedView(f screen.Frame) string {
	again := "Tries again at " + m.retryAt.Format("15:04:05") + ", or press ctrl+r."
	if m.loading {
		again = "Trying again now."
	}
	return kit.Notice(f.Theme, theme.Warn, f.W, f.H, "Balances could not be read: "+screen.Words(m.err)+".", again,
		"Nothing was changed. Accounts and unfinished operations stay available.")
}

func (m *Model) emptyWords() []string {
	if m.filter.Value() != "" {
		return []string{"Nothing matches the filter.", "Press / to change it or esc to clear it."}
	}
	return []string{"This account holds nothing yet.", "Press r for the address to send to."}
}

// stateLine says what is listed on the left and how it stands on the right.
func (m *Model) stateLine(f screen.Frame) string {
	th := f.Theme
	left := "  " + th.Strong.Render([]string{"By asset", "By chain"}[m.view])
	if len(m.rows) > 0 {
		left += th.Dim.Render("  " + m.counted() + ", " + []string{"largest first", "smallest first", "by name"}[m.order])
	}
	right := ""
	switch {
	case m.filter.Focused():
		right = th.Dim.Render(kit.FilterPrefix) + m.filter.Text(th, min(24, f.W/3))
	case m.filter.Value() != "":
		right = th.Accent.Render(kit.FilterPrefix + kit.Clean(m.filter.Value(), 24))
	case m.hidden:
		right = th.Dim.Render("amounts hidden")
	}
	return kit.Sides(left, right+" ", f.W)
}

// noteLine is the last line: what is wrong with the data, else the warning of the selected line.
func (m *Model) noteLine(f screen.Frame) string {
	th := f.Theme
	r, _ := m.current()
	switch {
	case m.err != nil:
		next := "tries again at " + m.retryAt.Format("15:04:05")
		if m.loading {
			next = "trying again now"
		}
		return kit.Sides("  "+th.Mark(theme.Warn)+" "+th.Warn.Render("read "+kit.Age(f.Now, m.at)+": "+screen.Words(m.err)), th.Dim.Render(next+" "), f.W)
	case r.warn != "" && !m.hidden:
		return "  " + th.Mark(theme.Warn) + " " + th.Warn.Render(r.warn)
	case m.data.differs() && !m.hidden:
		return "  " + th.Mark(theme.Warn) + " " + th.Warn.Render("the service says the total is "+kit.USD(m.data.says)+"; its assets add up to "+kit.USD(m.data.total))
	}
	return ""
}

func (m *Model) cells(th theme.Theme, w, i int, c []kit.Cell) []kit.Cell {
	r := m.rows[i]
	switch r.kind {
	case noteRow:
		return append(c, kit.Cell{Text: kit.Plural(m.zeros, "zero balance is", "zero balances are") + " not shown: press z", Style: th.Dim, Span: true})
	case headRow:
		sign := th.Signs.Closed
		if m.open[r.key] {
			sign = th.Signs.Open
		}
		return append(c, kit.Text(sign+" no price"), kit.Styled(kit.Plural(r.parts, "asset", "assets"), th.Dim), kit.Cell{}, kit.Cell{}, kit.Cell{},
			kit.Styled(kit.UnknownText, th.Unknown))
	}
	title, name := kit.Text("    "+r.title), kit.Styled(r.name, th.Dim)
	if r.kind == groupRow {
		title = m.groupTitle(th, r)
		if m.view == byChain {
			name = kit.Styled(kit.Plural(r.parts, "asset", "assets"), th.Dim)
		}
	} else {
		title.Style = th.Dim
	}
	return append(c, title, name, m.amountCell(th, r), m.shareCell(th, r, m.table.WidthOf(3, w)), m.percentCell(th, r), m.valueCell(th, r))
}

func (m *Model) groupTitle(th theme.Theme, r row) kit.Cell {
	sign := th.Signs.Closed
	if m.open[r.key] {
		sign = th.Signs.Open
	}
	if r.parts == 0 {
		sign = " "
	}
	c := kit.Cell{Text: sign + " " + r.title}
	if r.deep {
		c.Text = "  " + c.Text
	}
	if r.warn != "" {
		c.Tail, c.TailStyle = " "+th.Signs.Warn, th.Warn
	}
	return c
}

func (m *Model) amountCell(th theme.Theme, r row) kit.Cell {
	switch {
	case !r.figure:
		return kit.Cell{}
	case m.hidden:
		return kit.Styled(kit.Masked(th)+strings.Repeat(" ", shownDecimals-2), th.Dim)
	case r.amount == nil:
		return kit.Styled(kit.Short(nil, 0, shownDecimals, "").Main, th.Unknown)
	}
	return kit.Short(r.amount, r.decimals, shownDecimals, th.Signs.More).Cell(th)
}

func (m *Model) shareCell(th theme.Theme, r row, w int) kit.Cell {
	if r.kind != groupRow || m.hidden || r.micro == nil || r.micro.Sign() == 0 {
		return kit.Cell{}
	}
	return kit.BarCell(th, r.micro, m.largest, w)
}

func (m *Model) percentCell(th theme.Theme, r row) kit.Cell {
	if r.micro == nil || r.micro.Sign() == 0 || m.hidden || r.kind != groupRow {
		return kit.Cell{}
	}
	return kit.Styled(kit.Percent(r.micro, m.largest), th.Dim)
}

func (m *Model) valueCell(th theme.Theme, r row) kit.Cell {
	switch {
	case m.hidden:
		return kit.Styled(kit.Masked(th), th.Dim)
	case r.micro == nil:
		return kit.Styled(kit.UnknownText, th.Unknown)
	case r.kind == partRow:
		return kit.Styled(kit.USD(r.micro), th.Dim)
	case r.partial:
		return kit.Cell{Text: kit.USD(r.micro), Tail: " + " + kit.UnknownText, TailStyle: th.Unknown}
	}
	return kit.Text(kit.USD(r.micro))
}

// receiveView shows the whole address, and what must not be sent to it.
func (m *Model) receiveView(th theme.Theme, body string, w, h int) string {
	const inner = 55
	if len(m.ctx.Accounts) == 0 {
		return body
	}
	a := m.ctx.Accounts[0]
	lines := []string{
		kit.Sides(th.Strong.Render("Receive"), th.Dim.Render(kit.Clean(a.Type, 30)), inner), "",
		th.Strong.Render(kit.Address(a.AccountAddress)), "",
	}
	for _, s := range m.receiveWords(a) {
		lines = append(lines, kit.Wrap(s, inner-2)...)
	}
	lines = append(lines, "", th.Accent.Render("y")+th.Dim.Render(" copy address   ")+th.Accent.Render("esc")+th.Dim.Render(" close"))
	return kit.Dialog(th, body, lines, inner+4, w, h)
}

func (m *Model) receiveWords(a api.Account) []string {
	where := "A Solana address."
	if a.IsEVM() {
		names := make([]string, 0, 8)
		for _, c := range m.ctx.Catalog.Chains() {
			names = append(names, c.Name)
		}
		where = "The same address on " + strings.Join(names, ", ") + "."
	}
	switch m.ctx.Network.Kind {
	case network.Embedded:
		return []string{where, "", "! These chains live inside this program. Real coins sent to this address are lost."}
	case network.Lab:
		return []string{where, "", "! These are test chains of a lab. Real coins sent to this address are lost."}
	}
	return []string{where, "", "Compare the whole address before you send to it."}
}

// inspectView shows the selected line in base units with its ids.
func (m *Model) inspectView(th theme.Theme, body string, w, h int) string {
	r, ok := m.current()
	if !ok {
		return body
	}
	panel := min(w-4, 92)
	inner := panel - 4
	lines := []string{kit.Sides(th.Strong.Render(strings.TrimSpace(r.title+"  "+r.name)), th.Dim.Render(kit.USD(r.micro)), inner), ""}
	if m.hidden {
		lines[0] = kit.Sides(th.Strong.Render(strings.TrimSpace(r.title+"  "+r.name)), kit.Masked(th), inner)
	} else if r.figure {
		exact, base := kit.Exact(r.amount, r.decimals), kit.UnknownText
		if r.amount != nil {
			base = amount.Group(r.amount.String())
		}
		lines = append(lines, kit.Row(th, inner, 0, 12, "exact", exact.Spans(th, th.Text)...)...)
		lines = append(lines, kit.Row(th, inner, 0, 12, "base units", kit.Plain(base))...)
		lines = append(lines, kit.Row(th, inner, 0, 12, "decimals", kit.Plain(decimalsText(r.decimals)))...)
		lines = append(lines, "")
	}
	for i, id := range r.ids {
		label := ""
		if i == 0 {
			label = "id"
		}
		for k, part := range kit.Wrap(id, inner-12) {
			if k > 0 {
				label = ""
			}
			lines = append(lines, th.Dim.Render(kit.Fit(label, 12))+part)
		}
	}
	room := min(len(lines)-1, max(2, h-5))
	m.facts.Resize(room)
	m.facts.Keep(lines[1:])
	shown := append(lines[:1:1], strings.Split(m.facts.View(inner), "\n")...)
	if more := m.facts.More(th); more != "" {
		shown = append(shown, th.Dim.Render(more))
	}
	return kit.Dialog(th, body, shown, panel, w, h)
}

func decimalsText(d int) string {
	if d < 0 {
		return kit.UnknownText + " (this program does not know the asset)"
	}
	return fmt.Sprint(d)
}
