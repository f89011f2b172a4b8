package review

import (
	"math/big"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api/amount"
	"coffer/ui/tui/kit"
	"coffer/wallet/verify"
)

// heldKey is the time within which the same key again is taken for one that is held down: terminals that do not report repeats send them faster.
const heldKey = 200 * time.Millisecond

// stake is what a confirmation is about: the sentence of an open gate, the amount to type and the value that decides whether it has to be typed.
type stake struct {
	phrase string             // has to be typed exactly, before the amount; "": no gate stands open
	typed  *verify.AmountView // nil: nothing leaves the account as far as the bytes show
	micro  *big.Int           // nil: unknown
	signal string             // why it has to be typed; "": one key is enough
}

// atStake judges the review on the screen. Review 1 only prepares, unless its signature is the whole consent; review 2 pays.
func (s *Screen) atStake() stake {
	k := stake{micro: new(big.Int)}
	switch {
	case s.phase == phaseReview1 && s.snap.Review1 != nil:
		if v := s.snap.Review1; v.WholeConsent {
			k = s.weigh(v.Outflow, sum(v.Outflow))
		}
		k.phrase = s.snap.Review1.Phrase
	case s.phase == phaseReview2 && s.snap.Review2 != nil:
		if v := s.snap.Review2; !v.SameChainOnly {
			k = s.weigh(s.summed(v).Pay, v.PayMicro)
		}
		k.phrase = s.snap.Review2.Phrase
	}
	return k
}

// wanted is what the confirmation waits for now.
type wanted int

const (
	wantKey    wanted = iota // one key
	wantPhrase               // the sentence of an open gate
	wantAmount               // the amount
)

func (s *Screen) wants() wanted {
	switch k := s.atStake(); {
	case k.phrase != "" && !s.agreed:
		return wantPhrase
	case k.signal != "":
		return wantAmount
	case k.phrase != "":
		return wantPhrase
	}
	return wantKey
}

func (s *Screen) weigh(amounts []verify.AmountView, micro *big.Int) stake {
	k := stake{micro: micro, typed: largest(amounts)}
	switch {
	case k.typed == nil:
	case micro == nil:
		k.signal = "its value is unknown"
	case micro.Cmp(s.deps.TypeFrom) >= 0:
		k.signal = "it is worth " + kit.USD(s.deps.TypeFrom) + " or more"
	}
	return k
}

// sum adds the values; nil when one is unknown.
func sum(amounts []verify.AmountView) *big.Int {
	total := new(big.Int)
	for _, a := range amounts {
		if a.Micro == nil {
			return nil
		}
		total.Add(total, a.Micro)
	}
	return total
}

// largest is the amount of the greatest value; one of unknown value goes before all others. Amounts of zero do not count.
func largest(amounts []verify.AmountView) *verify.AmountView {
	var out *verify.AmountView
	for i := range amounts {
		a := &amounts[i]
		switch {
		case a.Amount == nil || a.Amount.Sign() == 0:
		case out == nil, out.Micro != nil && (a.Micro == nil || a.Micro.Cmp(out.Micro) > 0):
			out = a
		}
	}
	return out
}

// typing reports that the review on the screen is confirmed by typing something.
func (s *Screen) typing() bool { return s.reviewing() && s.wants() != wantKey }

// focusTyped gives the field the keyboard where digits go into it without being asked for. A sentence is typed after enter only: its letters are keys of the
// review before.
func (s *Screen) focusTyped() {
	s.typed.Blur()
	if s.reviewing() && s.wants() == wantAmount {
		s.typed.Focus()
	}
}

// writing reports that letters go into the field: a sentence is being typed.
func (s *Screen) writing() bool {
	return s.page == pageMain && s.reviewing() && s.typed.Focused() && s.wants() == wantPhrase
}

// typedWant is the amount to type, as it is shown but without trailing zeros and separators.
func typedWant(a verify.AmountView) string {
	if a.Decimals < 0 {
		return a.Amount.String()
	}
	return amount.Trim(amount.Format(a.Amount, a.Decimals))
}

// typedRight compares what was typed with the amount, as numbers: separators and trailing zeros do not matter.
func typedRight(text string, a verify.AmountView) bool {
	text = strings.ReplaceAll(text, ",", "")
	v, err := amount.ParseBase(text)
	if a.Decimals >= 0 {
		v, err = amount.Parse(text, a.Decimals)
	}
	return err == nil && v.Cmp(a.Amount) == 0
}

// obstacle says why the review cannot be confirmed now; "" when it can. It looks only; the grace period is kept by press.
func (s *Screen) obstacle(now time.Time) string {
	switch {
	case !s.reviewing():
		return "there is nothing to confirm"
	case s.phase == phaseReview1 && s.expired(now):
		return "the time to sign this has ended: press r to prepare it again"
	case s.expired(now):
		return "the quote has expired: press r for a new one"
	case !s.faithful():
		return "the operation is not what you asked for"
	case !s.text[pageMain].SeenAll():
		return "read to the end first: " + kit.Plural(s.text[pageMain].Unseen(), "line was", "lines were") + " not on the screen yet (space)"
	}
	return ""
}

// faithful refuses to confirm a view with a call that is marked as not asked for; verify refuses these itself.
func (s *Screen) faithful() bool {
	if s.phase != phaseReview1 {
		return true
	}
	for _, l := range s.snap.Review1.Lines {
		if !l.AsAsked {
			return false
		}
	}
	return !s.snap.Report1.Refused()
}

// held reports a key that is held down, by its own word or by its pace, and remembers the key.
func (s *Screen) held(m tea.KeyPressMsg, now time.Time) bool {
	same := m.String() == s.key && now.Sub(s.keyAt) < heldKey
	s.key, s.keyAt = m.String(), now
	return m.IsRepeat || same
}

// confirmation names the review on the screen: its fingerprint and, behind an open gate, the sentence that was typed.
func (s *Screen) confirmation() string {
	fingerprint := ""
	switch {
	case s.phase == phaseReview1 && s.snap.Review1 != nil:
		fingerprint = s.snap.Review1.Fingerprint
	case s.phase == phaseReview2 && s.snap.Review2 != nil:
		fingerprint = s.snap.Review2.Fingerprint
	}
	if k := s.atStake(); k.phrase != "" {
		return fingerprint + "\n" + k.phrase
	}
	return fingerprint
}
