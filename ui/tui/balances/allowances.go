package balances

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// allowances is the page of what contracts were allowed to take. read is called from commands; nil: there is no
// journal.
type allowances struct {
	read  func() []present.Allowance
	open  bool
	known bool
	list  []present.Allowance
	table *kit.Table
	text  kit.Scroll
	focus kit.Focus
}

// Allowances sets the source of the page of allowances: those of the journal (present.Allowances).
func Allowances(read func() []present.Allowance) Option {
	return func(m *Model) { m.allowed.read = read }
}

// allowedMsg brings the allowances.
type allowedMsg struct{ list []present.Allowance }

// openAllowances opens the page and reads the journal.
func (m *Model) openAllowances() tea.Cmd {
	a := &m.allowed
	if a.read == nil {
		return screen.Toast(theme.Warn, noJournal)
	}
	a.open, a.text, a.focus = true, kit.Scroll{}, 0
	if a.table == nil {
		a.table = kit.NewTable(kit.Column{Min: 16, Grow: 1}, kit.Column{Min: 13},
			kit.Column{Min: 12, Hide: 1}, kit.Column{Min: 18, Align: kit.Right})
	}
	read := a.read
	return func() tea.Msg { return allowedMsg{read()} }
}

const noJournal = "this program keeps no journal of what was allowed"

// take takes over what was read, and keeps the selection on its line.
func (a *allowances) take(list []present.Allowance) {
	a.list, a.known = list, true
	if a.table != nil {
		a.table.SetRows(len(list))
	}
}

func (a *allowances) selected() (present.Allowance, bool) { return kit.Chosen(a.table, a.list) }

// allowanceKeys lists the keys of the page.
func (m *Model) allowanceKeys() []kit.Key {
	x, ok := m.allowed.selected()
	off := "no allowance is selected"
	if ok {
		_, off = m.revocation(x)
	}
	keys := []kit.Key{
		kit.NewKey("revoke", "enter").Explain("prepare an operation that sets it to 0; nothing is signed yet").Named(
			"revoke").OffWhen(off != "", off),
		kit.NewKey("copy spender", "y").Named("copy").OffWhen(!ok, "no allowance is selected"),
		kit.NewKey("read again now", "ctrl+r").Hidden(),
	}
	keys = m.ctx.Naming(keys, x.Spender)
	if len(m.allowancePanes(m.w)) > 1 {
		keys = append(keys, kit.NewKey("other pane", "tab"))
	}
	return append(append(keys, kit.NewKey("back to balances", "esc", "a")), kit.MoveKeys()...)
}

// revocation is the order that sets an allowance to 0, or why there is none.
func (m *Model) revocation(x present.Allowance) (arg review.EditArg, problem string) {
	w := compose.World{Catalog: m.ctx.Catalog, Network: m.ctx.Network.ID, Accounts: m.ctx.Accounts, Clock: m.ctx.Clock}
	arg.Draft, problem = w.Revocation(x.Asset, x.Spender)
	return arg, problem
}

func (m *Model) pressAllowances(key string) tea.Cmd {
	a := &m.allowed
	if k, ok := kit.FindKey(m.allowanceKeys(), key); ok && k.Off != "" {
		return screen.Toast(theme.Warn, k.Off)
	}
	x, _ := a.selected()
	switch n := len(m.allowancePanes(m.w)); {
	case a.focus.Press(key, n), a.focus.In(n) == 1 && a.text.Press(key):
	case n < 2 && (key == "pgdown" || key == "pgup" || key == "space"):
		a.text.Press(key)
	case key == "esc", key == "a":
		a.open = false
	case key == "enter":
		arg, _ := m.revocation(x)
		return screen.Open(screen.Build, arg)
	case key == "y":
		return screen.Copy("address of the spender", x.Spender)
	case key == "ctrl+r":
		return m.openAllowances()
	case key == screen.NameKey:
		return m.ctx.Name(x.Spender)
	default:
		if a.table.Press(key) {
			a.text = kit.Scroll{}
		}
	}
	return nil
}

func (m *Model) clickAllowances(at screen.ClickMsg) {
	pane, _ := kit.PaneAt(m.allowancePanes(m.w), at.X)
	if m.allowed.focus = kit.Focus(pane); pane == 0 && m.allowed.table.Click(at.Y-1) {
		m.allowed.text = kit.Scroll{}
	}
}

func (m *Model) allowancePanes(w int) []int { return kit.PaneWidths(w, 1, 1) }

// allowancesView draws the list and the facts of the selected line: beside it, or below it where there is less room.
func (m *Model) allowancesView(f screen.Frame) string {
	th, a := f.Theme, &m.allowed
	if len(a.list) == 0 {
		words := "Reading the journal."
		if a.known {
			words = "No allowance is in the journal of this wallet."
		}
		return kit.Notice(th, theme.None, f.W, f.H, words, present.AllowancesUnknown, "Press esc to go back.")
	}
	w := m.allowancePanes(f.W)
	list := kit.Pane{W: w[0], Title: "Allowances", Note: th.Dim.Render("of calls of this wallet"),
		State: th.Dim.Render(present.Plural(len(a.list), "allowance", "allowances"))}
	row := func(i int, c []kit.Cell) []kit.Cell { return m.allowanceRow(th, a.list[i], c) }
	if len(w) > 1 {
		a.table.Resize(f.H - 1)
		list.Body = a.table.View(th, w[0]-1, row)
		facts := kit.Pane{W: w[1], Title: "Details",
			Body: a.text.Body(th, m.allowanceLines(f, w[1]-1), w[1], f.H-1)}
		return kit.Beside(th, f.H, a.focus.In(2), list, facts)
	}
	n := min(len(a.list), max(3, f.H/3))
	a.table.Resize(n)
	return kit.Lines(kit.Beside(th, 1, 0, list), a.table.View(th, f.W-2, row),
		th.Rule.Render(kit.Rule(th.Signs.Rule, f.W)), a.text.Body(th, m.allowanceLines(f, f.W-1), f.W, f.H-2-n))
}

func (m *Model) allowanceRow(th theme.Theme, x present.Allowance, c []kit.Cell) []kit.Cell {
	figure, mean := kit.Text(x.Brief(m.ctx.Catalog)), theme.None
	if x.State == present.AllowanceThere {
		mean = theme.Warn
	}
	if m.hidden {
		figure = kit.Styled(kit.Masked(th), th.Dim)
	}
	spender := present.ShortID(x.Spender)
	if name := m.spenderName(x.Spender); name != "" {
		spender = present.Clean(name, 13)
	}
	chain, _, _ := strings.Cut(x.Asset, "/")
	return append(c, figure, kit.Text(spender), kit.Styled(present.ChainName(m.ctx.Catalog, chain), th.Dim),
		kit.Styled(string(x.State)+" "+th.Sign(mean), th.Style(mean)))
}

func (m *Model) spenderName(address string) string {
	if m.ctx.Names == nil {
		return ""
	}
	return m.ctx.Names(address)
}

// allowanceLines are the facts of the selected allowance, and what no list can say.
func (m *Model) allowanceLines(f screen.Frame, w int) []string {
	th := f.Theme
	x, ok := m.allowed.selected()
	if !ok {
		return nil
	}
	figure := x.Figure(m.ctx.Catalog)
	if m.hidden {
		figure = kit.Masked(th)
	}
	out := append([]string{""}, kit.Row(th, w, 1, 11, "amount", th.Strong.Span(figure))...)
	clock := func(t time.Time) string { return t.In(f.Now.Location()).Format("2006-01-02 15:04:05") }
	for _, r := range x.Rows(m.spenderName, clock) {
		switch {
		case r.Address != "" && r.Name != "":
			out = append(out, kit.Row(th, w, 1, 11, r.Label, kit.Plain(r.Name))...)
			out = append(out, kit.Row(th, w, 1, 11, "", kit.Plain(present.Address(r.Address)))...)
		case r.Address != "":
			out = append(out, kit.Row(th, w, 1, 11, r.Label, kit.Plain(present.Address(r.Address)))...)
		case r.Quiet:
			out = append(out, kit.Row(th, w, 1, 11, r.Label, th.Dim.Span(r.Text))...)
		default:
			out = append(out, kit.Row(th, w, 1, 11, r.Label, kit.Plain(r.Text))...)
		}
	}
	out = append(append(out, ""), kit.Prose(w, 1, th.Dim.Span(present.AllowancesUnknown))...)
	return append(out, kit.Prose(w, 1, th.Dim.Span("Enter prepares an operation that sets it to 0. It also reads the "+
		"allowance, which changes nothing, because an operation needs a call."))...)
}
