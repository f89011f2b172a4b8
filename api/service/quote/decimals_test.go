package quote

import (
	"math/big"
	"testing"
	"time"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/service/deployment"
)

// What is announced as paid has the decimals of what was named, and is never less than the deposits.
func TestThePaymentIsAnnouncedInTheDecimalsOfWhatPays(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	const fine = "eip155:56/erc20:0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d"
	const coarse = "eip155:10/erc20:0x0b2c639c533813f4aa9d7837caf62653d097ff85"
	p := plan{legs: []leg{{source: source{decimals: 18}, amount: big.NewInt(1_000_000_000_001)},
		{source: source{decimals: 18}, amount: big.NewInt(1)}, {source: source{decimals: 6}, amount: big.NewInt(5)}}}
	q := &Quoter{Deps: Deps{Network: &deployment.Network{Catalog: c}}}
	for asked, want := range map[string]string{"ob:usdc": "7", coarse: "7", fine: "6000000000002"} {
		pays, err := q.choose(asked, 8453, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.paid(pays.aggregate.Decimals).String(); got != want {
			t.Errorf("%s pays %s, expected %s", asked, got, want)
		}
	}
	q.Prices = unpriced{}
	asset, err := caip.ParseAsset(fine)
	if err != nil {
		t.Fatal(err)
	}
	taken := q.wholeToken(&call{funds: funds{needs: []need{{asset: asset, aggregate: "ob:usdc", decimals: 18,
		required: big.NewInt(1_000_000_000_001), have: big.NewInt(1e18)}}}})
	if taken.Amount != "2" || taken.FiatValue[0].Amount != "1000000000001" {
		t.Errorf("the calls take %+v", taken)
	}
}

// unpriced knows no price.
type unpriced struct{}

func (unpriced) Price(caip.AggregateID, time.Time) (*big.Int, bool) { return nil, false }

func (unpriced) GasCostMicroUSD(uint64, uint64, time.Time) (*big.Int, bool) { return nil, false }

// A call is promised all that its payments bring without the fees, and no more than it requires.
func TestACallIsPromisedWhatIsPaidUpToTheRequirement(t *testing.T) {
	for _, x := range []struct{ required, have, want int64 }{ // with 18 decimals; a unit of the payment is 10^12
		{7, 0, 7}, {7, 6, 7}, {1e12, 0, 1e12}, {1e18, 1e18 - 1, 1e12}, {1e18 + 7, 1e18, 1e12}, {1e18 + 7, 0, 1e18 + 7},
	} {
		n := need{asset: caip.Native(10), aggregate: "ob:usdc", decimals: 18, required: big.NewInt(x.required),
			have: big.NewInt(x.have)}
		p, err := route(dollars(), []need{n}, []source{usdcSource(42161, 120e6, 0)})
		if err != nil {
			t.Fatal(err)
		}
		terms := (&draftQuote{plan: p}).record().Terms()
		if len(terms.Minimums) != 1 || terms.Minimums[0].Amount.Int64() != x.want {
			t.Errorf("%+v: promised %+v", x, terms.Minimums)
		}
	}
}
