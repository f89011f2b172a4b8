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

// unlock is the passphrase dialog over a review. It signs nothing: afterwards the person is back on the review.
type unlock struct {
	open  bool
	busy  bool // the vault is being opened
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
	u.open, u.busy = false, false
	u.field.Wipe()
	s.refresh()
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
		s.unask()
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
	s.unask()
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
	lines = append(lines, kit.Prose(in, 0,
		kit.Plain(
			"Unlock them to sign. Nothing is signed by that: you come back to this review and confirm it again."))...)
	const label = "passphrase  "
	field := u.field.Text(th, in-len(label))
	foot := "enter unlocks, esc goes back and confirms nothing"
	if u.busy {
		field = th.Dim.Render("opening the vault takes a moment (asked " + kit.Age(f.Now, u.since) + ")")
		foot = "esc goes back and confirms nothing"
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
