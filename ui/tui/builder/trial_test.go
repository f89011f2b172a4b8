package builder

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/ui/compose"
)

func TestTheTrialCallNeedsTwoOrMoreSourceChains(t *testing.T) {
	r := newRig(t)
	agg, _ := r.s.Catalog.Aggregate("ob:usdc")
	here, _ := r.s.AssetOn(caip.EVM(8453), "ob:usdc")
	rapid.Check(t, func(t *rapid.T) {
		m := compose.Money{Known: true, Held: map[caip.Asset]*big.Int{}}
		base, largest, total := new(big.Int), new(big.Int), new(big.Int)
		for i, e := range agg.Entities {
			held := big.NewInt(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 3_000_000_000)).Draw(t,
				e.Asset.String()))
			if i%3 == 2 && held.Sign() == 0 {
				continue // the service does not list it
			}
			m.Held[e.Asset] = amount.Scale(held, agg.Decimals, e.Decimals)
			total.Add(total, held)
			switch {
			case e.Asset == here.Asset:
				base = held
			case held.Cmp(largest) > 0:
				largest = held
			}
		}
		r.s.Money = m
		text := r.s.trialAmount(here)
		v, err := amount.Parse(text, agg.Decimals)
		if err != nil || !strings.HasSuffix(text, ".5") {
			t.Fatalf("%q: %v", text, err)
		}
		enough := new(big.Int).Add(base, largest)
		ceiling := new(big.Int).Quo(new(big.Int).Mul(total, big.NewInt(9)), big.NewInt(10))
		fits := v.Cmp(new(big.Int).Add(enough, big.NewInt(1_000_000))) >= 0 && v.Cmp(ceiling) <= 0
		if fits {
			return
		}
		if text != trialFallback {
			t.Fatalf("%s: on Base %s, the largest other %s, in all %s", text, base, largest, total)
		}
		if room := new(big.Int).Sub(ceiling, enough); room.Cmp(big.NewInt(3_500_000)) >= 0 {
			t.Fatalf("an amount from %s to %s exists, yet %s is taken", enough, ceiling, text)
		}
	})
}

func TestTheTrialCallWaitsForTheFirstBalances(t *testing.T) {
	for name, err := range map[string]error{"they come": nil, "they do not come": errors.New("no")} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.s.Money, r.s.loading = compose.Money{}, true
			r.press("d")
			if !r.s.b.Empty() {
				t.Fatal("filled in before the balances are known")
			}
			r.do(r.s.Update(balancesMsg{gen: r.s.gen, balance: balances(r.s.Catalog), err: err}))
			want := map[bool]string{true: "1600.5", false: trialFallback}[err == nil]
			if r.s.b.Empty() || r.s.b.Calls[0].Args[1].Text != want {
				t.Fatalf("want %s:\n%s", want, r.view())
			}
		})
	}
	t.Run("something was typed meanwhile", func(t *testing.T) {
		r := newRig(t)
		r.s.Money, r.s.loading = compose.Money{}, true
		r.press("d").fill(compose.IDTo(0), "usdc")
		r.do(r.s.Update(balancesMsg{gen: r.s.gen, balance: balances(r.s.Catalog)}))
		if got := r.s.b.Calls[0].To; got != "usdc" {
			t.Fatalf("what was typed became %q", got)
		}
	})
}
