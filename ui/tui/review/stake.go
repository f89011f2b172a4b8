package review

import (
	"math/big"
	"slices"
	"strings"

	"coffer/api/amount"
	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/wallet/verify"
)

// Stake is the value at risk in a confirmation and what confirming takes. The screens and the linear mode both use it,
// so they ask for the same.
type Stake struct {
	Phrase string             // has to be typed exactly, before anything else; "": no gate is open
	Typed  *verify.AmountView // the amount to type; nil: the bytes show nothing that leaves the account
	Micro  *big.Int           // its value in micro USD; nil: unknown
	Why    string             // why something has to be typed; "": one key or one word is enough
	Tail   string             // the address whose end is typed instead of the amount; "": the amount is typed
	Calls  bool               // the stake is what the calls take, not the payments of the quote
}

// longest is the length of an amount, in characters, from which a person would copy it instead of typing it: the end of
// an address is typed instead.
const longest = 24

// TailLetters is how many of the last characters of an address are typed.
const TailLetters = 4

// costlyBps is the share of a payment, in basis points, from which its cost has to be confirmed by typing, whatever the
// payment is worth.
const costlyBps = 1000

// FirstStake judges review 1. Review 1 only prepares, unless its signature is the whole consent. from is the value in
// micro USD from which something has to be typed.
func FirstStake(v *verify.PreparedView, from *big.Int) Stake {
	k := Stake{Micro: new(big.Int)}
	if v.WholeConsent {
		k = callsStake(v, from)
	}
	k.Phrase = v.Phrase
	return k
}

// SecondStake judges the review of a quote: its payments, and what the calls take where review 1 did not ask for that
// in full. With money that is on the chain already the calls take more than the payments; where the service announced
// payments first and then asked for none, they take everything. first is review 1, nil for a swap or a transfer.
func SecondStake(c *catalog.Catalog, v *verify.QuoteView, first *verify.PreparedView, from *big.Int) Stake {
	k := Stake{Micro: new(big.Int)}
	if !v.SameChainOnly {
		k = weigh(Together(c, v.Pay), v.PayMicro, v.Recipient, from)
		if k.Why == "" && k.Typed != nil && v.CostBps >= costlyBps {
			k.Why = "it costs " + percent(v.CostBps) + " of what you pay"
		}
	}
	if k.Why == "" && first != nil && !first.WholeConsent {
		if calls := callsStake(first, from); calls.Why != "" {
			k = calls
		}
	}
	if worst := Sum(v.Worst); k.Why == "" && k.Typed != nil && worst != nil && worst.Cmp(from) >= 0 {
		k.Why = "up to " + present.USD(worst) + " can leave"
	}
	k.Phrase = v.Phrase
	return k
}

// callsStake judges what calls take. The effect of a call that cannot be decoded is unknown, whatever else leaves the
// account.
func callsStake(v *verify.PreparedView, from *big.Int) Stake {
	k := weigh(v.Outflow, Sum(v.Outflow), receiver(v), from)
	if i := slices.IndexFunc(v.Lines, func(l verify.CallView) bool { return !l.Decoded }); i >= 0 && k.Why == "" &&
		len(v.Lines[i].To) > TailLetters {
		k.Why, k.Tail = "what it does is unknown", present.Checksummed(v.Lines[i].To)
	}
	k.Calls = true
	return k
}

// weigh says what has to be typed for amounts worth micro USD, and which address to type the end of when the amount is
// too long.
func weigh(amounts []verify.AmountView, micro *big.Int, to string, from *big.Int) Stake {
	k := Stake{Micro: micro, Typed: largest(amounts)}
	if k.Typed != nil && len(AmountToType(*k.Typed)) > longest && len(to) > TailLetters {
		k.Tail = present.Checksummed(to)
	}
	switch {
	case k.Typed == nil:
	case micro == nil:
		k.Why = "its value is unknown"
	case micro.Cmp(from) >= 0:
		k.Why = "it is worth " + present.USD(from) + " or more"
	}
	return k
}

// Sum adds the values in micro USD; nil when one is unknown.
func Sum(amounts []verify.AmountView) *big.Int {
	total := new(big.Int)
	for _, a := range amounts {
		if a.Micro == nil {
			return nil
		}
		total.Add(total, a.Micro)
	}
	return total
}

// largest is the amount of the greatest value; an unknown value comes before all others. Amounts of zero do not count.
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

// receiver is the recipient, or else the called contract: the address to look at in a prepared operation.
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

// TailRight compares the typed text with the end of an address. Letter case matters only where it has a meaning in the
// address.
func TailRight(text, address string) bool {
	end := address[max(0, len(address)-TailLetters):]
	if strings.HasPrefix(address, "0x") {
		return strings.EqualFold(text, end)
	}
	return text == end
}

// AmountToType is the amount in the form to type: as it is shown, without trailing zeros and separators.
func AmountToType(a verify.AmountView) string {
	if a.Decimals < 0 {
		return a.Amount.String()
	}
	return amount.Trim(amount.Format(a.Amount, a.Decimals))
}

// AmountRight compares the typed text with the amount, as numbers: thousands separators and trailing zeros do not
// matter.
func AmountRight(text string, a verify.AmountView) bool {
	text = strings.ReplaceAll(text, ",", "")
	v, err := amount.ParseBase(text)
	if a.Decimals >= 0 {
		v, err = amount.Parse(text, a.Decimals)
	}
	return err == nil && v.Cmp(a.Amount) == 0
}
