package balances

import (
	"math/big"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/tui/kit"
)

// holding is one asset on one chain. amount is in base units, nil when unknown; micro is micro USD, nil without a price.
type holding struct {
	id       string // CAIP-19, cleaned
	chain    caip.Chain
	chainTo  string // name of the chain
	symbol   string
	decimals int // -1: the catalog does not know the asset
	amount   *big.Int
	micro    *big.Int
}

// asset is one aggregated asset.
type asset struct {
	id       string
	symbol   string
	name     string
	decimals int
	amount   *big.Int
	micro    *big.Int
	warn     string
	parts    []holding
}

// holdings is one answer, read against the catalog.
type holdings struct {
	assets []asset
	total  *big.Int // micro USD of everything priced; nil when nothing is
	says   *big.Int // what the service says the total is
}

// read turns an answer into holdings. Nothing of the answer but ids, amounts and fiat values is used.
func read(c *catalog.Catalog, b api.AggregatedBalance) *holdings {
	h := &holdings{}
	for _, a := range b.BalanceByAggregatedAsset {
		got := readAsset(c, a)
		if got.micro != nil {
			h.total = sum(h.total, got.micro)
		}
		h.assets = append(h.assets, got)
	}
	h.says = micro(b.TotalBalance.FiatValue)
	if h.total == nil && h.says != nil && h.says.Sign() == 0 {
		h.total = new(big.Int)
	}
	return h
}

func readAsset(c *catalog.Catalog, a api.AggregateBalance) asset {
	out := asset{id: kit.Clean(a.AggregatedAssetID, 80), decimals: -1, micro: micro(a.FiatValue)}
	out.symbol, out.name = strings.TrimPrefix(out.id, "ob:"), "not in this program's catalog"
	if known, ok := c.Aggregate(caip.AggregateID(a.AggregatedAssetID)); ok {
		out.symbol, out.name, out.decimals = known.Symbol, known.Name, known.Decimals
	}
	if out.decimals >= 0 {
		out.amount = units(a.Balance)
	}
	total := new(big.Int)
	for _, p := range a.IndividualAssetBalances {
		part := readPart(c, p, out)
		out.parts = append(out.parts, part)
		if part.amount == nil || total == nil {
			total = nil
			continue
		}
		total.Add(total, amount.Scale(part.amount, part.decimals, out.decimals))
	}
	if out.amount != nil && total != nil && len(out.parts) > 0 && total.Cmp(out.amount) != 0 {
		out.warn = "the service's sum " + amount.Human(out.amount, out.decimals) + " " + out.symbol +
			" is not what its chains add up to, " + amount.Human(total, out.decimals)
	}
	return out
}

// readPart accepts decimals only when the catalog counts the asset to the same aggregate.
func readPart(c *catalog.Catalog, p api.AssetBalance, of asset) holding {
	out := holding{id: kit.Clean(p.AssetType, 120), decimals: -1, symbol: of.symbol, micro: micro(p.FiatValue), chainTo: "unknown chain"}
	id, err := caip.ParseAsset(p.AssetType)
	if err != nil {
		return out
	}
	out.id, out.chain, out.chainTo = id.Display(), id.Chain, kit.Clean(id.Chain.String(), 60)
	if info, ok := c.Chain(id.Chain); ok {
		out.chainTo = info.Name
	}
	if e, ok := c.Entity(id); ok && string(e.Aggregate) == of.id {
		out.decimals, out.symbol = e.Decimals, e.Symbol
		out.amount = units(p.Balance)
	}
	return out
}

// units reads base units; anything that is not a plain amount is unknown.
func units(s string) *big.Int {
	v, err := amount.ParseBase(s)
	if err != nil {
		return nil
	}
	return v
}

// micro reads a fiat value; a negative one is unknown.
func micro(n api.Number) *big.Int {
	v, ok := n.Micro()
	if !ok || v.Sign() < 0 {
		return nil
	}
	return v
}

// sum adds two figures; nil counts as nothing.
func sum(a, b *big.Int) *big.Int {
	if a == nil {
		return new(big.Int).Set(b)
	}
	return new(big.Int).Add(a, b)
}

// differs reports that the service's total is more than one cent an asset away from the sum of its parts.
func (h *holdings) differs() bool {
	if h.says == nil || h.total == nil {
		return false
	}
	d := new(big.Int).Sub(h.says, h.total)
	return d.CmpAbs(big.NewInt(int64(len(h.assets)+1)*10_000)) > 0
}

// isZero is true for an amount that is known to be zero and worth nothing.
func isZero(v, worth *big.Int) bool {
	return v != nil && v.Sign() == 0 && (worth == nil || worth.Sign() == 0)
}
