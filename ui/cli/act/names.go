package act

import (
	"math/big"
	"strings"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
)

// chainNamed finds a chain of the catalogue by its name, its short name, its CAIP-2 id or its EVM number.
func chainNamed(cat *catalog.Catalog, s string) (caip.Chain, error) {
	all := append(cat.Chains(), cat.Solana())
	for _, k := range all {
		if strings.EqualFold(s, k.Name) || strings.EqualFold(s, k.Short) || strings.EqualFold(s, k.Chain.String()) {
			return k.Chain, nil
		}
		if id, ok := k.Chain.EVMID(); ok && s == (&big.Int{}).SetUint64(id).String() {
			return k.Chain, nil
		}
	}
	if id, err := caip.ParseChain(s); err == nil {
		if k, ok := cat.Chain(id); ok {
			return k.Chain, nil
		}
	}
	return caip.Chain{}, usage("`coffer chains` lists the chains", "there is no chain %q", clean(s))
}

// assetNamed finds an asset by its symbol, its ob: id or its CAIP-19 id; symbol@chain is the one of a chain. The
// result is an id for an intent.
func assetNamed(cat *catalog.Catalog, s string) (string, error) {
	name, on, onChain := strings.Cut(s, "@")
	if onChain {
		chain, err := chainNamed(cat, on)
		if err != nil {
			return "", err
		}
		if e, ok := entityNamed(cat, name, chain); ok {
			return e.Asset.String(), nil
		}
		return "", usage("`coffer assets` lists the assets", "there is no asset %q on that chain", clean(name))
	}
	for _, a := range cat.Aggregates() {
		if strings.EqualFold(s, a.Symbol) || strings.EqualFold(s, a.ID.String()) {
			return a.ID.String(), nil
		}
	}
	if a, err := caip.ParseAsset(s); err == nil {
		return a.String(), nil
	}
	return "", usage("such as usdc, usdc@base, ob:usdc or a CAIP-19 id; `coffer assets` lists the assets",
		"there is no asset %q", clean(s))
}

// entityNamed finds the asset of a chain by its own symbol, the symbol of its aggregate or the aggregate's id.
func entityNamed(cat *catalog.Catalog, name string, chain caip.Chain) (catalog.Entity, bool) {
	for _, a := range cat.Aggregates() {
		for _, e := range a.Entities {
			if e.Asset.Chain == chain && (strings.EqualFold(name, e.Symbol) || strings.EqualFold(name, a.Symbol) ||
				strings.EqualFold(name, a.ID.String())) {
				return e, true
			}
		}
	}
	return catalog.Entity{}, false
}

// decimalsOf returns the decimals of an aggregated or a single asset; false when they are unknown.
func decimalsOf(cat *catalog.Catalog, id string) (int, bool) {
	if a, ok := cat.Aggregate(caip.AggregateID(id)); ok {
		return a.Decimals, true
	}
	if _, n := entityUnit(cat, id); n >= 0 {
		return n, true
	}
	return 0, false
}

// baseUnits turns whole units of an asset into base units, more than 0.
func baseUnits(cat *catalog.Catalog, flag, s, asset string) (string, error) {
	n, ok := decimalsOf(cat, asset)
	if !ok {
		return "", usage("", "%s: the decimals of %s are not known here", flag, clean(asset))
	}
	v, err := amount.Parse(s, n)
	if err != nil {
		return "", usage("", "%s: %s", flag, clean(err.Error()))
	}
	if v.Sign() == 0 {
		return "", usage("", "%s has to be more than 0", flag)
	}
	return v.String(), nil
}

// tokenAt is the known token at an address of a chain.
func tokenAt(cat *catalog.Catalog, chain caip.Chain, s string) (catalog.Entity, bool) {
	a, err := caip.ParseAddress(s)
	id, ok := chain.EVMID()
	if err != nil || !ok {
		return catalog.Entity{}, false
	}
	return cat.Entity(caip.ERC20(id, a))
}

// addressOn reads an address of a chain: written out with a right checksum, or, where tokens is set, the symbol of a
// token there.
func addressOn(cat *catalog.Catalog, flag string, chain caip.Chain, s string, tokens bool) (string, error) {
	if tokens {
		if e, ok := entityNamed(cat, s, chain); ok {
			if token, erc20 := e.Asset.Token(); erc20 {
				return token.Hex(), nil
			}
		}
	}
	if chain.IsSolana() {
		if _, err := caip.ParseSolanaKey(s); err != nil {
			return "", usage("", "%s: a Solana address is base58 of 32 bytes", flag)
		}
		return s, nil
	}
	if _, err := caip.ParseAddress(s); err != nil {
		return "", usage("", "%s: an address is 0x and 40 hexadecimal digits", flag)
	}
	if caip.CheckEIP55(s) != nil {
		return "", usage("", "%s: the checksum of that address is wrong: a letter or digit has changed", flag)
	}
	return s, nil
}
