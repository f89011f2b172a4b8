package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/assets"
)

func load(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCatalogKnowsExactlyTheSupportedChains(t *testing.T) {
	c := load(t)
	var ids []uint64
	for _, info := range c.Chains() {
		ids = append(ids, info.ID)
		if found, ok := c.Chain(caip.EVM(info.ID)); !ok || found.Name != info.Name {
			t.Errorf("chain %d is listed but not found", info.ID)
		}
		if !strings.HasPrefix(info.Explorer, "https://") || info.GasPriceWei.Sign() <= 0 {
			t.Errorf("chain %d: explorer %q, gas price %v", info.ID, info.Explorer, info.GasPriceWei)
		}
	}
	if !slices.Equal(ids, []uint64{1, 10, 56, 137, 8453, 42161, 43114, 59144}) {
		t.Errorf("chains %v", ids)
	}
	if info, ok := c.Chain(caip.SolanaMainnet()); !ok || info.NativeSymbol != "SOL" || info != c.Solana() {
		t.Errorf("solana: %+v", info)
	}
	if _, ok := c.Chain(caip.EVM(57)); ok {
		t.Error("an unknown chain is there")
	}
}

func TestNativeCoinsFollowTheChain(t *testing.T) {
	c := load(t)
	for id, want := range map[uint64]struct {
		symbol    string
		aggregate caip.AggregateID
	}{1: {"ETH", "ob:eth"}, 8453: {"ETH", "ob:eth"}, 59144: {"ETH", "ob:eth"}, 137: {"POL", "ob:pol"},
		43114: {"AVAX", "ob:avax"},
		56:    {"BNB", "ob:bnb"}} {
		e, ok := c.NativeOf(id)
		if !ok || e.Symbol != want.symbol || e.Aggregate != want.aggregate || e.Decimals != 18 {
			t.Errorf("chain %d: %+v", id, e)
		}
	}
	if _, ok := c.NativeOf(57); ok {
		t.Error("an unknown chain has no native coin")
	}
}

func TestEveryEntityIsFoundAndPricedThroughItsAggregate(t *testing.T) {
	c := load(t)
	all := c.Aggregates()
	if len(all) < 12 {
		t.Fatalf("only %d aggregates", len(all))
	}
	unpriced := 0
	for _, a := range all {
		if a.PriceMicroUSD == nil {
			unpriced++
		}
		for _, e := range a.Entities {
			found, ok := c.Entity(e.Asset)
			if !ok || found != e || found.Aggregate != a.ID {
				t.Errorf("%s: %+v", e.Asset, found)
			}
			price := c.Price(e.Asset)
			if (price == nil) != (a.PriceMicroUSD == nil) || price != nil && price.Cmp(a.PriceMicroUSD) != 0 {
				t.Errorf("%s: price %v, aggregate %v", e.Asset, price, a.PriceMicroUSD)
			}
			upper, err := caip.ParseAsset(e.Asset.Display())
			if err != nil || upper != e.Asset {
				t.Errorf("%s: %v", e.Asset.Display(), err)
			}
		}
	}
	if unpriced == 0 {
		t.Error("the data needs an asset without a price: unknown must stay visible")
	}
	usdc, ok := c.Aggregate("ob:usdc")
	if !ok || usdc.Decimals != 6 || !slices.ContainsFunc(usdc.Entities,
		func(e catalog.Entity) bool { return e.Asset.Chain.IsSolana() }) {
		t.Errorf("ob:usdc %+v", usdc)
	}
	if c.Price(caip.Native(57)) != nil {
		t.Error("an unknown asset has a price")
	}
}

func TestCatalogCannotBeChangedThroughItsAnswers(t *testing.T) {
	c := load(t)
	usdc, _ := c.Aggregate("ob:usdc")
	usdc.PriceMicroUSD.SetInt64(1)
	usdc.Entities[0].Decimals = 99
	chains := c.Chains()
	chains[0].Name = "changed"
	chains[0].GasPriceWei.SetInt64(1)
	c.Price(usdc.Entities[1].Asset).SetInt64(1)
	again, _ := c.Aggregate("ob:usdc")
	if again.PriceMicroUSD.Int64() == 1 || again.Entities[0].Decimals == 99 || c.Chains()[0].Name == "changed" ||
		c.Chains()[0].GasPriceWei.Int64() == 1 {
		t.Error("the registry changed")
	}
}

func TestNewRefusesContradictions(t *testing.T) {
	data := func() assets.Catalog {
		coin := func(id, symbol, asset string, decimals int) assets.Token {
			return assets.Token{AggregatedAssetID: id, Symbol: symbol, Name: symbol, Decimals: &decimals,
				PriceMicroUSD: "500",
				AggregatedEntities: []assets.Entity{{AssetType: asset, Decimals: &decimals, Name: symbol,
					Symbol: symbol}}}
		}
		return assets.Catalog{
			Chains: []assets.Chain{
				{Chain: "eip155:1", Name: "Ethereum", Short: "eth", NativeSymbol: "ETH", GasPriceWei: "1"},
				{Chain: caip.SolanaMainnet().String(), Name: "Solana", Short: "sol", NativeSymbol: "SOL"},
			},
			Tokens: []assets.Token{
				coin("ob:eth", "ETH", "eip155:1/slip44:60", 18), coin("ob:sol", "SOL", caip.SOL().String(), 9),
			},
		}
	}
	if _, err := catalog.New(data()); err != nil {
		t.Fatal(err)
	}
	cases := map[string]func(d *assets.Catalog){
		"/chains/2: chain eip155:1 appears twice": func(d *assets.Catalog) { d.Chains = append(d.Chains, d.Chains[0]) },
		"/tokens/0: eip155:2/slip44:60 is on an unknown chain": func(d *assets.Catalog) {
			d.Tokens[0].AggregatedEntities[0].AssetType = "eip155:2/slip44:60"
		},
		"/tokens/2: eip155:1/slip44:60 is in the catalogue already, in ob:eth": func(d *assets.Catalog) {
			d.Tokens = append(d.Tokens, d.Tokens[0])
			d.Tokens[2].AggregatedAssetID = "ob:eth2"
		},
		"in the catalogue already, in ob:eth": func(d *assets.Catalog) { d.Tokens = append(d.Tokens, d.Tokens[0]) },
		"ob:eth needs decimals":               func(d *assets.Catalog) { d.Tokens[0].Decimals = new(19) },
		"ob:sol needs decimals":               func(d *assets.Catalog) { d.Tokens[1].Decimals = nil },
		"slip44:60 needs decimals": func(d *assets.Catalog) {
			d.Tokens[0].AggregatedEntities[0].Decimals = nil
		},
		"plain ASCII":         func(d *assets.Catalog) { d.Tokens[0].Symbol = "ЕTH" },
		"price of ob:eth: ":   func(d *assets.Catalog) { d.Tokens[0].PriceMicroUSD = "1.5" },
		"leave an unknown":    func(d *assets.Catalog) { d.Tokens[0].PriceMicroUSD = "99" },
		"no native coin":      func(d *assets.Catalog) { d.Tokens = d.Tokens[1:] },
		"has no native coin":  func(d *assets.Catalog) { d.Tokens = d.Tokens[:1] },
		"the native coin of":  func(d *assets.Catalog) { d.Chains[0].NativeSymbol = "POL" },
		"on no chain":         func(d *assets.Catalog) { d.Tokens[0].AggregatedEntities = nil },
		"reserved":            func(d *assets.Catalog) { d.Tokens[0].AggregatedAssetID = "ob:single" },
		"aggregated asset id": func(d *assets.Catalog) { d.Tokens[0].AggregatedAssetID = "eth" },
		"neither an EVM":      func(d *assets.Catalog) { d.Chains[0].Chain = "bip122:ab" },
		"CAIP-2 chain id":     func(d *assets.Catalog) { d.Chains[0].Chain = "1" },
		"gas price of":        func(d *assets.Catalog) { d.Chains[0].GasPriceWei = "" },
		"two different ways":  func(d *assets.Catalog) { d.Tokens[1].AggregatedAssetID = "ob:eth" },
		"have the same name":  func(d *assets.Catalog) { d.Chains[1].Short = "eth" },
		"a name, a short":     func(d *assets.Catalog) { d.Chains[0].Name = "" },
		"two tokens on eip155:1": func(d *assets.Catalog) {
			d.Tokens[0].AggregatedEntities = append(d.Tokens[0].AggregatedEntities, assets.Entity{
				AssetType: "eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", Decimals: new(18),
				Name:   "Ether",
				Symbol: "ETH"})
		},
		"is not written as": func(d *assets.Catalog) {
			d.Tokens[0].AggregatedEntities[0].AssetType = "eip155:1/erc20:0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
		},
	}
	for want, spoil := range cases {
		d := data()
		spoil(&d)
		if _, err := catalog.New(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

func TestAPartOfTheRegistryHasWhatIsKept(t *testing.T) {
	c := load(t)
	usdc := caip.ERC20(8453, common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"))
	kept := []caip.Asset{caip.Native(8453), usdc, caip.ERC20(10, common.HexToAddress(
		"0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"))} // without the coin of its chain
	part := c.Only(func(a caip.Asset) bool { return slices.Contains(kept, a) })
	if all := part.Chains(); len(all) != 1 || all[0].ID != 8453 || all[0].GasPriceWei.Sign() <= 0 {
		t.Errorf("%+v", all)
	}
	if all := part.Aggregates(); len(all) != 2 || len(part.On(caip.EVM(10))) != 0 || len(all[0].Entities) != 1 {
		t.Errorf("%+v", all)
	}
	if e, ok := part.Entity(usdc); !ok || e.Decimals != 6 || part.Price(usdc) == nil {
		t.Errorf("%+v", e)
	}
	whole := c.Only(func(caip.Asset) bool { return true })
	if a, b := slices.Collect(whole.Entities()), slices.Collect(c.Entities()); !slices.Equal(a, b) ||
		whole.Solana().Name != c.Solana().Name || len(whole.Chains()) != len(c.Chains()) {
		t.Error("the whole is not whole")
	}
	if _, still := c.Entity(kept[2]); !still || len(c.Chains()) < 2 {
		t.Error("the registry itself changed")
	}
}
