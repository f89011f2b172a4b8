package caip

import (
	"math/big"
	"strings"
)

// The bitcoin base58 alphabet, which Solana uses for keys, hashes and signatures.
const alphabet58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

func isBase58(b byte) bool { return strings.IndexByte(alphabet58, b) >= 0 }

// ParseSolanaKey reads base58 that stands for exactly 32 bytes (TH-L5). A leading '1'
// is a zero byte, so every key has one spelling only.
func ParseSolanaKey(s string) (key [32]byte, err error) {
	b, ok := decode58(s, len(key))
	if !ok {
		return key, refuse(s, "a Solana address: base58 of 32 bytes")
	}
	return [32]byte(b), nil
}

// ParseSolanaSignature reads base58 that stands for exactly 64 bytes.
func ParseSolanaSignature(s string) (sig [64]byte, err error) {
	b, ok := decode58(s, len(sig))
	if !ok {
		return sig, refuse(s, "a Solana signature: base58 of 64 bytes")
	}
	return [64]byte(b), nil
}

// FormatSolanaKey writes a key or hash as base58.
func FormatSolanaKey(key [32]byte) string { return encode58(key[:]) }

// FormatSolanaSignature writes a signature as base58.
func FormatSolanaSignature(sig [64]byte) string { return encode58(sig[:]) }

// decode58 decodes base58 of exactly size bytes.
func decode58(s string, size int) ([]byte, bool) {
	// 58^len must be able to reach 256^size and no text longer than that can be right:
	// log 256 / log 58 is below 1.37.
	if len(s) < size || len(s) > size*137/100+1 {
		return nil, false
	}
	n, base := new(big.Int), big.NewInt(58)
	zeros, leading := 0, true
	for i := range len(s) {
		digit := strings.IndexByte(alphabet58, s[i])
		if digit < 0 {
			return nil, false
		}
		if leading = leading && digit == 0; leading {
			zeros++
		}
		n.Mul(n, base).Add(n, big.NewInt(int64(digit)))
	}
	if zeros+(n.BitLen()+7)/8 != size {
		return nil, false
	}
	return n.FillBytes(make([]byte, size)), true
}

func encode58(b []byte) string {
	zeros := 0
	for zeros < len(b) && b[zeros] == 0 {
		zeros++
	}
	n, base, digit := new(big.Int).SetBytes(b), big.NewInt(58), new(big.Int)
	var reversed []byte
	for n.Sign() > 0 {
		n.DivMod(n, base, digit)
		reversed = append(reversed, alphabet58[digit.Int64()])
	}
	out := []byte(strings.Repeat("1", zeros))
	for i := len(reversed) - 1; i >= 0; i-- {
		out = append(out, reversed[i])
	}
	return string(out)
}
