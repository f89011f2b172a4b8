package verify_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/assets"
	"coffer/wallet/verify"
)

const (
	listUSDC     = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	listStranger = "eip155:8453/erc20:0x1111111111111111111111111111111111111111"
)

func listCatalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// entities are two chains of USDC with different decimals where the catalogue has them.
func heldBalances() api.AggregatedBalance {
	return api.AggregatedBalance{
		BalanceByAggregatedAsset: []api.AggregateBalance{{
			AggregatedAssetID: "ob:usdc", Balance: "7000000", FiatValue: "7.00",
			IndividualAssetBalances: []api.AssetBalance{
				{AssetType: listUSDC, Balance: "5000000", FiatValue: "5.00"},
				{AssetType: "eip155:10/erc20:0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85", Balance: "2000000"},
			},
		}},
		BalanceBySpecificAsset: []api.AssetBalance{{AssetType: listUSDC, Balance: "5000000"}},
		TotalBalance:           api.TotalBalance{FiatValue: "7"},
	}
}

func TestTH_B1_BalancesAreWholeNumbersAndSumUp(t *testing.T) {
	c := listCatalog(t)
	if r := verify.Balances(c, heldBalances()); len(r.Reasons) != 0 || len(r.Passed) == 0 {
		t.Fatalf("%+v", r.Reasons)
	}
	nothing := heldBalances()
	nothing.BalanceByAggregatedAsset[0].FiatValue, nothing.TotalBalance.FiatValue = "0", "0.00"
	if r := verify.Balances(c, nothing); len(r.Reasons) != 0 ||
		!slices.Contains(r.Passed, verify.Check{Code: "B1", Title: "every sum equals its parts"}) {
		t.Fatalf("worth nothing: %+v", r.Reasons)
	}
	part := func(b *api.AggregatedBalance, i int) *api.AssetBalance {
		return &b.BalanceByAggregatedAsset[0].IndividualAssetBalances[i]
	}
	for name, m := range map[string]struct {
		change func(*api.AggregatedBalance)
		level  verify.Level
		path   string
	}{
		"negative": {func(b *api.AggregatedBalance) { part(b, 0).Balance = "-5000000" }, verify.Refuse,
			"/balanceByAggregatedAsset/0/individualAssetBalances/0/balance"},
		"not a number": {func(b *api.AggregatedBalance) { part(b, 1).Balance = "NaN" }, verify.Refuse,
			"/balanceByAggregatedAsset/0/individualAssetBalances/1/balance"},
		"fraction": {func(b *api.AggregatedBalance) { part(b, 0).Balance = "5.0" }, verify.Refuse,
			"/balanceByAggregatedAsset/0/individualAssetBalances/0/balance"},
		"exponent in sum": {func(b *api.AggregatedBalance) { b.BalanceByAggregatedAsset[0].Balance = "7e6" },
			verify.Refuse, "/balanceByAggregatedAsset/0/balance"},
		"sum too high": {func(b *api.AggregatedBalance) {
			b.BalanceByAggregatedAsset[0].Balance =
				"7000001"
		}, verify.Warn, "/balanceByAggregatedAsset/0/balance"},
		"part too high": {func(b *api.AggregatedBalance) { part(b, 1).Balance = "2000001" }, verify.Warn,
			"/balanceByAggregatedAsset/0/balance"},
		"part of another": {func(b *api.AggregatedBalance) { part(b, 1).AssetType = "eip155:10/slip44:60" },
			verify.Refuse, "/balanceByAggregatedAsset/0/individualAssetBalances/1/assetType"},
		"part twice": {func(b *api.AggregatedBalance) { part(b, 1).AssetType = listUSDC }, verify.Refuse,
			"/balanceByAggregatedAsset/0/individualAssetBalances/1/assetType"},
		"no asset": {func(b *api.AggregatedBalance) { part(b, 1).AssetType = "USDC" }, verify.Refuse,
			"/balanceByAggregatedAsset/0/individualAssetBalances/1/assetType"},
		"unknown part": {func(b *api.AggregatedBalance) { part(b, 1).AssetType = listStranger },
			verify.Unknown, "/balanceByAggregatedAsset/0/balance"},
		"unknown aggregate": {func(b *api.AggregatedBalance) {
			b.BalanceByAggregatedAsset[0].AggregatedAssetID =
				"ob:new"
		}, verify.Unknown, "/balanceByAggregatedAsset/0"},
		"known part of an unknown": {func(b *api.AggregatedBalance) {
			b.BalanceByAggregatedAsset[0].AggregatedAssetID =
				"ob:new"
		}, verify.Refuse, "/balanceByAggregatedAsset/0/individualAssetBalances/0/assetType"},
		"specific asset": {func(b *api.AggregatedBalance) { b.BalanceBySpecificAsset[0].Balance = "" },
			verify.Refuse, "/balanceBySpecificAsset/0/balance"},
		"specific value": {func(b *api.AggregatedBalance) { b.BalanceBySpecificAsset[0].FiatValue = "-1" },
			verify.Refuse, "/balanceBySpecificAsset/0/fiatValue"},
		"worth below zero": {func(b *api.AggregatedBalance) { part(b, 0).FiatValue = "-0.01" }, verify.Refuse,
			"/balanceByAggregatedAsset/0/individualAssetBalances/0/fiatValue"},
		"sum worth nonsense": {func(b *api.AggregatedBalance) { b.BalanceByAggregatedAsset[0].FiatValue = "1e9" },
			verify.Refuse, "/balanceByAggregatedAsset/0/fiatValue"},
		"total below zero": {func(b *api.AggregatedBalance) { b.TotalBalance.FiatValue = "-7" }, verify.Refuse,
			"/totalBalance/fiatValue"},
		"aggregate twice": {func(b *api.AggregatedBalance) {
			b.BalanceByAggregatedAsset = append(b.BalanceByAggregatedAsset, b.BalanceByAggregatedAsset[0])
		}, verify.Refuse, "/balanceByAggregatedAsset/1"},
	} {
		b := heldBalances()
		m.change(&b)
		r := verify.Balances(c, b)
		if !hasReason(r, "B1", m.level, m.path) {
			t.Errorf("%s: %+v", name, r.Reasons)
		}
		if m.level == verify.Warn && slices.Contains(r.Passed,
			verify.Check{Code: "B1", Title: "every sum equals its parts"}) {
			t.Errorf("%s: the sum passed", name)
		}
	}
}

func hasReason(r verify.Report, code string, l verify.Level, path string) bool {
	for _, x := range r.Reasons {
		if x.Code == code && x.Level == l && x.Path == path {
			return true
		}
	}
	return false
}

func TestTH_B1_SumsAreScaledWithOurDecimals(t *testing.T) {
	shipped, err := assets.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, a := range shipped.Tokens {
		if a.AggregatedAssetID != "ob:usdc" {
			continue
		}
		a.AggregatedEntities[0].Decimals = new(18) // as USDC has on some chains
		for _, e := range a.AggregatedEntities {
			ids = append(ids, e.AssetType)
		}
	}
	c, err := catalog.New(shipped)
	if err != nil {
		t.Fatal(err)
	}
	b := api.AggregateBalance{AggregatedAssetID: "ob:usdc", Balance: "7000000",
		IndividualAssetBalances: []api.AssetBalance{
			{AssetType: ids[0], Balance: "5000000000000000000"}, {AssetType: ids[1], Balance: "2000000"},
		}}
	judge := func() verify.Report {
		return verify.Balances(c, api.AggregatedBalance{BalanceByAggregatedAsset: []api.AggregateBalance{b}})
	}
	if r := judge(); len(r.Reasons) != 0 {
		t.Errorf("%+v", r.Reasons)
	}
	b.IndividualAssetBalances[0].Balance = "5000000"
	if r := judge(); !r.Has("B1", verify.Warn) {
		t.Error("18 decimals were taken for 6")
	}
}

func chainList(c *catalog.Catalog) []api.SupportedChain {
	var out []api.SupportedChain
	for _, info := range append(c.Chains(), c.Solana()) {
		out = append(out, api.SupportedChain{Chain: api.ChainRef{Chain: info.Chain.String(),
			Namespace: info.Chain.Namespace, Reference: info.Chain.Reference}})
	}
	return out
}

func TestTH_B3_ChainsAreIntersectedWithOurs(t *testing.T) {
	c := listCatalog(t)
	all := append(c.Chains(), c.Solana())
	got, r := verify.Chains(c, chainList(c))
	if len(r.Reasons) != 0 || !reflect.DeepEqual(got, all) {
		t.Fatalf("%+v %+v", got, r.Reasons)
	}
	targets := chainList(c)[:len(c.Chains())] // calls run on no other
	if got, r = verify.Chains(c, targets); len(r.Reasons) != 0 || !reflect.DeepEqual(got, c.Chains()) {
		t.Fatalf("%+v %+v", got, r.Reasons)
	}
	fewer := append([]api.SupportedChain{{Chain: api.ChainRef{Chain: "eip155:666", Namespace: "eip155",
		Reference: "666"}}}, chainList(c)[1:]...)
	got, r = verify.Chains(c, fewer)
	if !reflect.DeepEqual(got, all[1:]) || r.Count(verify.Show) != 2 || r.Refused() || !r.Has("B3", verify.Show) {
		t.Fatalf("%+v %+v", got, r.Reasons)
	}
	for name, change := range map[string]func(*api.SupportedChain){
		"malformed": func(s *api.SupportedChain) { s.Chain.Chain = "Base" },
		"reference": func(s *api.SupportedChain) { s.Chain.Reference = "10" },
		"namespace": func(s *api.SupportedChain) { s.Chain.Namespace = "solana" },
		"twice":     func(s *api.SupportedChain) { *s = chainList(c)[1] },
	} {
		list := chainList(c)
		change(&list[0])
		got, r := verify.Chains(c, list)
		if !r.Has("B3", verify.Refuse) || !reflect.DeepEqual(got, all[1:]) {
			t.Errorf("%s: %+v %+v", name, got, r.Reasons)
		}
	}
}

func FuzzLists(f *testing.F) {
	c := listCatalog(f)
	add := func(v any) {
		b, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	add(heldBalances())
	add(shippedAssets(c))
	add([]api.AggregatedAsset{newAsset("UЅDC", 300)})
	add(chainList(c))
	memory := verify.AssetMemory{listStranger: {Aggregate: "ob:new", Decimals: 9, Symbol: "NEW"}}
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := api.ParseDocument(raw, api.DefaultLimits())
		if err != nil {
			return
		}
		var b api.AggregatedBalance
		if doc.Decode(&b) == nil {
			verify.Balances(c, b)
		}
		var s []api.SupportedChain
		if doc.Decode(&s) == nil {
			got, _ := verify.Chains(c, s)
			for _, info := range got {
				if ours, ok := c.Chain(info.Chain); !ok || !reflect.DeepEqual(ours, info) {
					t.Fatalf("a chain that is not ours: %+v", info)
				}
			}
		}
		var a []api.AggregatedAsset
		if doc.Decode(&a) != nil {
			return
		}
		l, r := verify.Assets(c, memory, a)
		changed := map[string]bool{}
		for _, x := range l.Changes {
			changed[x.ID] = true
		}
		for _, id := range l.Usable {
			if changed[id] {
				t.Fatalf("%s is usable and changed", id)
			}
		}
		for _, a := range c.Aggregates() { // a shipped asset is usable with our content only
			for _, e := range a.Entities {
				if first, ok := l.First[e.Asset.String()]; ok {
					t.Fatalf("%s was taken for new: %+v", e.Asset, first)
				}
			}
		}
		for _, x := range r.Reasons {
			if strings.ContainsAny(fmt.Sprint(x.Path, x.Want, x.Got), "\x1b\n\u202e") {
				t.Fatalf("%+v", x)
			}
		}
	})
}
