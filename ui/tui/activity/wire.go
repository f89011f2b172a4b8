package activity

import (
	"math/big"
	"time"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Unfinished makes the Unfinished of Deps from a flow.
func Unfinished(f *flow.Flow) func() []Operation {
	return func() []Operation {
		var out []Operation
		for _, op := range f.Unfinished() {
			out = append(out, op)
		}
		return out
	}
}

// Signatures makes the Outstanding of Deps from a journal; amounts get their names and decimals from the catalogue.
func Signatures(j *journal.Journal, c *catalog.Catalog) func(now time.Time) []Outstanding {
	return func(now time.Time) []Outstanding {
		var out []Outstanding
		for _, o := range j.Outstanding(now) {
			out = append(out, fromJournal(o, c))
		}
		return out
	}
}

func fromJournal(o journal.Outstanding, c *catalog.Catalog) Outstanding {
	s := o.Signature
	out := Outstanding{Operation: o.Op, Until: time.Unix(s.ValidUntil, 0)}
	out.Summary = verify.OpSummary{Role: s.Role, Chain: s.Chain, Sender: s.Sender, Lane: s.Lane, Nonce: s.Nonce, ValidUntil: s.ValidUntil}
	for _, x := range s.Spend {
		out.Summary.Spend = append(out.Summary.Spend, spend(x, c))
	}
	return out
}

// spend describes one amount of the journal; what cannot be read is unknown, never zero.
func spend(x journal.Spend, c *catalog.Catalog) verify.AmountView {
	v := verify.AmountView{Decimals: -1}
	asset, err := caip.ParseAsset(x.Asset)
	if err != nil {
		return v
	}
	v.Asset = asset
	if n, err := amount.ParseBase(x.Amount); err == nil {
		v.Amount = new(big.Int).Set(n)
	}
	if e, ok := c.Entity(asset); ok {
		v.Symbol, v.Decimals = e.Symbol, e.Decimals
	}
	return v
}
