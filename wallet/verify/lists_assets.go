package verify

import (
	"maps"
	"slices"
	"strconv"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
)

// SeenAsset is what the wallet remembers of an asset that it does not ship: of an entity, or of an aggregate itself.
type SeenAsset struct {
	Aggregate string `json:"aggregate"`
	Decimals  int    `json:"decimals"`
	Symbol    string `json:"symbol"`
	Name      string `json:"name"`
}

// AssetMemory is what was trusted on first use, by CAIP-19 asset in canonical form or by aggregated asset id. A caller
// accepts a change by writing its Is into the memory, and keeps the memory of one network apart from that of another.
type AssetMemory map[string]SeenAsset

// AssetChange is an asset that is not what it was: Was is nil for one that is new where everything is known, Is for one
// that is gone. A Pinned change contradicts what this program ships, or passes for a known asset; it cannot be
// accepted.
type AssetChange struct {
	ID      string // CAIP-19 or aggregated asset id
	Was, Is *SeenAsset
	Pinned  bool
}

// AssetList is a list of assets that was judged. Usable are the ids, entities and aggregates, whose content is the
// shipped or the remembered one or was never seen before; First are those of the last sort, to be added to the memory.
// An id with a change is not usable, nor is an entity of such an aggregate.
type AssetList struct {
	Usable  []string
	First   AssetMemory
	Changes []AssetChange
}

// Assets compares the service's list of assets with the shipped one and with what is remembered (TH-B2), and the
// symbols of strangers with the known ones (TH-B4). memory is not changed.
func Assets(c *catalog.Catalog, memory AssetMemory, list []api.AggregatedAsset) (AssetList, Report) {
	r := assetReader{j: &judge{}, c: c, memory: memory, symbols: NewSymbols(c), out: AssetList{First: AssetMemory{}},
		met: map[string]bool{}}
	for i, a := range list {
		path := "/" + strconv.Itoa(i)
		is := SeenAsset{Aggregate: a.AggregatedAssetID, Decimals: a.Decimals, Symbol: a.Symbol, Name: a.Name}
		id, err := caip.ParseAggregate(a.AggregatedAssetID)
		ok := r.once(path+"/aggregatedAssetId", a.AggregatedAssetID, err == nil && id != caip.Single) &&
			r.judge(path, id.String(), is, r.shipped(id))
		for k, e := range a.AggregatedEntities {
			r.entity(path+"/aggregatedEntities/"+strconv.Itoa(k), id, e, ok)
		}
	}
	r.gone()
	if len(r.out.Changes) == 0 {
		r.j.pass("B2", "every listed asset is what it was")
	}
	return r.out, r.j.report
}

type assetReader struct {
	j       *judge
	c       *catalog.Catalog
	memory  AssetMemory
	symbols Symbols
	out     AssetList
	met     map[string]bool
}

func (r *assetReader) shipped(id caip.AggregateID) *SeenAsset {
	a, ok := r.c.Aggregate(id)
	if !ok {
		return nil
	}
	return &SeenAsset{Aggregate: id.String(), Decimals: a.Decimals, Symbol: a.Symbol, Name: a.Name}
}

// once demands a well-formed id that was not met before in the list.
func (r *assetReader) once(path, id string, formed bool) bool {
	if !r.j.must(formed && !r.met[id], "B2", "every asset has an id and is listed once", path,
		"an id that is listed once", id) {
		return false
	}
	r.met[id] = true
	return true
}

// entity judges the asset of one chain; whole says that its aggregate can be used.
func (r *assetReader) entity(path string, of caip.AggregateID, e api.AggregatedEntity, whole bool) {
	asset, err := caip.ParseAsset(e.AssetType)
	id := asset.String()
	if err != nil {
		id = e.AssetType
	}
	if !r.once(path+"/assetType", id, err == nil) || !whole {
		return
	}
	if _, ok := r.c.Chain(asset.Chain); !ok {
		r.j.add(Show, "B3", "An asset on a chain that this wallet does not know is left out.", path+"/assetType", "",
			e.AssetType)
		return
	}
	is := SeenAsset{Aggregate: of.String(), Decimals: e.Decimals, Symbol: e.Symbol, Name: e.Name}
	var was *SeenAsset
	if ours, ok := r.c.Entity(asset); ok {
		was = &SeenAsset{Aggregate: ours.Aggregate.String(), Decimals: ours.Decimals, Symbol: ours.Symbol,
			Name: ours.Name}
	} else if _, ours := r.c.Aggregate(of); ours {
		if _, accepted := r.memory[id]; !accepted {
			r.change(path, AssetChange{ID: id, Is: &is},
				"A shipped asset is listed with a contract that this wallet does not know.")
			return
		}
	}
	r.judge(path, id, is, was)
}

// judge compares an asset with the shipped one, else with the remembered one, and reports whether it can be used.
func (r *assetReader) judge(path, id string, is SeenAsset, shipped *SeenAsset) bool {
	if shipped != nil {
		is.Name = shipped.Name // only ever shown, and ours is
		if is != *shipped {
			r.change(path, AssetChange{ID: id, Was: shipped, Is: &is, Pinned: true},
				"An asset differs from the one that this program ships.")
			return false
		}
		r.out.Usable = append(r.out.Usable, id)
		return true
	}
	was, seen := r.memory[id]
	if seen && was != is {
		r.change(path, AssetChange{ID: id, Was: &was, Is: &is}, "An asset changed since it was first seen.")
		return false
	}
	if is.Decimals < 0 || is.Decimals > amount.MaxDecimals {
		r.change(path, AssetChange{ID: id, Is: &is, Pinned: true}, "An asset has impossible decimals.")
		return false
	}
	if v, bad := r.symbols.Judge(is.Symbol); bad != nil && !seen {
		bad.Path = path + "/symbol"
		r.j.put(*bad)
		if v.Like != "" {
			r.out.Changes = append(r.out.Changes, AssetChange{ID: id, Is: &is, Pinned: true})
			return false
		}
	}
	if !seen {
		r.out.First[id] = is
	}
	r.out.Usable = append(r.out.Usable, id)
	return true
}

func (r *assetReader) change(path string, c AssetChange, title string) {
	want, got := "", ""
	if c.Was != nil {
		want = c.Was.String()
	}
	if c.Is != nil {
		got = c.Is.String()
	}
	r.out.Changes = append(r.out.Changes, c)
	r.j.add(Warn, "B2", title, path, want, got)
}

// String writes what is compared; the texts are foreign and cleaned where a Reason is made.
func (s SeenAsset) String() string {
	return s.Symbol + ", " + strconv.Itoa(s.Decimals) + " decimals, of " + s.Aggregate + " (" + s.Name + ")"
}

// gone notes remembered assets that are no longer listed. Those that this program ships are not missed: a service may
// offer fewer.
func (r *assetReader) gone() {
	for _, id := range slices.Sorted(maps.Keys(r.memory)) {
		if !r.met[id] {
			was := r.memory[id]
			r.change("", AssetChange{ID: id, Was: &was}, "An asset is no longer listed.")
		}
	}
}
