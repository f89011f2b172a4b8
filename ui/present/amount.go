package present

import (
	"math/big"
	"strings"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/verify"
)

// UnknownText is a missing figure in a table.
const UnknownText = "?"

// USD writes micro USD as "$1,234.56". nil is "?"; an amount above zero that rounds to zero is "<$0.01".
func USD(micro *big.Int) string {
	if micro == nil {
		return UnknownText
	}
	if micro.Sign() > 0 && micro.Cmp(big.NewInt(5_000)) < 0 {
		return "<$0.01"
	}
	s := amount.Group(amount.USD2(micro))
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		return "-$" + rest
	}
	return "$" + s
}

// Share writes part of total in percent with one decimal, rounded towards zero; "?" without a total.
func Share(part, total *big.Int) string {
	if part == nil || total == nil || total.Sign() <= 0 {
		return UnknownText
	}
	p := new(big.Int).Mul(part, big.NewInt(1000))
	return amount.Format(p.Quo(p, total), 1) + " %"
}

// Percent writes basis points as "0.50 %".
func Percent(bps int) string { return amount.Format(big.NewInt(int64(bps)), 2) + " %" }

// Amount writes an amount in full with its unit, or in base units where the asset is not known.
func Amount(a verify.AmountView) string {
	switch {
	case a.Amount == nil:
		return amount.Unknown
	case a.Decimals < 0:
		return amount.Group(a.Amount.String()) + " base units of " + Whole(a.Asset.Display())
	}
	return amount.Group(amount.Format(a.Amount, a.Decimals)) + " " + Clean(a.Symbol, 60)
}

// Human writes an amount with its unit and without trailing zeros, or in base units where the asset is not known.
func Human(a verify.AmountView) string {
	if a.Amount == nil || a.Decimals < 0 {
		return Amount(a)
	}
	return amount.Human(a.Amount, a.Decimals) + " " + Clean(a.Symbol, 60)
}

// Figure writes base units of an aggregated ("ob:usdc") or a single asset (CAIP-19) without trailing zeros.
func Figure(c *catalog.Catalog, asset, base string) string {
	v := BaseUnits(base)
	symbol, decimals, ok := Asset(c, asset)
	switch {
	case v == nil:
		return amount.Unknown
	case !ok:
		return amount.Group(v.String()) + " base units of " + Whole(asset)
	}
	return amount.Human(v, decimals) + " " + symbol
}

// Placed is Figure with the chain of a single asset.
func Placed(c *catalog.Catalog, asset, base string) string {
	words := Figure(c, asset, base)
	if a, err := caip.ParseAsset(asset); err == nil {
		words += " on " + ChainName(c, a.Chain.String())
	}
	return words
}

// Value writes micro USD, or says that the value is unknown.
func Value(micro *big.Int) string {
	if micro == nil {
		return "value unknown"
	}
	return USD(micro)
}

// Coins writes wei of a chain in its own coin, exactly; in base units where the catalogue does not know the chain.
func Coins(c *catalog.Catalog, chainID uint64, wei *big.Int) string {
	e, ok := c.NativeOf(chainID)
	switch {
	case wei == nil:
		return amount.Unknown
	case !ok:
		return amount.Group(wei.String()) + " base units of the chain's own coin"
	}
	return amount.Human(wei, e.Decimals) + " " + Clean(e.Symbol, 60)
}

// Bounds are the smallest and the largest of the known values; nil without any.
func Bounds(values []*big.Int) (lo, hi *big.Int) {
	for _, v := range values {
		if v == nil {
			continue
		}
		if lo == nil || v.Cmp(lo) < 0 {
			lo = v
		}
		if hi == nil || v.Cmp(hi) > 0 {
			hi = v
		}
	}
	return lo, hi
}
