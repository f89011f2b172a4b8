package quote

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
)

func token(chainID uint64, n byte) caip.Asset { return caip.ERC20(chainID, common.Address{n}) }

func usdcSource(chainID uint64, have int64, ownMicro int64) source {
	return source{asset: token(chainID, 1), chainID: chainID, decimals: 6, available: big.NewInt(have),
		own: big.NewInt(ownMicro)}
}

func dollars() market {
	return market{aggregate: "ob:usdc", symbol: "USDC", decimals: 6, price: big.NewInt(1_000_000), targetChain: 8453,
		targetFee: big.NewInt(20_000)}
}

func usdcNeed(required, have int64) need {
	return need{asset: token(8453, 1), aggregate: "ob:usdc", decimals: 6, price: big.NewInt(1_000_000),
		required: big.NewInt(required), have: big.NewInt(have)}
}

func TestRouteTakesTheLargestFirstAndTheLastOnlyInPart(t *testing.T) {
	sources := []source{usdcSource(10, 80e6, 1000), usdcSource(42161, 120e6, 1000), usdcSource(137, 90e6, 1000)}
	order(sources)
	p, err := route(dollars(), []need{usdcNeed(250e6, 25e6)}, sources)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range p.legs {
		got = append(got, fmt.Sprintf("%d:%s", l.chainID, l.amount))
	}
	// 225 + 5 bps + three times 0.001 + 0.02 for the target chain = 225.1355
	if want := "42161:120000000 137:90000000 10:15135500"; strings.Join(got, " ") != want {
		t.Errorf("legs %v, expected %s", got, want)
	}
	if p.callType != api.CallCrossChain || p.paid(6).Int64() != 225_135_500 ||
		p.feeMicro(big.NewInt(1_000_000)).Int64() != 135_500 {
		t.Errorf("%s, paid %s, fees %s", p.callType, p.paid(6), p.feeMicro(big.NewInt(1_000_000)))
	}
}

func TestRouteBreaksTiesByAssetName(t *testing.T) {
	sources := []source{usdcSource(137, 50e6, 0), usdcSource(42161, 50e6, 0), usdcSource(10, 50e6, 0)}
	order(sources)
	if sources[0].chainID != 10 || sources[1].chainID != 137 || sources[2].chainID != 42161 {
		t.Errorf("order %v", sources)
	}
}

func TestRouteSkipsDustBelowItsOwnFee(t *testing.T) {
	sources := []source{usdcSource(1, 2e6, 2_500_000), usdcSource(10, 1e6, 1000)}
	order(sources)
	p, err := route(dollars(), []need{usdcNeed(500_000, 0)}, sources)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.legs) != 1 || p.legs[0].chainID != 10 {
		t.Errorf("legs %+v", p.legs)
	}
}

func TestRouteTellsNeededAndAvailable(t *testing.T) {
	_, err := route(dollars(), []need{usdcNeed(250e6, 25e6)}, []source{usdcSource(10, 80e6, 1000)})
	var e *api.Error
	if !errors.As(err, &e) || e.Name != api.ErrInsufficientBalance ||
		!strings.Contains(e.Message, "needed 250.1335 USDC with fees, available 105 USDC") {
		t.Errorf("%v", err)
	}
	_, err = route(dollars(), []need{usdcNeed(250e6, 0)}, nil)
	if !errors.As(err, &e) || e.Name != api.ErrInsufficientBalance ||
		!strings.Contains(e.Message, "needed 250 USDC with fees, available 0 USDC") {
		t.Errorf("%v", err)
	}
}

func TestRouteNeedsAtMostTenDeposits(t *testing.T) {
	var sources []source
	for i := range 12 {
		sources = append(sources, usdcSource(uint64(100+i), 10e6, 0))
	}
	_, err := route(dollars(), []need{usdcNeed(115e6, 0)}, sources)
	var e *api.Error
	if !errors.As(err, &e) || e.Name != api.ErrNoRoute {
		t.Errorf("%v", err)
	}
	p, err := route(dollars(), []need{usdcNeed(99e6, 0)}, sources)
	if err != nil || len(p.legs) != 10 {
		t.Errorf("%d legs, %v", len(p.legs), err)
	}
}

func TestCallTypeFollowsTheSources(t *testing.T) {
	eth := need{asset: caip.Native(8453), aggregate: "ob:eth", decimals: 18, price: big.NewInt(3_000_000_000),
		required: big.NewInt(1e15), have: new(big.Int)}
	for want, c := range map[string]struct {
		needs   []need
		sources []source
	}{
		api.CallSameChainExcludeSolver: {[]need{usdcNeed(5e6, 5e6)}, nil},
		api.CallSameChainWithSolver:    {[]need{eth}, []source{usdcSource(8453, 90e6, 1)}},
		api.CallCrossChain:             {[]need{usdcNeed(5e6, 0)}, []source{usdcSource(10, 90e6, 1)}},
		api.CallCrossChainSwaps:        {[]need{usdcNeed(5e6, 0), eth}, []source{usdcSource(10, 90e6, 1)}},
	} {
		p, err := route(dollars(), c.needs, c.sources)
		if err != nil || p.callType != want {
			t.Errorf("%s, expected %s (%v)", p.callType, want, err)
		}
	}
}

// TestRouteBalancesExactly: whatever the sources, prices and decimals, what is paid is what is delivered plus the fees,
// to the unit; nothing is taken that is not there, nor so much that less than what must stay is left; every need is
// met; other assets are delivered at floor(cost × price) (protocol §3.5).
func TestRouteBalancesExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		decimals := rapid.SampledFrom([]int{6, 8, 18}).Draw(t, "decimals")
		whole := func(label string, most int64) *big.Int {
			v := big.NewInt(rapid.Int64Range(0, most).Draw(t, label))
			return v.Mul(v, unit(decimals)).Quo(v, big.NewInt(1000))
		}
		m := market{
			aggregate: "ob:pay", symbol: "PAY", decimals: decimals,
			price:       big.NewInt(rapid.Int64Range(1, 1e12).Draw(t, "price")),
			targetChain: 1, targetFee: big.NewInt(rapid.Int64Range(0, 1e7).Draw(t, "targetFee")),
		}
		var sources []source
		for i := range rapid.IntRange(1, 12).Draw(t, "sources") {
			extra := rapid.SampledFrom([]int{0, 0, 12}).Draw(t, "extra")
			d := min(decimals+extra, 18)
			s := source{asset: token(uint64(i+1), 1), chainID: uint64(i + 1), decimals: d,
				own: big.NewInt(rapid.Int64Range(0, 1e6).Draw(t, "own"))}
			s.available = amount.Scale(whole("have", 1e9), decimals, d)
			s.available.Add(s.available, big.NewInt(rapid.Int64Range(0, 1e6).Draw(t, "odd")))
			if i == 0 && rapid.Bool().Draw(t, "keeps") {
				s.keep = whole("keep", 1e6)
			}
			sources = append(sources, s)
		}
		order(sources)
		var needs []need
		for i := range rapid.IntRange(1, 3).Draw(t, "needs") {
			n := need{asset: token(1, byte(10+i)), aggregate: "ob:pay", decimals: decimals, price: m.price,
				have: new(big.Int), required: whole("required", 1e9)}
			if rapid.Bool().Draw(t, "other") {
				n.aggregate, n.decimals = "ob:other", rapid.SampledFrom([]int{0, 6, 18}).Draw(t, "needDecimals")
				n.price = big.NewInt(rapid.Int64Range(1, 1e12).Draw(t, "needPrice"))
			}
			needs = append(needs, n)
		}
		p, err := route(m, needs, sources)
		var refused *api.Error
		if errors.As(err, &refused) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkPlan(t, m, needs, p)
	})
}

func checkPlan(t *rapid.T, m market, needs []need, p plan) {
	const fine = 36
	paid, fees := p.paid(fine), new(big.Int)
	for _, l := range p.legs {
		if l.amount.Cmp(l.available) > 0 || l.fee.Cmp(l.amount) > 0 || l.fee.Sign() < 0 || l.amount.Sign() <= 0 {
			t.Fatalf("leg of %s with fee %s out of %s", l.amount, l.fee, l.available)
		}
		if left := new(big.Int).Sub(l.available, l.amount); l.keep != nil && left.Sign() > 0 && left.Cmp(l.keep) < 0 {
			t.Fatalf("%s of %s stay, it must be nothing or %s", left, l.available, l.keep)
		}
		fees.Add(fees, amount.Scale(l.fee, l.decimals, fine))
	}
	delivered := new(big.Int)
	missing := 0
	for _, f := range p.fills {
		if f.amount.Cmp(f.short()) < 0 {
			t.Fatalf("delivers %s of %s", f.amount, f.short())
		}
		if !f.swapped {
			delivered.Add(delivered, amount.Scale(f.amount, f.decimals, fine))
		}
	}
	swaps := false
	for _, n := range needs {
		if n.short().Sign() > 0 {
			missing++
			swaps = swaps || n.aggregate != m.aggregate
		}
	}
	if missing != len(p.fills) || len(p.legs) > MaxLegs {
		t.Fatalf("%d fills for %d needs, %d legs", len(p.fills), missing, len(p.legs))
	}
	net := new(big.Int).Sub(paid, fees)
	if missing == 0 {
		return
	}
	if !swaps && net.Cmp(delivered) != 0 {
		t.Fatalf("paid %s − fees %s = %s, delivered %s", paid, fees, net, delivered)
	}
	if swaps && len(p.fills) == 1 {
		f := p.fills[0]
		// floor(net × price)
		want := new(big.Int).Mul(net, m.price)
		want.Mul(want, unit(f.decimals)).Quo(want, new(big.Int).Mul(f.price, unit(fine)))
		if want.Cmp(f.amount) != 0 {
			t.Fatalf("delivered %s, floor(net × price) = %s", f.amount, want)
		}
	}
}

func TestAFailedCallIsNamedAsTheUserCountsIt(t *testing.T) {
	b := batch{approvals: 2, calls: 3}
	for index, want := range map[int]string{
		-1: "calls", 0: "allowanceRequirements", 1: "allowanceRequirements", 2: "calls[0]", 4: "calls[2]",
		5: "allowanceRequirements",
	} {
		if _, path := b.where(index); path != want {
			t.Errorf("index %d is %s, expected %s", index, path, want)
		}
	}
}
