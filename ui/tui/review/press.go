package review

import (
	"slices"
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
	s.renewal.key, s.renewal.n = now, 0
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
	if s.reviewing() && s.focus.Press(key, s.panes) {
		return nil
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
	case screen.NameKey:
		if s.phase == phaseExecute || s.phase == phaseGone {
			return s.ctx.Name(s.ctx.Payee(s.snap.QuoteID))
		}
	case present.ArithmeticKey, "o", present.SinceKey:
		s.toggle(key)
	case wireKey:
		if s.reviewing() {
			return screen.Open(screen.Wire, nil)
		}
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
	switch {
	case s.reviewing() && s.focus.In(s.panes) > 0:
		s.side.Press(key)
	case (key == "space" || key == "pgdown") && text.Below() == 0 && text.ToUnseen():
	case key == "space" && text.Below() == 0 && s.reviewing():
		s.nextFold()
	default:
		text.Press(key)
	}
}

// folds are the letters of the folds that open and shut in the text.
func (s *Screen) folds() []string {
	var out []string
	if s.reviewing() {
		for _, b := range reviewed(s.about()).Folds() {
			if !b.Fold.Open && !b.Fold.Apart {
				out = append(out, b.Fold.Key)
			}
		}
	}
	return out
}

// nextFold opens the first fold that is shut; after the last one it shuts all.
func (s *Screen) nextFold() {
	for _, key := range s.folds() {
		if !s.unfolded[key] {
			s.toggle(key)
			return
		}
	}
	s.unfolded = map[string]bool{}
	s.text[pageMain].Press("g")
}

// toggle opens or shuts a fold; an opened one is scrolled to.
func (s *Screen) toggle(key string) {
	if !slices.Contains(s.folds(), key) {
		return
	}
	s.unfolded[key] = !s.unfolded[key]
	s.reveal = s.unfolded[key] && (s.panes < 2 || !slices.Contains(besideFolds(), key))
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
		return screen.Copy("review code", s.fingerprint())
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
		if s.typed.Value() == "" && s.answers.Phrase+s.answers.Amount == "" {
			s.renewal.first = s.review()
		}
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
	if held {
		return nil
	}
	if !s.guard.Allow(now) {
		return screen.Toast(theme.None,
			"that was too soon after this screen appeared: nothing was confirmed, press again")
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

// typedAll checks the typed text, and asks for the next where more than one is needed: the sentence of an open gate,
// the amount, the characters of an address.
func (s *Screen) typedAll() (toast tea.Cmd, ok bool) {
	k, text := s.atStake(), s.typed.Value()
	switch s.wants() {
	case wantPhrase:
		if text != k.Phrase {
			s.wrong("that is not the sentence")
			return screen.Toast(theme.Warn, "type the sentence exactly as above, then enter"), false
		}
		if s.answers.Phrase = text; k.Cause != consent.None {
			return s.askNext(), false
		}
	case wantAmount:
		if !k.RightAmount(text) {
			s.wrong("that is not " + k.Least)
			return screen.Toast(theme.Warn, "type "+k.Least+" to confirm, then enter"), false
		}
		if k.Address != "" {
			s.answers.Amount = text
			return s.askNext(), false
		}
	case wantLetters:
		if !k.RightLetters(text) {
			s.wrong("those are not the characters of the address")
			return screen.Toast(theme.Warn, "type "+present.Typed(k)+", then enter"), false
		}
	}
	return nil, true
}

// askNext asks for the next text, behind the pause of a new question.
func (s *Screen) askNext() tea.Cmd {
	s.typed.Set("")
	s.typed.Error = ""
	s.typed.Focus()
	s.guard.Open(s.ctx.Clock())
	k := s.atStake()
	if s.wants() == wantAmount {
		return screen.Toast(theme.None, "now the amount: type "+k.Least+", then enter")
	}
	return screen.Toast(theme.None, "now type "+present.Typed(k)+", then enter")
}

// wrong marks the typed text, if there is any, as wrong.
func (s *Screen) wrong(text string) {
	s.typed.Error = text
	if s.typed.Value() == "" {
		s.typed.Error = ""
	}
}
