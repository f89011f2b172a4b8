// Package word holds the few pieces of Solidity ABI layout that the strict codecs of
// api/op share: 32-byte big-endian words, zero-padded byte strings, and a reader that
// accepts only what the canonical encoding could have produced.
//
// It knows no types; packages above it decide what a word means. Sources: Solidity ABI
// specification; TH-U6 (offsets that decode differently in two readers).
package word

import (
	"errors"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// Size is the length of a word in bytes.
const Size = 32

// Errors of the reader. Callers wrap them with the name of what they read.
var (
	ErrShort   = errors.New("ends too early")
	ErrPadding = errors.New("padding is not zero")
	ErrRange   = errors.New("number out of range")
)

// Fits reports whether v is a number from 0 to 2^bits-1.
func Fits(v *big.Int, bits int) bool {
	return v != nil && v.Sign() >= 0 && v.BitLen() <= bits
}

// Uint appends v, which must fit in 256 bits (see Fits).
func Uint(b []byte, v *big.Int) []byte {
	var w [Size]byte
	return append(b, v.FillBytes(w[:])...)
}

// Uint64 appends v.
func Uint64(b []byte, v uint64) []byte { return Uint(b, new(big.Int).SetUint64(v)) }

// Address appends a, right aligned.
func Address(b []byte, a common.Address) []byte {
	return append(append(b, make([]byte, Size-len(a))...), a[:]...)
}

// Bytes appends the length of data, data, and zeros up to a full word.
func Bytes(b, data []byte) []byte {
	b = append(Uint64(b, uint64(len(data))), data...)
	return append(b, make([]byte, Padded(len(data))-len(data))...)
}

// Padded rounds n up to a multiple of Size.
func Padded(n int) int { return (n + Size - 1) / Size * Size }

// Selector is the first four bytes of the hash of a canonical signature.
func Selector(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4] }

// Reader walks an encoding from front to back. After the first failure every read
// returns zero values and Err keeps the reason, so callers check once at the end.
type Reader struct {
	rest []byte
	err  error
}

// NewReader reads b, which it does not change.
func NewReader(b []byte) *Reader { return &Reader{rest: b} }

// Err is the first failure, or nil.
func (r *Reader) Err() error { return r.err }

// Len is the number of bytes left.
func (r *Reader) Len() int { return len(r.rest) }

// Fail records a failure found by the caller; the first one stays.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Raw takes n bytes, or nil after a failure. The result aliases the input.
func (r *Reader) Raw(n int) []byte {
	if r.err == nil && (n < 0 || n > len(r.rest)) {
		r.err = ErrShort
	}
	if r.err != nil {
		return nil
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out
}

// Word takes 32 bytes.
func (r *Reader) Word() (w [Size]byte) {
	copy(w[:], r.Raw(Size))
	return w
}

// Uint takes a number of any size.
func (r *Reader) Uint() *big.Int {
	w := r.Word()
	return new(big.Int).SetBytes(w[:])
}

// Int takes a number that must be at most limit.
func (r *Reader) Int(limit int) int {
	v := r.Uint()
	if r.err == nil && (!v.IsInt64() || v.Int64() > int64(limit)) {
		r.err = ErrRange
	}
	if r.err != nil {
		return 0
	}
	return int(v.Int64())
}

// Address takes an address; the 12 bytes before it must be zero.
func (r *Reader) Address() common.Address {
	w := r.Word()
	if !zero(w[:12]) {
		r.Fail(ErrPadding)
	}
	return common.Address(w[12:])
}

// Bytes takes a length, that many bytes and their zero padding. The result is a copy.
func (r *Reader) Bytes() []byte {
	n := r.Int(len(r.rest))
	padded := r.Raw(Padded(n))
	if r.err != nil {
		return nil
	}
	if !zero(padded[n:]) {
		r.err = ErrPadding
		return nil
	}
	return append([]byte{}, padded[:n]...)
}

func zero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}
