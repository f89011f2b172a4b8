package review

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/present"
	"coffer/wallet/consent"
)

// heldKey is the time within which the same key again counts as held down: terminals that do not report repeats send
// them faster.
const heldKey = 200 * time.Millisecond

// atStake judges the review on the screen.
func (s *Screen) atStake() consent.Demand {
	return consent.Demanded(s.ctx.Catalog, s.review(), s.person())
}

// person is what decides beside the review what has to be typed.
func (s *Screen) person() consent.Person {
	return consent.Person{From: s.deps.TypeFrom, Known: s.deps.Known, Draw: s.draw}
}

// review is the review on the screen, as consent to it is given; empty when none is.
func (s *Screen) review() consent.Review {
	if !s.reviewing() {
		return consent.Review{}
	}
	return s.snap.Under(s.phase == phaseReview2)
}

// wanted is the input that the confirmation waits for.
type wanted int

const (
	wantKey     wanted = iota // a single key
	wantPhrase                // the sentence of an open gate
	wantAmount                // the amount
	wantLetters               // characters of an address
)

func (s *Screen) wants() wanted {
	switch k := s.atStake(); {
	case k.Phrase != "" && s.answers.Phrase != k.Phrase:
		return wantPhrase
	case k.Least != "" && !k.RightAmount(s.answers.Amount):
		return wantAmount
	case k.Address != "":
		return wantLetters
	case k.Least != "":
		return wantAmount
	case k.Phrase != "":
		return wantPhrase
	}
	return wantKey
}

// typing reports whether the review on the screen is confirmed by typing.
func (s *Screen) typing() bool { return s.reviewing() && s.wants() != wantKey }

// focusTyped focuses the field where it takes digits at once. A sentence is typed after enter only: until then its
// letters are keys of the review.
func (s *Screen) focusTyped() {
	s.typed.Blur()
	if s.reviewing() && s.wants() == wantAmount {
		s.typed.Focus()
	}
}

// writing reports whether letters go into the field, because a sentence is being typed.
func (s *Screen) writing() bool { return s.page == pageMain && s.typed.Focused() && s.letters() }

// letters reports whether the text to type has letters, which are keys of the review until enter is pressed.
func (s *Screen) letters() bool {
	return s.reviewing() && (s.wants() == wantPhrase || s.wants() == wantLetters)
}

// obstacle says why the review cannot be confirmed now; "" when it can. It changes nothing; press enforces the grace
// period.
func (s *Screen) obstacle(now time.Time) string {
	switch {
	case !s.reviewing():
		return "there is nothing to confirm"
	case s.deps.NoSigner != "":
		return s.deps.NoSigner
	case s.phase == phaseReview1 && s.expired(now):
		return "the time to sign this has expired: press r to prepare it again"
	case s.expired(now):
		return "the quote has expired: press r for a new one"
	case !s.faithful():
		return "the operation is not what you asked for"
	case !s.text[pageMain].SeenAll():
		return "read to the end first: " + present.Plural(s.text[pageMain].Unseen(), "line was", "lines were") +
			" not on the screen yet (space)"
	}
	return ""
}

// faithful refuses to confirm a view that differs from the intent. verify refuses everything else itself.
func (s *Screen) faithful() bool {
	return s.phase != phaseReview1 || consent.Faithful(s.snap.Intent, s.snap.Review1, s.snap.Report1)
}

// held reports whether a key is held down, by the terminal's repeat flag or by its pace, and remembers the key.
func (s *Screen) held(m tea.KeyPressMsg, now time.Time) bool {
	same := m.String() == s.key && now.Sub(s.keyAt) < heldKey
	s.key, s.keyAt = m.String(), now
	return m.IsRepeat || same
}

// fingerprint identifies the review on the screen; "" without a review.
func (s *Screen) fingerprint() string { return s.review().Fingerprint() }

// consents makes the consent to the review on the screen, from what was shown and what was typed by hand.
func (s *Screen) consents() (consent.Consent, error) {
	a := s.answers
	a.Shown = s.shown
	switch s.wants() {
	case wantPhrase:
		a.Phrase = s.typed.Value()
	case wantAmount:
		a.Amount = s.typed.Value()
	case wantLetters:
		a.Letters = s.typed.Value()
	}
	return consent.Give(s.review(), s.atStake(), a)
}
