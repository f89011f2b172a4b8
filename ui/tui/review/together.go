package review

import (
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/consent"
	"coffer/wallet/verify"
)

// summed is the quote with one figure per asset over all chains that pay it: the list of payments above has them one by
// one. The original does not change.
func (s *Screen) summed(v *verify.QuoteView) *verify.QuoteView {
	out := *v
	out.Pay, out.Fees = consent.ByAsset(s.ctx.Catalog, v.Pay), consent.ByAsset(s.ctx.Catalog, v.Fees)
	return &out
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
