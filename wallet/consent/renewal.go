package consent

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/verify"
)

// Worse is a difference for which what was typed for one quote does not count for the next.
type Worse struct{ What, Old, New string }

// jitter is what the way from the service may take longer for one quote than for another: lifetimes are counted from
// when a quote came.
const jitter = 5 * time.Second

// Carries compares a renewed quote with the one for which a person began to type, and lists what is worse or another
// thing; nothing: what was typed and read carries over. The fingerprint never does: the renewed quote is the one that
// is confirmed. It carries over when kind, way, payee and every payment but its amount are the same; no payment, fee,
// known cost, slippage, lifetime or worst case is larger; no less is delivered or promised; nothing that was known is
// unknown; there is no new warning, gate or unknown check; and the same texts have to be typed.
func Carries(c *catalog.Catalog, p Person, first, next Review) []Worse {
	k := &comparison{issued: [2]time.Time{first.At, next.At}}
	a, b := first.Quote, next.Quote
	if a == nil || b == nil {
		return []Worse{{"the review", first.Fingerprint(), next.Fingerprint()}}
	}
	k.same("the call", Review{Call: first.Call}.Fingerprint(), Review{Call: next.Call}.Fingerprint())
	k.same("the kind", a.Kind, b.Kind)
	k.same("the way of paying", a.CallType, b.CallType)
	k.same("the recipient", a.Recipient, b.Recipient)
	k.flag("the recipient is your own", !a.RecipientOwn, !b.RecipientOwn)
	k.flag("the recipient was never paid before", a.RecipientFirstTime, b.RecipientFirstTime)
	k.same("payments", a.SameChainOnly, b.SameChainOnly)
	k.legs(a.Legs, b.Legs)
	k.promise(a.Promise, b.Promise)
	k.atLeast("the minimum", a.Minimum, b.Minimum)
	k.atLeast("what arrives", a.Delivered, b.Delivered)
	k.each("a fee", a.Fees, b.Fees)
	k.each("the worst case", a.Worst, b.Worst)
	for i := range max(len(a.Needs), len(b.Needs)) {
		k.same("what the calls need", need(a.Needs, i), need(b.Needs, i))
	}
	for _, x := range seen(a) {
		y, _ := of(seen(b), x.Asset)
		k.atLeast("what your node sees", x, y)
	}
	k.money("the fees", a.FeesMicro, b.FeesMicro)
	k.money("the cost", a.CostMicro, b.CostMicro)
	k.money("the cost at the minimum", a.MinimumCostMicro, b.MinimumCostMicro)
	k.money("what nothing explains", size(a.UnexplainedMicro), size(b.UnexplainedMicro))
	k.known("the value of the payments", a.PayMicro != nil, b.PayMicro != nil)
	k.known("the value of what arrives", a.DeliverMicro != nil, b.DeliverMicro != nil)
	k.flag("the cost is explained", !a.Explained, !b.Explained)
	k.said("the fees, as the service says", a.FeeUSD, b.FeeUSD)
	k.upTo("the slippage", int64(a.SlippageBps), int64(b.SlippageBps))
	k.findings(first.Report, next.Report)
	k.same("the sentence to type", a.Phrase, b.Phrase)
	k.typed(Demanded(c, first, p), Demanded(c, next, p))
	return k.out
}

// seen is what own nodes saw of the balances that pay.
func seen(q *verify.QuoteView) (out []verify.AmountView) {
	for _, s := range q.Seen {
		out = append(out, s.Has...)
	}
	return out
}

// comparison collects what is worse.
type comparison struct {
	issued [2]time.Time
	out    []Worse
}

func (k *comparison) add(what string, before, after any) {
	k.out = append(k.out, Worse{what, fmt.Sprint(before), fmt.Sprint(after)})
}

func (k *comparison) same(what string, before, after any) {
	if before != after {
		k.add(what, before, after)
	}
}

// flag is worse when it becomes true.
func (k *comparison) flag(what string, before, after bool) {
	if after && !before {
		k.add(what, before, after)
	}
}

func (k *comparison) known(what string, before, after bool) {
	if before && !after {
		k.add(what, "known", unknown)
	}
}

func (k *comparison) upTo(what string, before, after int64) {
	if after > before {
		k.add(what, before, after)
	}
}

// money compares micro USD, which may be unknown.
func (k *comparison) money(what string, before, after *big.Int) {
	if before != nil && (after == nil || after.Cmp(before) > 0) {
		k.add(what, dollarsOf(before), dollarsOf(after))
	}
}

func dollarsOf(v *big.Int) string {
	if v == nil {
		return unknown
	}
	return "$" + amount.USD2(v)
}

// said compares dollars that only the service states; what is no number has to stay as it is.
func (k *comparison) said(what, before, after string) {
	x, ok := new(big.Rat).SetString(before)
	y, good := new(big.Rat).SetString(after)
	if before != after && (!ok || !good || y.Cmp(x) > 0) {
		k.add(what, before, after)
	}
}

func (k *comparison) amounts(what string, a, b verify.AmountView, wrong func(sign int) bool) {
	switch {
	case a.Asset != b.Asset:
	case a.Amount != nil && (b.Amount == nil || wrong(b.Amount.Cmp(a.Amount))):
	case a.Micro != nil && b.Micro == nil:
	default:
		return
	}
	k.add(what, figure(a), figure(b))
}

func (k *comparison) atMost(what string, a, b verify.AmountView) {
	k.amounts(what, a, b, func(sign int) bool { return sign > 0 })
}

func (k *comparison) atLeast(what string, a, b verify.AmountView) {
	k.amounts(what, a, b, func(sign int) bool { return sign < 0 })
}

// each compares amounts by asset: none may be new or larger.
func (k *comparison) each(what string, before, after []verify.AmountView) {
	for _, b := range after {
		if a, ok := of(before, b.Asset); ok {
			k.atMost(what, a, b)
		} else {
			k.add(what, "nothing", figure(b))
		}
	}
	if len(before) > 0 && len(after) == 0 {
		k.add(what, "known", unknown)
	}
}

func of(list []verify.AmountView, asset caip.Asset) (verify.AmountView, bool) {
	for _, a := range list {
		if a.Asset == asset {
			return a, true
		}
	}
	return verify.AmountView{}, false
}

func figure(a verify.AmountView) string {
	switch {
	case a.Amount == nil:
		return unknown
	case a.Decimals < 0:
		return a.Amount.String() + " base units of " + a.Asset.String()
	}
	return amount.Human(a.Amount, a.Decimals) + " " + a.Symbol
}

// legs compares payments, in any order: the same ones, and none pays more or can be used longer.
func (k *comparison) legs(before, after []verify.LegView) {
	left := map[string][]verify.LegView{}
	for _, l := range before {
		left[place(l)] = append(left[place(l)], l)
	}
	for _, b := range after {
		same := left[place(b)]
		if len(same) == 0 {
			k.add("another payment", "nothing", figure(b.Pays)+" on "+b.Chain.Name)
			continue
		}
		a := same[0]
		left[place(b)] = same[1:]
		k.atMost("the payment on "+a.Chain.Name, a.Pays, b.Pays)
		for i, x := range b.Parts {
			k.atMost("a part of the payment on "+a.Chain.Name, a.Parts[i].Amount, x.Amount)
		}
		if a.Solana != nil && b.Solana != nil {
			k.ownSend(a.Solana.Own, b.Solana.Own)
		}
		k.lasts("until when it can be reclaimed", a.RefundAfter, b.RefundAfter)
		k.lasts("until when a payment can run", a.Until, b.Until)
	}
	for _, rest := range left {
		for _, l := range rest {
			k.add("a payment", figure(l.Pays)+" on "+l.Chain.Name, "nothing")
		}
	}
}

// ownSend compares what a transfer that pays its recipient itself costs; place tells whether there is such a cost.
func (k *comparison) ownSend(a, b *verify.OwnSendView) {
	if a == nil || b == nil {
		return
	}
	k.atMost("Solana's fee", a.Fee, b.Fee)
	if a.Rent != nil && b.Rent != nil {
		k.atMost("the rent of the recipient's account", *a.Rent, *b.Rent)
	}
}

// place is everything about a payment but its amount, its times, and what is new in every quote.
func place(l verify.LegView) string {
	var b strings.Builder
	add := func(list ...any) { _, _ = fmt.Fprintf(&b, "%q\n", list) } // a builder takes every write
	add(l.Chain.CAIP, l.Pays.Asset.String(), l.AccountType, l.Escrow, l.Deploys)
	for _, x := range l.Parts {
		add(x.To, x.Amount.Asset.String(), x.Approval)
	}
	if d := l.Delegation; d != nil {
		add("delegation", d.Chain.CAIP, d.Authority, d.Contract, d.Nonce)
	}
	if s := l.Solana; s != nil {
		add("message", s.FeePayer, s.Own != nil, s.Own != nil && s.Own.Rent != nil)
		for _, i := range s.Instructions {
			add(i.Program, i.Name)
			for _, x := range i.Args {
				if x.Type == "address" {
					add(x.Value)
				}
			}
		}
	}
	return b.String()
}

// lasts compares ends, counted from when each quote came.
func (k *comparison) lasts(what string, before, after time.Time) {
	if !before.IsZero() && (after.IsZero() || after.Sub(k.issued[1]) > before.Sub(k.issued[0])+jitter) {
		k.add(what, instant(before), instant(after))
	}
}

func (k *comparison) promise(a, b *verify.PromiseView) {
	const what = "what the payments are released for"
	if a == nil || b == nil {
		k.same(what, a == nil, b == nil)
		return
	}
	for _, x := range a.Minimums {
		y, _ := of(b.Minimums, x.Asset)
		k.atLeast(what, x, y)
	}
	k.same("the attesters", a.Attesters, b.Attesters)
	k.upTo("the attesters who have to agree", int64(b.Threshold), int64(a.Threshold))
	k.lasts("until when it is delivered", a.FillBy, b.FillBy)
}

// findings compares what the checks found, by code, level and title: what they compared are the figures above.
func (k *comparison) findings(before, after verify.Report) {
	met := map[string]int{}
	name := func(r verify.Reason) string { return r.Code + " " + string(r.Level) + " " + r.Title }
	for _, r := range before.Reasons {
		met[name(r)]++
	}
	for _, r := range after.Reasons {
		if met[name(r)]--; r.Level != verify.Show && met[name(r)] < 0 {
			k.add("a new finding", "nothing", r.Title)
		}
	}
}

func (k *comparison) typed(a, b Demand) {
	k.same("what has to be typed", a.Least, b.Least)
	k.same("whose address has to be typed", a.Address, b.Address)
}

func need(list []verify.NeedView, i int) string {
	if i >= len(list) {
		return ""
	}
	return figure(list[i].Need) + " " + list[i].Need.Asset.String()
}

func size(v *big.Int) *big.Int {
	if v == nil {
		return nil
	}
	return new(big.Int).Abs(v)
}
