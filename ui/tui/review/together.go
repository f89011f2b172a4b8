package review

import (
	"math/big"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// summed is the quote with one figure per asset over all chains that pay it: the list of payments above has them one by
// one. The original does not change.
func (s *Screen) summed(v *verify.QuoteView) *verify.QuoteView {
	out := *v
	out.Pay, out.Fees = Together(s.ctx.Catalog, v.Pay), Together(s.ctx.Catalog, v.Fees)
	return &out
}

// Together adds amounts of the same asset on different chains, exactly: in the largest number of decimals among them.
// An asset that the catalogue does not know and an unknown amount stay separate; a sum with an unknown value has an
// unknown value.
func Together(c *catalog.Catalog, list []verify.AmountView) []verify.AmountView {
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
	x, y, decimals := sameDecimals(a, b)
	a.Amount, a.Decimals = new(big.Int).Add(x, y), decimals
	if a.Micro == nil || b.Micro == nil {
		a.Micro = nil
		return a
	}
	a.Micro = new(big.Int).Add(a.Micro, b.Micro)
	return a
}

// sameDecimals writes two known amounts with the larger number of decimals, without rounding.
func sameDecimals(a, b verify.AmountView) (x, y *big.Int, decimals int) {
	decimals = max(a.Decimals, b.Decimals)
	return amount.Scale(a.Amount, a.Decimals, decimals), amount.Scale(b.Amount, b.Decimals, decimals), decimals
}

// askedAmount writes an amount of the intent: base units of an aggregated or a single asset.
func (s *Screen) askedAmount(th theme.Theme, asset, text string) []kit.Span {
	v, err := amount.ParseBase(text)
	if err != nil {
		return []kit.Span{{Text: amount.Unknown, Style: th.Unknown}}
	}
	if agg, ok := s.ctx.Catalog.Aggregate(caip.AggregateID(asset)); ok {
		return kit.AmountSpans(th, v, agg.Decimals, agg.Symbol, asset)
	}
	if a, err := caip.ParseAsset(asset); err == nil {
		if e, ok := s.ctx.Catalog.Entity(a); ok {
			return kit.AmountSpans(th, v, e.Decimals, e.Symbol, a.Display())
		}
	}
	return kit.AmountSpans(th, v, -1, "", asset)
}
