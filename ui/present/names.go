package present

import (
	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/wallet/verify"
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
		if symbol, _, ok := Asset(c, asset); ok {
			return Clean(symbol, 40)
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

// Network says what kind of money a network has.
func Network(k network.Kind) string {
	switch k {
	case network.Embedded:
		return "EMBEDDED: play money on chains inside this program"
	case network.Lab:
		return "LAB: test chains, no real money"
	case network.Test:
		return "TEST: public test networks, coins without worth"
	case network.Real:
		return "REAL: real money"
	}
	return "of an unknown kind: take it for real money"
}

// KindWord is the kind of a network in one word. What is not certainly play money is REAL.
func KindWord(k network.Kind) string {
	switch k {
	case network.Embedded:
		return "EMBEDDED"
	case network.Lab:
		return "LAB"
	case network.Test:
		return "TEST"
	}
	return "REAL"
}

func chainName(c verify.ChainLabel) string { return Clean(c.Name, 40) }
