package present

import (
	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
)

// AccountType names the type of an account in a word or two; an unknown type stays as it is.
func AccountType(kind string) string {
	switch kind {
	case api.AccountKernelV31:
		return "smart account"
	case api.AccountKernelV33:
		return "EOA, EIP-7702"
	case api.AccountRoleBased:
		return "role-based"
	case api.AccountSolana:
		return "Solana account"
	}
	return Clean(kind, 40)
}

// AssetName is the symbol of an aggregated asset ("ob:usdc") or of a single one (CAIP-19), or the id of one that the
// catalogue does not know.
func AssetName(c *catalog.Catalog, asset string) string {
	if c != nil {
		if agg, ok := c.Aggregate(caip.AggregateID(asset)); ok {
			return Clean(agg.Symbol, 40)
		}
		if a, err := caip.ParseAsset(asset); err == nil {
			if e, ok := c.Entity(a); ok {
				return Clean(e.Symbol, 40)
			}
		}
	}
	return Clean(asset, 120)
}

// ChainName is the name of a chain (CAIP-2); its id when the catalogue does not know it.
func ChainName(c *catalog.Catalog, id string) string {
	if chain, err := caip.ParseChain(id); err == nil && c != nil {
		if info, ok := c.Chain(chain); ok {
			return info.Name
		}
	}
	return Clean(id, 60)
}
