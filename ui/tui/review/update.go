package review

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/activity"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/vault"
)

// Update handles one message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case screen.OpenedMsg:
		return s.opened(m.Arg)
	case startedMsg:
		return s.started(m)
	case steppedMsg:
		return s.stepped(m)
	case eventMsg:
		if m.gen == s.gen {
			s.events = append(s.events, m.event)
		}
		return nextEvent(m.gen, m.feed)
	case goesOnMsg:
		return s.goesOn(m)
	case renewMsg:
		return s.renew(m)
	case renewedMsg:
		return s.renewed(m)
	case unlockedMsg:
		return s.unlocked(m)
	case screen.ShownMsg:
		s.guard.Open(s.ctx.Clock())
		s.unlock.guard.Open(s.ctx.Clock())
	case screen.SuspendedMsg:
		s.suspended()
	case screen.ResumedMsg:
		if s.reviewing() && !s.unlock.open {
			s.refresh()
		}
		s.unlock.guard.Open(s.ctx.Clock())
	case tea.PasteMsg:
		return s.paste(m)
	case tea.KeyPressMsg:
		return s.press(m)
	}
	return nil
}

// paste goes into the passphrase field only; it confirms and submits nothing.
func (s *Screen) paste(m tea.PasteMsg) tea.Cmd {
	switch {
	case s.unlock.open && !s.unlock.busy:
		s.unlock.wrong = ""
		s.unlock.field.Update(m)
	case s.reviewing():
		return screen.Toast(theme.Warn, "a paste confirms nothing: type it by hand")
	}
	return nil
}

func (s *Screen) opened(arg any) tea.Cmd {
	switch a := arg.(type) {
	case StartArg:
		s.reset(nil)
		s.start = a.Intent
		s.snap.Intent = a.Intent.Draft()
		s.enter(phasePrepare)
		return s.begin(func() tea.Cmd { return s.startOp(a.Intent) })
	case activity.ReopenArg:
		return s.reopen(a.Op)
	}
	return nil
}

// reopen shows an operation that waits for a review. One that was reviewed before starts from the top again.
func (s *Screen) reopen(op activity.Operation) tea.Cmd {
	o, ok := op.(Operation)
	if !ok {
		return screen.Toast(theme.Warn, "this operation can only be watched")
	}
	if s.op != nil && s.op.ID() == o.ID() && s.phase != phaseEmpty && s.phase != phaseGone {
		s.guard.Open(s.ctx.Clock())
		return nil
	}
	if s.busy[o.ID()] != "" {
		return tea.Sequence(back(),
			screen.Toast(theme.Warn, "the answer to the last step is still awaited"))
	}
	s.reset(o)
	s.show(o.Snapshot())
	s.note(s.snap)
	return s.begin(func() tea.Cmd {
		switch {
		case s.snap.Over && s.snap.State == flow.StateQuoting:
			return s.prepare()
		case s.snap.State == flow.StateQuoting:
			return s.quote()
		}
		return s.schedule()
	})
}

// reset forgets the previous operation; its late answers are dropped.
func (s *Screen) reset(op Operation) {
	s.gen++
	if s.stop != nil {
		s.stop()
	}
	s.op, s.snap, s.failed, s.retry, s.events, s.signed = op, flow.Snapshot{}, nil, stepNone, nil, false
	s.start = intent.Intent{}
	s.drawn = ""
	s.enter(phaseEmpty)
	s.relock()
}

// enter begins a phase: the grace period restarts and typed text is dropped.
func (s *Screen) enter(p phase) {
	now := s.ctx.Clock()
	s.phase, s.since, s.page, s.drawn = p, now, pageMain, ""
	s.text[pageMain] = kit.Scroll{}
	s.guard.Open(now)
	s.typed.Set("")
	s.typed.Blur()
	s.typed.Error, s.answers = "", consent.Answers{}
	s.draw = consent.Draw(s.deps.Random)
	if s.unlock.open {
		s.unask()
	}
}

func (s *Screen) started(m startedMsg) tea.Cmd {
	if m.gen != s.gen {
		if m.err == nil && m.op != nil {
			return abandon(m.op)
		}
		return nil
	}
	if m.err != nil {
		s.fail(m.err, stepNone)
		return nil
	}
	s.op = m.op
	if s.exchange() {
		return tea.Batch(s.quote(), track(m.op))
	}
	return tea.Batch(s.prepare(), track(m.op))
}

func track(op Operation) tea.Cmd { return screen.Send(activity.TrackMsg{Op: op}) }

// stepped takes the outcome of a step.
func (s *Screen) stepped(m steppedMsg) tea.Cmd {
	delete(s.busy, m.op.ID())
	if m.gen != s.gen {
		if s.remember(m.snap); s.unlock.due {
			s.relock()
		}
		if m.fresh && m.snap.SignaturesDone == 0 {
			return tea.Sequence(abandon(m.op), track(m.op)) // the person left before anything was signed
		}
		if m.err != nil && (m.step == stepSign || m.step == stepExecute) && waitsFor(m.snap) != phaseGone {
			return tea.Batch(track(m.op), screen.Toast(theme.Warn,
				"what you left did not finish; see Activity: "+present.Clean(m.snap.Problem, 300)))
		}
		return track(m.op)
	}
	s.snap = m.snap
	s.note(m.snap)
	if s.deps.Unlock != nil && errors.Is(m.err, vault.ErrLocked) {
		return s.lockedMeanwhile(m)
	}
	if cmd, ok := s.overtaken(m); ok {
		return cmd
	}
	if m.err != nil && !refusedOrGone(m.snap) {
		s.fail(m.err, m.step)
		return track(m.op)
	}
	s.show(m.snap)
	if s.phase == phaseGone {
		return s.handOver()
	}
	return tea.Batch(track(m.op), s.schedule())
}

// lockedMeanwhile goes back to the confirmed review when the vault locked by itself before a key was needed. What was
// read of it stays read.
func (s *Screen) lockedMeanwhile(m steppedMsg) tea.Cmd {
	s.show(m.snap)
	if !s.reviewing() {
		return track(m.op)
	}
	if s.read.id == s.shownID() {
		s.drawn, s.text[pageMain] = s.read.id, s.read.text
	}
	s.ask()
	return tea.Batch(track(m.op), s.schedule())
}

func refusedOrGone(x flow.Snapshot) bool {
	p := waitsFor(x)
	return p == phaseRefused || p == phaseGone
}

// show puts a snapshot on the screen.
func (s *Screen) show(x flow.Snapshot) {
	s.snap = x
	s.enter(waitsFor(x))
	if s.phase == phaseProblem {
		s.failed = x.Err
	}
	s.previous = x.Previous
	s.reviewed()
	s.focusTyped()
}

func (s *Screen) fail(err error, at step) {
	s.enter(phaseProblem)
	s.failed, s.retry = err, at
}

// handOver hands the operation to the activity screen, and tells the form that it came from that it is on its way.
func (s *Screen) handOver() tea.Cmd {
	s.relock()
	return tea.Sequence(back(), track(s.op),
		screen.Open(screen.Activity, activity.ShowArg{Op: s.op}))
}

// leave closes the screen and says what stays behind.
func (s *Screen) leave() tea.Cmd {
	op, ph := s.op, s.phase
	if s.stop != nil {
		s.stop()
	}
	switch {
	// it keeps running, and its answer moves no screen: the user is elsewhere then
	case ph == phaseExecute, s.running():
		s.gen++
		cmd := s.handOver()
		s.phase = phaseEmpty
		return tea.Batch(cmd, s.goesOn(goesOnMsg{op, reachedBy(op)}))
	case ph == phaseEmpty, ph == phaseGone, op == nil:
		s.reset(nil)
		return back()
	case s.signed:
		text := "Left. The first signature stays live " + s.about().LiveFor() +
			" (Activity, then o)."
		switch {
		case s.exchange(), s.before() && !s.paid[op.ID()]:
			text = "Left. What you signed before can still be used until it ends (Activity, o)."
		case s.before():
			text = "Left. The first signature and the payments that you signed can still be used until they end " +
				"(Activity, o)."
		}
		s.gen++
		s.phase = phaseEmpty
		s.relock()
		return tea.Batch(track(op), tea.Sequence(back(),
			screen.Toast(theme.Warn, text)))
	}
	s.reset(nil)
	return tea.Batch(tea.Sequence(abandon(op), track(op)),
		tea.Sequence(back(),
			screen.Toast(theme.None, "Left. Nothing was signed.")))
}

// edit goes back to the builder with the draft and its mistakes.
func (s *Screen) edit() tea.Cmd {
	op, signed := s.op, s.signed
	arg := EditArg{Draft: s.snap.Intent, Failures: present.Failures(s.failed)}
	if !s.start.IsZero() {
		arg.Draft = s.start.Draft()
	}
	s.reset(nil)
	cmds := []tea.Cmd{tea.Sequence(back(), screen.Open(screen.Build, arg))}
	switch {
	case op == nil:
	case signed:
		cmds = append(cmds, track(op), screen.Toast(theme.Warn,
			"What you signed can still be used until it ends: see Activity."))
	default:
		cmds = append(cmds, tea.Sequence(abandon(op), track(op)))
	}
	return tea.Batch(cmds...)
}

// again repeats the failed step, or asks for a new preparation or quote.
func (s *Screen) again() tea.Cmd {
	var no *api.Error
	switch {
	case s.op == nil:
		s.enter(phasePrepare)
		return s.startOp(s.start)
	case s.exchange():
	case errors.As(s.failed, &no) && no.Name == api.ErrPrepareAgain, s.op.Snapshot().Over, s.phase == phaseReview1,
		s.retry == stepPrepare, !s.signed:
		return s.prepare()
	}
	return s.quote()
}

// back closes the review in favour of the screen below it.
func back() tea.Cmd { return screen.Send(screen.BackMsg{From: screen.Review}) }
