package verify_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/wallet/verify"
)

func shippedAssets(c *catalog.Catalog) []api.AggregatedAsset {
	var out []api.AggregatedAsset
	for _, a := range c.Aggregates() {
		w := api.AggregatedAsset{AggregatedAssetID: a.ID.String(), Symbol: a.Symbol, Name: a.Name, Decimals: a.Decimals}
		for _, e := range a.Entities {
			w.AggregatedEntities = append(w.AggregatedEntities,
				api.AggregatedEntity{AssetType: e.Asset.Display(), Decimals: e.Decimals, Name: e.Name,
					Symbol: e.Symbol})
		}
		out = append(out, w)
	}
	return out
}

// at finds an aggregate in a list.
func listAggregate(list []api.AggregatedAsset, id string) *api.AggregatedAsset {
	for i := range list {
		if list[i].AggregatedAssetID == id {
			return &list[i]
		}
	}
	return nil
}

func canUse(l verify.AssetList, id string) bool {
	for _, u := range l.Usable {
		if u == id {
			return true
		}
	}
	return false
}

func TestTH_B2_TheShippedListIsUsableAsItIs(t *testing.T) {
	c := listCatalog(t)
	l, r := verify.Assets(c, nil, shippedAssets(c))
	n := 0
	for _, a := range c.Aggregates() {
		n += 1 + len(a.Entities)
	}
	same := verify.Check{Code: "B2", Title: "every listed asset is what it was"}
	if !slices.Contains(r.Passed, same) || len(r.Reasons) != 0 || len(l.Usable) != n || len(l.Changes) != 0 ||
		len(l.First) != 0 || !canUse(l, listUSDC) || !canUse(l, "ob:usdc") {
		t.Fatalf("%d of %d usable, %+v", len(l.Usable), n, r.Reasons)
	}
	named := shippedAssets(c)
	named[0].Name = "another name"
	if l, r := verify.Assets(c, nil, named); len(r.Reasons) != 0 || len(l.Usable) != n {
		t.Fatalf("a name, of which ours is shown, decides: %+v", r.Reasons)
	}
}

func TestTH_B2_AnEntityThatContradictsThePinsIsUnusable(t *testing.T) {
	c := listCatalog(t)
	entity := func(l []api.AggregatedAsset) *api.AggregatedEntity {
		for i, e := range listAggregate(l, "ob:usdc").AggregatedEntities {
			if strings.EqualFold(e.AssetType, listUSDC) {
				return &listAggregate(l, "ob:usdc").AggregatedEntities[i]
			}
		}
		t.Fatal("no USDC on Base")
		return nil
	}
	for name, m := range map[string]struct {
		change func(l []api.AggregatedAsset)
		id     string
		pinned bool
	}{
		"decimals": {func(l []api.AggregatedAsset) { entity(l).Decimals = 18 }, listUSDC, true},
		"symbol":   {func(l []api.AggregatedAsset) { entity(l).Symbol = "USDT" }, listUSDC, true},
		"re-pointed": {func(l []api.AggregatedAsset) { entity(l).AssetType = listStranger }, listStranger,
			false},
		"aggregate decimals": {func(l []api.AggregatedAsset) { listAggregate(l, "ob:usdc").Decimals = 18 }, "ob:usdc",
			true},
		"aggregate symbol": {func(l []api.AggregatedAsset) { listAggregate(l, "ob:usdc").Symbol = "USDT" }, "ob:usdc",
			true},
		"moved to another": {func(l []api.AggregatedAsset) {
			e := entity(l)
			x := *e
			e.AssetType = listStranger
			a := listAggregate(l, "ob:usdt")
			a.AggregatedEntities = append(a.AggregatedEntities, x)
		}, listUSDC, true},
		"remembered, re-made": {func(l []api.AggregatedAsset) { entity(l).Decimals = 7 }, listUSDC, true},
	} {
		list := shippedAssets(c)
		m.change(list)
		// what is shipped wins
		memory := verify.AssetMemory{listUSDC: {Aggregate: "ob:usdc", Decimals: 7, Symbol: "USDC", Name: "USD Coin"}}
		l, r := verify.Assets(c, memory, list)
		found := false
		for _, x := range l.Changes {
			found = found || x.ID == m.id && x.Pinned == m.pinned && x.Is != nil
		}
		if canUse(l, m.id) || !found || !r.Has("B2", verify.Warn) ||
			slices.Contains(r.Passed, verify.Check{Code: "B2", Title: "every listed asset is what it was"}) {
			t.Errorf("%s: %+v %+v", name, l.Changes, r.Reasons)
		}
	}
	list := shippedAssets(c)
	listAggregate(list, "ob:usdc").Decimals = 18
	if l, _ := verify.Assets(c, nil, list); canUse(l, listUSDC) {
		t.Error("an entity of a changed aggregate is usable")
	}
}

func newAsset(symbol string, decimals int) api.AggregatedAsset {
	return api.AggregatedAsset{
		AggregatedAssetID: "ob:new", Symbol: symbol, Name: "New", Decimals: decimals,
		AggregatedEntities: []api.AggregatedEntity{{AssetType: listStranger, Symbol: symbol, Name: "New",
			Decimals: decimals}},
	}
}

func TestTH_B2_AStrangerIsTrustedOnFirstUseAndPinnedFromThen(t *testing.T) {
	c := listCatalog(t)
	l, r := verify.Assets(c, nil, []api.AggregatedAsset{newAsset("NEW", 9)})
	want := verify.SeenAsset{Aggregate: "ob:new", Decimals: 9, Symbol: "NEW", Name: "New"}
	if len(r.Reasons) != 0 || !canUse(l, listStranger) || l.First[listStranger] != want || l.First["ob:new"] != want {
		t.Fatalf("%+v %+v", l, r.Reasons)
	}
	for _, decimals := range []int{0, 77} { // what an amount can be written with
		if l, r := verify.Assets(c, nil, []api.AggregatedAsset{newAsset("NEW", decimals)}); len(r.Reasons) != 0 ||
			!canUse(l, listStranger) {
			t.Errorf("%d decimals: %+v", decimals, r.Reasons)
		}
	}
	memory := l.First
	raw, err := json.Marshal(memory)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &memory); err != nil {
		t.Fatal(err)
	}
	if l, r := verify.Assets(c, memory, []api.AggregatedAsset{newAsset("NEW", 9)}); len(r.Reasons) != 0 ||
		!canUse(l, listStranger) || len(l.First) != 0 {
		t.Fatalf("the same again: %+v", r.Reasons)
	}
	for name, a := range map[string]api.AggregatedAsset{"decimals": newAsset("NEW", 18),
		"symbol": newAsset("NEWS", 9)} {
		l, r := verify.Assets(c, memory, []api.AggregatedAsset{a})
		if canUse(l, "ob:new") || canUse(l, listStranger) || !r.Has("B2", verify.Warn) || l.Changes[0].Was == nil ||
			*l.Changes[0].Was != want || l.Changes[0].Pinned {
			t.Errorf("%s: %+v", name, l)
		}
		if x := r.Reasons[0]; x.Want != "NEW, 9 decimals, of ob:new (New)" || x.Got == x.Want {
			t.Errorf("%s: the difference reads %q and %q", name, x.Want, x.Got)
		}
		memory := verify.AssetMemory{}
		for id, was := range l.First {
			memory[id] = was
		}
		memory["ob:new"] = *l.Changes[0].Is
		memory[listStranger] = *l.Changes[0].Is
		if l, r := verify.Assets(c, memory, []api.AggregatedAsset{a}); len(r.Reasons) != 0 || !canUse(l, listStranger) {
			t.Errorf("%s, accepted: %+v", name, r.Reasons)
		}
	}
	entityOnly := newAsset("NEW", 9)
	entityOnly.AggregatedEntities[0].Decimals = 10
	if l, _ := verify.Assets(c, memory, []api.AggregatedAsset{entityOnly}); canUse(l, listStranger) ||
		!canUse(l, "ob:new") {
		t.Errorf("only the entity changed: %+v", l)
	}
	l, r = verify.Assets(c, memory, nil)
	if len(l.Changes) != 2 || l.Changes[0].Is != nil || !r.Has("B2", verify.Warn) {
		t.Errorf("gone: %+v", l.Changes)
	}
}

func TestTH_B2_ANewContractOfAShippedAssetIsAccepted(t *testing.T) {
	c := listCatalog(t)
	list := shippedAssets(c)
	a := listAggregate(list, "ob:usdc")
	a.AggregatedEntities = append(a.AggregatedEntities,
		api.AggregatedEntity{AssetType: listStranger, Symbol: "USDC", Name: "USD Coin", Decimals: 6})
	l, _ := verify.Assets(c, nil, list)
	if canUse(l, listStranger) || !canUse(l, listUSDC) || len(l.Changes) != 1 {
		t.Fatalf("%+v", l.Changes)
	}
	if l, r := verify.Assets(c, verify.AssetMemory{listStranger: *l.Changes[0].Is}, list); !canUse(l, listStranger) ||
		len(r.Reasons) != 0 {
		t.Fatalf("accepted by hand: %+v", r.Reasons)
	}
}

func TestTH_B2_MalformedEntriesAreUnusable(t *testing.T) {
	c := listCatalog(t)
	for name, m := range map[string]struct {
		change func(*api.AggregatedAsset)
		code   string
		level  verify.Level
	}{
		"aggregate id": {func(a *api.AggregatedAsset) { a.AggregatedAssetID = "new" }, "B2", verify.Refuse},
		"reserved id":  {func(a *api.AggregatedAsset) { a.AggregatedAssetID = "ob:single" }, "B2", verify.Refuse},
		"asset": {func(a *api.AggregatedAsset) { a.AggregatedEntities[0].AssetType = "0x11" }, "B2",
			verify.Refuse},
		"twice": {func(a *api.AggregatedAsset) {
			a.AggregatedEntities = append(a.AggregatedEntities, a.AggregatedEntities[0])
		}, "B2", verify.Refuse},
		"decimals":      {func(a *api.AggregatedAsset) { a.AggregatedEntities[0].Decimals = -1 }, "B2", verify.Warn},
		"more decimals": {func(a *api.AggregatedAsset) { a.AggregatedEntities[0].Decimals = 78 }, "B2", verify.Warn},
		"chain": {func(a *api.AggregatedAsset) {
			a.AggregatedEntities[0].AssetType = strings.Replace(listStranger, "8453", "666", 1)
		}, "B3", verify.Show},
		"symbol": {func(a *api.AggregatedAsset) { a.AggregatedEntities[0].Symbol = "U\u0405DC" }, "B4", verify.Refuse},
	} {
		a := newAsset("NEW", 9)
		m.change(&a)
		l, r := verify.Assets(c, nil, []api.AggregatedAsset{a})
		if !r.Has(m.code, m.level) || canUse(l, listStranger) && name != "twice" {
			t.Errorf("%s: %+v %+v", name, l, r.Reasons)
		}
	}
}
