package quotelab

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// MaxVariants bounds a plan.
const MaxVariants = 24

// Axes says what varies; everything else is as in the draft.
type Axes struct{ Funding, Slippage, Accounts, Arrival bool }

// Variant is one way to ask for the draft. Key identifies it between starts: the draft without its times.
type Variant struct {
	Key      string
	Fund     string
	Bps      int
	Accounts string
	Arrives  string // the chain of arrival, or of the calls
	Intent   intent.Intent
}

// Label names a variant by what varies.
func (v *Variant) Label(a Axes) string {
	s := v.Fund
	if a.Slippage {
		s += ", " + Bps(v.Bps)
	}
	if a.Arrival {
		s += ", to " + v.Arrives
	}
	if a.Accounts {
		s += ", " + v.Accounts
	}
	return s
}

// choice is one value of an axis: its name and its change of a draft.
type choice struct {
	label string
	set   func(*intent.Draft)
}

// Planner makes the variants of a draft.
type Planner struct {
	Draft    intent.Draft
	Rules    api.Rules
	Accounts []api.Account
	Held     *api.AggregatedBalance // nil: unknown
}

// Plan returns the variants, the draft's own first, and their number without the bound. It leaves out variants that
// break a rule of the interface; the error says that the draft itself breaks one.
func (p Planner) Plan(a Axes) ([]*Variant, int, error) {
	if _, err := intent.Freeze(p.Draft, p.Rules); err != nil {
		return nil, 0, err
	}
	var out []*Variant
	seen := map[string]bool{}
	total := 0
	for _, s := range first(p.sets(), a.Accounts) {
		for _, t := range first(p.arrivals(), a.Arrival) {
			for _, f := range first(p.funding(), a.Funding) {
				for _, b := range first(p.slippages(), a.Slippage) {
					v, ok := p.variant(f, b, s, t)
					if !ok || seen[v.Key] {
						continue
					}
					seen[v.Key] = true
					if total++; total <= MaxVariants {
						out = append(out, v)
					}
				}
			}
		}
	}
	return out, total, nil
}

// first is the draft's own choice alone, unless the axis varies.
func first(all []choice, varies bool) []choice {
	if varies {
		return all
	}
	return all[:1]
}

func (p Planner) variant(f, b, s, t choice) (*Variant, bool) {
	d := p.Draft
	if d.Pay != nil {
		pay, receive := *d.Pay, *d.Receive
		d.Pay, d.Receive = &pay, &receive
	}
	s.set(&d)
	f.set(&d)
	b.set(&d)
	t.set(&d)
	in, err := intent.Freeze(d, p.Rules)
	if err != nil {
		return nil, false
	}
	d.ValidAfter, d.ValidUntil = "", ""
	timeless, err := intent.Freeze(d, p.Rules)
	if err != nil {
		return nil, false
	}
	hash := timeless.Hash()
	return &Variant{Key: fmt.Sprintf("%x", hash[:16]), Fund: f.label, Bps: in.Draft().SlippageBps, Accounts: s.label,
		Arrives: t.label, Intent: in}, true
}

// arrivals are the draft's own chain of arrival, and for a swap to the own account the other chains that have the
// asset.
func (p Planner) arrivals() []choice {
	d := p.Draft
	if !d.Exchanges() {
		return []choice{{present.ChainName(p.Rules.Catalog, d.TargetChain), func(*intent.Draft) {}}}
	}
	w := compose.World{Catalog: p.Rules.Catalog, Accounts: d.Accounts}
	at := w.Arrives(w.ExchangeOf(d))
	name := "any chain"
	if at != (caip.Chain{}) {
		name = w.ChainName(at)
	}
	out := []choice{{name, func(*intent.Draft) {}}}
	side, ok := w.Side(d.Receive.Asset)
	if !ok || d.Kind != intent.KindSwap || d.Receive.Account != "" || d.Receive.Minimum != "" {
		return out
	}
	for _, e := range side.Agg.Entities {
		if e.Asset.Chain != at && w.Holds(e.Asset.Chain) {
			out = append(out, choice{w.ChainName(e.Asset.Chain),
				func(d *intent.Draft) { d.Receive.Asset = e.Asset.String() }})
		}
	}
	return out
}

// slippages are the draft's own and the usual ones.
func (p Planner) slippages() []choice {
	own := p.Draft.SlippageBps
	if own == 0 {
		own = intent.DefaultSlippageBps
	}
	var out []choice
	for _, bps := range []int{own, 10, 50, 100, 300} {
		if bps == own && len(out) > 0 {
			continue
		}
		out = append(out, choice{Bps(bps), func(d *intent.Draft) { d.SlippageBps = bps }})
	}
	return out
}

// sets are the draft's own accounts, each account alone, and each EVM account with a Solana account.
func (p Planner) sets() []choice {
	out := []choice{{setLabel(p.Draft.Accounts), func(*intent.Draft) {}}}
	add := func(set ...api.Account) {
		if !slices.Equal(set, p.Draft.Accounts) {
			out = append(out, choice{setLabel(set), func(d *intent.Draft) { d.Accounts = set }})
		}
	}
	for _, a := range p.Accounts {
		add(a)
	}
	for _, a := range p.Accounts {
		for _, b := range p.Accounts {
			if a.IsEVM() && !b.IsEVM() {
				add(a, b)
			}
		}
	}
	return out
}

func setLabel(set []api.Account) string {
	var names []string
	for _, a := range set {
		names = append(names, present.AccountType(a.Type)+" "+present.ShortID(a.AccountAddress))
	}
	return strings.Join(names, " + ")
}

// funding lists the assets that may pay: for a call every asset with a balance, by aggregate and by chain, the most
// valuable first; for a swap or a transfer the same asset by aggregate and on each chain with a balance.
func (p Planner) funding() []choice {
	if p.Draft.Kind == intent.KindSwap || p.Draft.Kind == intent.KindTransfer {
		return p.paying()
	}
	own := choice{p.fundLabel(p.Draft.FundWith), func(*intent.Draft) {}}
	if p.Draft.FundWith == "" {
		own.label = "automatic"
	}
	out := []choice{own}
	for _, h := range p.holdings() {
		if h.asset != p.Draft.FundWith {
			out = append(out, choice{p.fundLabel(h.asset), func(d *intent.Draft) { d.FundWith = h.asset }})
		}
	}
	return out
}

// paying rescales the amount to the decimals of each form of the asset, and leaves out a form that cannot express it
// exactly.
func (p Planner) paying() []choice {
	own := choice{p.fundLabel(p.Draft.Pay.Asset), func(*intent.Draft) {}}
	out := []choice{own}
	w := compose.World{Catalog: p.Rules.Catalog}
	from, ok := w.Side(p.Draft.Pay.Asset)
	v, err := amount.ParseBase(p.Draft.Pay.Amount)
	if !ok || err != nil {
		return out
	}
	for _, h := range p.holdings() {
		other, ok := w.Side(h.asset)
		if !ok || other.Agg.ID != from.Agg.ID || h.asset == p.Draft.Pay.Asset {
			continue
		}
		scaled := amount.Scale(v, from.Decimals, other.Decimals)
		if amount.Scale(scaled, other.Decimals, from.Decimals).Cmp(v) != 0 {
			continue
		}
		out = append(out, choice{p.fundLabel(h.asset), func(dr *intent.Draft) {
			dr.Pay.Asset, dr.Pay.Amount = h.asset,
				scaled.String()
		}})
	}
	return out
}

// fundLabel names a form of an asset for a reader.
func (p Planner) fundLabel(asset string) string {
	name := present.AssetName(p.Rules.Catalog, asset)
	if parsed, err := caip.ParseAsset(asset); err == nil {
		return name + " on " + present.ChainName(p.Rules.Catalog, parsed.Chain.String())
	}
	return name + ", all chains"
}

// holding is an asset with a balance.
type holding struct {
	asset string
	micro *big.Int
	exact bool
}

// holdings lists the balances, aggregates before single chains, the most valuable first.
func (p Planner) holdings() []holding {
	if p.Held == nil {
		return nil
	}
	var out []holding
	for _, a := range p.Held.BalanceByAggregatedAsset {
		agg, ok := p.Rules.Catalog.Aggregate(caip.AggregateID(a.AggregatedAssetID))
		if v, err := amount.ParseBase(a.Balance); !ok || err != nil || v.Sign() == 0 {
			continue
		}
		total := new(big.Int)
		for _, b := range a.IndividualAssetBalances {
			parsed, err := caip.ParseAsset(b.AssetType)
			if err != nil {
				continue
			}
			e, known := p.Rules.Catalog.Entity(parsed)
			v, err := amount.ParseBase(b.Balance)
			if !known || err != nil || v.Sign() == 0 {
				continue
			}
			worth := amount.Value(v, e.Decimals, agg.PriceMicroUSD)
			if worth == nil {
				worth = new(big.Int)
			}
			total.Add(total, worth)
			out = append(out, holding{parsed.String(), worth, true})
		}
		out = append(out, holding{string(agg.ID), total, false})
	}
	slices.SortStableFunc(out, func(a, b holding) int {
		if a.exact != b.exact {
			return cmp.Compare(order(a.exact), order(b.exact))
		}
		return b.micro.Cmp(a.micro)
	})
	return out
}

func order(exact bool) int {
	if exact {
		return 1
	}
	return 0
}
