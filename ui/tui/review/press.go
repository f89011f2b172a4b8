package review

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/consent"
)

// press handles a key. Only the first press of a key, on a screen that has been shown for half a second, can confirm.
func (s *Screen) press(m tea.KeyPressMsg) tea.Cmd {
	if s.unlock.open {
		return s.pressUnlock(m)
	}
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
		switch {
		case s.phase == phaseGone && s.op != nil:
			return s.handOver()
		case s.phase == phaseProblem && s.submitted() && !held:
			return s.handOver()
		}
	default:
		s.scroll(key)
	}
	return nil
}

// scroll moves the text of the review. When reading on reaches the end and lines above were never shown, it continues
// with the first of those.
func (s *Screen) scroll(key string) {
	text := &s.text[pageMain]
	if (key == "space" || key == "pgdown") && text.Below() == 0 && text.ToUnseen() {
		return
	}
	text.Press(key)
}

func (s *Screen) open(p page) {
	if s.phase == phaseReview1 || s.phase == phaseReview2 || s.phase == phaseRefused {
		s.page = p
		s.text[p] = kit.Scroll{}
	}
}

// pressPage handles a key on the list of checks or the inspection. Nothing confirms there, and coming back restarts the
// grace period.
func (s *Screen) pressPage(key string) tea.Cmd {
	if key == "esc" || key == "i" || key == "c" || key == "q" {
		s.page = pageMain
		s.guard.Open(s.ctx.Clock())
		return nil
	}
	if key == "C" && s.fingerprint() != "" {
		return screen.Copy("fingerprint", s.fingerprint())
	}
	s.text[s.page].Press(key)
	return nil
}

// isTyping reports whether a key belongs to the field: enter, and digits of an amount or everything of a sentence.
func (s *Screen) isTyping(m tea.KeyPressMsg) bool {
	switch m.String() {
	case "enter":
		return true
	case "backspace", "delete", "left", "right":
		return s.typed.Focused()
	case "ctrl+u", "ctrl+w", "ctrl+k": // these may mean something else while nothing is typed
		return s.typed.Focused() && s.typed.Value() != ""
	case "esc":
		return s.writing()
	}
	if s.letters() {
		return s.writing() && m.Text != ""
	}
	return m.Text != "" && strings.Trim(m.Text, "0123456789.,") == ""
}

func (s *Screen) pressTyped(m tea.KeyPressMsg, held bool) tea.Cmd {
	now := s.ctx.Clock()
	why := s.obstacle(now)
	switch key := m.String(); {
	case key == "esc":
		s.typed.Set("")
		s.typed.Error = ""
		s.typed.Blur()
	case key == "enter" && why == "" && s.letters() && !s.typed.Focused():
		if s.guard.Allow(now) && !held {
			s.typed.Focus()
		}
	case key == "enter":
		return s.confirm(held)
	case key == "space" && !s.text[pageMain].SeenAll():
		s.scroll(key)
	case why != "":
		return screen.Toast(theme.Warn, why)
	case s.guard.Allow(now):
		s.typed.Error = ""
		s.typed.Update(m)
	}
	return nil
}

// confirm signs or executes when there is no obstacle.
func (s *Screen) confirm(held bool) tea.Cmd {
	now := s.ctx.Clock()
	if why := s.obstacle(now); why != "" {
		return screen.Toast(theme.Warn, why)
	}
	if !s.guard.Allow(now) || held {
		return nil
	}
	if toast, ok := s.typedAll(); !ok {
		return toast
	}
	if s.lockedNow() {
		s.ask()
		return nil
	}
	s.read.id, s.read.text = s.drawn, s.text[pageMain]
	given, err := s.consents()
	switch {
	case err != nil:
		return screen.Toast(theme.Warn, present.ErrorText(err))
	case s.phase == phaseReview1:
		return s.signPrepared(given)
	}
	return s.execute(given)
}

// typedAll checks the typed text. Behind an open gate the sentence comes first and, where one is needed, the amount
// after it.
func (s *Screen) typedAll() (toast tea.Cmd, ok bool) {
	k := s.atStake()
	switch s.wants() {
	case wantPhrase:
		if s.typed.Value() != k.Phrase {
			s.wrong("that is not the sentence")
			return screen.Toast(theme.Warn, "type the sentence exactly as it stands above, then enter"), false
		}
		if k.Cause == consent.None {
			return nil, true
		}
		s.sentence = s.typed.Value()
		s.typed.Set("")
		s.typed.Error = ""
		s.guard.Open(s.ctx.Clock())
		if k.Tail != "" {
			return screen.Toast(theme.None, "now the address: type its last "+strconv.Itoa(consent.TailLetters)+
				" characters, then enter"), false
		}
		return screen.Toast(theme.None, "now the amount: type "+k.AmountText()+", then enter"), false
	case wantTail:
		if !k.Right(s.typed.Value()) {
			s.wrong("that is not the end of the address")
			return screen.Toast(theme.Warn, "type the last "+strconv.Itoa(consent.TailLetters)+" characters of "+k.Tail+
				", then enter"), false
		}
	case wantAmount:
		if !k.Right(s.typed.Value()) {
			s.wrong("that is not " + k.AmountText())
			return screen.Toast(theme.Warn, "type "+k.AmountText()+" to confirm, then enter"), false
		}
	}
	return nil, true
}

// wrong marks the typed text, if there is any, as wrong.
func (s *Screen) wrong(text string) {
	s.typed.Error = text
	if s.typed.Value() == "" {
		s.typed.Error = ""
	}
}
