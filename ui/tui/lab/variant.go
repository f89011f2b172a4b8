package lab

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

// axes says what varies; everything else is as in the draft.
type axes struct{ funding, slippage, accounts bool }

// variant is one way to ask for the draft. key identifies it between starts: the draft without its times.
type variant struct {
	key      string
	fund     string
	bps      int
	accounts string
	own      bool // exactly the draft
	off      bool // left out of the rounds
	in       intent.Intent
}

// choice is one value of an axis: its name and its change of a draft.
type choice struct {
	label string
	set   func(*intent.Draft)
}

// planner makes the variants of a draft.
type planner struct {
	draft    intent.Draft
	rules    api.Rules
	accounts []api.Account
	held     *api.AggregatedBalance // nil: unknown
}

// plan returns the variants, the draft's own first, and their number without the bound. It leaves out variants that
// break a rule of the interface; the error says that the draft itself breaks one.
func (p planner) plan(a axes) ([]*variant, int, error) {
	if _, err := intent.Freeze(p.draft, p.rules); err != nil {
		return nil, 0, err
	}
	funding, slips, sets := p.funding(), p.slippages(), p.sets()
	if !a.funding {
		funding = funding[:1]
	}
	if !a.slippage {
		slips = slips[:1]
	}
	if !a.accounts {
		sets = sets[:1]
	}
	var out []*variant
	seen := map[string]bool{}
	total := 0
	for _, s := range sets {
		for _, f := range funding {
			for _, b := range slips {
				v, ok := p.variant(f, b, s)
				if !ok || seen[v.key] {
					continue
				}
				seen[v.key] = true
				if total++; total <= MaxVariants {
					v.own = total == 1
					out = append(out, v)
				}
			}
		}
	}
	return out, total, nil
}

func (p planner) variant(f, b, s choice) (*variant, bool) {
	d := p.draft
	if d.Pay != nil {
		pay := *d.Pay
		d.Pay = &pay
	}
	s.set(&d)
	f.set(&d)
	b.set(&d)
	in, err := intent.Freeze(d, p.rules)
	if err != nil {
		return nil, false
	}
	d.ValidAfter, d.ValidUntil = "", ""
	timeless, err := intent.Freeze(d, p.rules)
	if err != nil {
		return nil, false
	}
	hash := timeless.Hash()
	return &variant{key: fmt.Sprintf("%x", hash[:16]), fund: f.label, bps: in.Draft().SlippageBps, accounts: s.label,
		in: in}, true
}

// slippages are the draft's own and the usual ones.
func (p planner) slippages() []choice {
	own := p.draft.SlippageBps
	if own == 0 {
		own = intent.DefaultSlippageBps
	}
	var out []choice
	for _, bps := range []int{own, 10, 50, 100, 300} {
		if bps == own && len(out) > 0 {
			continue
		}
		out = append(out, choice{bpsText(bps), func(d *intent.Draft) { d.SlippageBps = bps }})
	}
	return out
}

// bpsText writes basis points in percent: 50 is "0.50 %"; negative ones are unknown.
func bpsText(bps int) string {
	if bps < 0 {
		return present.UnknownText
	}
	return amount.Format(big.NewInt(int64(bps)), 2) + " %"
}

// sets are the draft's own accounts, each account alone, and each EVM account with a Solana account.
func (p planner) sets() []choice {
	out := []choice{{setLabel(p.draft.Accounts), func(*intent.Draft) {}}}
	add := func(set ...api.Account) {
		if !slices.Equal(set, p.draft.Accounts) {
			out = append(out, choice{setLabel(set), func(d *intent.Draft) { d.Accounts = set }})
		}
	}
	for _, a := range p.accounts {
		add(a)
	}
	for _, a := range p.accounts {
		for _, b := range p.accounts {
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
		names = append(names, present.AccountType(a.Type)+" "+present.ShortID(a.AccountAddress, "…"))
	}
	return strings.Join(names, " + ")
}

// funding lists the assets that may pay: for a call every asset with a balance, by aggregate and by chain, the most
// valuable first; for a swap or a transfer the same asset by aggregate and on each chain with a balance.
func (p planner) funding() []choice {
	if p.draft.Kind == intent.KindSwap || p.draft.Kind == intent.KindTransfer {
		return p.paying()
	}
	own := choice{p.fundLabel(p.draft.FundWith), func(*intent.Draft) {}}
	if p.draft.FundWith == "" {
		own.label = "automatic"
	}
	out := []choice{own}
	for _, h := range p.holdings() {
		if h.asset != p.draft.FundWith {
			out = append(out, choice{p.fundLabel(h.asset), func(d *intent.Draft) { d.FundWith = h.asset }})
		}
	}
	return out
}

// paying rescales the amount to the decimals of each form of the asset, and leaves out a form that cannot express it
// exactly.
func (p planner) paying() []choice {
	own := choice{p.fundLabel(p.draft.Pay.Asset), func(*intent.Draft) {}}
	out := []choice{own}
	w := compose.World{Catalog: p.rules.Catalog}
	from, ok := w.Side(p.draft.Pay.Asset)
	v, err := amount.ParseBase(p.draft.Pay.Amount)
	if !ok || err != nil {
		return out
	}
	for _, h := range p.holdings() {
		other, ok := w.Side(h.asset)
		if !ok || other.Agg.ID != from.Agg.ID || h.asset == p.draft.Pay.Asset {
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
func (p planner) fundLabel(asset string) string {
	name := present.AssetName(p.rules.Catalog, asset)
	if parsed, err := caip.ParseAsset(asset); err == nil {
		return name + " on " + present.ChainName(p.rules.Catalog, parsed.Chain.String())
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
func (p planner) holdings() []holding {
	if p.held == nil {
		return nil
	}
	var out []holding
	for _, a := range p.held.BalanceByAggregatedAsset {
		agg, ok := p.rules.Catalog.Aggregate(caip.AggregateID(a.AggregatedAssetID))
		if v, err := amount.ParseBase(a.Balance); !ok || err != nil || v.Sign() == 0 {
			continue
		}
		total := new(big.Int)
		for _, b := range a.IndividualAssetBalances {
			parsed, err := caip.ParseAsset(b.AssetType)
			if err != nil {
				continue
			}
			e, known := p.rules.Catalog.Entity(parsed)
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
