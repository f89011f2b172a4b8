package balances

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// loadedMsg brings the answer to one reading, and its holdings.
type loadedMsg struct {
	gen  int
	b    api.AggregatedBalance
	read *present.Holdings
	err  error
}

// dueMsg says that the next reading is due.
type dueMsg struct{ gen int }

// load starts a reading and cancels one in progress.
func (m *Model) load() tea.Cmd {
	m.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	m.cancel = cancel
	m.gen++
	m.loading, m.since = true, m.ctx.Clock()
	gen, src, r := m.gen, m.src, m.reader
	return func() tea.Msg {
		defer cancel()
		out := loadedMsg{gen: gen}
		if out.b, out.err = src.Balances(ctx); out.err == nil {
			out.read, out.err = r.Read(out.b)
		}
		return out
	}
}

// Update handles one message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screen.ResizedMsg:
		m.resize(msg.W, msg.H)
		m.arrange()
		m.showDetails()
	case loadedMsg:
		if msg.gen == m.gen {
			return m.loaded(msg)
		}
	case cachedMsg:
		return m.cached(msg)
	case savedMsg:
		return m.saved(msg)
	case exportedMsg:
		return m.exported(msg)
	case dueMsg:
		if msg.gen == m.gen && !m.loading {
			return m.load()
		}
	case screen.BalancesChangedMsg:
		return m.load()
	case screen.AmountsMsg:
		m.hidden = msg.Hidden
	case allowedMsg:
		m.allowed.take(msg.list)
	case screen.OpenedMsg:
		m.allowed.open = false
		if f, ok := msg.Arg.(screen.FilterArg); ok {
			m.receive.open, m.inspect = false, false
			m.filter.Set(f.Text)
			m.arrange()
		}
	case screen.PastMsg:
		m.past = &msg
	case screen.UnderWayMsg:
		m.under = msg
	case stillMsg:
		if msg.move == m.moves {
			m.showDetails()
		}
	case screen.ClickMsg:
		return m.click(msg)
	case tea.PasteMsg:
		switch {
		case m.receive.typing():
			m.typeAsking(msg)
		case m.filter.Focused() && m.filter.Update(msg):
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
	var save tea.Cmd
	if msg.err == nil {
		m.real, m.at, m.failures, m.last = msg.read, now, 0, false
		m.show()
		save = m.keep(msg.b, now)
	} else {
		m.failures++
		wait = min(retryLimit, Refresh<<min(m.failures-1, 4))
		m.retryAt = now.Add(wait)
	}
	gen := m.gen
	return tea.Batch(m.announce(), save, tea.Tick(wait, func(time.Time) tea.Msg { return dueMsg{gen} }))
}

// keep saves the answer, at most once a minute and one write at a time.
func (m *Model) keep(b api.AggregatedBalance, now time.Time) tea.Cmd {
	if m.ctx.Keep == nil || !m.identity.whole() || m.saving || now.Sub(m.savedAt) < keepEvery && !m.savedAt.IsZero() {
		return nil
	}
	p := snapshotOf(m.real, now)
	if p != nil && !totalPace().due(m.points, now) {
		p = nil
	}
	var parts map[string]point
	if m.parts == nil || now.Sub(m.partsAt) >= partPace().each {
		parts, m.partsAt = m.worths, now
	}
	m.saving, m.savedAt = true, now
	return m.save(b, now, p, parts)
}

// saved takes over the series as it is on disk. It reports a failing save once.
func (m *Model) saved(msg savedMsg) tea.Cmd {
	m.saving = false
	if msg.points != nil {
		m.points = msg.points
		m.retrend()
		m.resize(m.w, m.h)
	}
	if msg.parts != nil {
		m.parts = msg.parts
	}
	if msg.err == nil || m.keepBad {
		return nil
	}
	m.keepBad = true
	return screen.Toast(theme.Warn, "balances cannot be kept for the next start: "+present.Clean(msg.err.Error(), 200))
}

// cached shows the cache, unless this start has read newer data already.
func (m *Model) cached(msg cachedMsg) tea.Cmd {
	if len(m.points) == 0 {
		m.points = msg.points
		m.retrend()
		m.resize(m.w, m.h)
	}
	if m.real != nil || msg.last == nil {
		return nil
	}
	m.real, m.at, m.last = msg.last, msg.at, true
	m.show()
	m.resize(m.w, m.h)
	return m.announce()
}

// announce sends the shell the content of the first line.
func (m *Model) announce() tea.Cmd {
	return screen.Send(screen.TotalChangedMsg{At: m.at, Stale: m.err != nil ||
		m.last, Micro: m.total(), Scrambled: m.scrambled && m.total() != nil})
}
