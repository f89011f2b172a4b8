package compose

import (
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// Summary is a form in brief, as far as it is known before the service is asked for anything.
type Summary struct {
	Headline string // "" while something is missing or wrong
	Open     int    // fields that are empty or wrong
	Leaves   []Leaving
	Arrives  []Arriving
	MayTake  []Arriving // allowances, while the calls run
	Calls    []string   // each in a line; none of a transfer or a swap
}

// Leaving is an asset that a form spends. Calls need it on their chain: There is what the account has of it on that
// chain, Missing the rest; nil: unknown. Pays is the asset that pays for what is missing, or for all of a transfer or a
// swap. Held lists it chain by chain, the most first, and Total is the sum in the decimals of Pays; nil: unknown.
type Leaving struct {
	verify.AmountView
	There, Missing *big.Int
	Pays           Side
	Held           []verify.AmountView
	Total          *big.Int
}

// Short reports that what can pay is less than what has to be paid. Another asset than the spent one is not judged.
func (l Leaving) Short() bool {
	need, same := l.Missing, false
	if l.Asset == (caip.Asset{}) { // a transfer or a swap: it pays with what it spends
		need, same = l.Amount, true
	}
	for _, e := range l.Pays.Agg.Entities {
		same = same || e.Asset == l.Asset
	}
	return same && need != nil && l.Total != nil && l.Total.Cmp(amount.Scale(need, l.Decimals, l.Pays.Decimals)) < 0
}

// Arriving is what a recipient gets: To is an address, "" the own account. The quote says a missing amount. About:
// at the prices of the catalogue, before fees; LessFees: before fees.
type Arriving struct {
	verify.AmountView
	To                       string
	About, LessFees, AtLeast bool
}

// Summary sums a form up.
func (w *World) Summary(f Form) Summary {
	s := Summary{Open: len(w.Mistakes(f, true))}
	f.sum(w, &s)
	if s.Open > 0 {
		s.Headline = ""
	}
	return s
}

func (b *Calls) sum(w *World, s *Summary) {
	b = b.Clone()
	k, _ := w.Catalog.Chain(b.Chain)
	id, _ := b.Chain.EVMID()
	on := verify.ChainLabel{ID: id, CAIP: b.Chain.String(), Name: k.Name, Short: k.Short}
	var lines []verify.CallView
	for i, c := range b.Calls {
		c.Resolve(w, b.Chain)
		l := b.view(w, i, c)
		if lines = append(lines, l); consent.PaysOnly(l) {
			s.Arrives = append(s.Arrives, Arriving{AmountView: *l.Amount, To: l.Recipient})
		}
		s.Calls = append(s.Calls, c.does(w, b.target(w, c)))
	}
	d := b.Draft(w)
	for _, r := range d.TokensRequired {
		if e, ok := w.Entity(r.AssetType); ok {
			s.Leaves = append(s.Leaves, w.required(e, r.Amount, b.Fund))
		}
	}
	for _, a := range d.Allowances {
		if e, ok := w.Entity(a.AssetType); ok {
			s.MayTake = append(s.MayTake, Arriving{AmountView: w.view(e, base(a.Amount)), To: a.Spender})
		}
	}
	r := present.Review{Review: consent.Review{Intent: d, Call: &verify.PreparedView{Chain: on, Lines: lines}},
		Catalog: w.Catalog, Names: w.NameOf}
	s.Headline = r.Headline()[0]
}

// base reads base units; nil for anything else.
func base(text string) *big.Int {
	v, err := amount.ParseBase(text)
	if err != nil {
		return nil
	}
	return v
}

// view is an amount of an asset with its value.
func (w *World) view(e catalog.Entity, v *big.Int) verify.AmountView {
	agg, _ := w.Catalog.Aggregate(e.Aggregate)
	return verify.AmountView{Asset: e.Asset, Symbol: e.Symbol, Decimals: e.Decimals, Amount: v,
		Micro: amount.Value(v, e.Decimals, agg.PriceMicroUSD), ChainName: w.ChainName(e.Asset.Chain)}
}

// view is a call as its review would show it.
func (b *Calls) view(w *World, i int, c *Call) verify.CallView {
	t := b.target(w, c)
	data, ok := c.Calldata(t)
	l := verify.CallView{Index: i + 1, Asked: i + 1, Role: verify.RoleCall, To: c.To, Value: c.Wei(t.Coin()),
		Data: Hex(data), Decoded: ok && !c.Raw}
	switch n := c.Paid(); {
	case !l.Decoded:
	case c.Fn == nil:
		l.Recipient = c.To
	default:
		l.Function = c.Fn.Signature()
		if n != nil {
			l.Recipient = common.HexToAddress(n.Text).Hex()
		}
		if v := c.moves(t); t.Known && v != nil {
			a := w.view(t.Token, v)
			l.Amount = &a
		}
	}
	if l.Amount == nil && l.Value != nil && l.Value.Sign() > 0 {
		a := w.view(t.Coin(), l.Value)
		l.Amount = &a
	}
	return l
}

// does says in a line what a call is.
func (c *Call) does(w *World, t Target) string {
	at := present.ShortID(c.To)
	if name := w.NameOf(c.To); name != "" {
		at = present.Clean(name, 24)
	} else if t.Known {
		at = t.Token.Symbol
	}
	data, ok := c.Calldata(t)
	switch {
	case trim(c.To) == "":
		return "no target yet"
	case !ok:
		return "not complete, at " + at
	case len(data) == 0:
		return t.Coin().Symbol + " to " + at
	case c.Raw || c.Fn == nil:
		return "call data of " + present.Plural(len(data), "byte", "bytes") + ", not decoded, at " + at
	}
	return present.Clean(c.Fn.Signature(), 60) + " at " + at + ", " + present.Plural(len(data), "byte", "bytes")
}

// required is a token that calls need on their chain, and what pays for the missing part.
func (w *World) required(e catalog.Entity, text, fund string) Leaving {
	l := Leaving{AmountView: w.view(e, base(text)), There: w.Money.Of(e.Asset)}
	if l.Amount != nil && l.There != nil {
		l.Missing = new(big.Int).Sub(l.Amount, l.There)
		if l.Missing.Sign() < 0 {
			l.Missing.SetInt64(0)
		}
	}
	if fund == "" {
		fund = string(e.Aggregate)
	}
	l.paidWith(w, fund, e.Asset)
	return l
}

// paidWith sets what pays: an aggregate or one asset, without the asset that is there already.
func (l *Leaving) paidWith(w *World, asset string, there caip.Asset) {
	side, ok := w.Side(asset)
	if !ok {
		return
	}
	l.Pays = side
	list := side.Agg.Entities
	if side.Exact {
		list = []catalog.Entity{side.Entity}
	}
	if !w.Money.Known {
		return
	}
	l.Total = new(big.Int)
	for _, e := range list {
		v := w.Money.Of(e.Asset)
		if v == nil || v.Sign() == 0 || e.Asset == there || !w.Holds(e.Asset.Chain) {
			continue
		}
		l.Held = append(l.Held, w.view(e, v))
		l.Total.Add(l.Total, amount.Scale(v, e.Decimals, side.Decimals))
	}
	slices.SortStableFunc(l.Held, func(a, b verify.AmountView) int {
		return amount.Scale(b.Amount, b.Decimals, side.Decimals).Cmp(amount.Scale(a.Amount, a.Decimals, side.Decimals))
	})
}

func (x *Exchange) sum(w *World, s *Summary) {
	if x.exact(w) {
		x.payment(w).sum(w, s)
		s.Calls = nil
		return
	}
	v, to := w.Paying(x), trim(x.To)
	from, ok := w.Side(x.Pay)
	if !ok || v == nil {
		return
	}
	pays := verify.AmountView{Symbol: from.Symbol, Decimals: from.Decimals, Amount: v,
		Micro: amount.Value(v, from.Decimals, from.Agg.PriceMicroUSD)}
	l := Leaving{AmountView: pays}
	l.paidWith(w, x.Pay, caip.Asset{})
	s.Leaves = []Leaving{l}
	side, ok := w.Side(x.Receive)
	if !ok {
		return
	}
	at := w.Arrives(x)
	if address, problem := w.Recipient(at, to); problem == "" {
		to = address
	}
	decimals, symbol, one := w.Delivered(x)
	gets := verify.AmountView{Symbol: side.Symbol}
	if at != (caip.Chain{}) {
		gets.ChainName = w.ChainName(at)
	}
	a := Arriving{AmountView: gets, To: to, About: x.What == intent.KindSwap, LessFees: x.What != intent.KindSwap}
	if one {
		a.Symbol, a.Decimals, a.Amount = symbol, decimals, w.Expected(x)
		if least, problem := Amount(x.Minimum, decimals, symbol); problem == "" && least.Sign() > 0 {
			gets.Symbol, gets.Decimals, gets.Amount = symbol, decimals, least
			gets.Micro = amount.Value(least, decimals, side.Agg.PriceMicroUSD)
			s.Arrives = append(s.Arrives, Arriving{AmountView: gets, To: to, AtLeast: true})
		}
	}
	s.Arrives = append([]Arriving{a}, s.Arrives...)
	r := present.Review{Review: consent.Review{Intent: intent.Draft{Kind: x.What, Accounts: w.Accounts}},
		Catalog: w.Catalog, Names: w.NameOf}
	s.Headline = r.Typed(pays, gets, to)
}
