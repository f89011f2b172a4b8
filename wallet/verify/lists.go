package verify

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
)

// The checks of what the wallet only reads: balances, assets, chains, symbols, explorer pages, history. Nothing of it
// is ever signed, so a reason of level Refuse means here: do not use the value at Path.

// Balances judges an answer of aggregated-balance against the catalogue (TH-B1): figures are whole numbers in base
// units, no aggregate and no part is there twice, a part belongs to its aggregate, and the sum that is named is that of
// the parts, scaled with our decimals. A sum that cannot be computed is Unknown. Chains that could not be asked are
// named.
func Balances(c *catalog.Catalog, b api.AggregatedBalance) Report {
	j := &judge{}
	seen := map[string]bool{}
	for i, a := range b.BalanceByAggregatedAsset {
		path := "/balanceByAggregatedAsset/" + strconv.Itoa(i)
		j.must(!seen[a.AggregatedAssetID], "B1", "every asset is listed once", path, "one line", a.AggregatedAssetID)
		seen[a.AggregatedAssetID] = true
		j.aggregate(c, a, path)
	}
	for i, a := range b.BalanceBySpecificAsset {
		path := "/balanceBySpecificAsset/" + strconv.Itoa(i)
		j.figure(a.Balance, path+"/balance")
		j.worth(a.FiatValue, path+"/fiatValue")
	}
	j.worth(b.TotalBalance.FiatValue, "/totalBalance/fiatValue")
	for i, u := range b.Unreachable {
		id, _ := caip.ParseChain(u.Chain)
		name := "a chain that is not in this wallet's list"
		if info, known := c.Chain(id); known {
			name = info.Name
		}
		j.add(Warn, "B1", "Balances on "+name+" are unknown, and in no sum: its nodes cannot be asked.",
			"/unreachable/"+strconv.Itoa(i), "", u.Message)
	}
	return j.report
}

func (j *judge) figure(s, path string) *big.Int {
	v, err := amount.ParseBase(s)
	if !j.must(err == nil, "B1", "a balance is a whole number of base units, not negative", path, "digits", s) {
		return nil
	}
	return v
}

// worth accepts a figure that is left out; what is there must be a plain number that is not negative.
func (j *judge) worth(n api.Number, path string) {
	if n == "" {
		return
	}
	v, ok := n.Micro()
	j.must(ok && v.Sign() >= 0, "B1", "a value in dollars is a plain number, not negative", path, "a number", string(n))
}

// aggregate checks one aggregated balance.
func (j *judge) aggregate(c *catalog.Catalog, a api.AggregateBalance, path string) {
	j.worth(a.FiatValue, path+"/fiatValue")
	says := j.figure(a.Balance, path+"/balance")
	known, ok := c.Aggregate(caip.AggregateID(a.AggregatedAssetID))
	if !ok {
		j.add(Unknown, "B1", "The asset is not in this wallet's list, so its sum was not checked.", path, "",
			a.AggregatedAssetID)
	}
	total := new(big.Int)
	seen := map[caip.Asset]bool{}
	for i, p := range a.IndividualAssetBalances {
		at := fmt.Sprintf("%s/individualAssetBalances/%d", path, i)
		j.worth(p.FiatValue, at+"/fiatValue")
		v := j.figure(p.Balance, at+"/balance")
		asset, err := caip.ParseAsset(p.AssetType)
		if !j.must(err == nil && !seen[asset], "B1", "every part is an asset and is listed once", at+"/assetType",
			"an asset", p.AssetType) {
			total = nil
			continue
		}
		seen[asset] = true
		e, mine := c.Entity(asset)
		if mine {
			mine = j.must(e.Aggregate.String() == a.AggregatedAssetID, "B1",
				"every part belongs to the asset that it is counted to", at+"/assetType", e.Aggregate.String(),
				a.AggregatedAssetID)
		}
		if v == nil || !mine || total == nil {
			total = nil
			continue
		}
		total.Add(total, amount.Scale(v, e.Decimals, known.Decimals))
	}
	switch {
	case !ok || says == nil:
	case total == nil:
		j.add(Unknown, "B1", "The sum could not be checked.", path+"/balance", "", a.Balance)
	case total.Cmp(says) != 0:
		j.add(Warn, "B1", "The sum is not what its parts add up to.", path+"/balance",
			amount.Human(total, known.Decimals)+" "+known.Symbol, amount.Human(says, known.Decimals)+" "+known.Symbol)
	default:
		j.pass("B1", "every sum equals its parts")
	}
}

// Chains intersects the service's list of chains with the catalogue: names, ids, explorers and native coins are ours
// (TH-B3). The result is in the order of the catalogue. The list is of chains on which calls can run, so a service may
// leave Solana out.
func Chains(c *catalog.Catalog, list []api.SupportedChain) ([]catalog.ChainInfo, Report) {
	j := &judge{}
	there := map[caip.Chain]bool{}
	foreign := 0
	for i, s := range list {
		path := "/" + strconv.Itoa(i) + "/chain"
		id, err := caip.ParseChain(s.Chain.Chain)
		if !j.must(err == nil, "B3", "a chain has a CAIP-2 id", path, "such as eip155:8453", s.Chain.Chain) {
			continue
		}
		same := id.Namespace == s.Chain.Namespace && id.Reference == s.Chain.Reference
		if !j.must(same, "B3", "a chain's id is its namespace and its reference", path, id.String(),
			s.Chain.Namespace+":"+s.Chain.Reference) {
			continue
		}
		if !j.must(!there[id], "B3", "every chain is listed once", path, "one line", id.String()) {
			continue
		}
		if _, ok := c.Chain(id); !ok {
			foreign++
			continue
		}
		there[id] = true
	}
	if foreign > 0 {
		j.add(Show, "B3", "The service lists chains that this wallet does not know; they are left out.", "", "",
			plural(foreign, "chain"))
	}
	var out []catalog.ChainInfo
	all := append(c.Chains(), c.Solana())
	for _, info := range all {
		if there[info.Chain] {
			out = append(out, info)
		}
	}
	missing := 0
	for _, info := range c.Chains() {
		if !there[info.Chain] {
			missing++
		}
	}
	if missing > 0 {
		j.add(Show, "B3", "The service does not list all chains of this wallet on which calls can run.", "",
			plural(len(c.Chains()), "chain"), plural(len(c.Chains())-missing, "chain"))
	} else {
		j.pass("B3", "the service lists every chain of this wallet on which calls can run")
	}
	return slices.Clip(out), j.report
}
