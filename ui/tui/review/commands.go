package review

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
)

// step names what a command does.
type step int

const (
	stepNone step = iota
	stepPrepare
	stepSign
	stepQuote
	stepExecute
)

// startedMsg reports that the journal has the operation, or why it does not.
type startedMsg struct {
	gen int
	op  Operation
	err error
}

// steppedMsg is the outcome of one step. op is its operation, even when the screen shows another one by now.
type steppedMsg struct {
	gen  int
	step step
	op   Operation
	snap flow.Snapshot
	err  error
	// fresh: nothing was signed when the step began
	fresh bool
}

// eventMsg is one step of an execute; feed brings the next.
type eventMsg struct {
	gen   int
	event flow.Event
	feed  chan flow.Event
}

// leavable returns a context that leaving the screen cancels.
func (s *Screen) leavable() context.Context {
	ctx, stop := context.WithCancel(s.life)
	s.stop = stop
	return ctx
}

func (s *Screen) startOp(in intent.Intent) tea.Cmd {
	gen, ctx, start := s.gen, s.leavable(), s.deps.Start
	return func() tea.Msg {
		op, err := start(ctx, in)
		return startedMsg{gen: gen, op: op, err: err}
	}
}

func (s *Screen) prepare() tea.Cmd {
	fresh := !s.signed
	s.enter(phasePrepare)
	gen, op, ctx := s.gen, s.op, s.leavable()
	return func() tea.Msg {
		snap, err := op.Prepare(ctx)
		return steppedMsg{gen: gen, step: stepPrepare, op: op, snap: snap, err: err, fresh: fresh}
	}
}

// signPrepared signs the reviewed operation. Leaving does not cancel it: the journal records every signature that is
// made.
func (s *Screen) signPrepared(given consent.Consent) tea.Cmd {
	s.enter(phaseQuote)
	s.signed, s.busy[s.op.ID()] = true, wordsSign
	if s.snap.Review1.WholeConsent {
		s.busy[s.op.ID()] = wordsRun
	}
	gen, op, ctx := s.gen, s.op, s.life
	return func() tea.Msg {
		snap, err := op.SignPrepared(ctx, given)
		return steppedMsg{gen: gen, step: stepSign, op: op, snap: snap, err: err}
	}
}

func (s *Screen) requote() tea.Cmd {
	s.enter(phaseQuote)
	gen, op, ctx := s.gen, s.op, s.leavable()
	return func() tea.Msg {
		snap, err := op.Requote(ctx)
		return steppedMsg{gen: gen, step: stepQuote, op: op, snap: snap, err: err}
	}
}

// execute signs the payments and sends them. Leaving does not cancel it.
func (s *Screen) execute(given consent.Consent) tea.Cmd {
	s.enter(phaseExecute)
	s.events, s.busy[s.op.ID()] = nil, wordsExecute
	gen, op, ctx, feed := s.gen, s.op, s.life, make(chan flow.Event, 32)
	run := func() tea.Msg {
		defer close(feed)
		snap, err := op.Execute(ctx, given, func(e flow.Event) {
			select {
			case feed <- e:
			case <-ctx.Done():
			}
		})
		return steppedMsg{gen: gen, step: stepExecute, op: op, snap: snap, err: err}
	}
	return tea.Batch(run, nextEvent(gen, feed))
}

func nextEvent(gen int, feed chan flow.Event) tea.Cmd {
	return func() tea.Msg {
		e, ok := <-feed
		if !ok {
			return nil
		}
		return eventMsg{gen, e, feed}
	}
}

// abandon closes an operation of which nothing was signed.
func abandon(op Operation) tea.Cmd {
	return func() tea.Msg {
		_ = op.Abandon() // nothing was signed: the record only stays open in the journal
		return nil
	}
}
