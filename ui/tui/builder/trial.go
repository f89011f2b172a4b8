package builder

import (
	"math/big"

	tea "charm.land/bubbletea/v2"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// trialFallback is the amount of the trial call when the balances allow no better one.
const trialFallback = "250.5"

// hasTrial reports whether the program itself knows a recipient: the trial call pays none of the person's.
func (s *Screen) hasTrial() bool { return len(s.Book) > 0 && !s.Book[0].Own && !s.Book[0].Account }

// trialCall fills in the trial call, or waits for the first balances: they decide its amount.
func (s *Screen) trialCall() tea.Cmd {
	if !s.hasTrial() {
		return screen.Toast(theme.Warn, "this profile has no trial call")
	}
	if s.loading && !s.Money.Known {
		s.trialDue = true
		return screen.Toast(theme.None, "reading balances first; then the trial call is filled in")
	}
	s.fillTrial()
	return nil
}

// fillTrial fills in a transfer of USDC on Base to the recipient of the demo.
func (s *Screen) fillTrial() {
	usdc, ok := s.AssetOn(caip.EVM(8453), "ob:usdc")
	if !ok || !s.hasTrial() {
		return
	}
	s.touched()
	s.clear()
	s.b = s.NewCalls(caip.EVM(8453))
	s.b.Calls[0].Pay(usdc.Asset, s.Book[0].Address, s.trialAmount(usdc))
	s.focus = idReview
}

// trialAmount is an amount of whole tokens that takes at least two other chains to pay: more than the balance on this
// chain and the largest other one together, by a clear margin, and at most nine tenths of everything. The margin
// shrinks until one fits; without one, and without known balances, it is trialFallback.
func (s *Screen) trialAmount(e catalog.Entity) string {
	agg, known := s.Catalog.Aggregate(e.Aggregate)
	total := s.Money.Total(agg)
	if !known || total == nil {
		return trialFallback
	}
	here, top := new(big.Int), new(big.Int) // what the service does not list holds nothing that could pay
	for _, x := range agg.Entities {
		switch v := amount.Scale(s.Money.Of(x.Asset), x.Decimals, agg.Decimals); {
		case v == nil:
		case x.Asset == e.Asset:
			here = v
		case v.Cmp(top) > 0:
			top = v
		}
	}
	floor := new(big.Int).Add(here, top)
	ceiling := new(big.Int).Quo(new(big.Int).Mul(total, big.NewInt(9)), big.NewInt(10))
	one := amount.One(agg.Decimals)
	half := new(big.Int).Quo(one, big.NewInt(2))
	for _, step := range []int64{50, 10, 2} {
		unit := new(big.Int).Mul(one, big.NewInt(step))
		margin := new(big.Int).Quo(unit, big.NewInt(2))
		v := new(big.Int).Add(floor, margin)
		v.Add(v.Quo(v, unit), big.NewInt(1)).Mul(v, unit).Add(v, half)
		if v.Cmp(ceiling) <= 0 {
			return amount.Plain(v, agg.Decimals)
		}
	}
	return trialFallback
}
