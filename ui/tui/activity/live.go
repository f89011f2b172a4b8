package activity

import (
	"time"

	"coffer/ui/present"
	"coffer/wallet/flow"
)

// forget drops the signatures that have ended by the clock, so that header, rows and pages agree; the selection stays
// on its signature.
func (s *Screen) forget(now time.Time) {
	selected, _ := s.signature()
	s.live = present.Open(s.live, now)
	for i, o := range s.live {
		if o.Hash == selected.Hash && o.Summary.Role == selected.Summary.Role {
			s.sig = i
		}
	}
}

// state is the state of an operation in words, by the clock and the journal.
func (s *Screen) state(x flow.Snapshot, now time.Time) present.State {
	live := present.LiveOf(s.live, s.closed, x.ID, now, s.deps.Outstanding != nil && s.loaded)
	return present.StateOf(x, live, func(t time.Time) string { return clock(t.In(now.Location())) }, keys())
}

// keys are the keys of this screen that sentences name.
func keys() present.Keys { return present.Keys{Go: " (enter)", Abandon: " (x)", Bundle: " (b)"} }
