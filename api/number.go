package api

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Number is a JSON number kept as its digits, so that no figure passes through a float. The empty Number is "unknown"
// and is written as null; it is never read as zero.
type Number string

// Micro makes the Number of an amount in millionths, such as micro-USD: 1234567 is 1.234567. A nil amount is unknown.
func Micro(v *big.Int) Number {
	if v == nil {
		return ""
	}
	s := new(big.Int).Abs(v).String()
	if len(s) <= 6 {
		s = strings.Repeat("0", 7-len(s)) + s
	}
	whole, frac := s[:len(s)-6], strings.TrimRight(s[len(s)-6:], "0")
	if frac != "" {
		whole += "." + frac
	}
	if v.Sign() < 0 {
		whole = "-" + whole
	}
	return Number(whole)
}

// Micro returns the number in millionths, rounded towards zero, and false when it is unknown or not a plain decimal.
func (n Number) Micro() (*big.Int, bool) {
	whole, fraction, _ := strings.Cut(string(n), ".")
	// before anything is computed: a foreign number may have a million digits
	if strings.Trim(whole, "+-") == "" || len(n) > 96 || strings.Trim(fraction, "0123456789") != "" {
		return nil, false
	}
	return new(big.Int).SetString(whole+(fraction + "000000")[:6], 10)
}

// MarshalJSONTo writes the digits, or null when the number is unknown.
func (n Number) MarshalJSONTo(enc *jsontext.Encoder) error {
	if n == "" {
		return enc.WriteToken(jsontext.Null)
	}
	return enc.WriteValue(jsontext.Value(n))
}

// MarshalJSON does the same for encoders of the standard library.
func (n Number) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("null"), nil
	}
	return []byte(n), nil
}

// UnmarshalJSONFrom accepts a JSON number or null; a string is refused.
func (n *Number) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	return n.UnmarshalJSON(v)
}

// UnmarshalJSON does the same for decoders of the standard library.
func (n *Number) UnmarshalJSON(b []byte) error {
	switch jsontext.Value(b).Kind() {
	case 'n':
		*n = ""
	case '0':
		*n = Number(b)
	default:
		return fmt.Errorf("expected a JSON number")
	}
	return nil
}
