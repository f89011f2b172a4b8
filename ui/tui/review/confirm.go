package review

import (
	"math/big"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
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
	tail   string             // the address of which the end is typed instead of the amount; "": the amount is typed
}

// longest is the length of an amount, in characters, from which nobody types it without copying it: the end of an address is typed instead.
const longest = 24

// tailLetters is how many of the last characters of an address are typed.
const tailLetters = 4

// costlyBps is the share of a payment from which its cost has to be confirmed by typing, whatever the payment is worth.
const costlyBps = 1000

// atStake judges the review on the screen. Review 1 only prepares, unless its signature is the whole consent; review 2 pays.
func (s *Screen) atStake() stake {
	k := stake{micro: new(big.Int)}
	switch {
	case s.phase == phaseReview1 && s.snap.Review1 != nil:
		if v := s.snap.Review1; v.WholeConsent {
			k = s.weigh(v.Outflow, sum(v.Outflow), receiver(v))
		}
		k.phrase = s.snap.Review1.Phrase
	case s.phase == phaseReview2 && s.snap.Review2 != nil:
		if v := s.snap.Review2; !v.SameChainOnly {
			k = s.weigh(s.summed(v).Pay, v.PayMicro, v.Recipient)
			if k.signal == "" && k.typed != nil && v.CostBps >= costlyBps {
				k.signal = "it costs " + percent(v.CostBps) + " of what you pay"
			}
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
	wantTail                 // the end of an address
)

func (s *Screen) wants() wanted {
	switch k := s.atStake(); {
	case k.phrase != "" && !s.agreed:
		return wantPhrase
	case k.signal != "" && k.tail != "":
		return wantTail
	case k.signal != "":
		return wantAmount
	case k.phrase != "":
		return wantPhrase
	}
	return wantKey
}

// weigh says what has to be typed for amounts worth micro USD, and of which address the end when the amount is too long to type.
func (s *Screen) weigh(amounts []verify.AmountView, micro *big.Int, to string) stake {
	k := stake{micro: micro, typed: largest(amounts)}
	if k.typed != nil && len(typedWant(*k.typed)) > longest && len(to) > tailLetters {
		k.tail = kit.Checksummed(to)
	}
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

// receiver is who gets something, or else the contract that is called: the address to look at in a prepared operation.
func receiver(v *verify.PreparedView) string {
	for _, l := range v.Lines {
		if l.Role == verify.RoleCall && l.Recipient != "" {
			return l.Recipient
		}
	}
	for _, l := range v.Lines {
		if l.Role == verify.RoleCall {
			return l.To
		}
	}
	return ""
}

// tailOf is the end of an address that is typed.
func tailOf(address string) string { return address[len(address)-tailLetters:] }

// tailRight compares what was typed with the end of an address; letter case matters where the address has a meaning in it only.
func tailRight(text, address string) bool {
	if strings.HasPrefix(address, "0x") {
		return strings.EqualFold(text, tailOf(address))
	}
	return text == tailOf(address)
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

// faithful refuses to confirm a view that is not exactly what was asked for: every call once, in its order and byte for byte, and nothing beside it but
// approvals that were declared. verify refuses all else itself.
func (s *Screen) faithful() bool {
	if s.phase != phaseReview1 {
		return true
	}
	d, next := s.snap.Intent, 1
	for _, l := range s.snap.Review1.Lines {
		switch {
		case !l.AsAsked:
			return false
		case l.Role == verify.RoleCall:
			if l.Asked != next || next > len(d.Calls) || !sameCall(d.Calls[next-1], l) {
				return false
			}
			next++
		case !slices.ContainsFunc(d.Allowances, func(a api.AllowanceRequirement) bool { return allows(a, d, l) }):
			return false
		}
	}
	return next == len(d.Calls)+1 && !s.snap.Report1.Refused()
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
	if k := s.atStake(); k.phrase != "" {
		return s.fingerprint() + "\n" + k.phrase
	}
	return s.fingerprint()
}
