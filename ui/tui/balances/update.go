package balances

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// loadedMsg is the answer to one reading.
type loadedMsg struct {
	gen int
	b   api.AggregatedBalance
	err error
}

// dueMsg says that it is time to read again.
type dueMsg struct{ gen int }

// load starts a reading; one under way is given up.
func (m *Model) load() tea.Cmd {
	m.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	m.cancel = cancel
	m.gen++
	m.loading, m.since = true, m.ctx.Clock()
	gen, src := m.gen, m.src
	return func() tea.Msg {
		defer cancel()
		b, err := src.Balances(ctx)
		return loadedMsg{gen: gen, b: b, err: err}
	}
}

// Update handles one message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screen.ResizedMsg:
		m.resize(msg.W, msg.H)
	case loadedMsg:
		if msg.gen == m.gen {
			return m.loaded(msg)
		}
	case dueMsg:
		if msg.gen == m.gen && !m.loading {
			return m.load()
		}
	case screen.BalancesChangedMsg:
		return m.load()
	case screen.AmountsMsg:
		m.hidden = msg.Hidden
	case tea.PasteMsg:
		if m.filter.Focused() && m.filter.Update(msg) {
			m.arrange()
		}
	case tea.KeyPressMsg:
		return m.press(msg)
	}
	return nil
}

func (m *Model) loaded(msg loadedMsg) tea.Cmd {
	now := m.ctx.Clock()
	m.loading, m.err = false, msg.err
	wait := Refresh
	if msg.err == nil {
		m.data, m.at, m.failures = read(m.ctx.Catalog, msg.b), now, 0
		m.arrange()
	} else {
		m.failures++
		wait = min(retryLimit, Refresh<<min(m.failures-1, 4))
		m.retryAt = now.Add(wait)
	}
	gen := m.gen
	return tea.Batch(m.announce(), tea.Tick(wait, func(time.Time) tea.Msg { return dueMsg{gen} }))
}

// announce tells the shell what the first line shows.
func (m *Model) announce() tea.Cmd {
	msg := screen.TotalChangedMsg{At: m.at, Stale: m.err != nil}
	if m.data != nil {
		msg.Micro = m.data.total
	}
	return screen.Send(msg)
}

func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch {
	case m.filter.Focused():
		m.pressFilter(msg, key)
		return nil
	case m.receive:
		return m.pressReceive(key)
	case m.inspect:
		return m.pressInspect(key)
	}
	if m.table.Press(key) {
		m.remember()
		return nil
	}
	switch key {
	case "enter", "space", "right", "left":
		m.toggle(key)
	case "e":
		m.toggleAll()
	case "v":
		m.view = 1 - m.view
		m.selected = ""
		m.arrange()
	case "s":
		m.order = (m.order + 1) % orders
		m.arrange()
	case "z":
		m.zero = !m.zero
		m.arrange()
	case "h":
		return screen.Send(screen.HideMsg{})
	case "/":
		m.filter.Focus()
	case "esc":
		m.filter.Set("")
		m.arrange()
	case "r":
		m.receive = true
	case "i":
		m.inspect, m.facts = true, kit.Scroll{}
	case "y":
		return m.copySelected()
	case "b":
		if r, ok := m.current(); ok {
			return screen.Open(screen.Build, r.arg)
		}
	case "ctrl+r":
		return m.load()
	}
	return nil
}

func (m *Model) pressFilter(msg tea.KeyPressMsg, key string) {
	switch key {
	case "enter", "down", "up":
		m.filter.Blur()
		return
	case "esc":
		m.filter.Set("")
		m.filter.Blur()
		m.arrange()
		return
	}
	if m.filter.Update(msg) {
		m.arrange()
	}
}

func (m *Model) pressReceive(key string) tea.Cmd {
	switch key {
	case "y":
		if len(m.ctx.Accounts) > 0 {
			return screen.Copy("account address", kit.Checksummed(m.ctx.Accounts[0].AccountAddress))
		}
	case "esc", "r", "q", "enter":
		m.receive = false
	}
	return nil
}

func (m *Model) pressInspect(key string) tea.Cmd {
	switch key {
	case "y":
		return m.copySelected()
	case "esc", "i", "q", "enter":
		m.inspect = false
	default:
		m.facts.Press(key)
	}
	return nil
}

func (m *Model) copySelected() tea.Cmd {
	r, ok := m.current()
	if !ok || len(r.ids) == 0 {
		return screen.Toast(theme.Warn, "there is nothing to copy on this line")
	}
	return screen.Copy("asset id", r.ids[0])
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
		m.open[r.key] = !m.open[r.key]
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
		if r.kind == groupRow && m.open[r.key] {
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

// Keys lists what works now.
func (m *Model) Keys() []kit.Key {
	switch {
	case m.filter.Focused():
		return []kit.Key{kit.NewKey("keep filter", "enter"), kit.NewKey("clear filter", "esc")}
	case m.receive:
		return []kit.Key{kit.NewKey("copy address", "y"), kit.NewKey("close", "esc")}
	case m.inspect:
		return []kit.Key{kit.NewKey("copy asset id", "y"), kit.NewKey("scroll", "up", "down"), kit.NewKey("close", "esc")}
	}
	r, ok := m.current()
	const empty = "there is no line to use it on"
	views := []string{"by chain", "by asset"}
	keys := []kit.Key{
		kit.NewKey("expand", "enter").Explain("expand or collapse").OffWhen(!ok, empty),
		kit.NewKey("build", "b").Explain("build a call with this asset").
			OffWhen(!ok || r.arg == (screen.AssetArg{}), "select an asset first"),
		kit.NewKey("receive", "r").Explain("show the address to send to").OffWhen(len(m.ctx.Accounts) == 0, "this profile has no account"),
		kit.NewKey(views[m.view], "v").Explain("group " + views[m.view]), kit.NewKey("sort", "s").Explain("sort: largest, smallest, by name"),
		kit.NewKey("hide", "h").Explain("hide or show amounts, on every screen"), kit.NewKey("zero", "z").Explain("show or hide zero balances"),
		kit.NewKey("inspect", "i").Explain("exact amount, base units, ids").OffWhen(!ok, empty), kit.NewKey("filter", "/").Hidden(),
		kit.NewKey("copy asset id", "y").Hidden(), kit.NewKey("expand or collapse all", "e").Hidden(),
		kit.NewKey("expand, collapse", "right", "left", "space").Hidden(),
		kit.NewKey("clear filter", "esc").Hidden(), kit.NewKey("read again now", "ctrl+r").Hidden(),
	}
	return append(keys, kit.MoveKeys()...)
}
