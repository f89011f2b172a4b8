package amount

import "math/big"

// Scale converts base units between two numbers of decimals, for example USDC of BNB
// chain (18) to the aggregate's 6. Going to fewer decimals rounds towards zero. nil
// stays nil.
func Scale(v *big.Int, from, to int) *big.Int {
	scaled, _ := scale(v, from, to)
	return scaled
}

// ScaleUp is Scale, but going to fewer decimals rounds away from zero, so that a
// requirement is never understated.
func ScaleUp(v *big.Int, from, to int) *big.Int {
	scaled, rest := scale(v, from, to)
	if rest != nil && rest.Sign() != 0 {
		scaled.Add(scaled, big.NewInt(int64(rest.Sign())))
	}
	return scaled
}

// scale returns the truncated result and, when digits were cut, what was cut.
func scale(v *big.Int, from, to int) (scaled, rest *big.Int) {
	if v == nil {
		return nil, nil
	}
	if to >= from {
		return new(big.Int).Mul(v, One(to-from)), nil
	}
	return new(big.Int).QuoRem(v, One(from-to), new(big.Int))
}

// Value is the worth in micro USD, rounded down, of v base units of an asset with the
// given decimals at a price in micro USD for one whole unit. An unknown amount or
// price gives nil; nothing is worth nothing at any price.
func Value(v *big.Int, decimals int, priceMicroUSD *big.Int) *big.Int {
	switch {
	case v == nil || decimals < 0:
		return nil
	case v.Sign() == 0:
		return new(big.Int)
	case priceMicroUSD == nil:
		return nil
	}
	worth := new(big.Int).Mul(v, priceMicroUSD)
	return worth.Div(worth, One(decimals))
}

// USD2 writes micro USD with two decimals, rounded half away from zero: 12345678 is
// "12.35". nil gives Unknown.
func USD2(micro *big.Int) string {
	if micro == nil {
		return Unknown
	}
	const cent, half = 10_000, 5_000
	cents := new(big.Int).Abs(micro)
	cents.Add(cents, big.NewInt(half)).Quo(cents, big.NewInt(cent))
	if micro.Sign() < 0 {
		cents.Neg(cents)
	}
	return Format(cents, 2)
}

// One is one whole token of an asset with decimals, in base units.
func One(decimals int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
}
