package balances

import (
	tea "charm.land/bubbletea/v2"

	"coffer/api/amount"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch {
	case m.filter.Focused():
		if m.filter.Narrow(msg) {
			m.arrange()
		}
		return nil
	case m.allowed.open:
		return m.pressAllowances(key)
	case m.receive.typing():
		m.typeAsking(msg)
		return nil
	case m.receive.open:
		return m.pressReceive(key)
	case m.inspect:
		return m.pressInspect(key)
	}
	if m.focus.Press(key, len(m.panes())) {
		return nil
	}
	if at := m.focus.In(len(m.panes())); at > 0 && m.sides[at-1].Press(key) {
		return nil
	}
	if m.table.Press(key) {
		return m.moved()
	}
	defer m.showDetails()
	if m.pressView(key) {
		m.arrange()
		return nil
	}
	switch key {
	case "enter", "space", "right", "left":
		m.toggle(key)
	case "e":
		m.toggleAll()
	case "p":
		m.period = (m.period + 1) % periods
	case "h":
		return screen.Send(screen.HideMsg{})
	case "H":
		return m.scramble()
	case "/":
		m.filter.Focus()
	case "r":
		m.receive.open = len(m.ctx.Accounts) > 0
		m.chooseAccount()
	case "i":
		m.inspect, m.facts = true, kit.Scroll{}
	case "y":
		return m.copySelected()
	case "Y":
		return m.copyAmount()
	case "x":
		return m.export()
	case "a":
		return m.openAllowances()
	case "b", "t", "w":
		return m.build(key)
	case "ctrl+r":
		return m.load()
	}
	return nil
}

// pressView handles the keys that change the set and the order of lines.
func (m *Model) pressView(key string) bool {
	switch key {
	case "v":
		m.view = (m.view + 1) % views
		m.selected = ""
		m.table.Select(0)
	case "s":
		m.order = order{by: (m.order.by + 1) % columns}
	case "S":
		m.order.reversed = !m.order.reversed
	case "z":
		m.zero = !m.zero
	case "esc":
		m.filter.Set("")
	default:
		return false
	}
	return true
}

func (m *Model) pressInspect(key string) tea.Cmd {
	switch key {
	case "y":
		return m.copySelected()
	case "Y":
		return m.copyAmount()
	case "esc", "i", "q", "enter":
		m.inspect = false
	default:
		m.facts.Press(key)
	}
	return nil
}

// build opens a form with the asset of the selected line: its ids only, never a figure.
func (m *Model) build(key string) tea.Cmd {
	r, ok := m.current()
	if !ok || r.buildOff() != "" || key == "w" && m.swapOff() != "" {
		return nil
	}
	r.arg.Form = map[string]string{"t": "transfer", "w": "swap"}[key]
	return screen.Open(screen.Build, r.arg)
}

// swapOff says why nothing can be swapped on this network.
func (m *Model) swapOff() string {
	if m.ctx.Network.OnOwnNodes() {
		return compose.NoSolver + ", which would swap"
	}
	return ""
}

// buildOff says why no call can be built with the asset of the line.
func (r row) buildOff() string {
	switch {
	case r.arg == (screen.AssetArg{}):
		return "select an asset first"
	case r.kind == partRow && r.worst() == theme.Danger || r.refusedHere():
		return "a check refused this asset: i says why"
	}
	return ""
}

// refusedHere reports a refusal of the line itself, not of one of its parts.
func (r row) refusedHere() bool {
	r.below = nil
	return r.worst() == theme.Danger
}

// scramble replaces the real figures with made-up ones, or restores them.
func (m *Model) scramble() tea.Cmd {
	if m.scrambler == nil {
		s, err := newScrambler(m.random)
		if err != nil {
			return screen.Toast(theme.Warn, present.Clean(err.Error(), 200))
		}
		m.scrambler = &s
	}
	m.scrambled = !m.scrambled
	m.show()
	if m.scrambled {
		return tea.Batch(m.announce(), screen.Toast(theme.Warn,
			"amounts here are made up now; other screens show the real ones"))
	}
	return tea.Batch(m.announce(), screen.Toast(theme.None, "amounts are real again"))
}

func (m *Model) copySelected() tea.Cmd {
	r, ok := m.current()
	switch {
	case !ok || len(r.ids) == 0:
		return screen.Toast(theme.Warn, "there is nothing to copy on this line")
	case r.address != "":
		return screen.Copy("account address", r.address)
	}
	return screen.Copy("asset id", r.ids[0])
}

// copyAmount copies the exact amount without separators. It refuses made-up and hidden amounts.
func (m *Model) copyAmount() tea.Cmd {
	r, ok := m.current()
	if off := m.secret(); off != "" {
		return screen.Toast(theme.Warn, off)
	}
	if !ok || !r.figure || r.amount == nil || r.decimals < 0 {
		return screen.Toast(theme.Warn, "there is no amount to copy on this line")
	}
	return screen.Copy("amount", amount.Format(r.amount, r.decimals))
}

// secret says why amounts must not leave the screen now.
func (m *Model) secret() string {
	switch {
	case m.scrambled:
		return "amounts are scrambled: H shows the real ones first"
	case m.hidden:
		return "amounts are hidden: h shows them first"
	}
	return ""
}

// toggle opens or closes the group of the selected line; right only opens and left only closes.
func (m *Model) toggle(key string) {
	r, ok := m.current()
	if !ok || r.kind == noteRow {
		return
	}
	if r.kind == partRow {
		if key == "right" {
			return
		}
		r = m.parent()
	}
	switch key {
	case "right":
		m.open[r.key] = true
	case "left":
		m.open[r.key] = false
	default:
		m.open[r.key] = !m.isOpen(r.key)
	}
	m.selected = r.key
	m.arrange()
}

// parent is the group above the selected part.
func (m *Model) parent() row {
	for i := m.table.Selected(); i >= 0; i-- {
		if m.rows[i].kind == groupRow {
			return m.rows[i]
		}
	}
	return row{}
}

// toggleAll opens every group, or closes all when one is open.
func (m *Model) toggleAll() {
	opened := false
	for _, r := range m.rows {
		if r.kind == groupRow && m.isOpen(r.key) {
			opened = true
			m.open[r.key] = false
		}
	}
	if !opened {
		for _, r := range m.rows {
			if r.kind == groupRow {
				m.open[r.key] = true
			}
		}
	}
	m.arrange()
}
