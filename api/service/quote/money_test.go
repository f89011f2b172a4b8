package quote_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	. "coffer/api/service/settle/settletest"
)

// leastSOL is the rent minimum of an account on Solana, which holds that much or nothing.
const leastSOL = 890_880

// purse gives a new user random amounts of one aggregate, and tells what of it he can spend.
type purse struct {
	w    *World
	agg  catalog.Aggregate
	have map[string]*big.Int // asset → base units
}

func (p *purse) fill(t *rapid.T) {
	p.have = map[string]*big.Int{}
	on := p.agg.Entities
	if alone := rapid.IntRange(-3*len(on), len(on)-1).Draw(t, "all on"); alone >= 0 {
		on = on[alone : alone+1]
	}
	for _, e := range on {
		cents := rapid.SampledFrom([]int64{0, 0, 1, 700, 5_000, 25_000, 90_000}).Draw(t, "cents")
		if cents > 0 {
			cents += rapid.Int64Range(0, 99).Draw(t, "odd cents")
		}
		price := p.w.Installation.Catalog.Price(e.Asset)
		v := new(big.Int).Mul(big.NewInt(cents*10_000), tenTo(e.Decimals))
		if v.Quo(v, price); v.Sign() == 0 {
			continue
		}
		if e.Asset.Chain.IsSolana() {
			if !p.w.User.HasSolana() {
				continue
			}
			if e.Asset == caip.SOL() && v.Cmp(big.NewInt(leastSOL)) < 0 {
				v.SetInt64(leastSOL)
			}
			p.w.FundSolana(p.w.User.Wallet, e.Asset, v.Int64())
		} else {
			p.w.FundBig(p.w.User.Address, e.Asset, v)
		}
		p.have[e.Asset.String()] = v
	}
}

// all is what the purse holds, in the aggregate's decimals.
func (p *purse) all() *big.Int {
	sum := new(big.Int)
	for _, e := range p.agg.Entities {
		if v := p.have[e.Asset.String()]; v != nil {
			sum.Add(sum, amount.Scale(v, e.Decimals, p.agg.Decimals))
		}
	}
	return sum
}

func tenTo(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func number(t *rapid.T, s string) *big.Int {
	v, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("%q is no number", s)
	}
	return v
}

// checkMoney holds a quote against protocol §3.5 with nothing but what it says and what the prices are.
func checkMoney(t *rapid.T, p *purse, q api.Quote, at time.Time) {
	cat := p.w.Installation.Catalog
	paid, fees := new(big.Int), new(big.Int)
	if n := len(q.OriginChainsOperations); n < 1 || n > 10 || n != len(q.OriginToken.AssetType) ||
		n != len(q.OriginToken.FiatValue) || n != len(q.Fees.Assets) {
		t.Fatalf("%d operations, %+v, %+v", n, q.OriginToken, q.Fees)
	}
	var last *big.Int
	for i, o := range q.OriginChainsOperations {
		asset, err := caip.ParseAsset(o.AssetType)
		if err != nil {
			t.Fatal(err)
		}
		e, _ := cat.Entity(asset)
		a, have := number(t, o.Amount), p.have[o.AssetType]
		if q.OriginToken.AssetType[i] != o.AssetType || q.OriginToken.FiatValue[i].Amount != o.Amount || have == nil ||
			a.Cmp(have) > 0 || a.Sign() <= 0 {
			t.Fatalf("operation %d takes %s of %s", i, a, have)
		}
		if left := new(big.Int).Sub(have, a); asset == caip.SOL() && left.Sign() > 0 &&
			left.Cmp(big.NewInt(leastSOL)) < 0 {
			t.Fatalf("%s lamports of %s would stay", left, have)
		}
		fee, listed := q.Fees.Assets[o.AssetType]
		if !listed {
			t.Fatalf("no fee in %s: %v", o.AssetType, q.Fees.Assets)
		}
		scaled := amount.Scale(have, e.Decimals, p.agg.Decimals)
		if last != nil && scaled.Cmp(last) > 0 {
			t.Fatalf("%s of %s comes after a smaller source", have, o.AssetType)
		}
		last = scaled
		if i < len(q.OriginChainsOperations)-1 && amount.Scale(a, e.Decimals, p.agg.Decimals).Cmp(scaled) != 0 {
			t.Fatalf("%s of %s is left although more was needed", o.AssetType, have)
		}
		paid.Add(paid, amount.Scale(a, e.Decimals, amount.MaxDecimals))
		fees.Add(fees, amount.Scale(number(t, fee), e.Decimals, p.agg.Decimals))
	}
	if paid = amount.ScaleUp(paid, amount.MaxDecimals, p.agg.Decimals); q.OriginToken.Amount != paid.String() {
		t.Fatalf("originToken.amount %s, Σ a, rounded up once, %s", q.OriginToken.Amount, paid)
	}
	price, _ := p.w.Prices.Price(p.agg.ID, at)
	worth := new(big.Rat).SetFrac(new(big.Int).Mul(fees, price), tenTo(p.agg.Decimals))
	said, ok := new(big.Rat).SetString(q.Fees.CumulativeUSD)
	if !ok {
		t.Fatalf("cumulativeUSD %q", q.Fees.CumulativeUSD)
	}
	said.Mul(said, big.NewRat(1_000_000, 1)).Sub(said, worth)
	if said.Abs(said).Cmp(big.NewRat(5_020, 1)) > 0 { // half a cent and the rounding of each leg
		t.Fatalf("cumulativeUSD %s, the fees are worth %s micro-USD", q.Fees.CumulativeUSD, worth.FloatString(2))
	}
}

// grid is the number of decimals in which a quote is computed: those of the coarsest asset that the purse holds.
func (p *purse) grid() int {
	g := amount.MaxDecimals
	for _, e := range p.agg.Entities {
		if p.have[e.Asset.String()] != nil {
			g = min(g, e.Decimals)
		}
	}
	return g
}

// net is Σ a − Σ fees in the grid's decimals, rounded down once.
func net(t *rapid.T, p *purse, q api.Quote) *big.Int {
	sum := new(big.Int)
	for _, o := range q.OriginChainsOperations {
		a, err := caip.ParseAsset(o.AssetType)
		if err != nil {
			t.Fatal(err)
		}
		e, _ := p.w.Installation.Catalog.Entity(a)
		left := new(big.Int).Sub(number(t, o.Amount), number(t, q.Fees.Assets[o.AssetType]))
		sum.Add(sum, amount.Scale(left, e.Decimals, amount.MaxDecimals))
	}
	return amount.Scale(sum, amount.MaxDecimals, p.grid())
}

// bought is floor(v × price) in the decimals of what is got.
func bought(v *big.Int, decimals int, price *big.Int, getDecimals int, getPrice *big.Int) *big.Int {
	r := new(big.Rat).SetFrac(new(big.Int).Mul(v, price), tenTo(decimals))
	r.Quo(r, new(big.Rat).SetInt(getPrice)).Mul(r, new(big.Rat).SetInt(tenTo(getDecimals)))
	return new(big.Int).Quo(r.Num(), r.Denom())
}

// checked runs a property over random users of a world that lives as long as the test. The property reports whether
// there was a quote to look at.
func checked(t *testing.T, property func(t *rapid.T, w *World, p *purse) bool) {
	w := New(t, Options{})
	n, quotes := uint64(1000), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		kind := rapid.SampledFrom(evmKinds()).Draw(t, "kind")
		w.User = NewUserOf(w.Installation.Pins, kind, n)
		id := caip.AggregateID(rapid.SampledFrom([]string{"ob:usdc", "ob:usdt", "ob:eth", "ob:sol", "ob:wbtc"}).Draw(t,
			"pays with"))
		agg, _ := w.Installation.Catalog.Aggregate(id)
		p := &purse{w: w, agg: agg}
		p.fill(t)
		if property(t, w, p) {
			quotes++
		}
	})
	if n -= 1000; quotes == 0 || uint64(quotes) < n/10 {
		t.Errorf("only %d of %d cases gave a quote", quotes, n)
	}
}

// mayRefuse judges a refusal: not when one holding alone is far more than what is asked for and its fees, unless it is
// the recipient's account on Solana that would stay too small.
func (p *purse) mayRefuse(t *rapid.T, err error, v *big.Int, decimals int, price *big.Int) bool {
	e := asError(err)
	if e == nil || e.Name != api.ErrInsufficientBalance && e.Name != api.ErrNoRoute {
		return false
	}
	if strings.Contains(e.Message, "must hold at least") {
		return true
	}
	asked := amount.Value(v, decimals, price)
	dollars := func(n int64) *big.Int { return big.NewInt(n * 1_000_000) }
	for asset, have := range p.have {
		a, _ := caip.ParseAsset(asset)
		entity, _ := p.w.Installation.Catalog.Entity(a)
		plenty := amount.Value(have, entity.Decimals, p.agg.PriceMicroUSD)
		if plenty.Sub(plenty, asked).Cmp(dollars(100)) > 0 && asked.Cmp(dollars(20)) > 0 {
			t.Fatalf("%s of %s are not enough: %v", have, asset, err)
		}
	}
	return true
}

// TestMoneyOfSwapsAndTransfers: exact input in funding order, Σ a = delivered + fees for one asset and delivered =
// floor((Σ a − Σ fees) × price) for another, minimum and slippage from the delivery, whoever pays with whatever.
func TestMoneyOfSwapsAndTransfers(t *testing.T) {
	checked(t, func(t *rapid.T, w *World, p *purse) bool {
		get := rapid.SampledFrom([]string{"ob:usdc", "ob:eth", "ob:wbtc", "ob:sol"}).Draw(t, "gets")
		to := onChain(Arbitrum, payee())
		if get == "ob:sol" {
			to = caip.SolanaAccount(NewUserOf(w.Installation.Pins, api.AccountSolana, 9).Wallet).String()
		}
		v := new(big.Int).Mul(big.NewInt(rapid.Int64Range(1, 150_000).Draw(t, "cents")*10_000), tenTo(p.agg.Decimals))
		v.Quo(v, p.agg.PriceMicroUSD)
		if all := p.all(); all.Sign() > 0 && rapid.IntRange(0, 3).Draw(t, "everything") == 0 {
			v = all
		}
		bps := rapid.SampledFrom([]int{0, 1, 50, 200, 9_999}).Draw(t, "slippage")
		doc, err := w.TrySwap(Exchange{From: string(p.agg.ID), Amount: v, Get: get, To: to, Slippage: bps})
		if p.mayRefuse(t, err, v, p.agg.Decimals, p.agg.PriceMicroUSD) {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		q, now := w.Decode(doc), w.Clock.Now()
		checkMoney(t, p, q, now)
		if q.OriginToken.Amount != v.String() {
			t.Fatalf("asked for %s, takes %s", v, q.OriginToken.Amount)
		}
		got, left := number(t, q.DestinationToken.Amount), net(t, p, q)
		want := amount.Scale(left, p.grid(), *q.DestinationToken.Decimals)
		if get != string(p.agg.ID) {
			pay, _ := w.Prices.Price(p.agg.ID, now)
			gets, _ := w.Prices.Price(caip.AggregateID(get), now)
			want = bought(left, p.grid(), pay, *q.DestinationToken.Decimals, gets)
		}
		if got.Cmp(want) != 0 {
			t.Fatalf("delivers %s, expected %s", got, want)
		}
		if bps == 0 {
			bps = 200
		}
		minimum := new(big.Int).Quo(new(big.Int).Mul(got, big.NewInt(int64(10_000-bps))), big.NewInt(10_000))
		if q.DestinationToken.MinimumAmount != minimum.String() ||
			q.Slippage.Destination.Value != new(big.Int).Sub(got, minimum).String() {
			t.Fatalf("minimum %s of %s at %d bps", q.DestinationToken.MinimumAmount, got, bps)
		}
		return true
	})
}

// TestMoneyOfCalls: what is missing of the required token is delivered in full, the rest of what is paid is fees, and
// the call type is the definition's.
func TestMoneyOfCalls(t *testing.T) {
	checked(t, func(t *rapid.T, w *World, p *purse) bool {
		need := w.Asset("usdc", Arbitrum)
		required := rapid.Int64Range(1, 900*usdcPlain).Draw(t, "required")
		r := pay(w, Arbitrum, required)
		r.FromAssetID = string(p.agg.ID)
		doc, err := w.Prepare(r)
		if p.mayRefuse(t, err, big.NewInt(required), 6, big.NewInt(1_000_000)) {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		var prep api.PrepareResponse
		if err := doc.Decode(&prep); err != nil {
			t.Fatal(err)
		}
		quoted, err := callQuoteAs(w, doc)
		if err != nil {
			t.Fatal(err)
		}
		q, now := w.Decode(quoted), w.Clock.Now()
		here := p.have[need.String()]
		if here == nil {
			here = new(big.Int)
		}
		short := new(big.Int).Sub(big.NewInt(required), here)
		want := callTypeOf(p.agg.ID, short, q)
		if prep.CallType != want {
			t.Fatalf("%s, expected %s", prep.CallType, want)
		}
		if short.Sign() <= 0 {
			if len(q.Fees.Assets) != 0 || q.Fees.CumulativeUSD != "0.00" {
				t.Fatalf("fees of nothing: %+v", q.Fees)
			}
			return true
		}
		delete(p.have, need.String()) // it is what is required, and pays for nothing
		checkMoney(t, p, q, now)
		left := net(t, p, q)
		if p.agg.ID == "ob:usdc" {
			if left.Cmp(amount.Scale(short, p.agg.Decimals, p.grid())) != 0 {
				t.Fatalf("Σ a − Σ fees = %s, missing %s", left, short)
			}
		} else {
			pays, _ := w.Prices.Price(p.agg.ID, now)
			gets, _ := w.Prices.Price("ob:usdc", now)
			got := bought(left, p.grid(), pays, 6, gets)
			less := bought(new(big.Int).Sub(left, big.NewInt(1)), p.grid(), pays, 6, gets)
			if got.Cmp(short) < 0 || less.Cmp(short) >= 0 {
				t.Fatalf("%s buy %s, missing %s", left, got, short)
			}
			if f := record(w, q.ID).Fills[0].Delivers.Value; f.Cmp(got) != 0 {
				t.Fatalf("the solver delivers %s, floor((Σ a − Σ fees) × price) is %s", f, got)
			}
		}
		if d := q.DestinationToken; d.Amount != fmt.Sprint(required) || d.MinimumAmount != d.Amount ||
			d.AssetType != need.String() {
			t.Fatalf("%+v", d)
		}
		return true
	})
}

// callTypeOf is protocol §3.1 in other words.
func callTypeOf(paysWith caip.AggregateID, short *big.Int, q api.Quote) string {
	elsewhere := slices.ContainsFunc(q.OriginToken.AssetType,
		func(a string) bool { return !strings.HasPrefix(a, "eip155:42161/") })
	switch {
	case short.Sign() <= 0:
		return api.CallSameChainExcludeSolver
	case !elsewhere:
		return api.CallSameChainWithSolver
	case paysWith == "ob:usdc":
		return api.CallCrossChain
	}
	return api.CallCrossChainSwaps
}
