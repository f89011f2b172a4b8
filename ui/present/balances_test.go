package present

import (
	"testing"

	"coffer/api"
	"coffer/api/catalog"
)

// What is held and has no price is no total of nothing.
func TestATotalOfWhatHasNoPriceIsUnknown(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	of := func(eth string, worth api.Number) *Holdings {
		t.Helper()
		h, err := BalanceReader{Catalog: c}.Read(api.AggregatedBalance{BalanceByAggregatedAsset: []api.AggregateBalance{
			{AggregatedAssetID: "ob:eth", Balance: eth, FiatValue: worth},
			{AggregatedAssetID: "ob:usdc", Balance: "0", FiatValue: "0"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if h := of("1000000000000000000", ""); h.Total != nil {
		t.Errorf("the total is %s", h.Total)
	}
	if h := of("0", "0"); h.Total == nil || h.Total.Sign() != 0 {
		t.Errorf("nothing is worth %v", h.Total)
	}
	if h := of("1000000000000000000", "2500"); h.Total == nil || h.Total.Int64() != 2_500_000_000 {
		t.Errorf("ETH of $2500 is worth %v", h.Total)
	}
}
