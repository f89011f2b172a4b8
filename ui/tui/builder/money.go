package builder

import (
	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/compose"
)

// balancesMsg brings balances.
type balancesMsg struct {
	gen     int
	balance api.AggregatedBalance
	err     error
	paid    []string // addresses that were paid before
	knows   bool     // paid is read
}

// load reads the balances again, unless a reading is in progress.
func (s *Screen) load() tea.Cmd {
	if s.deps.Balances == nil || s.loading {
		return nil
	}
	s.gen++
	s.loading = true
	gen, read, paid, ctx := s.gen, s.deps.Balances, s.deps.Paid, s.life
	return func() tea.Msg {
		out := balancesMsg{gen: gen}
		out.balance, out.err = read(ctx)
		if paid != nil {
			out.paid, out.knows = paid(), true
		}
		return out
	}
}

// watchedMsg says why nothing can be signed; "": signing is possible or unknown.
type watchedMsg string

// watch checks whether the accounts can sign, before the service is asked for anything on their behalf.
func (s *Screen) watch() tea.Cmd {
	ask, ctx := s.deps.WatchOnly, s.life
	if ask == nil {
		return nil
	}
	return func() tea.Msg { return watchedMsg(ask(ctx)) }
}

func (s *Screen) loaded(m balancesMsg) {
	if m.gen != s.gen {
		return
	}
	s.loading = false
	if m.err == nil { // else the last known balances stay
		s.Money = compose.ReadMoney(s.Catalog, m.balance)
	}
	if m.knows {
		s.Paid, s.PaidKnown = m.paid, true
	}
	if s.trialDue && s.b.Empty() {
		s.fillTrial()
	}
	s.trialDue = false
}
