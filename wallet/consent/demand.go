package consent

import (
	"encoding/binary"
	"io"
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
	Valuable         // it is worth Person.From or more
	Costly           // its cost is a large share of what is paid
	WorstCase        // in the worst case Person.From or more can leave
	Unreadable       // a call cannot be decoded
	Codeless         // a call goes to an address without code, as the service says
)

// Person is what a review cannot know of the one who reads it. From is the value in micro USD from which something has
// to be typed. Known reports whether an address is in the contact book; nil: there is no book. Draw is random and new
// for each review (see Draw): it says which characters of an address are typed; 0: nothing was drawn.
type Person struct {
	From  *big.Int
	Known func(address string) bool
	Draw  uint32
}

// Draw draws the place in an address for one review; 0 where the source fails.
func Draw(random io.Reader) uint32 {
	var b [4]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return 0
	}
	return max(1, binary.BigEndian.Uint32(b[:]))
}

// Demand is what confirming a review takes, and the value at risk.
type Demand struct {
	Phrase  string             // has to be typed exactly, before anything else; "": no gate is open
	Cause   Cause              // why something has to be typed
	Amount  *verify.AmountView // what leaves the account, of the asset worth most; nil: the bytes show nothing
	Least   string             // the shortest text that is right for it; "": no amount is typed
	Address string             // the address of which Letters characters are typed; "": none
	Place   int                // where in Address they begin, from 1 and behind "0x"; 0: nothing was drawn
	Payee   bool               // they are typed because the payee is neither known nor paid before
	From    *big.Int           // the value in micro USD from which something has to be typed
	CostBps int                // the cost as a share of the payment, for Costly
	Worst   *big.Int           // the worst case in micro USD, for WorstCase
	review  string             // the fingerprint of the review that it belongs to
}

// longest is the length of an amount, in characters, from which a person would copy it instead of typing it: characters
// of an address are typed instead.
const longest = 16

// Letters is how many characters of an address are typed.
const Letters = 4

// costlyBps is the share of a payment, in basis points, from which its cost has to be confirmed by typing, whatever the
// payment is worth.
const costlyBps = 1000

// TypeFrom is the value in micro USD from which something has to be typed where nothing else is set: 100 USD.
func TypeFrom() *big.Int { return big.NewInt(100_000_000) }

// Demanded judges a review. Review 1 only prepares, unless its signature is the whole consent. A quote is judged by all
// that leaves the account, and by the worst case; one that brings no payment after review 1 asked for everything asks
// for nothing.
func Demanded(c *catalog.Catalog, r Review, p Person) Demand {
	d := Demand{From: p.From}
	switch {
	case r.Quote != nil && r.Quote.SameChainOnly && r.Call != nil && r.Call.WholeConsent:
	case r.Quote != nil:
		d = ofQuote(c, r, d)
	case r.Call != nil && r.Call.WholeConsent:
		d = weigh(Leaves(c, r), d)
		d = ofCalls(r.Call, d)
	}
	d = d.address(r, p)
	d.Phrase, d.review = r.Phrase(), r.Fingerprint()
	return d
}

func ofQuote(c *catalog.Catalog, r Review, d Demand) Demand {
	v := r.Quote
	d = weigh(Leaves(c, r), d)
	if d.Cause == None && d.Amount != nil && !v.SameChainOnly && v.CostBps >= costlyBps {
		d.Cause, d.CostBps = Costly, v.CostBps
	}
	if r.Call != nil && !r.Call.WholeConsent {
		d = ofCalls(r.Call, d)
	}
	if worst := verify.Sum(v.Worst); d.Cause == None && d.Amount != nil && worst != nil && worst.Cmp(d.From) >= 0 {
		d.Cause, d.Worst = WorstCase, worst
	}
	return d
}

// weigh says what has to be typed for amounts.
func weigh(amounts []verify.AmountView, d Demand) Demand {
	d.Amount = largest(amounts)
	switch micro := verify.Sum(amounts); {
	case d.Amount == nil:
	case micro == nil:
		d.Cause = NoValue
	case micro.Cmp(d.From) >= 0:
		d.Cause = Valuable
	}
	return d
}

// ofCalls asks for characters of the contract where a call cannot be decoded, as its effect is unknown, or where there
// is no code, whatever else leaves the account.
func ofCalls(v *verify.PreparedView, d Demand) Demand {
	if len(v.Codeless) > 0 && d.Cause == None {
		d.Cause, d.Address = Codeless, v.Codeless[0]
		return d
	}
	i := slices.IndexFunc(v.Lines, func(l verify.CallView) bool { return !l.Decoded })
	if i >= 0 && d.Cause == None && places(v.Lines[i].To) > 0 {
		d.Cause, d.Address = Unreadable, v.Lines[i].To
	}
	return d
}

// address adds the amount to type, and the address of which characters are typed: of a payee that the person never had
// to do with, or of the receiver where the amount is too long to type.
func (d Demand) address(r Review, p Person) Demand {
	if d.Cause == None {
		return d
	}
	if d.Address == "" {
		d.Least = least(Rounded(*d.Amount, true))
	}
	if to := stranger(r, p.Known); to != "" && d.Cause != Costly && d.Address == "" {
		d.Address, d.Payee = to, true
	}
	if to := receiver(r); len(d.Least) > longest && places(to) > 0 {
		d.Least = ""
		if d.Address == "" {
			d.Address = to
		}
	}
	if n := places(d.Address); n > 0 && p.Draw > 0 {
		d.Place = Letters*(1+int(p.Draw%uint32(n))) + 1 //nolint:gosec // an address has a dozen places
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

// receiver is the recipient, or else the called contract: the address to look at in a review.
func receiver(r Review) string {
	if r.Call == nil {
		return r.Quote.Recipient
	}
	to := ""
	for _, l := range r.Call.Lines {
		if l.Role == verify.RoleCall && l.Recipient != "" {
			return l.Recipient
		}
		if l.Role == verify.RoleCall && to == "" {
			to = l.To
		}
	}
	return to
}

// stranger is the payee of the largest amount among those who are neither the user nor known nor paid before; "" when
// there is none.
func stranger(r Review, known func(string) bool) string {
	var list []verify.PayeeView
	if r.Call != nil {
		list = r.Call.Payees()
	} else if q := r.Quote; !q.RecipientOwn {
		list = []verify.PayeeView{{To: q.Recipient, FirstTime: q.RecipientFirstTime}}
	}
	list = slices.DeleteFunc(list, func(x verify.PayeeView) bool {
		return !x.FirstTime || places(x.To) == 0 || own(r, x.To) || known != nil && known(x.To)
	})
	if len(list) == 0 {
		return ""
	}
	to := list[0].To
	var amounts []verify.AmountView
	for _, x := range list {
		if x.Amount != nil {
			amounts = append(amounts, *x.Amount)
		}
	}
	if most := largest(amounts); most != nil {
		to = list[slices.IndexFunc(list, func(x verify.PayeeView) bool {
			return x.Amount != nil && x.Amount.Amount == most.Amount
		})].To
	}
	return to
}

// own reports whether an address is one of the accounts of the intent, or of the account that makes the calls.
func own(r Review, address string) bool {
	mine := []string{}
	for _, a := range r.Intent.Accounts {
		mine = append(mine, a.AccountAddress, a.SignerAddress, a.SessionAddress, a.AdminAddress)
	}
	if r.Call != nil {
		mine = append(mine, r.Call.Sender)
	}
	return slices.ContainsFunc(mine, func(m string) bool {
		return m == address || strings.HasPrefix(address, "0x") && strings.EqualFold(m, address)
	})
}

// places counts the groups of four characters of an address among which one is drawn. The first and the last are left
// out: an address that imitates another one has those.
func places(address string) int {
	n := len(strings.TrimPrefix(address, "0x"))
	return max(0, (n+Letters-1)/Letters-2)
}

// least is the shortest beginning of an amount for which the rest is worth less than 1 USD, if its value is known, and
// less than 1 % of it. The whole part is never cut.
func least(a verify.AmountView) string {
	text := plain(a)
	whole, frac, _ := strings.Cut(text, ".")
	for n := range len(frac) {
		cut := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(a.Decimals-n)), nil)
		if small(a, cut.Mod(a.Amount, cut)) {
			return strings.TrimSuffix(whole+"."+frac[:n], ".")
		}
	}
	return text
}

// small reports whether a part of an amount need not be typed. The value of the amount was rounded down by less than a
// micro USD.
func small(a verify.AmountView, rest *big.Int) bool {
	if new(big.Int).Mul(rest, big.NewInt(100)).Cmp(a.Amount) >= 0 {
		return false
	}
	if a.Micro == nil {
		return true
	}
	worth := new(big.Int).Mul(rest, new(big.Int).Add(a.Micro, big.NewInt(1)))
	return worth.Cmp(new(big.Int).Mul(a.Amount, big.NewInt(1_000_000))) < 0
}

// plain is an amount in the form to type: without trailing zeros and separators; that of an unknown asset is in base
// units.
func plain(a verify.AmountView) string {
	if a.Decimals < 0 {
		return a.Amount.String()
	}
	return amount.Plain(a.Amount, a.Decimals)
}

// RightAmount reports whether a text is the amount as the headline rounds it, or the exact one, down to a small rest or
// to more of its digits. Thousands separators and trailing zeros do not matter.
func (d Demand) RightAmount(text string) bool {
	if d.Least == "" {
		return text == ""
	}
	digits := strings.ReplaceAll(text, ",", "")
	if digits != text && amount.Group(digits) != text || strings.HasSuffix(text, ".") {
		return false
	}
	digits = amount.Trim(digits)
	for _, a := range []verify.AmountView{Rounded(*d.Amount, true), *d.Amount} {
		if len(digits) >= len(least(a)) && strings.HasPrefix(plain(a), digits) {
			return true
		}
	}
	return false
}

// RightLetters reports whether a text is the characters of the address at its place. Letter case matters only where it
// has a meaning in the address.
func (d Demand) RightLetters(text string) bool {
	if d.Address == "" {
		return text == ""
	}
	want, hex := strings.CutPrefix(d.Address, "0x")
	if d.Place == 0 {
		return false
	}
	want = want[d.Place-1 : d.Place-1+Letters]
	return text == want || hex && strings.EqualFold(text, want)
}
