package consent

import (
	"math/big"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/verify"
)

// ByAsset adds amounts of the same asset on different chains, exactly: in the largest number of decimals among them. An
// asset that the catalogue does not know and an unknown amount stay separate; a sum with an unknown value has an
// unknown value.
func ByAsset(c *catalog.Catalog, list []verify.AmountView) []verify.AmountView {
	var out []verify.AmountView
	at := map[caip.AggregateID]int{}
	for _, a := range list {
		e, known := c.Entity(a.Asset)
		agg, ok := c.Aggregate(e.Aggregate)
		if !known || !ok || a.Amount == nil || a.Decimals < 0 || len(agg.Entities) == 0 {
			out = append(out, a)
			continue
		}
		a.Asset, a.ChainName = agg.Entities[0].Asset, "" // one name for the asset, in this quote and in the next
		i, again := at[e.Aggregate]
		if !again {
			at[e.Aggregate] = len(out)
			out = append(out, a)
			continue
		}
		out[i] = plus(out[i], a)
	}
	return out
}

func plus(a, b verify.AmountView) verify.AmountView {
	x, y, decimals := SameDecimals(a, b)
	a.Amount, a.Decimals = new(big.Int).Add(x, y), decimals
	if a.Micro == nil || b.Micro == nil {
		a.Micro = nil
		return a
	}
	a.Micro = new(big.Int).Add(a.Micro, b.Micro)
	return a
}

// SameDecimals writes two known amounts with the larger number of decimals, without rounding.
func SameDecimals(a, b verify.AmountView) (x, y *big.Int, decimals int) {
	decimals = max(a.Decimals, b.Decimals)
	return amount.Scale(a.Amount, a.Decimals, decimals), amount.Scale(b.Amount, b.Decimals, decimals), decimals
}
