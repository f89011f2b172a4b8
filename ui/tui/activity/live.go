package activity

import (
	"slices"
	"time"

	"coffer/ui/present"
	"coffer/ui/tui/theme"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
)

// forget drops the signatures that have ended by the clock, so that header, rows and pages agree; the selection stays
// on its signature.
func (s *Screen) forget(now time.Time) {
	selected, _ := s.signature()
	s.live = slices.DeleteFunc(s.live, func(o Outstanding) bool { return !o.Ends.IsZero() && !now.Before(o.Ends) })
	for i, o := range s.live {
		if o.Hash == selected.Hash && o.Summary.Role == selected.Summary.Role {
			s.sig = i
		}
	}
}

// liveOf counts the live signatures of an operation. Delegations do not count: each lives on its own.
func (s *Screen) liveOf(id string, now time.Time) present.Live {
	l := present.Live{Known: s.deps.Outstanding != nil && s.loaded}
	endless := false
	for _, o := range s.live {
		if o.Operation != id || o.Summary.Role == journal.RoleDelegation || !o.Ends.IsZero() && !now.Before(o.Ends) {
			continue
		}
		l.N++
		if end := o.Ends; end.IsZero() {
			endless = true
		} else if end.After(l.Until) {
			l.Until = end
		}
	}
	if endless {
		l.Until = time.Time{}
	}
	return l
}

// stand is the state of an operation in words, by the clock and the journal.
func (s *Screen) stand(x flow.Snapshot, now time.Time) standing {
	st, l := stateOf(x), s.liveOf(x.ID, now)
	switch {
	case x.Said:
		st.word, st.sentence = "service: "+st.word, present.Said(x, exchange(x), l, now.Location())
		if x.State == flow.StateNotExecuted {
			st.meaning = theme.Warn
		}
	case !exchange(x) && x.BodyHash == "" && (x.State == flow.StateQuoting || x.State == flow.StateReview2):
		st.sentence = present.Signed(x, l, now.Location(), " (enter)", " (x)")
		switch {
		case x.Stuck:
			st.word = "can only be abandoned"
		case x.Over:
			st.word = "its time is over"
		}
	}
	return st
}
