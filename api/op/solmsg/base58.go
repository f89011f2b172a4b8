package solmsg

import (
	"encoding/json"
	"strings"

	"github.com/gagliardetto/solana-go"
)

// Base58 writes bytes of any length, such as those of a transaction. Its time grows with the square of the length.
func Base58(b []byte) string { return solana.Base58(b).String() }

// FromBase58 reads what Base58 writes; bound the length of the text first.
func FromBase58(s string) ([]byte, error) {
	if s == "" {
		return nil, nil
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < '1' || r > 'z' || r == '\\' }) {
		return nil, refuse("S1", "not base58")
	}
	var b solana.Base58
	err := guard(func() error { return json.Unmarshal([]byte(`"`+s+`"`), &b) })
	return b, err
}
