package compose

import (
	"math/big"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/ui/present"
)

// unitDecimals are the decimals of a unit behind a number: wei is the base unit of any asset, the others belong to
// coins with 18 decimals.
func unitDecimals(unit string) (decimals int, ok bool) {
	switch strings.ToLower(unit) {
	case "wei", "base":
		return 0, true
	case "gwei":
		return 9, true
	case "ether", "eth":
		return 18, true
	}
	return 0, false
}

// SplitUnit splits "20 gwei" into number and unit; the unit is "" for a bare number. Hexadecimal numbers have no unit.
func SplitUnit(text string) (number, unit string) {
	text = trim(text)
	if strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X") {
		return text, ""
	}
	at := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' })
	if at <= 0 {
		return text, ""
	}
	return text[:at], trim(text[at:])
}

// Quantity parses an amount as a person writes it into base units: whole tokens of the asset ("250.5", "250.5 USDC"),
// or a number with a unit ("20 gwei", "7 wei"). It refuses gwei and ether for an asset without 18 decimals, unless they
// are its symbol.
func Quantity(text string, decimals int, symbol string) (*big.Int, error) {
	number, unit := SplitUnit(text)
	if unit == "" || strings.EqualFold(unit, symbol) && symbol != "" {
		return amount.Parse(number, decimals)
	}
	d, ok := unitDecimals(unit)
	if !ok {
		return nil, &amount.Error{Input: text, Want: "an amount such as 250.5: " + strconv.QuoteToASCII(unit) +
			" is no unit of it"}
	}
	if d > 0 && decimals != 18 {
		return nil, &amount.Error{Input: text, Want: "an amount of an asset with " + strconv.Itoa(decimals) +
			" decimals: gwei and ether have 18"}
	}
	return amount.Parse(number, d)
}

// suspicious says why an amount looks as if it were in the wrong unit, "" when it does not. v is in base units; whole
// says that it was written in whole tokens.
func suspicious(v *big.Int, decimals int, symbol string, whole bool) string {
	if v == nil || v.Sign() == 0 || decimals < 6 {
		return ""
	}
	one := amount.One(decimals)
	tokens, rest := new(big.Int).QuoRem(v, one, new(big.Int))
	if whole {
		n := zeros(tokens)
		if rest.Sign() != 0 || n < min(decimals, 9) {
			return ""
		}
		return strconv.Itoa(n) + " zeros at the end: these are " + amount.Human(v, decimals) + " whole " + symbol +
			", not base units. Is that meant?"
	}
	if new(big.Int).Mul(v, big.NewInt(1000)).Cmp(one) >= 0 {
		return ""
	}
	return "these are base units, " + amount.Human(v, decimals) + " " + symbol + " in all. Is that meant?"
}

// zeros counts the trailing zeros of a number; zero itself has none.
func zeros(v *big.Int) int {
	s := v.String()
	if s == "0" {
		return 0
	}
	return len(s) - len(strings.TrimRight(s, "0"))
}

// scaled reads a number without decimals as an amount of tokens: one with many trailing zeros is shown with 18 or with
// 6 decimals.
func scaled(v *big.Int) string {
	switch n := zeros(v); {
	case n >= 15:
		return "= " + amount.Human(v, 18) + " with 18 decimals"
	case n >= 5:
		return "= " + amount.Human(v, 6) + " with 6 decimals"
	}
	return ""
}

// Amount is Quantity, with its mistake in words.
func Amount(text string, decimals int, symbol string) (v *big.Int, problem string) {
	v, err := Quantity(text, decimals, symbol)
	if err != nil {
		return nil, plain(err)
	}
	return v, ""
}

// Positive is Amount above 0.
func Positive(text string, decimals int, symbol string) (v *big.Int, problem string) {
	if v, problem = Amount(text, decimals, symbol); problem == "" && v.Sign() == 0 {
		problem = "more than 0"
	}
	return v, problem
}

// Whole writes base units in whole tokens, "" for text that is no amount.
func Whole(base string, decimals int) string {
	v, err := amount.ParseBase(base)
	if err != nil {
		return ""
	}
	return amount.Plain(v, decimals)
}

func plain(err error) string { return present.Clean(err.Error(), 200) }
