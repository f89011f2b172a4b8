package activity

import (
	"time"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// FromJournal converts the journal's live signatures for the screen; amounts are in base units. behind is how far the
// clock that decides about their end is behind the clock of the screen (not above 0).
func FromJournal(cat *catalog.Catalog, live []journal.Outstanding, behind time.Duration) []Outstanding {
	out := make([]Outstanding, 0, len(live))
	for _, o := range live {
		sum := verify.OpSummary{
			Role: o.Role, Kind: o.Kind, Chain: o.Chain, Sender: o.Sender, Lane: o.Lane, Nonce: o.Nonce,
			BlockHash: o.BlockHash, ValidUntil: o.ValidUntil,
		}
		for _, p := range o.Spend {
			sum.Spend = append(sum.Spend, spend(cat, p))
		}
		one := Outstanding{Operation: o.Op, Hash: o.OpHash, Summary: sum, Void: o.Void, Voidable: o.Voidable(),
			Voided: o.VoidedAt}
		if o.Role == journal.RoleDelegation && o.Delegation != nil {
			one.Code = present.Checksummed(o.Delegation.Contract)
		}
		if o.ValidUntil > 0 && o.ValidUntil < verify.NoEnd && o.Role != journal.RoleDelegation {
			one.Until = time.Unix(o.ValidUntil, 0)
		}
		if end, ends := o.Ends(); ends && o.ValidUntil > 0 {
			one.Ends = end.Add(-behind)
		}
		out = append(out, one)
	}
	return out
}

// spend reads an amount of the journal; an asset that the catalogue does not know keeps its base units.
func spend(cat *catalog.Catalog, p journal.Spend) verify.AmountView {
	v := verify.AmountView{Decimals: -1}
	v.Asset, _ = caip.ParseAsset(p.Asset)
	v.Amount, _ = amount.ParseBase(p.Amount)
	if e, ok := cat.Entity(v.Asset); ok {
		v.Symbol, v.Decimals = e.Symbol, e.Decimals
	}
	if c, ok := cat.Chain(v.Asset.Chain); ok {
		v.ChainName = c.Name
	}
	return v
}
