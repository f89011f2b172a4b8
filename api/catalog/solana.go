package catalog

import (
	"slices"
	"strings"

	"coffer/api/caip"
)

// SolanaOnly reports whether an asset (CAIP-19), or each asset of a shipped aggregate by its id or symbol, is on
// Solana: what names it on a network without Solana is no mistake.
func SolanaOnly(name string) bool {
	if a, err := caip.ParseAsset(name); err == nil {
		return a.Chain.IsSolana()
	}
	shipped, err := Load()
	if err != nil {
		return false
	}
	of := shipped.Aggregates()
	i := slices.IndexFunc(of, func(a Aggregate) bool {
		return strings.EqualFold(name, a.ID.String()) || strings.EqualFold(name, a.Symbol)
	})
	return i >= 0 && !slices.ContainsFunc(of[i].Entities, func(e Entity) bool { return !e.Asset.Chain.IsSolana() })
}
