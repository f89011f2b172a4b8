package review

import (
	"math/big"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/tui/kit"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// heldKey is the time within which the same key again is taken for one that is held down: terminals that do not report repeats send them faster.
const heldKey = 200 * time.Millisecond

// atStake judges the review on the screen.
func (s *Screen) atStake() Stake {
	switch {
	case s.phase == phaseReview1 && s.snap.Review1 != nil:
		return FirstStake(s.snap.Review1, s.deps.TypeFrom)
	case s.phase == phaseReview2 && s.snap.Review2 != nil:
		return SecondStake(s.ctx.Catalog, s.snap.Review2, s.first(), s.deps.TypeFrom)
	}
	return Stake{Micro: new(big.Int)}
}

// first is review 1 of the call whose quote is on the screen; nil for a swap or a transfer.
func (s *Screen) first() *verify.PreparedView {
	if s.exchange() {
		return nil
	}
	return s.snap.Review1
}

// wanted is what the confirmation waits for now.
type wanted int

const (
	wantKey    wanted = iota // one key
	wantPhrase               // the sentence of an open gate
	wantAmount               // the amount
	wantTail                 // the end of an address
)

func (s *Screen) wants() wanted {
	switch k := s.atStake(); {
	case k.Phrase != "" && !s.agreed:
		return wantPhrase
	case k.Why != "" && k.Tail != "":
		return wantTail
	case k.Why != "":
		return wantAmount
	case k.Phrase != "":
		return wantPhrase
	}
	return wantKey
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
func (s *Screen) writing() bool { return s.page == pageMain && s.typed.Focused() && s.letters() }

// letters reports that what is to be typed has letters, which are keys of the review until enter was pressed.
func (s *Screen) letters() bool {
	return s.reviewing() && (s.wants() == wantPhrase || s.wants() == wantTail)
}

// obstacle says why the review cannot be confirmed now; "" when it can. It looks only; the grace period is kept by press.
func (s *Screen) obstacle(now time.Time) string {
	switch {
	case !s.reviewing():
		return "there is nothing to confirm"
	case s.deps.NoSigner != "":
		return s.deps.NoSigner
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

// faithful refuses to confirm a view that is not exactly what was asked for. verify refuses all else itself.
func (s *Screen) faithful() bool {
	return s.phase != phaseReview1 || Faithful(s.snap.Intent, s.snap.Review1, s.snap.Report1)
}

// Faithful reports that an operation is exactly what was asked for: every call once, in its order and byte for byte, nothing beside it but approvals that were
// declared, and no refusal.
func Faithful(d intent.Draft, v *verify.PreparedView, r verify.Report) bool {
	next := 1
	for _, l := range v.Lines {
		switch {
		case !l.AsAsked:
			return false
		case l.Role == verify.RoleCall:
			if l.Asked != next || next > len(d.Calls) || !SameCall(d.Calls[next-1], l) {
				return false
			}
			next++
		case !slices.ContainsFunc(d.Allowances, func(a api.AllowanceRequirement) bool { return allows(a, d, l) }):
			return false
		}
	}
	return next == len(d.Calls)+1 && !r.Refused()
}

// held reports a key that is held down, by its own word or by its pace, and remembers the key.
func (s *Screen) held(m tea.KeyPressMsg, now time.Time) bool {
	same := m.String() == s.key && now.Sub(s.keyAt) < heldKey
	s.key, s.keyAt = m.String(), now
	return m.IsRepeat || same
}

// fingerprint names the review on the screen; "" when there is none.
func (s *Screen) fingerprint() string {
	switch {
	case s.phase == phaseReview1 && s.snap.Review1 != nil:
		return s.snap.Review1.Fingerprint
	case s.phase == phaseReview2 && s.snap.Review2 != nil:
		return s.snap.Review2.Fingerprint
	}
	return ""
}

// confirmation names the review on the screen: its fingerprint and, behind an open gate, the sentence that was typed.
func (s *Screen) confirmation() string {
	if k := s.atStake(); k.Phrase != "" {
		return s.fingerprint() + "\n" + k.Phrase
	}
	return s.fingerprint()
}
