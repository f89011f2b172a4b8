package present

import (
	"math/big"
	"strings"

	"coffer/api/amount"
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
