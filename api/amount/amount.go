// Package amount turns token amounts into text and back. An amount is a *big.Int of
// base units together with the asset's decimals; no function here uses a float.
//
// Promise: Parse(Format(v, d), d) == v for every v in 0 … 2^256-1. Parsers accept one
// spelling of a number only and return *Error. A nil amount is an unknown figure: it
// is printed as the word Unknown and never as zero.
//
// Units: base units are the asset's smallest unit; money is micro USD (10^-6 USD).
// Source: TH-L3.
package amount

import (
	"math/big"
	"strconv"
	"strings"
)

// Unknown is what a missing figure looks like.
const Unknown = "unknown"

// MaxDecimals is the largest number of decimals an asset may have; 10^77 is the
// largest power of ten below 2^256.
const MaxDecimals = 77

const maxShown = 96

// Error says why Input is not an amount. Want is a noun phrase.
type Error struct {
	Input string
	Want  string
}

// Error returns one line of plain words with the input quoted and shortened.
func (e *Error) Error() string {
	in := e.Input
	if len(in) > maxShown {
		in = in[:maxShown] + "…"
	}
	return strconv.QuoteToASCII(in) + " is not " + e.Want
}

func refuse(in, want string) error { return &Error{Input: in, Want: want} }

// Copy returns a number of its own for v, nil for nil.
func Copy(v *big.Int) *big.Int {
	if v == nil {
		return nil
	}
	return new(big.Int).Set(v)
}

// MaxUint256 returns 2^256-1.
func MaxUint256() *big.Int {
	return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
}

// Parse reads a human amount such as "250.5" into base units of an asset with the
// given decimals. Signs, exponents, separators, spaces, leading zeros, a missing digit
// on either side of the point, more decimals than the asset has and results above
// 2^256-1 are errors.
func Parse(s string, decimals int) (*big.Int, error) {
	if decimals < 0 || decimals > MaxDecimals {
		return nil, refuse(strconv.Itoa(decimals), "a number of decimals from 0 to "+strconv.Itoa(MaxDecimals))
	}
	whole, frac, point := strings.Cut(s, ".")
	if !isNatural(whole) || point && !isDigits(frac) {
		return nil, refuse(s, "an amount such as 250.5")
	}
	if len(frac) > decimals {
		if decimals == 0 {
			return nil, refuse(s, "an amount of an asset without decimals: write a whole number")
		}
		return nil, refuse(s, "an amount with at most "+strconv.Itoa(decimals)+" decimals")
	}
	return toUint256(s, whole+frac+strings.Repeat("0", decimals-len(frac)))
}

// ParseBase reads an amount in base units: 0, or up to 78 decimal digits that do not
// start with 0, and below 2^256 (TH-L3).
func ParseBase(s string) (*big.Int, error) {
	if !isNatural(s) {
		return nil, refuse(s, "a whole number in base units")
	}
	return toUint256(s, s)
}

func toUint256(input, digits string) (*big.Int, error) {
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		return new(big.Int), nil
	}
	if len(digits) <= 78 {
		if v, ok := new(big.Int).SetString(digits, 10); ok && v.BitLen() <= 256 {
			return v, nil
		}
	}
	return nil, refuse(input, "below 2^256")
}

// Format writes base units exactly, with all decimals: Format(250500000, 6) is
// "250.500000". nil gives Unknown. decimals outside 0 … MaxDecimals give Unknown too:
// without them the figure has no meaning.
func Format(v *big.Int, decimals int) string {
	if v == nil || decimals < 0 || decimals > MaxDecimals {
		return Unknown
	}
	digits := new(big.Int).Abs(v).String()
	if pad := decimals + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	if decimals > 0 {
		at := len(digits) - decimals
		digits = digits[:at] + "." + digits[at:]
	}
	if v.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

// Trim removes trailing zeros after the point, and the point when nothing follows.
func Trim(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Group puts a comma between every three digits of the whole part. Text that is not a
// number is returned as it is.
func Group(s string) string {
	body, sign := s, ""
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		body, sign = rest, "-"
	}
	whole, frac, point := strings.Cut(body, ".")
	if !isDigits(whole) || point && !isDigits(frac) || len(whole) <= 3 {
		return s
	}
	var b strings.Builder
	b.WriteString(sign)
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(whole[i])
	}
	if point {
		b.WriteString("." + frac)
	}
	return b.String()
}

// Human is Group(Trim(Format(v, decimals))).
func Human(v *big.Int, decimals int) string { return Group(Plain(v, decimals)) }

// Plain is Human without separators, as an amount is typed.
func Plain(v *big.Int, decimals int) string { return Trim(Format(v, decimals)) }

// isNatural reports whether s is 0 or digits without a leading zero.
func isNatural(s string) bool { return isDigits(s) && (s == "0" || s[0] != '0') }

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
