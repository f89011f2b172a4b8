package review

import (
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/tui/activity"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
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
	case tea.PasteMsg:
		if s.reviewing() {
			return screen.Toast(theme.Warn, "a paste confirms nothing: type the amount by hand")
		}
	case tea.KeyPressMsg:
		return s.press(m)
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
		return s.startOp(a.Intent)
	case activity.ReopenArg:
		return s.reopen(a.Op)
	}
	return nil
}

// reopen shows an operation that waits for a review. One that was reviewed before is shown from its beginning again.
func (s *Screen) reopen(op activity.Operation) tea.Cmd {
	o, ok := op.(Operation)
	if !ok {
		return screen.Toast(theme.Warn, "this operation can only be watched")
	}
	if s.op != nil && s.op.ID() == o.ID() && s.phase != phaseEmpty && s.phase != phaseGone {
		s.guard.Open(s.ctx.Clock())
		return nil
	}
	if s.busy[o.ID()] {
		return tea.Sequence(screen.Send(screen.BackMsg{}), screen.Toast(theme.Warn, "the answer to the last step is still awaited"))
	}
	s.reset(o)
	s.show(o.Snapshot())
	s.signed = s.snap.SignaturesDone > 0
	if s.snap.State == flow.StateQuoting {
		return s.requote()
	}
	return nil
}

// reset forgets the operation before; answers that still come for it are dropped.
func (s *Screen) reset(op Operation) {
	s.gen++
	if s.stop != nil {
		s.stop()
	}
	s.op, s.snap, s.failed, s.retry, s.events, s.signed = op, flow.Snapshot{}, nil, stepNone, nil, false
	s.start = intent.Intent{}
	s.drawn = ""
	s.enter(phaseEmpty)
}

// enter begins a phase: the guard runs anew and nothing typed is kept.
func (s *Screen) enter(p phase) {
	now := s.ctx.Clock()
	s.phase, s.since, s.page, s.drawn = p, now, pageMain, ""
	s.text[pageMain] = kit.Scroll{}
	s.guard.Open(now)
	s.typed.Set("")
	s.typed.Blur()
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
	return tea.Batch(s.prepare(), track(m.op))
}

func track(op Operation) tea.Cmd { return screen.Send(activity.TrackMsg{Op: op}) }

// stepped takes the outcome of a step.
func (s *Screen) stepped(m steppedMsg) tea.Cmd {
	delete(s.busy, m.op.ID())
	if m.gen != s.gen {
		if m.step == stepPrepare && m.snap.SignaturesDone == 0 {
			return tea.Sequence(abandon(m.op), track(m.op)) // the person left while it was prepared
		}
		return track(m.op)
	}
	s.snap, s.signed = m.snap, m.snap.SignaturesDone > 0
	if m.err != nil && !refusedOrGone(m.snap) {
		s.fail(m.err, m.step)
		return track(m.op)
	}
	s.show(m.snap)
	if s.phase == phaseGone {
		return s.handOver()
	}
	return track(m.op)
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
	if s.typing() {
		s.typed.Focus()
	}
}

func (s *Screen) fail(err error, at step) {
	s.enter(phaseProblem)
	s.failed, s.retry = err, at
}

// handOver gives the operation to the activity screen.
func (s *Screen) handOver() tea.Cmd {
	return tea.Sequence(screen.Send(screen.BackMsg{}), screen.Open(screen.Activity, activity.ShowArg{Op: s.op}))
}

// leave closes the screen and says what is left behind.
func (s *Screen) leave() tea.Cmd {
	op, ph := s.op, s.phase
	if s.stop != nil {
		s.stop()
	}
	switch {
	case ph == phaseExecute:
		return s.handOver()
	case ph == phaseEmpty, ph == phaseGone, op == nil:
		s.reset(nil)
		return screen.Send(screen.BackMsg{})
	case s.signed:
		text := "Left. The first signature stays live until " + s.until() + " (Activity, then o)."
		s.gen++
		s.phase = phaseEmpty
		return tea.Batch(track(op), tea.Sequence(screen.Send(screen.BackMsg{}), screen.Toast(theme.Warn, text)))
	}
	s.reset(nil)
	return tea.Batch(tea.Sequence(abandon(op), track(op)), tea.Sequence(screen.Send(screen.BackMsg{}), screen.Toast(theme.None, "Left. Nothing was signed.")))
}

// until is the end of the first signature's window.
func (s *Screen) until() string {
	if v := s.snap.Review1; v != nil && !v.Window.Until.IsZero() {
		return v.Window.Until.In(s.ctx.Clock().Location()).Format("15:04:05")
	}
	return "its window ends"
}

// edit goes back to the builder with the draft and what was wrong with it.
func (s *Screen) edit() tea.Cmd {
	op, signed := s.op, s.signed
	arg := EditArg{Draft: s.snap.Intent, Failures: failures(s.failed)}
	if !s.start.IsZero() {
		arg.Draft = s.start.Draft()
	}
	s.reset(nil)
	cmds := []tea.Cmd{tea.Sequence(screen.Send(screen.BackMsg{}), screen.Open(screen.Build, arg))}
	switch {
	case op == nil:
	case signed:
		cmds = append(cmds, track(op), screen.Toast(theme.Warn, "The first signature stays live until its window ends: see Activity."))
	default:
		cmds = append(cmds, tea.Sequence(abandon(op), track(op)))
	}
	return tea.Batch(cmds...)
}

func failures(err error) []api.Failure {
	var ae *api.Error
	var ie *intent.Error
	switch {
	case errors.As(err, &ae):
		return ae.Details
	case errors.As(err, &ie):
		return ie.Failures
	}
	return nil
}

// again repeats the step that failed, or prepares or quotes anew.
func (s *Screen) again() tea.Cmd {
	switch {
	case s.op == nil:
		s.enter(phasePrepare)
		return s.startOp(s.start)
	case s.phase == phaseReview1 || s.retry == stepPrepare || !s.signed:
		return s.prepare()
	}
	return s.requote()
}

// press handles a key. Only the first press of a key on a screen that has stood for half a second can confirm.
func (s *Screen) press(m tea.KeyPressMsg) tea.Cmd {
	now := s.ctx.Clock()
	held := s.held(m, now)
	key := m.String()
	if s.page != pageMain {
		return s.pressPage(key)
	}
	if s.typing() && s.isTyping(m) {
		return s.pressTyped(m, held)
	}
	if k, ok := kit.FindKey(s.Keys(), key); ok && k.Off != "" {
		return screen.Toast(theme.Warn, k.Off)
	}
	switch key {
	case "y":
		if s.reviewing() && !s.typing() {
			return s.confirm(held)
		}
	case "e":
		if s.canEdit() && !held {
			return s.edit()
		}
	case "r":
		if s.canRetry() && !held {
			return s.again()
		}
	case "c":
		s.open(pageChecks)
	case "i":
		s.open(pageInspect)
	case "q":
		return screen.Toast(theme.None, "esc leaves the review; ctrl+c quits")
	case "esc":
		return s.leave()
	case "enter":
		if s.phase == phaseGone && s.op != nil {
			return s.handOver()
		}
	default:
		s.text[pageMain].Press(key)
	}
	return nil
}

func (s *Screen) open(p page) {
	if s.phase == phaseReview1 || s.phase == phaseReview2 || s.phase == phaseRefused {
		s.page = p
		s.text[p] = kit.Scroll{}
	}
}

// pressPage handles a key on the list of checks or the inspection; nothing confirms there, and coming back starts the grace period anew.
func (s *Screen) pressPage(key string) tea.Cmd {
	if key == "esc" || key == "i" || key == "c" || key == "q" {
		s.page = pageMain
		s.guard.Open(s.ctx.Clock())
		return nil
	}
	s.text[s.page].Press(key)
	return nil
}

// isTyping reports the keys that belong to the amount field.
func (s *Screen) isTyping(m tea.KeyPressMsg) bool {
	switch m.String() {
	case "enter", "backspace", "delete", "left", "right":
		return true
	}
	return m.Text != "" && strings.Trim(m.Text, "0123456789.,") == ""
}

func (s *Screen) pressTyped(m tea.KeyPressMsg, held bool) tea.Cmd {
	if m.String() == "enter" {
		return s.confirm(held)
	}
	now := s.ctx.Clock()
	if why := s.obstacle(now); why != "" {
		return screen.Toast(theme.Warn, why)
	}
	if s.guard.Allow(now) {
		s.typed.Error = ""
		s.typed.Update(m)
	}
	return nil
}

// confirm signs or executes when nothing stands in the way.
func (s *Screen) confirm(held bool) tea.Cmd {
	now := s.ctx.Clock()
	if why := s.obstacle(now); why != "" {
		return screen.Toast(theme.Warn, why)
	}
	if !s.guard.Allow(now) || held {
		return nil
	}
	k := s.atStake()
	if k.signal != "" && !typedRight(s.typed.Value(), *k.typed) {
		s.typed.Error = "that is not " + typedWant(*k.typed)
		if s.typed.Value() == "" {
			s.typed.Error = ""
		}
		return screen.Toast(theme.Warn, "type "+typedWant(*k.typed)+" to confirm, then enter")
	}
	if s.phase == phaseReview1 {
		return s.signPrepared(s.fingerprint())
	}
	return s.execute(s.fingerprint())
}
