package review

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/consent"
)

// unlock is the passphrase dialog over a review, or before one. It signs nothing: afterwards the person is on the
// review. What it unlocked is locked again when the person leaves the review.
type unlock struct {
	open  bool
	then  func() tea.Cmd // begins the review that the dialog is before
	ours  bool           // the vault was unlocked for this review
	due   bool           // the review was left, and the vault is locked as soon as no step needs a key any more
	busy  bool           // the vault is being opened
	since time.Time
	gen   int
	stop  context.CancelFunc
	field *kit.SecretField
	guard kit.Guard
	wrong string // why the last attempt failed
	late  bool   // a canceled attempt still opened the vault, while another one was running
}

// unlockedMsg is the outcome of one attempt. It carries nothing of the typed text.
type unlockedMsg struct {
	gen   int
	empty bool // nothing had been typed
	err   error
}

// lockedNow reports whether the confirmed step needs a key of a locked vault.
func (s *Screen) lockedNow() bool {
	if s.deps.Unlock == nil || s.deps.Locked == nil {
		return false
	}
	signs := s.phase == phaseReview1 || s.phase == phaseReview2 && !s.snap.Review2.SameChainOnly
	return signs && s.deps.Locked()
}

// begin begins a review. When a key is locked the passphrase comes first, so that it costs nothing of the time of a
// quote; esc begins without it.
func (s *Screen) begin(start func() tea.Cmd) tea.Cmd {
	locked := s.deps.Unlock != nil && s.deps.Locked != nil && s.deps.NoSigner == "" && s.deps.Locked()
	if !locked || s.reviewing() && !s.lockedNow() {
		return start()
	}
	s.ask()
	s.unlock.then = start
	return nil
}

// relock locks what was unlocked for the review that is left, once no step needs a key any more.
func (s *Screen) relock() {
	u := &s.unlock
	u.due, u.ours = u.due || u.ours, false
	if u.due && len(s.busy) == 0 {
		u.due = false
		s.lock()
	}
}

// ask opens the dialog over the review on the screen.
func (s *Screen) ask() {
	u := &s.unlock
	u.open, u.busy, u.wrong = true, false, ""
	u.field.Wipe()
	u.field.Error = ""
	u.guard.Open(s.ctx.Clock())
}

// unask closes the dialog. The review keeps no confirmation and no typed text, and its grace period restarts.
func (s *Screen) unask() {
	u := &s.unlock
	u.gen++
	if u.stop != nil {
		u.stop()
	}
	u.open, u.busy, u.then = false, false, nil
	u.field.Wipe()
	s.refresh()
}

// suspended wipes the typed text and calls off an attempt. The question before a review stays, as the review has not
// begun.
func (s *Screen) suspended() {
	u, then := &s.unlock, s.unlock.then
	u.field.Wipe()
	if u.busy {
		s.unask()
		if then != nil {
			s.ask()
			u.then = then
		}
	}
}

// refresh restarts the grace period of the review and forgets the typed text; the lines that were read stay read.
func (s *Screen) refresh() {
	s.key, s.answers = "", consent.Answers{}
	s.guard.Open(s.ctx.Clock())
	s.typed.Set("")
	s.typed.Error = ""
	s.focusTyped()
}

// pressUnlock handles a key of the dialog and remembers no key.
func (s *Screen) pressUnlock(m tea.KeyPressMsg) tea.Cmd {
	u, now := &s.unlock, s.ctx.Clock()
	switch key := m.String(); {
	case key == "esc":
		then := u.then
		if s.unask(); then != nil {
			return then()
		}
	case u.busy:
	case key == "enter":
		if u.guard.Allow(now) && !m.IsRepeat {
			return s.tryUnlock(now)
		}
	default:
		u.field.Update(m)
		if m.Text != "" {
			u.wrong = ""
		}
	}
	return nil
}

// tryUnlock opens the vault with the typed text. Unlock owns the passphrase from here on and wipes it; this wipes it
// once more for certain.
func (s *Screen) tryUnlock(now time.Time) tea.Cmd {
	u := &s.unlock
	ctx, stop := context.WithCancel(s.life)
	u.gen++
	u.busy, u.since, u.stop, u.wrong = true, now, stop, ""
	empty := u.field.Empty()
	gen, pass, open := u.gen, u.field.Take(), s.deps.Unlock
	return func() tea.Msg {
		defer stop()
		err := open(ctx, pass)
		pass.Wipe()
		return unlockedMsg{gen: gen, empty: empty, err: err}
	}
}

// unlocked takes the outcome. An open vault leads back to the review and never further. A vault that opens after esc or
// a suspension, when nothing waits for it any more, is locked again.
func (s *Screen) unlocked(m unlockedMsg) tea.Cmd {
	u := &s.unlock
	if m.gen != u.gen || !u.open {
		u.late = u.late || m.err == nil
		if u.late && !u.busy {
			u.late = false
			s.lock()
		}
		return nil
	}
	late := u.late
	u.late = false
	if m.err != nil {
		if late {
			s.lock()
		}
		u.busy, u.wrong = false, present.Locked(m.err, m.empty)
		u.guard.Open(s.ctx.Clock())
		return nil
	}
	then := u.then
	u.ours = true
	if s.unask(); then != nil {
		return tea.Batch(then(), screen.Toast(theme.Good, "unlocked until you leave the review; nothing is signed yet"))
	}
	return screen.Toast(theme.Good, "unlocked; nothing is signed yet: confirm the review again")
}

// lock locks the vault, if there is one.
func (s *Screen) lock() {
	if s.ctx.Vault.Lock != nil {
		s.ctx.Vault.Lock()
	}
}

// unlockView draws the dialog over the review.
func (s *Screen) unlockView(f screen.Frame, body string) string {
	th, u := f.Theme, &s.unlock
	body, _, _, _ = kit.TakeCursor(body)
	panel := min(f.W-4, 72)
	in := panel - 4
	lines := append([]string{th.Strong.Render("The keys are locked")}, "")
	what := "Unlock them to sign. Unlocking signs nothing: you return to this review and confirm it again."
	esc := "esc goes back and confirms nothing"
	if u.then != nil {
		what = "Unlock them now, before the quote starts to expire. Unlocking signs nothing: the review comes next."
		esc = "esc reviews without it, and signing asks again"
	}
	lines = append(lines, kit.Prose(in, 0, kit.Plain(what))...)
	const label = "passphrase  "
	field, foot := u.field.Text(th, in-len(label)), "enter unlocks, "+esc
	if u.busy {
		field = th.Dim.Render("opening the vault takes a moment (asked " + kit.Age(f.Now, u.since) + ")")
		foot = esc
	}
	lines = append(lines, "", th.Accent.Render(label)+field)
	for _, text := range []string{u.field.Error, u.wrong} {
		if text != "" {
			lines = append(lines, kit.Prose(in, 0, kit.Marked(th, theme.Danger, text)...)...)
		}
	}
	lines = append(lines, "", th.Dim.Render(foot))
	return kit.Dialog(th, body, lines, panel, f.W, f.H)
}
