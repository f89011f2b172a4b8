package quote

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/service/deployment"
	"coffer/assets"
)

// What is announced as paid has the decimals of what was named, and is never less than the deposits.
func TestThePaymentIsAnnouncedInTheDecimalsOfWhatPays(t *testing.T) {
	d, err := assets.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	var fine, coarse string
	for _, x := range d.Tokens {
		for i := range x.AggregatedEntities {
			switch e := &x.AggregatedEntities[i]; {
			case x.AggregatedAssetID != "ob:usdc":
			case strings.HasPrefix(e.AssetType, "eip155:10/"):
				e.Decimals, fine = new(18), e.AssetType
			default:
				coarse = e.AssetType
			}
		}
	}
	c, err := catalog.New(d)
	if err != nil {
		t.Fatal(err)
	}
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
