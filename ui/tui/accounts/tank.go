package accounts

import (
	tea "charm.land/bubbletea/v2"

	"coffer/api/gastank"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

// tank is what the gas tank of own nodes has.
type tank struct {
	gen    int
	known  bool
	report gastank.Report
	err    error
}

// tankMsg brings what it has.
type tankMsg tank

func (t *tank) take(msg tankMsg) {
	if msg.gen == t.gen {
		*t = tank(msg)
	}
}

func (m *Model) readTank() tea.Cmd {
	if m.deps.Tank == nil {
		return nil
	}
	m.tank.gen++
	gen, life, read := m.tank.gen, m.life, m.deps.Tank
	return func() tea.Msg {
		r, err := read(life)
		return tankMsg{gen, true, r, err}
	}
}

// tankFacts are what pays for gas, where that is not the service.
func (m *Model) tankFacts(th theme.Theme) []fact {
	var out []fact
	if at := present.GasTank(m.ctx.Network); at != "" {
		out = append(out, fact{"address", []kit.Span{address(at)}})
	}
	switch {
	case !m.tank.known:
		return append(out, fact{"", kit.Noted(th, theme.None, "the chains are being asked what it has")})
	case m.tank.err != nil:
		return append(out, fact{"", kit.Noted(th, theme.Unknown, "what it has is not known: "+
			present.ErrorText(m.tank.err))})
	}
	for _, l := range present.Tank(m.tank.report, m.own, m.hidden) {
		spans := []kit.Span{kit.Plain(l.Text)}
		if l.Warn {
			spans = kit.Noted(th, theme.Warn, l.Text)
		}
		out = append(out, fact{l.Label, spans})
	}
	return out
}
