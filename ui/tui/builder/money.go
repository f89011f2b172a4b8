package builder

import (
	"math/big"
	"slices"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
)

// money is the balance of the accounts, by asset; known is false until balances are read. A missing asset is unknown.
type money struct {
	known bool
	held  map[caip.Asset]*big.Int
}

// balancesMsg brings balances.
type balancesMsg struct {
	gen     int
	balance api.AggregatedBalance
	err     error
	paid    []string // addresses that were paid before
	knows   bool     // paid is read
}

// load reads the balances again, unless a reading is in progress.
func (s *Screen) load() tea.Cmd {
	if s.deps.Balances == nil || s.loading {
		return nil
	}
	s.gen++
	s.loading = true
	gen, read, paid, ctx := s.gen, s.deps.Balances, s.deps.Paid, s.life
	return func() tea.Msg {
		out := balancesMsg{gen: gen}
		out.balance, out.err = read(ctx)
		if paid != nil {
			out.paid, out.knows = paid(), true
		}
		return out
	}
}

// watchedMsg says why nothing can be signed; "": signing is possible or unknown.
type watchedMsg string

// watch checks whether the accounts can sign, before the service is asked for anything on their behalf.
func (s *Screen) watch() tea.Cmd {
	ask, ctx := s.deps.WatchOnly, s.life
	if ask == nil {
		return nil
	}
	return func() tea.Msg { return watchedMsg(ask(ctx)) }
}

func (s *Screen) loaded(m balancesMsg) {
	if m.gen != s.gen {
		return
	}
	s.loading = false
	if m.err == nil { // else the last known balances stay
		s.money = readMoney(m.balance)
	}
	if m.knows {
		s.paid, s.paidKnown = m.paid, true
	}
	if s.trialDue && s.b.empty() {
		s.fillTrial()
	}
	s.trialDue = false
}

func readMoney(b api.AggregatedBalance) money {
	m := money{known: true, held: map[caip.Asset]*big.Int{}}
	for _, agg := range b.BalanceByAggregatedAsset {
		for _, one := range agg.IndividualAssetBalances {
			asset, err := caip.ParseAsset(one.AssetType)
			v, bad := amount.ParseBase(one.Balance)
			if err == nil && bad == nil {
				m.held[asset] = v
			}
		}
	}
	return m
}

// of is the balance of one asset, nil when it is unknown.
func (m money) of(a caip.Asset) *big.Int {
	if !m.known {
		return nil
	}
	return m.held[a]
}

// elsewhere sums the other chains' balances of an aggregate, in the aggregate's decimals; nil when one is unknown.
func (m money) elsewhere(agg catalog.Aggregate, here caip.Asset) *big.Int {
	if !m.known {
		return nil
	}
	sum := new(big.Int)
	for _, e := range agg.Entities {
		if e.Asset == here {
			continue
		}
		v, ok := m.held[e.Asset]
		if !ok {
			continue // an entity that the service does not list holds nothing that could pay
		}
		sum.Add(sum, amount.Scale(v, e.Decimals, agg.Decimals))
	}
	return sum
}

// total sums an aggregate over all chains.
func (m money) total(agg catalog.Aggregate) *big.Int { return m.elsewhere(agg, caip.Asset{}) }

// suggested is the visible spending of the calls: transfers of known tokens and native value, each asset once.
func (b *batch) suggested(c *catalog.Catalog) []api.TokenRequirement {
	var order []caip.Asset
	sums := map[caip.Asset]*big.Int{}
	add := func(a caip.Asset, v *big.Int) {
		if v == nil || v.Sign() == 0 {
			return
		}
		if sums[a] == nil {
			sums[a] = new(big.Int)
			order = append(order, a)
		}
		sums[a].Add(sums[a], v)
	}
	native := b.native(c)
	for _, x := range b.calls {
		if e, ok := b.tokenAt(c, x.to.Value()); ok {
			add(e.Asset, x.moves(e.Decimals))
		}
		add(native.Asset, x.wei(native))
	}
	for _, a := range b.allow {
		if asset, err := caip.ParseAsset(a.asset); err == nil {
			if e, ok := c.Entity(asset); ok {
				if v, err := quantity(a.amount.Value(), e.Decimals, e.Symbol); err == nil {
					add(asset, v)
				}
			}
		}
	}
	out := make([]api.TokenRequirement, 0, len(order))
	for _, a := range order {
		out = append(out, api.TokenRequirement{AssetType: a.String(), Amount: sums[a].String()})
	}
	return out
}

// requirements are the person's own list, or the spending of the calls.
func (b *batch) requirements(c *catalog.Catalog) []api.TokenRequirement {
	if !b.own {
		return b.suggested(c)
	}
	var out []api.TokenRequirement
	for _, n := range b.needs {
		out = append(out, api.TokenRequirement{AssetType: n.asset, Amount: baseUnits(c, n.asset, n.amount.Value())})
	}
	return out
}

// baseUnits turns whole units of a known asset into base units; "" when they cannot be read.
func baseUnits(c *catalog.Catalog, asset, text string) string {
	a, err := caip.ParseAsset(asset)
	if err != nil {
		return ""
	}
	e, ok := c.Entity(a)
	if !ok {
		return ""
	}
	v, err := quantity(text, e.Decimals, e.Symbol)
	if err != nil {
		return ""
	}
	return v.String()
}

func (b *batch) allowances(c *catalog.Catalog) []api.AllowanceRequirement {
	var out []api.AllowanceRequirement
	for _, a := range b.allow {
		out = append(out, api.AllowanceRequirement{AssetType: a.asset, Amount: baseUnits(c, a.asset, a.amount.Value()),
			Spender: trim(a.spender.Value())})
	}
	return out
}

// startOwn makes the suggested list the person's own.
func (b *batch) startOwn(c *catalog.Catalog) {
	if b.own {
		return
	}
	list := b.suggested(c)
	b.own, b.needs = true, nil
	for _, r := range list {
		a, _ := caip.ParseAsset(r.AssetType)
		e, ok := c.Entity(a)
		v, err := amount.ParseBase(r.Amount)
		if ok && err == nil {
			b.needs = append(b.needs, newNeed(r.AssetType, amount.Trim(amount.Format(v, e.Decimals))))
		}
	}
}

func (b *batch) removeNeed(i int)  { b.needs = slices.Delete(b.needs, i, i+1) }
func (b *batch) removeAllow(i int) { b.allow = slices.Delete(b.allow, i, i+1) }
