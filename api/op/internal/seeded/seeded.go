// Package seeded draws the inputs of the differential tests of api/op and api/op/solmsg. Nothing of it is linked into
// Coffer.
//
// Promise: the same kind and item always give the same values, here and in .ci/vectors/stream.mjs, which draws them for
// the independent implementations. .ci/vectors/README.md describes the stream; both sides were written from it, so that
// a file needs to hold results only.
//
// Sources: TH-U14, F4.
package seeded

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/big"
	"os"
	"runtime"
	"sync"
)

const seed = "coffer vectors 1"

// Count is how many items each file holds, Keys how many signing keys there are of each sort, and Short the length in
// bytes of what a file keeps of a result.
const (
	Count = 10_000
	Keys  = 64
	Short = 8
)

// Stream is the bytes of one item.
type Stream struct {
	name  []byte
	item  uint32
	block uint32
	rest  []byte
}

// New is the stream of an item of a kind.
func New(kind string, item int) *Stream {
	return &Stream{name: []byte(seed + "\x00" + kind + "\x00"), item: uint32(item)}
}

// Bytes are the next n bytes.
func (s *Stream) Bytes(n int) []byte {
	for len(s.rest) < n {
		at := binary.BigEndian.AppendUint32(bytes.Clone(s.name), s.item)
		block := sha256.Sum256(binary.BigEndian.AppendUint32(at, s.block))
		s.rest = append(s.rest, block[:]...)
		s.block++
	}
	out := s.rest[:n:n]
	s.rest = s.rest[n:]
	return out
}

// Below is a number from 0 to n-1.
func (s *Stream) Below(n int) int { return int(binary.BigEndian.Uint32(s.Bytes(4)) % uint32(n)) }

// Number has up to the given bits; zero, the largest one and the highest bit alone come often.
func (s *Stream) Number(bits int) *big.Int {
	one := big.NewInt(1)
	switch s.Below(8) {
	case 0:
		return new(big.Int)
	case 1:
		return one.Sub(new(big.Int).Lsh(one, uint(bits)), one)
	case 2:
		return one.Lsh(one, uint(bits-1))
	}
	width := 1 + s.Below(bits)
	v := new(big.Int).SetBytes(s.Bytes((width + 7) / 8))
	return v.And(v, one.Sub(new(big.Int).Lsh(one, uint(width)), one))
}

// Positive is a number that is not zero.
func (s *Stream) Positive(bits int) *big.Int {
	if v := s.Number(bits); v.Sign() > 0 {
		return v
	}
	return big.NewInt(1)
}

// Blob is a string of up to most bytes; the empty one comes often.
func (s *Stream) Blob(most int) []byte {
	if s.Below(8) == 0 {
		return nil
	}
	return s.Bytes(s.Below(most + 1))
}

// Text is 1 to most characters of printable ASCII.
func (s *Stream) Text(most int) string {
	text := bytes.Clone(s.Bytes(1 + s.Below(most)))
	for i, b := range text {
		text[i] = 0x20 + b%95
	}
	return string(text)
}

// Key is the 32 bytes of a key of a sort, "secp256k1" or "ed25519". All of them are public.
func Key(sort string, i int) []byte { return New(sort+" key", i).Bytes(32) }

// Sum is what a file keeps of a result.
func Sum(parts ...[]byte) []byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)[:Short]
}

// Compare makes the records of all items, on every processor, and compares them with those that an independent
// implementation left in the file, size bytes each. It fails when a record cannot be made, when the file has another
// length, and when an item differs, and says which one.
func Compare(path string, size int, record func(item int) ([]byte, error)) (Comparison, error) {
	want, err := os.ReadFile(path)
	if err != nil {
		return Comparison{}, err
	}
	made := make([][]byte, Count)
	errs := make([]error, Count)
	var work sync.WaitGroup
	for first := range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for i := first; i < Count; i += runtime.GOMAXPROCS(0) {
				made[i], errs[i] = record(i)
			}
		})
	}
	work.Wait()
	for i, err := range errs {
		if err != nil {
			return Comparison{}, fmt.Errorf("item %d: %w", i, err)
		}
		if len(made[i]) != size {
			return Comparison{}, fmt.Errorf("item %d: a record of %d bytes, expected %d", i, len(made[i]), size)
		}
	}
	c := Comparison{made: bytes.Join(made, nil), want: want, size: size}
	if d := c.differences(want); len(d) > 0 {
		return c, fmt.Errorf("%d of %d items differ, item %d first", len(d), Count, d[0])
	}
	return c, nil
}

// Comparison is a file and what was made for it.
type Comparison struct {
	made, want []byte
	size       int
}

// NoticesEveryFlip fails unless one flipped bit anywhere in the file makes its item differ and no other, and a missing
// byte the last one.
func (c Comparison) NoticesEveryFlip() error {
	const step = 997 // a prime, so that every byte of a record has its turn
	file := bytes.Clone(c.want)
	for at := 0; at < len(file); at += step {
		bit := byte(1) << (at % 8)
		file[at] ^= bit
		if d := c.differences(file); len(d) != 1 || d[0] != at/c.size {
			return fmt.Errorf("byte %d flipped: items %v differ, expected item %d", at, d, at/c.size)
		}
		file[at] ^= bit
	}
	if d := c.differences(file[:len(file)-1]); len(d) != 1 || d[0] != Count-1 {
		return fmt.Errorf("the last byte is missing: items %v differ", d)
	}
	return nil
}

// differences lists the items that are not the same in the file; what one side does not have differs.
func (c Comparison) differences(file []byte) []int {
	var out []int
	for i := 0; i*c.size < max(len(c.made), len(file)); i++ {
		if !bytes.Equal(part(c.made, i, c.size), part(file, i, c.size)) {
			out = append(out, i)
		}
	}
	return out
}

func part(b []byte, i, size int) []byte { return b[min(i*size, len(b)):min((i+1)*size, len(b))] }
