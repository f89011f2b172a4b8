package quote

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"coffer/api/amount"
)

// TestPlansOverUnequalDecimalsBalanceToTheUnit: entities of one aggregate may count in different decimals. No deposit
// takes more than is there, no fee is negative or more than its deposit, and what one asset delivers is Σ deposits − Σ
// fees exactly, for calls and for exact input.
func TestPlansOverUnequalDecimalsBalanceToTheUnit(t *testing.T) {
	plans := 0
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.SampledFrom([]int{0, 2, 6, 8, 9, 18})
		m := market{
			aggregate: "ob:usdc", symbol: "USDC", decimals: digits.Draw(t, "decimals"),
			price:       bigs(rapid.SampledFrom([]int64{1, 999_999, 1e6, 3e9}).Draw(t, "price")),
			targetChain: 1, targetFee: bigs(rapid.Int64Range(0, 1e6).Draw(t, "target fee")),
		}
		whole := func(n int64, decimals int) *big.Int { // n hundredths
			return amount.Scale(new(big.Int).Mul(bigs(n), unit(16)), 18, decimals)
		}
		var sources []source
		for i := range rapid.IntRange(1, 5).Draw(t, "sources") {
			s := source{asset: token(uint64(i+1), 1), chainID: uint64(i + 1), decimals: digits.Draw(t, "source"),
				own: bigs(rapid.Int64Range(0, 1e5).Draw(t, "own"))}
			s.available = whole(rapid.Int64Range(1, 1e7).Draw(t, "have"), s.decimals)
			s.available.Add(s.available, bigs(rapid.Int64Range(0, 9).Draw(t, "dust")))
			sources = append(sources, s)
		}
		order(sources)
		to := need{asset: token(1, 10), aggregate: "ob:usdc", decimals: digits.Draw(t, "to"), price: m.price,
			have: new(big.Int)}
		v := rapid.Int64Range(1, 1e7).Draw(t, "v")
		var p plan
		var err error
		if rapid.Bool().Draw(t, "call") {
			to.required = whole(v, to.decimals)
			if p, err = route(m, []need{to}, sources); err == nil && len(p.legs) > 0 &&
				p.fills[0].amount.Cmp(to.required) < 0 {
				t.Fatalf("delivers %s of %s", p.fills[0].amount, to.required)
			}
		} else {
			p, err = exact(m, whole(v, m.decimals), m.decimals, to, sources)
		}
		if err != nil || len(p.legs) == 0 {
			return
		}
		plans++
		left := new(big.Int)
		for _, l := range p.legs {
			if l.amount.Sign() <= 0 || l.amount.Cmp(l.available) > 0 || l.fee.Sign() < 0 || l.fee.Cmp(l.amount) > 0 {
				t.Fatalf("deposit of %s of %s with a fee of %s", l.amount, l.available, l.fee)
			}
			left.Add(left, amount.Scale(new(big.Int).Sub(l.amount, l.fee), l.decimals, 18))
		}
		if got := amount.Scale(p.fills[0].amount, to.decimals, 18); got.Cmp(left) != 0 {
			t.Fatalf("Σ deposits − Σ fees = %s, delivers %s (in 18 decimals): %+v", left, got, p)
		}
	})
	if plans == 0 {
		t.Error("no plan was found")
	}
}
