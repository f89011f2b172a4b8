package consent

import (
	"math/big"
	"slices"
	"strings"

	"coffer/api/amount"
	"coffer/api/catalog"
	"coffer/wallet/verify"
)

// Cause is why a confirmation takes typing.
type Cause int

// The causes. None: one key or one word is enough.
const (
	None       Cause = iota
	NoValue          // the value of what leaves is unknown
	Valuable         // it is worth Demand.From or more
	Costly           // its cost is a large share of what is paid
	WorstCase        // in the worst case Demand.From or more can leave
	Unreadable       // a call cannot be decoded
)

// Demand is what confirming a review takes, and the value at risk.
type Demand struct {
	Phrase  string             // has to be typed exactly, before anything else; "": no gate is open
	Cause   Cause              // why the amount or the end of an address has to be typed
	Amount  *verify.AmountView // the amount to type; nil: the bytes show nothing that leaves the account
	Tail    string             // the address whose end is typed instead of the amount; "": the amount is typed
	From    *big.Int           // the value in micro USD from which something has to be typed
	CostBps int                // the cost as a share of the payment, for Costly
	Worst   *big.Int           // the worst case in micro USD, for WorstCase
	Calls   bool               // the value is what the calls take, not the payments of the quote
}

// longest is the length of an amount, in characters, from which a person would copy it instead of typing it: the end of
// an address is typed instead.
const longest = 24

// TailLetters is how many of the last characters of an address are typed.
const TailLetters = 4

// costlyBps is the share of a payment, in basis points, from which its cost has to be confirmed by typing, whatever the
// payment is worth.
const costlyBps = 1000

// TypeFrom is the value in micro USD from which the amount has to be typed where nothing else is set: 100 USD.
func TypeFrom() *big.Int { return big.NewInt(100_000_000) }

// Demanded judges a review. Review 1 only prepares, unless its signature is the whole consent. A quote is judged by its
// payments, and by what the calls take where review 1 did not ask for that in full: with money that is on the chain
// already the calls take more than the payments; where the service announced payments first and then asked for none,
// they take everything. from is the value in micro USD from which something has to be typed.
func Demanded(c *catalog.Catalog, r Review, from *big.Int) Demand {
	d := Demand{From: from}
	switch {
	case r.Quote != nil:
		d = ofQuote(c, r, d)
	case r.Call != nil && r.Call.WholeConsent:
		d = ofCalls(r.Call, from)
	}
	d.Phrase = r.Phrase()
	return d
}

func ofQuote(c *catalog.Catalog, r Review, d Demand) Demand {
	v, from := r.Quote, d.From
	if !v.SameChainOnly {
		d = weigh(ByAsset(c, v.Pay), v.PayMicro, v.Recipient, from)
		if d.Cause == None && d.Amount != nil && v.CostBps >= costlyBps {
			d.Cause, d.CostBps = Costly, v.CostBps
		}
	}
	if d.Cause == None && r.Call != nil && !r.Call.WholeConsent {
		if calls := ofCalls(r.Call, from); calls.Cause != None {
			d = calls
		}
	}
	if worst := verify.Sum(v.Worst); d.Cause == None && d.Amount != nil && worst != nil && worst.Cmp(from) >= 0 {
		d.Cause, d.Worst = WorstCase, worst
	}
	return d
}

// ofCalls judges what calls take. The effect of a call that cannot be decoded is unknown, whatever else leaves the
// account.
func ofCalls(v *verify.PreparedView, from *big.Int) Demand {
	d := weigh(v.Outflow, verify.Sum(v.Outflow), receiver(v), from)
	i := slices.IndexFunc(v.Lines, func(l verify.CallView) bool { return !l.Decoded })
	if i >= 0 && d.Cause == None && len(v.Lines[i].To) > TailLetters {
		d.Cause, d.Tail = Unreadable, v.Lines[i].To
	}
	d.Calls = true
	return d
}

// weigh says what has to be typed for amounts worth micro USD, and which address to type the end of when the amount is
// too long.
func weigh(amounts []verify.AmountView, micro *big.Int, to string, from *big.Int) Demand {
	d := Demand{From: from, Amount: largest(amounts)}
	if d.Amount != nil && len(d.AmountText()) > longest && len(to) > TailLetters {
		d.Tail = to
	}
	switch {
	case d.Amount == nil:
	case micro == nil:
		d.Cause = NoValue
	case micro.Cmp(from) >= 0:
		d.Cause = Valuable
	}
	return d
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
	to := ""
	for _, l := range v.Lines {
		if l.Role == verify.RoleCall && l.Recipient != "" {
			return l.Recipient
		}
		if l.Role == verify.RoleCall && to == "" {
			to = l.To
		}
	}
	return to
}

// TypesTail reports whether the end of an address is typed.
func (d Demand) TypesTail() bool { return d.Cause != None && d.Tail != "" }

// Right reports whether the typed text is what the demand asks for: the end of the address, the amount, or nothing.
// Letter case matters only where it has a meaning in the address. An amount is compared as a number: thousands
// separators and trailing zeros do not matter.
func (d Demand) Right(text string) bool {
	switch {
	case d.Cause == None:
		return text == ""
	case d.Tail != "":
		end := d.Tail[max(0, len(d.Tail)-TailLetters):]
		if strings.HasPrefix(d.Tail, "0x") {
			return strings.EqualFold(text, end)
		}
		return text == end
	}
	text = strings.ReplaceAll(text, ",", "")
	v, err := amount.ParseBase(text)
	if d.Amount.Decimals >= 0 {
		v, err = amount.Parse(text, d.Amount.Decimals)
	}
	return err == nil && v.Cmp(d.Amount.Amount) == 0
}

// AmountText is the amount in the form to type: as it is shown, without trailing zeros and separators; "" without one.
func (d Demand) AmountText() string {
	switch {
	case d.Amount == nil:
		return ""
	case d.Amount.Decimals < 0:
		return d.Amount.Amount.String()
	}
	return amount.Plain(d.Amount.Amount, d.Amount.Decimals)
}
