package present

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/wallet/consent"
	"coffer/wallet/verify"
)

// leaving is an amount that leaves the account. leg is its payment, -1 for what is on the target chain already; said
// reports that the service states how much of it is there.
type leaving struct {
	verify.AmountView
	chain string
	leg   int
	said  bool
}

// leaves lists everything that leaves the account: what the calls take of the target chain, and the payments.
func (r Review) leaves() []leaving {
	var out []leaving
	if v := r.Call; v != nil {
		for _, a := range v.Outflow {
			rest, said := r.here(a)
			if rest.Amount == nil || rest.Amount.Sign() > 0 {
				out = append(out, leaving{rest, chainName(v.Chain), -1, said})
			}
		}
	}
	if r.Quote != nil {
		for i, l := range r.Quote.Legs {
			out = append(out, leaving{l.Pays, chainName(l.Chain), i, false})
		}
	}
	return out
}

// here is the part of what the calls take that no payment brings: what has to be on the target chain. said reports that
// this part follows from a balance that the service states.
func (r Review) here(a verify.AmountView) (rest verify.AmountView, said bool) {
	brought := new(big.Int)
	if v := r.Quote; v != nil && !v.SameChainOnly {
		i := slices.IndexFunc(v.Needs, func(n verify.NeedView) bool { return n.Need.Asset == a.Asset })
		if i >= 0 && v.Needs[i].Short != nil {
			brought, said = v.Needs[i].Short, true
		} else if v.Promise != nil {
			for _, m := range v.Promise.Minimums {
				if m.Asset == a.Asset && m.Amount != nil {
					brought = new(big.Int).Add(brought, m.Amount)
				}
			}
		}
	}
	if a.Amount == nil || brought.Sign() == 0 {
		return a, false
	}
	left := new(big.Int).Sub(a.Amount, brought)
	if left.Sign() < 0 {
		left.SetInt64(0)
	}
	if a.Micro != nil && a.Amount.Sign() > 0 {
		a.Micro = roundedUp(new(big.Int).Mul(a.Micro, left), a.Amount)
	}
	a.Amount = left
	return a, said
}

// leavingSums are the amounts that leave, one figure per asset over all chains.
func (r Review) leavingSums() []verify.AmountView {
	var all []verify.AmountView
	for _, l := range r.leaves() {
		all = append(all, l.AmountView)
	}
	return r.sums(all)
}

// arriving is what the operation is for and what it gets: the amounts of the calls, or the delivery of a swap or a
// transfer, one figure per asset.
func (r Review) arriving() []verify.AmountView {
	switch {
	case r.Quote != nil && r.Exchange():
		return r.sums([]verify.AmountView{r.Quote.Delivered})
	case r.Call != nil:
		return r.sums(r.Call.Outflow)
	}
	return nil
}

// lost is what leaves less what arrives, where both are one known amount of the same asset.
func (r Review) lost(in []verify.AmountView) (verify.AmountView, bool) {
	out := r.leavingSums()
	if len(out) != 1 || len(in) != 1 || out[0].Asset != in[0].Asset || out[0].Amount == nil || in[0].Amount == nil ||
		out[0].Decimals < 0 {
		return verify.AmountView{}, false
	}
	a := out[0]
	x, y, decimals := consent.SameDecimals(out[0], in[0])
	a.Amount, a.Decimals = new(big.Int).Sub(x, y), decimals
	if a.Micro != nil && x.Sign() > 0 {
		a.Micro = roundedUp(new(big.Int).Mul(a.Micro, a.Amount), x)
	}
	return a, a.Amount.Sign() >= 0
}

// cent is the error in micro USD that a figure of a headline may have, and cents its decimals at least.
const (
	cent  = 20_000
	cents = 2
)

// near writes an amount as a headline has it: rounded up or down to a unit that is worth about a cent, exactly where
// its value is unknown. A figure that would round to nothing is exact.
func near(a verify.AmountView, up bool) string {
	if a.Amount == nil || a.Decimals < 0 {
		return Amount(a)
	}
	shown, scale := a.Decimals, amount.Scale
	if up {
		scale = amount.ScaleUp
	}
	if a.Micro != nil && a.Micro.Sign() > 0 && a.Amount.Sign() > 0 {
		for shown = min(cents, a.Decimals); shown < a.Decimals; shown++ {
			step := new(big.Int).Mul(amount.One(a.Decimals-shown), a.Micro)
			if step.Cmp(new(big.Int).Mul(a.Amount, big.NewInt(cent))) <= 0 {
				break
			}
		}
	}
	v := scale(a.Amount, a.Decimals, shown)
	if v.Sign() == 0 {
		v, shown = a.Amount, a.Decimals
	}
	text := amount.Plain(v, shown)
	if whole, part, _ := strings.Cut(text, "."); len(part) < min(cents, a.Decimals) {
		text = whole + "." + (part + "00")[:min(cents, a.Decimals)]
	}
	return amount.Group(text) + " " + Clean(a.Symbol, 60)
}

// payeeWords name a payee in a headline; its address stands in full below.
func (r Review) payeeWords(to string) string {
	for _, a := range r.Intent.Accounts {
		if strings.EqualFold(a.AccountAddress, to) {
			return "your own account"
		}
	}
	if name := r.nameOf(to); name != "" {
		return name
	}
	return ShortID(Checksummed(to))
}

// Headline says in a sentence what the operation does, and in a second one what leaves the account and what of it is
// the cost. It comes from the decoded bytes and the pinned names alone. What leaves is rounded up, what arrives down.
func (r Review) Headline() [2]string { return [2]string{r.does(), r.takes()} }

// does is the first sentence of a headline.
func (r Review) does() string {
	v := r.Quote
	switch {
	case v != nil && r.Exchange():
		least, on := near(v.Minimum, false), ""
		if v.Minimum.ChainName != "" {
			on = " on " + Clean(v.Minimum.ChainName, 40)
		}
		if r.Intent.Kind == "swap" {
			to := ""
			if !v.RecipientOwn {
				to = " for " + r.payeeWords(v.Recipient)
			}
			return "Swap " + listed(r.leavingSums(), true) + " for at least " + least + on + to + "."
		}
		return "Send at least " + least + " to " + r.payeeWords(v.Recipient) + on + "."
	case r.Call == nil:
		return "Pay for a call."
	}
	return r.runs()
}

// runs says what the calls do: payments by their sum, a single one with its payee, a single allowance by its amount and
// its spender, anything else by its number.
func (r Review) runs() string {
	var calls []verify.CallView
	unread := 0
	for _, l := range r.Call.Lines {
		if l.Role == verify.RoleCall {
			calls = append(calls, l)
			if !l.Decoded {
				unread++
			}
		}
	}
	on := " on " + chainName(r.Call.Chain)
	if len(calls) == 1 {
		switch l := calls[0]; {
		case consent.PaysOnly(l):
			return "Send " + near(*l.Amount, false) + " to " + r.payeeWords(l.Recipient) + on + "."
		case l.Recipient != "" && l.Amount != nil && strings.HasPrefix(l.Function, "approve("):
			return "Let " + r.payeeWords(l.Recipient) + " take up to " + near(*l.Amount, true) + on + "."
		}
	}
	if sums := r.paid(calls); len(calls) > 1 && sums != nil {
		return "Send " + listed(sums, false) + " in " + strconv.Itoa(len(calls)) + " payments" + on + "."
	}
	text := "Run " + Plural(len(calls), "call", "calls") + on
	switch {
	case unread == 1 && len(calls) == 1:
		return text + "; it cannot be decoded."
	case unread > 0:
		return text + "; " + strconv.Itoa(unread) + " of them cannot be decoded."
	}
	return text + "."
}

// paid is what the calls pay, one figure per asset; nil where one of them does anything but pay.
func (r Review) paid(calls []verify.CallView) []verify.AmountView {
	var out []verify.AmountView
	for _, l := range calls {
		if !consent.PaysOnly(l) {
			return nil
		}
		out = append(out, *l.Amount)
	}
	return r.sums(out)
}

// takes is the second sentence of a headline.
func (r Review) takes() string {
	sums := r.leavingSums()
	if len(sums) == 0 {
		return "As far as the call data shows, nothing leaves your account."
	}
	verb := " leaves your account"
	if len(sums) > 1 {
		verb = " leave your account"
	}
	text := listed(sums, true) + verb
	if r.Call != nil && unreadable(r.Call) != "" {
		text = "As far as the call data shows, " + text
	}
	switch {
	case r.Quote == nil && r.Call.WholeConsent:
		return text + ", with this one signature."
	case r.Quote == nil:
		return text + "; review 2 gives the cost."
	}
	return text + "; " + r.costWords() + "."
}

// costWords say what of the amounts that leave is the cost.
func (r Review) costWords() string {
	v := r.Quote
	switch {
	case v.SameChainOnly:
		return "no payment comes on top"
	case v.Itself() != nil && len(v.Fees) == 1:
		return near(v.Fees[0], true) + " for Solana comes on top"
	case v.CostMicro == nil:
		return "what of it is the cost is not known"
	case v.CostMicro.Sign() <= 0:
		return "none of it is a cost"
	}
	a, ok := r.lost(r.arriving())
	if !ok || a.Amount.Sign() == 0 {
		return USD(v.CostMicro) + " of it is the cost" // as the row of the cost has it
	}
	cost, _, _ := strings.Cut(near(a, true), " ")
	text := cost + " of it is the cost"
	if r.Exchange() && v.Minimum.Amount != nil {
		if most, ok := r.lost(r.sums([]verify.AmountView{v.Minimum})); ok && most.Amount.Cmp(a.Amount) > 0 {
			worst, _, _ := strings.Cut(near(most, true), " ")
			text += ", " + worst + " at most"
		}
	}
	return text
}

// listed writes amounts one after the other.
func listed(list []verify.AmountView, up bool) string {
	var parts []string
	for _, a := range list {
		parts = append(parts, near(a, up))
	}
	if n := len(parts); n > 2 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, " and ")
}

// headline is the block of the two sentences.
func (p *Page) headline(r Review) {
	for _, s := range r.Headline() {
		p.text(strong(s))
	}
	p.blank()
}
