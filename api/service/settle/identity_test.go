package settle_test

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op/erc20"
	. "coffer/api/service/settle/settletest"
)

// send is a call that moves any asset.
func send(a caip.Asset, to common.Address, v *big.Int) api.Call {
	token, isToken := a.Token()
	if !isToken {
		return api.Call{To: to.Hex(), Value: v.String()}
	}
	return api.Call{To: token.Hex(), Data: "0x" + common.Bytes2Hex(erc20.Transfer(to, v))}
}

// Whatever the decimals on both sides: Σ a is what is paid, delivered = (Σ a − Σ fees) × price rounded down, at least
// what is required, and it settles without a token made or lost (protocol §3.5).
func TestOtherAssetFundingKeepsTheFeeIdentity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pays   string
		from   [2]uint64
		get    string
		target uint64
		need   string
	}{
		{"dai", [2]uint64{Optimism, Arbitrum}, "usdc", Base, "101234567"},
		{"eth", [2]uint64{Linea, Optimism}, "usdc", Base, "99999999"},
		{"wbtc", [2]uint64{Polygon, Arbitrum}, "usdc", Base, "123456789"},
		{"weth", [2]uint64{Polygon, Base}, "usdc", Base, "1"},
		{"usdc", [2]uint64{Polygon, Arbitrum}, "dai", Base, "100000000000000000001"},
		{"usdc", [2]uint64{Polygon, Arbitrum}, "eth", Base, "12345678901234567"},
		{"usdc", [2]uint64{Polygon, Base}, "wbtc", Arbitrum, "123457"},
		{"wbtc", [2]uint64{Polygon, Arbitrum}, "dai", Base, "90000000000000000007"},
		{"eth", [2]uint64{Linea, Base}, "wbtc", Arbitrum, "100001"},
		{"eth", [2]uint64{Linea, Arbitrum}, "eth", Base, "40000000000000003"},
	} {
		t.Run(c.pays+" to "+c.get, func(t *testing.T) {
			w := New(t, Options{})
			for _, id := range c.from {
				a := w.Asset(c.pays, id)
				e, _ := w.Installation.Catalog.Entity(a)
				agg, _ := w.Installation.Catalog.Aggregate(e.Aggregate)
				// about 75 dollars
				v := zero().Mul(bigOf(75_000_001), zero().Exp(bigOf(10), bigOf(int64(e.Decimals)), nil))
				w.FundBig(w.User.Address, a, v.Quo(v, agg.PriceMicroUSD))
			}
			asset := w.Asset(c.get, c.target)
			need := number(t, c.need)
			r := w.Request(asset, 0, send(asset, payee(), need))
			r.TokensRequired[0].Amount = c.need
			doc := w.Quote(r, "ob:"+c.pays)
			identity(t, w, w.Decode(doc), c.pays, need)
			sums := w.Sums(payee())
			if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusCompleted {
				t.Fatalf("status %+v", s)
			}
			wantBalance(t, w, payee(), asset, need)
			w.SameSums(sums, w.Sums(payee()))
		})
	}
}

func identity(t *testing.T, w *World, q api.Quote, pays string, need *big.Int) {
	t.Helper()
	agg, _ := w.Installation.Catalog.Aggregate(caip.AggregateID("ob:" + pays))
	paid, fees, micro := zero(), zero(), zero()
	price, _ := w.Prices.Price(agg.ID, w.Clock.Now())
	for _, o := range q.OriginChainsOperations {
		a, err := caip.ParseAsset(o.AssetType)
		Must(t, err)
		e, _ := w.Installation.Catalog.Entity(a)
		fee := number(t, q.Fees.Assets[a.String()])
		paid.Add(paid, amount.Scale(number(t, o.Amount), e.Decimals, agg.Decimals))
		fees.Add(fees, amount.Scale(fee, e.Decimals, agg.Decimals))
		micro.Add(micro, amount.Value(fee, e.Decimals, price))
	}
	if q.OriginToken.Amount != paid.String() || q.OriginToken.AggregatedAssetID != string(agg.ID) ||
		len(q.Fees.Assets) != len(q.OriginChainsOperations) {
		t.Errorf("origin token %+v, paid %s, fees %v", q.OriginToken, paid, q.Fees.Assets)
	}
	if q.Fees.CumulativeUSD != amount.USD2(micro) {
		t.Errorf("cumulative fees %s, expected %s", q.Fees.CumulativeUSD, amount.USD2(micro))
	}
	fills := record(w, q.ID).Fills
	if len(fills) != 1 {
		t.Fatalf("%d fills", len(fills))
	}
	got := fills[0].Delivers
	e, _ := w.Installation.Catalog.Entity(got.CAIP())
	cost := zero().Sub(paid, fees)
	want := amount.Scale(cost, agg.Decimals, e.Decimals)
	if fills[0].Swapped {
		want = zero().Mul(cost, fills[0].PricePay)
		want.Mul(want, zero().Exp(bigOf(10), bigOf(int64(e.Decimals)), nil))
		want.Quo(want, zero().Mul(fills[0].PriceGet, zero().Exp(bigOf(10), bigOf(int64(agg.Decimals)), nil)))
	}
	if got.Value.Cmp(want) != 0 || got.Value.Cmp(need) < 0 {
		t.Errorf("delivered %s, the identity gives %s, required %s", got.Value, want, need)
	}
	if q.DestinationToken.Amount != need.String() || q.DestinationToken.MinimumAmount != need.String() {
		t.Errorf("destination token %+v", q.DestinationToken)
	}
}
