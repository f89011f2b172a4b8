package review

import (
	"context"
	"time"

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

// signPrepared signs the reviewed operation. Leaving does not cancel it: the journal records every signature that is
// made.
func (s *Screen) signPrepared(given consent.Consent) tea.Cmd {
	s.enter(phaseQuote)
	s.signed, s.busy[s.op.ID()] = true, wordsSign
	if s.snap.Review1.WholeConsent {
		s.busy[s.op.ID()] = wordsRun
	}
	op := s.op
	return s.run(s.life, stepSign, false, func(ctx context.Context) (flow.Snapshot, error) {
		return op.SignPrepared(ctx, given)
	})
}

// prepare asks for the operation.
func (s *Screen) prepare() tea.Cmd { return s.askFor(phasePrepare, stepPrepare, s.op.Prepare) }

// quote asks for the first quote of a swap or a transfer, or for a new one.
func (s *Screen) quote() tea.Cmd {
	ask := s.op.Requote
	if s.exchange() {
		ask = s.op.Quote
	}
	return s.askFor(phaseQuote, stepQuote, ask)
}

// askFor asks the service for something to review. Leaving cancels it.
func (s *Screen) askFor(p phase, at step, ask func(context.Context) (flow.Snapshot, error)) tea.Cmd {
	fresh := !s.signed
	s.enter(p)
	return s.run(s.leavable(), at, fresh, ask)
}

// run runs a step of the operation on the screen. fresh: nothing is signed yet.
func (s *Screen) run(ctx context.Context, at step, fresh bool,
	do func(context.Context) (flow.Snapshot, error)) tea.Cmd {
	gen, op := s.gen, s.op
	return func() tea.Msg {
		snap, err := do(ctx)
		return steppedMsg{gen: gen, step: at, op: op, snap: snap, err: err, fresh: fresh}
	}
}

// execute signs the payments and sends them. Leaving does not cancel it.
func (s *Screen) execute(given consent.Consent) tea.Cmd {
	s.enter(phaseExecute)
	s.events, s.busy[s.op.ID()] = nil, wordsExecute
	op, feed := s.op, make(chan flow.Event, 32)
	return tea.Batch(s.run(s.life, stepExecute, false, func(ctx context.Context) (flow.Snapshot, error) {
		defer close(feed)
		return op.Execute(ctx, given, func(e flow.Event) {
			select {
			case feed <- e:
			case <-ctx.Done():
			}
		})
	}), nextEvent(s.gen, feed))
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

// reached is how far an operation has come.
type reached struct {
	state      flow.State
	signatures int
}

func reachedBy(op Operation) reached {
	x := op.Snapshot()
	return reached{x.State, x.SignaturesDone}
}

// goesOnMsg looks at an operation that was left while a step of it runs, which may take a minute; Activity was told of
// what it had reached.
type goesOnMsg struct {
	op   Operation
	told reached
}

// goesOn tells Activity how far the step has come, and looks again until it ends.
func (s *Screen) goesOn(m goesOnMsg) tea.Cmd {
	if s.busy[m.op.ID()] == "" {
		return nil
	}
	now := reachedBy(m.op)
	again := s.deps.After(lookAgain, goesOnMsg{m.op, now})
	if now == m.told {
		return again
	}
	return tea.Batch(track(m.op), again)
}

// lookAgain is the time between two looks at what goes on.
const lookAgain = 250 * time.Millisecond

// abandon closes an operation of which nothing was signed.
func abandon(op Operation) tea.Cmd {
	return func() tea.Msg {
		_ = op.Abandon() // nothing was signed: the record only stays open in the journal
		return nil
	}
}
