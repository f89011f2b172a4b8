package review

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/wallet/flow"
)

// Keys lists the keys that work now, and one that does not: amounts are never hidden where a person decides on them.
func (s *Screen) Keys() []kit.Key {
	hide := kit.NewKey("hide amounts", "h").OffWhen(true,
		"a review always shows its amounts: you decide on them here").Hidden()
	return append(s.ownKeys(), hide)
}

func (s *Screen) ownKeys() []kit.Key {
	switch {
	case s.unlock.open:
		esc := kit.NewKey("back to the review", "esc")
		if s.unlock.then != nil {
			esc = kit.NewKey("review without", "esc")
		}
		return []kit.Key{kit.NewKey("unlock", "enter").OffWhen(s.unlock.busy, "the vault is being opened").WithCare(),
			esc}
	case s.page != pageMain:
		fp := kit.NewKey("copy review code", "C").OffWhen(s.fingerprint() == "", "there is no review to name")
		return []kit.Key{kit.NewKey("back to the review", "esc"), fp, scrollKey()}
	case s.writing():
		return []kit.Key{s.confirmKey(), kit.NewKey("stop typing", "esc"), scrollKey()}
	}
	leave := kit.NewKey("leave, nothing signed", "esc").Named("leave")
	if s.signed {
		leave.Label = "leave"
	}
	switch s.phase {
	case phaseReview1:
		keys := []kit.Key{s.confirmKey(), kit.NewKey("edit", "e"), inspectKey(), leave, checksKey()}
		if s.expired(s.ctx.Clock()) {
			keys[0] = againKey("prepare again")
		}
		keys = slices.Insert(keys, 1, s.paneKeys()...)
		return append(keys, s.foldKeys()...)
	case phaseReview2:
		keys := append([]kit.Key{s.confirmKey()}, s.paneKeys()...)
		keys = append(append(keys, againKey("new quote")), s.foldKeys()...)
		keys = append(keys, leave, checksKey(), inspectKey(), kit.NewKey("edit", "e").Hidden())
		if s.expired(s.ctx.Clock()) {
			return keys[1:]
		}
		return keys
	case phaseRefused:
		again := againKey("ask again")
		if s.signed || s.exchange() {
			again.Label = "new quote"
		}
		return []kit.Key{kit.NewKey("edit", "e"), checksKey(), inspectKey(), leave, again.Hidden(), scrollKey()}
	case phaseProblem:
		if s.submitted() {
			return []kit.Key{kit.NewKey("see Activity", "enter"), againKey("try again").OffWhen(true, submittedWords),
				leave}
		}
		return []kit.Key{againKey("try again").OffWhen(!s.canRetry(), "this cannot be tried again: e builds it again"),
			kit.NewKey("edit", "e"), leave}
	case phasePrepare:
		return []kit.Key{leave}
	case phaseQuote:
		switch {
		case s.running():
			leave = kit.NewKey("go to Activity", "esc")
		case s.signed:
			leave.Label = "leave; the signature stays live"
		}
		return []kit.Key{leave}
	case phaseExecute:
		return s.ctx.Naming([]kit.Key{kit.NewKey("go to Activity", "esc")}, s.ctx.Payee(s.snap.QuoteID))
	case phaseGone:
		return s.ctx.Naming([]kit.Key{kit.NewKey("go to Activity", "enter"), kit.NewKey("close", "esc")},
			s.ctx.Payee(s.snap.QuoteID))
	}
	return []kit.Key{kit.NewKey("close", "esc")}
}

// confirmKey is the key of the decision. Every obstacle shows it as off, except the half second of grace, which press
// enforces itself: a held key must reach press.
func (s *Screen) confirmKey() kit.Key {
	k := kit.NewKey(s.verb(), "y")
	if s.phase == phaseReview1 && !s.snap.Review1.WholeConsent {
		k.Label = s.shortVerb()
	}
	if want := s.wants(); want != wantKey {
		k.Press, k.Label = []string{"enter"}, "confirm what you typed"
		switch {
		case s.writing():
		case want == wantPhrase:
			k.Label = "type the sentence"
		case want == wantLetters:
			k.Label = "type characters of the address"
		}
	}
	why := s.obstacle(s.ctx.Clock())
	k.Quiet = s.deps.NoSigner != "" // offering it would look as if something could be signed
	return k.OffWhen(why != "", why).Named("confirm").WithCare()
}

// shortVerb says in the key line what signing review 1 does: in words, or by the number of signatures where the words
// would take half of the line.
func (s *Screen) shortVerb() string {
	if verb := s.verb(); s.width == 0 || present.Width(verb) <= s.width/2 {
		return verb
	}
	return "sign " + strconv.Itoa(s.firstCount())
}

// submittedWords explains why the review does not ask again for a quote that was submitted before.
const submittedWords = "this quote was submitted before: look at Activity how it ended first"

// submitted reports whether the quote was sent before: nothing here may send a second one.
func (s *Screen) submitted() bool { return errors.Is(s.failed, flow.ErrSubmitted) }

func againKey(label string) kit.Key { return kit.NewKey(label, "r").Named("ask-again") }

func inspectKey() kit.Key { return kit.NewKey("inspect", "i") }
func checksKey() kit.Key  { return kit.NewKey("checks", "c") }
func scrollKey() kit.Key {
	return kit.Key{Press: []string{"space", "pgdown", "pgup", "up", "down", "j", "k", "g", "G", "home", "end"},
		Show: "space", Label: "read on", Quiet: true}
}

// paneKeys move the keyboard between the panes of a wide screen, and show what went over the wire.
func (s *Screen) paneKeys() []kit.Key {
	keys := []kit.Key{kit.NewKey("what went over the wire", wireKey).Hidden()}
	if s.panes > 1 {
		keys = append(keys, kit.NewKey("other pane", "tab").Explain(
			"give the other pane the keyboard: the arrows scroll it then"),
			kit.NewKey("pane before", "shift+tab").Hidden())
	}
	return keys
}

// foldKeys open what explains, once the review was read; until then space reads on.
func (s *Screen) foldKeys() []kit.Key {
	space, letters := scrollKey(), s.folds()
	if text := &s.text[pageMain]; text.SeenAll() && text.Below() == 0 && len(letters) > 0 {
		space.Label, space.Quiet = "next fold", false
	}
	out := []kit.Key{space}
	if len(letters) > 0 {
		out = append(out, kit.Key{Press: letters, Show: strings.Join(letters, " "), Label: "open or shut a fold",
			Quiet: true})
	}
	return out
}

// canEdit reports whether going back to the builder makes sense.
func (s *Screen) canEdit() bool {
	switch s.phase {
	case phaseReview1, phaseReview2, phaseRefused:
		return true
	case phaseProblem:
		return !s.submitted()
	}
	return false
}

// canRetry reports whether r does something: a new quote, a new preparation, or the failed step again. An execute is
// never repeated: after the service refused one, r asks for a new quote.
func (s *Screen) canRetry() bool {
	switch s.phase {
	case phaseReview1:
		return s.expired(s.ctx.Clock())
	case phaseReview2, phaseRefused:
		return true
	case phaseProblem:
		return !s.submitted() && (s.retry != stepExecute || s.snap.State == flow.StateReview2 ||
			s.snap.State == flow.StateQuoting)
	}
	return false
}
