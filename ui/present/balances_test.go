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

// A chain that cannot be asked has no figures, and its coin says so; what is known elsewhere stays.
func TestBalancesOfAChainThatCannotBeAskedAreUnknown(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	h, err := BalanceReader{Catalog: c}.Read(api.AggregatedBalance{
		BalanceByAggregatedAsset: []api.AggregateBalance{
			{AggregatedAssetID: "ob:eth", Balance: "0"},
			{AggregatedAssetID: "ob:usdc", Balance: "7000000", FiatValue: "7",
				IndividualAssetBalances: []api.AssetBalance{
					{AssetType: "eip155:10/erc20:0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85", Balance: "7000000",
						FiatValue: "7"}}},
			{AggregatedAssetID: "ob:dai", Balance: "0", FiatValue: "0"},
		},
		Unreachable: []api.UnreachableChain{{Chain: "eip155:8453", Message: "no endpoint answers"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Assets) != 2 || h.Assets[0].ID != "ob:eth" || h.Assets[0].Amount != nil || h.Assets[0].Micro != nil ||
		h.Assets[1].Amount.Int64() != 7_000_000 || len(h.Assets[1].Parts) < 2 || h.Assets[1].Parts[1].Amount != nil ||
		h.Assets[1].Parts[1].ChainName != "Base" {
		t.Errorf("%+v", h.Assets)
	}
	if h.Total.Int64() != 7_000_000 || h.Without == "" {
		t.Errorf("the total is %s, without %q", h.Total, h.Without)
	}
	if len(h.Reasons) != 1 || h.Reasons[0].Title !=
		"Balances on Base are unknown, and in no sum: its nodes cannot be asked." ||
		h.Reasons[0].Got != "no endpoint answers" {
		t.Errorf("%+v", h.Reasons)
	}
}
