package compose

import (
	"math/big"
	"slices"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/intent"
)

// Money is the balance of the accounts, by asset; Known is false until balances are read. A missing asset is unknown.
type Money struct {
	Known bool
	Held  map[caip.Asset]*big.Int
}

// ReadMoney takes from an answer what the catalogue knows under the same aggregate (TH-B2).
func ReadMoney(c *catalog.Catalog, b api.AggregatedBalance) Money {
	m := Money{Known: true, Held: map[caip.Asset]*big.Int{}}
	for _, agg := range b.BalanceByAggregatedAsset {
		for _, one := range agg.IndividualAssetBalances {
			asset, err := caip.ParseAsset(one.AssetType)
			v, bad := amount.ParseBase(one.Balance)
			if e, ok := c.Entity(asset); err == nil && bad == nil && ok &&
				string(e.Aggregate) == agg.AggregatedAssetID {
				m.Held[asset] = v
			}
		}
	}
	return m
}

// Of is the balance of one asset, nil when it is unknown.
func (m Money) Of(a caip.Asset) *big.Int {
	if !m.Known {
		return nil
	}
	return m.Held[a]
}

// Elsewhere sums the other chains' balances of an aggregate, in the aggregate's decimals; nil when nothing is known. An
// asset that the service does not list holds nothing that could pay.
func (m Money) Elsewhere(agg catalog.Aggregate, here caip.Asset) *big.Int {
	if !m.Known {
		return nil
	}
	sum := new(big.Int)
	for _, e := range agg.Entities {
		if v := m.Held[e.Asset]; e.Asset != here && v != nil {
			sum.Add(sum, amount.Scale(v, e.Decimals, agg.Decimals))
		}
	}
	return sum
}

// Total sums an aggregate over all chains.
func (m Money) Total(agg catalog.Aggregate) *big.Int { return m.Elsewhere(agg, caip.Asset{}) }

// sums adds amounts up, each asset once, in the order in which they come.
type sums []api.TokenRequirement

func (s *sums) add(asset caip.Asset, v *big.Int) {
	if v == nil || v.Sign() == 0 {
		return
	}
	id := asset.String()
	i := slices.IndexFunc(*s, func(r api.TokenRequirement) bool { return r.AssetType == id })
	if i < 0 {
		*s = append(*s, api.TokenRequirement{AssetType: id, Amount: v.String()})
		return
	}
	before, _ := new(big.Int).SetString((*s)[i].Amount, 10)
	(*s)[i].Amount = before.Add(before, v).String()
}

// Spent is the visible spending of the calls of a draft: transfers of known tokens, the chain's coin and allowances.
func (w *World) Spent(d intent.Draft) []api.TokenRequirement { return w.CallsOf(d).Spent(w) }

// Spent is the visible spending of the calls as typed, finished or not.
func (b *Calls) Spent(w *World) []api.TokenRequirement {
	out := sums{}
	for _, c := range b.Calls {
		t := b.target(w, c)
		if t.Known {
			out.add(t.Token.Asset, c.moves(t))
		}
		out.add(t.Coin().Asset, c.Wei(t.Coin()))
	}
	for _, a := range b.Allow {
		if e, ok := w.Entity(a.Asset); ok {
			v, _ := Amount(a.Amount, e.Decimals, e.Symbol)
			out.add(e.Asset, v)
		}
	}
	return out
}

// StartOwn makes the spending of the calls the person's own list of required tokens.
func (b *Calls) StartOwn(w *World) {
	if b.Own {
		return
	}
	b.Own, b.Needs = true, nil
	for _, r := range b.Spent(w) {
		if e, ok := w.Entity(r.AssetType); ok {
			b.Needs = append(b.Needs, &Need{r.AssetType, Whole(r.Amount, e.Decimals)})
		}
	}
}
