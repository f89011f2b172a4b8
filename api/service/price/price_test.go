package price_test

import (
	"math/big"
	"testing"
	"time"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/service/price"
)

var start = time.Unix(1_760_000_000, 0)

func table(t testing.TB, seed string) (*price.Table, *catalog.Catalog) {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	p, err := price.New(cat, []byte(seed))
	if err != nil {
		t.Fatal(err)
	}
	return p, cat
}

// ppmOff is how far v is from base in millionths.
func ppmOff(v, base *big.Int) int64 {
	d := new(big.Int).Sub(v, base)
	return d.Mul(d, big.NewInt(1_000_000)).Quo(d, base).Int64()
}

func TestPricesStayWithinTheirBounds(t *testing.T) {
	p, cat := table(t, "seed")
	for _, a := range cat.Aggregates() {
		if a.PriceMicroUSD == nil {
			continue
		}
		bound := int64(30_000)
		if v := a.PriceMicroUSD.Int64(); 980_000 < v && v < 1_020_000 {
			bound = 1_000
		}
		var low, high int64
		for i := range 3000 {
			v, ok := p.Price(a.ID, start.Add(time.Duration(i)*7*time.Minute))
			if !ok {
				t.Fatalf("%s has no price", a.ID)
			}
			off := ppmOff(v, a.PriceMicroUSD)
			low, high = min(low, off), max(high, off)
		}
		if low < -bound || high > bound {
			t.Errorf("%s: %d to %d ppm, bound %d", a.ID, low, high, bound)
		}
		if high-low < bound/2 {
			t.Errorf("%s hardly moves: %d to %d ppm", a.ID, low, high)
		}
	}
}

func TestPricesDependOnSeedAssetAndTimeOnly(t *testing.T) {
	a, _ := table(t, "seed")
	b, _ := table(t, "seed")
	other, _ := table(t, "another seed")
	x, _ := a.Price("ob:eth", start)
	y, _ := b.Price("ob:eth", start)
	z, _ := other.Price("ob:eth", start)
	if x.Cmp(y) != 0 || x.Cmp(z) == 0 {
		t.Errorf("same seed %s and %s, other seed %s", x, y, z)
	}
	x.SetInt64(1) // the caller's copy
	if again, _ := a.Price("ob:eth", start); again.Cmp(y) != 0 {
		t.Error("a returned price is shared")
	}
}

func TestRequotesSecondsApartDifferALittle(t *testing.T) {
	p, _ := table(t, "seed")
	before, _ := p.Price("ob:eth", start)
	moved := 0
	for i := 1; i <= 60; i++ {
		now, _ := p.Price("ob:eth", start.Add(time.Duration(i)*time.Second))
		off := ppmOff(now, before)
		if off > 300 || off < -300 {
			t.Errorf("second %d: a jump of %d ppm", i, off)
		}
		if now.Cmp(before) != 0 {
			moved++
		}
		before = now
	}
	if moved < 55 {
		t.Errorf("the price moved in %d of 60 seconds", moved)
	}
}

func TestACoinAndItsWrappedFormMoveTogether(t *testing.T) {
	p, _ := table(t, "seed")
	for i := range 50 {
		at := start.Add(time.Duration(i) * time.Hour)
		eth, _ := p.Price("ob:eth", at)
		weth, _ := p.Price("ob:weth", at)
		if eth.Cmp(weth) != 0 {
			t.Fatalf("ETH %s, WETH %s", eth, weth)
		}
	}
}

func TestAnUnpricedAssetHasNoPrice(t *testing.T) {
	p, _ := table(t, "seed")
	for _, id := range []caip.AggregateID{"ob:zero", "ob:nothing", ""} {
		if v, ok := p.Price(id, start); ok || v != nil {
			t.Errorf("%q: %v", id, v)
		}
	}
}

func TestGasCostsGasTimesTheTableRoundedUp(t *testing.T) {
	p, _ := table(t, "seed")
	eth, _ := p.Price("ob:eth", start)
	got, ok := p.GasCostMicroUSD(1, 21_000, start)
	if !ok {
		t.Fatal("no gas cost on eip155:1")
	}
	exact := new(big.Int).Mul(big.NewInt(21_000*400_000_000), eth)
	want, rest := new(big.Int).QuoRem(exact, big.NewInt(1e18), new(big.Int))
	if rest.Sign() > 0 {
		want.Add(want, big.NewInt(1))
	}
	if got.Cmp(want) != 0 {
		t.Errorf("%s micro-USD, expected %s", got, want)
	}
	if one, ok := p.GasCostMicroUSD(10, 1, start); !ok || one.Sign() != 1 {
		t.Errorf("one gas costs %v: it must not round to nothing", one)
	}
	if v, ok := p.GasCostMicroUSD(57, 21_000, start); ok {
		t.Errorf("an unknown chain costs %v", v)
	}
}

func TestTimesBeforeTheEpochHaveAPriceToo(t *testing.T) {
	p, cat := table(t, "seed")
	eth, _ := cat.Aggregate("ob:eth")
	if v, ok := p.Price("ob:eth", time.Unix(-12_345, 678)); !ok || ppmOff(v, eth.PriceMicroUSD) > 30_000 ||
		ppmOff(v, eth.PriceMicroUSD) < -30_000 {
		t.Errorf("%v", v)
	}
}

func BenchmarkPrice(b *testing.B) {
	p, _ := table(b, "seed")
	for b.Loop() {
		p.Price("ob:eth", start)
	}
}
