package quote

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
)

func bigs(v int64) *big.Int { return big.NewInt(v) }

func ethNeed() need {
	return need{asset: caip.Native(8453), aggregate: "ob:eth", decimals: 18, price: bigs(3_000_000_000),
		have: new(big.Int)}
}

func TestExactInputTakesExactlyTheAmountInFundingOrder(t *testing.T) {
	sources := []source{usdcSource(10, 80e6, 1000), usdcSource(42161, 120e6, 1000), usdcSource(137, 90e6, 1000)}
	order(sources)
	p, err := exact(dollars(), bigs(230e6), 6, usdcNeed(0, 0), sources)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range p.legs {
		got = append(got, l.asset.Chain.Reference+":"+l.amount.String())
	}
	if want := "42161:120000000 137:90000000 10:20000000"; strings.Join(got, " ") != want {
		t.Errorf("legs %v, expected %s", got, want)
	}
	// 230 − 3 × 0.001 − 0.02 = 229.977; / 1.0005 = 229.862068…
	if f := p.fills[0]; f.amount.Int64() != 229_862_068 || f.swapped ||
		p.feeMicro(bigs(1_000_000)).Int64() != 230_000_000-229_862_068 {
		t.Errorf("delivers %s, fees %s", f.amount, p.feeMicro(bigs(1_000_000)))
	}
}

func TestExactInputSkipsWhatIsWorthLessThanItsOwnFee(t *testing.T) {
	sources := []source{usdcSource(1, 2e6, 2_500_000), usdcSource(10, 1e6, 1000)}
	order(sources)
	p, err := exact(dollars(), bigs(900_000), 6, ethNeed(), sources)
	if err != nil || len(p.legs) != 1 || p.legs[0].chainID != 10 {
		t.Errorf("%+v, %v", p.legs, err)
	}
}

func TestExactInputRefusesWithWords(t *testing.T) {
	few := []source{usdcSource(10, 80e6, 1000)}
	for name, c := range map[string]struct {
		give    int64
		to      need
		sources []source
		want    string
		words   string
	}{
		"more than there is": {81e6, ethNeed(), few, api.ErrInsufficientBalance,
			"needed 81 USDC, available 80 USDC"},
		"nothing there":      {5e6, ethNeed(), nil, api.ErrInsufficientBalance, "needed 5 USDC, available 0 USDC"},
		"less than its fees": {20_000, ethNeed(), few, api.ErrNoRoute, "not more than its fees"},
		"an unpriced delivery": {5e6, need{asset: token(1, 9), aggregate: "ob:zero", decimals: 18, have: new(big.Int)},
			few, api.ErrNoRoute, "has no price"},
		"a delivery of nothing": {21_500, need{asset: token(1, 9), aggregate: "ob:dear", decimals: 0, price: bigs(1e12),
			have: new(big.Int)}, few, api.ErrNoRoute, "fees"},
	} {
		_, err := exact(dollars(), bigs(c.give), 6, c.to, c.sources)
		var e *api.Error
		if !errors.As(err, &e) || e.Name != c.want || !strings.Contains(e.Message, c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestExactInputNeedsAtMostTenDeposits(t *testing.T) {
	var sources []source
	for i := range 12 {
		sources = append(sources, usdcSource(uint64(100+i), 10e6, 0))
	}
	_, err := exact(dollars(), bigs(115e6), 6, usdcNeed(0, 0), sources)
	var e *api.Error
	if !errors.As(err, &e) || e.Name != api.ErrNoRoute {
		t.Errorf("%v", err)
	}
	if p, err := exact(dollars(), bigs(100e6), 6, usdcNeed(0, 0), sources); err != nil || len(p.legs) != 10 {
		t.Errorf("%d legs, %v", len(p.legs), err)
	}
}

// TestExactInputBalancesToTheUnit: whatever the sources, prices and decimals, exactly the amount leaves the sources in
// funding order; what one asset delivers is the amount minus all fees, and what another delivers is floor((Σ a − Σ
// fees) × price) (protocol §3.5); the solver's share and the spread are in the fees, and one unit more would not be. An
// account that must keep something keeps it or ends empty, and an amount that could be taken so is not refused.
func TestExactInputBalancesToTheUnit(t *testing.T) {
	legs, emptied, stuck := map[int]int{}, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		decimals := rapid.SampledFrom([]int{6, 8, 9, 18}).Draw(t, "decimals")
		m := market{
			aggregate: "ob:pay", symbol: "PAY", decimals: decimals,
			price:       bigs(rapid.SampledFrom([]int64{1, 999_999, 3e9, 1e12}).Draw(t, "price")),
			targetChain: 1, targetFee: bigs(rapid.Int64Range(0, 1e7).Draw(t, "targetFee")),
		}
		var sources []source
		for i := range rapid.SampledFrom([]int{3, 1, 0, 2, 5, 12}).Draw(t, "sources") {
			s := source{asset: token(uint64(i+1), 1), chainID: uint64(i + 1), decimals: decimals,
				own: bigs(rapid.Int64Range(0, 1e6).Draw(t, "own"))}
			if rapid.Bool().Draw(t, "solana") && i == 0 {
				s.asset, s.chainID = caip.SOL(), 0
			}
			s.available = bigs(rapid.Int64Range(1e6, 1e9).Draw(t, "have"))
			s.available.Mul(s.available, bigs(rapid.SampledFrom([]int64{1, 1e3, 1e9}).Draw(t, "times")))
			if s.chainID == 0 && rapid.IntRange(0, 3).Draw(t, "keeps") > 0 {
				s.keep = bigs(rapid.SampledFrom([]int64{1, 890_880, 2e6}).Draw(t, "keep"))
			}
			sources = append(sources, s)
		}
		order(sources)
		all := new(big.Int)
		for _, s := range sources {
			all.Add(all, s.available)
		}
		give := new(big.Int).Mul(all, bigs(rapid.SampledFrom([]int64{95, 60, 30, 1, 99, 130}).Draw(t, "percent")))
		give.Quo(give, bigs(100)).Add(give, bigs(1))
		if short := bigs(rapid.Int64Range(0, 2e6).Draw(t, "nearly all")); rapid.Bool().Draw(t, "the edge") &&
			short.Cmp(all) < 0 {
			give.Sub(all, short)
		}
		to := need{asset: token(1, 10), aggregate: "ob:pay", decimals: decimals, price: m.price, have: new(big.Int)}
		if rapid.Bool().Draw(t, "swap") {
			to.aggregate, to.decimals = "ob:other", rapid.SampledFrom([]int{0, 6, 9, 18}).Draw(t, "toDecimals")
			to.price = bigs(rapid.Int64Range(1, 1e12).Draw(t, "toPrice"))
		}
		p, err := exact(m, give, decimals, to, sources)
		var refused *api.Error
		if errors.As(err, &refused) {
			if refused.Name == api.ErrInsufficientBalance && possible(m, give, decimals, sources) {
				t.Fatalf("%s can be taken: %v", give, err)
			}
			if strings.Contains(refused.Message, "of rent or nothing") {
				stuck++
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		legs[min(len(p.legs), 2)]++
		if empties(p.legs) >= 0 {
			emptied++
		}
		checkExact(t, m, give, decimals, to, sources, p)
	})
	if legs[1] == 0 || legs[2] == 0 {
		t.Errorf("no case with one leg or none with several: %v", legs)
	}
	// both are certain in the tests of allocation
	t.Logf("%d cases emptied an account that keeps its rent otherwise, %d were impossible for the rent", emptied, stuck)
}

// empties is the place of the leg that takes everything from an account that would have to keep something otherwise, -1
// without one.
func empties(legs []leg) int {
	return slices.IndexFunc(legs, func(l leg) bool { return l.keep != nil && l.amount.Cmp(l.available) == 0 })
}

// possible reports whether an amount can be taken from sources of one unit: what must keep something gives nothing, as
// much as leaves it, or all.
func possible(m market, give *big.Int, decimals int, sources []source) bool {
	free, keeps, usable := new(big.Int), source{}, 0
	for _, s := range sources {
		own := toUnits(s.own, m.price, decimals)
		switch {
		case s.available.Cmp(own) <= 0:
			continue
		case s.keep == nil:
			free.Add(free, s.available)
		default:
			keeps = s
		}
		usable++
	}
	if usable > MaxLegs {
		return false // another rule
	}
	if give.Cmp(free) <= 0 || keeps.keep == nil {
		return give.Cmp(free) <= 0
	}
	part := new(big.Int).Sub(keeps.available, keeps.keep)
	if part.Cmp(toUnits(keeps.own, m.price, decimals)) > 0 && give.Cmp(part.Add(part, free)) <= 0 {
		return true
	}
	return give.Cmp(keeps.available) >= 0 && give.Cmp(free.Add(free, keeps.available)) <= 0
}

func checkExact(t *rapid.T, m market, give *big.Int, decimals int, to need, sources []source, p plan) {
	if len(p.legs) == 0 || len(p.legs) > MaxLegs || len(p.fills) != 1 {
		t.Fatalf("%d legs, %d fills", len(p.legs), len(p.fills))
	}
	paid, fees, at := new(big.Int), new(big.Int), 0
	for i, l := range p.legs {
		if l.amount.Cmp(l.available) > 0 || l.amount.Sign() <= 0 || l.fee.Sign() < 0 || l.fee.Cmp(l.amount) > 0 {
			t.Fatalf("leg of %s with fee %s out of %s", l.amount, l.fee, l.available)
		}
		left := new(big.Int).Sub(l.available, l.amount)
		if l.keep != nil && left.Sign() > 0 && left.Cmp(l.keep) < 0 {
			t.Fatalf("%s stay, it must be nothing or %s", left, l.keep)
		}
		spent := left.Sign() == 0 || l.keep != nil && left.Cmp(l.keep) == 0 || i < empties(p.legs)
		if i < len(p.legs)-1 && !spent {
			t.Fatal("a later source was used before an earlier one was empty")
		}
		// in order, and what was skipped is dust, or can give no more than dust
		for ; sources[at].asset != l.asset; at++ {
			s := sources[at]
			most := s.available
			if s.keep != nil {
				most = new(big.Int).Sub(most, s.keep)
			}
			if most.Cmp(toUnits(s.own, m.price, decimals)) > 0 {
				t.Fatalf("%s was skipped", s.asset)
			}
		}
		at++
		paid.Add(paid, l.amount)
		fees.Add(fees, l.fee)
	}
	if paid.Cmp(give) != 0 || p.paid(decimals).Cmp(give) != 0 {
		t.Fatalf("paid %s of %s", paid, give)
	}
	network := toUnits(m.targetFee, m.price, decimals)
	for _, l := range p.legs {
		network.Add(network, toUnits(l.own, m.price, decimals))
	}
	net, bps := new(big.Int).Sub(paid, fees), int64(SolverBps)
	want := net
	if f := p.fills[0]; f.swapped {
		bps += SpreadBps
		r := new(big.Rat).SetFrac(new(big.Int).Mul(net, m.price), unit(decimals))
		r.Quo(r, new(big.Rat).SetInt(to.price)).Mul(r, new(big.Rat).SetInt(unit(to.decimals)))
		want = new(big.Int).Quo(r.Num(), r.Denom())
	}
	if p.fills[0].amount.Cmp(want) != 0 || want.Sign() <= 0 {
		t.Fatalf("delivers %s, floor((%s − %s) × price) = %s", p.fills[0].amount, paid, fees, want)
	}
	rest := new(big.Int).Sub(fees, network)
	if rest.Cmp(share(net, bps)) < 0 {
		t.Fatalf("fees %s − network %s do not hold %d bps of %s", fees, network, bps, net)
	}
	more := new(big.Int).Add(net, bigs(1))
	if new(big.Int).Add(more, share(more, bps)).Cmp(new(big.Int).Sub(paid, network)) <= 0 {
		t.Fatalf("one unit more than %s would have fitted", net)
	}
}

func TestMinimumIsTheFlooredRestOfTheTolerance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := bigs(rapid.Int64Range(1, 1e18).Draw(t, "v"))
		bps := rapid.IntRange(1, 10_000).Draw(t, "bps")
		got := least(v, bps)
		// got ≤ v × (10000 − bps) / 10000 < got + 1
		exactly := new(big.Rat).SetFrac(new(big.Int).Mul(v, bigs(int64(10_000-bps))), bigs(10_000))
		if lo := new(big.Rat).SetInt(got); lo.Cmp(exactly) > 0 ||
			new(big.Rat).Add(lo, big.NewRat(1, 1)).Cmp(exactly) <= 0 {
			t.Fatalf("least(%s, %d) = %s", v, bps, got)
		}
	})
	if got := least(bigs(1_562_948), 200); got.Int64() != 1_531_689 { // the one real quote on record
		t.Errorf("got %s", got)
	}
}

func TestSwapDeliveryFollowsThePriceDownButNotUp(t *testing.T) {
	for _, c := range []struct{ quoted, getNow, payNow, getThen, payThen, want int64 }{
		{1000, 100, 100, 100, 100, 1000},
		{1000, 110, 100, 100, 100, 909}, // what is got costs more: 1000 × 100/110
		{1000, 100, 90, 100, 100, 900},  // what is paid is worth less
		{1000, 90, 100, 100, 100, 1000}, // never more than quoted
		{1000, 100, 120, 100, 100, 1000},
		{1000, 110, 110, 100, 100, 1000},
		{1000, 0, 100, 100, 100, 0},
		{1, 101, 100, 100, 100, 0},
	} {
		got := SwapDelivery(bigs(c.quoted), bigs(c.getNow), bigs(c.payNow), bigs(c.getThen), bigs(c.payThen))
		if got.Int64() != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if SwapDelivery(bigs(5), nil, bigs(1), bigs(1), bigs(1)).Sign() != 0 {
		t.Error("an unknown price delivered something")
	}
	rapid.Check(t, func(t *rapid.T) {
		price := func(name string) *big.Int { return bigs(rapid.Int64Range(1, 1e13).Draw(t, name)) }
		quoted, getNow, payNow, getThen, payThen := price("quoted"), price("getNow"), price("payNow"), price("getThen"),
			price("payThen")
		got := SwapDelivery(quoted, getNow, payNow, getThen, payThen)
		now := new(big.Rat).SetFrac(new(big.Int).Mul(payNow, getThen), new(big.Int).Mul(getNow, payThen))
		now.Mul(now, new(big.Rat).SetInt(quoted))
		floor := new(big.Int).Quo(now.Num(), now.Denom())
		if want := minOf(floor, quoted); got.Cmp(want) != 0 {
			t.Fatalf("got %s, expected %s", got, want)
		}
	})
}

// TestCallTypeIsTheDefinition recomputes protocol §3.1 from what a plan takes and what was missing, in its own words.
func TestCallTypeIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const target = 8453
		m := dollars()
		var sources []source
		for i, chainID := range []uint64{target, 10, 137, 0} {
			if !rapid.Bool().Draw(t, "has") {
				continue
			}
			s := usdcSource(chainID, rapid.Int64Range(1, 500e6).Draw(t, "have"),
				rapid.Int64Range(0, 1e5).Draw(t, "own"))
			if s.asset = token(chainID, byte(i+50)); chainID == 0 {
				s.asset = caip.SOL()
			}
			sources = append(sources, s)
		}
		order(sources)
		var needs []need
		for range rapid.IntRange(0, 2).Draw(t, "needs") {
			n := usdcNeed(rapid.Int64Range(0, 200e6).Draw(t, "required"), rapid.Int64Range(0, 200e6).Draw(t, "there"))
			if rapid.Bool().Draw(t, "other") {
				n.aggregate = "ob:dai"
			}
			needs = append(needs, n)
		}
		p, err := route(m, needs, sources)
		if err != nil {
			return
		}
		shortfall, another := false, false
		for _, n := range needs {
			if n.required.Cmp(n.have) > 0 {
				shortfall = true
				another = another || n.aggregate != m.aggregate
			}
		}
		want := api.CallSameChainWithSolver
		for _, l := range p.legs {
			if l.asset.Chain != caip.EVM(target) {
				if want = api.CallCrossChain; another {
					want = api.CallCrossChainSwaps
				}
			}
		}
		if !shortfall {
			want = api.CallSameChainExcludeSolver
		}
		if p.callType != want || shortfall == (len(p.legs) == 0) || len(p.legs) > MaxLegs {
			t.Fatalf("%s, expected %s, with %d legs", p.callType, want, len(p.legs))
		}
		fees := new(big.Int)
		for _, l := range p.legs {
			fees.Add(fees, l.fee)
		}
		delivered := new(big.Int)
		for _, f := range p.fills {
			delivered.Add(delivered, amount.Scale(f.amount, f.decimals, 6))
		}
		if !another && new(big.Int).Sub(p.paid(6), fees).Cmp(delivered) != 0 {
			t.Fatalf("paid %s − fees %s is not %s", p.paid(6), fees, delivered)
		}
	})
}
