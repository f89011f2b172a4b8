package linear

import (
	"context"
	"slices"

	"coffer/wallet/flow"
)

// lookout watches a sent operation while the person does something else.
type lookout struct {
	op   Operation
	stop context.CancelFunc
	done chan struct{} // closed when the watch has ended
}

// watch starts to ask for the status of an operation.
func (s *session) watch(op Operation) {
	life, stop := context.WithCancel(s.life)
	l := &lookout{op, stop, make(chan struct{})}
	s.lookouts = append(s.lookouts, l)
	go func() {
		defer close(l.done)
		_, _ = op.Watch(life, nil) // the snapshot holds its findings
	}()
}

// unwatch ends the lookout of an operation: another caller asks for its status now.
func (s *session) unwatch(op Operation) {
	kept := s.lookouts[:0]
	for _, l := range s.lookouts {
		if l.op.ID() != op.ID() {
			kept = append(kept, l)
			continue
		}
		l.stop()
		<-l.done
	}
	s.lookouts = kept
}

// unwatchAll ends every lookout.
func (s *session) unwatchAll() {
	for len(s.lookouts) > 0 {
		s.unwatch(s.lookouts[0].op)
	}
}

// under reports whether an operation was sent and has no end yet.
func under(x flow.Snapshot) bool {
	return x.State == flow.StateAccepted || x.State == flow.StateUnknown
}

// news prints the ends since the last news, and watches the operations in progress.
func (s *session) news() {
	for _, op := range s.operations() {
		x := op.Snapshot()
		switch {
		case s.reported[op.ID()]:
		case under(x):
			if !s.watched(op) {
				s.unwatch(op)
				s.watch(op)
			}
		case x.State == flow.StateDone, x.State == flow.StateFailed, x.State == flow.StateNotExecuted:
			st := s.stateOf(x)
			s.out.say("Meanwhile: " + s.what(x) + ", begun " + s.date(x.Started) + ": " + st.Word + ". " + st.Sentence)
			s.failReason(x)
			s.unwatch(op)
			s.reported[op.ID()] = true
		}
	}
}

// operations lists the operations in progress and the watched ones, which may have ended.
func (s *session) operations() []Operation {
	var all []Operation
	if s.deps.Unfinished != nil {
		all = slices.Clone(s.deps.Unfinished())
	}
	known := map[string]bool{}
	for _, op := range all {
		known[op.ID()] = true
	}
	for _, l := range s.lookouts {
		if !known[l.op.ID()] {
			all = append(all, l.op)
		}
	}
	return all
}

// watched reports whether a lookout asks for the status of an operation.
func (s *session) watched(op Operation) bool {
	for _, l := range s.lookouts {
		if l.op.ID() != op.ID() {
			continue
		}
		select {
		case <-l.done:
		default:
			return true
		}
	}
	return false
}
