package liar

import (
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"math/rand/v2"
)

// seedBytes derives the seed of one source from that of the batch.
func seedBytes(seed uint64, what string) [32]byte {
	return sha256.Sum256(binary.BigEndian.AppendUint64([]byte("coffer liar "+what), seed))
}

// dice is a source of choices.
type dice struct{ *rand.Rand }

func newDice(seed uint64, what string) dice {
	return dice{rand.New(rand.NewChaCha8(seedBytes(seed, what)))} //nolint:gosec // a seed repeats its choices
}

// chance is true in p of 100 cases.
func (d dice) chance(p int) bool { return d.IntN(100) < p }

// part is between 1 and v, mostly a small part of it; zero when v is not above zero.
func (d dice) part(v *big.Int, percent int) *big.Int {
	if v.Sign() <= 0 {
		return new(big.Int)
	}
	p := new(big.Int).Mul(v, big.NewInt(1+d.Int64N(int64(percent)*100)))
	if p.Quo(p, big.NewInt(10_000)); p.Sign() == 0 {
		p.SetInt64(1)
	}
	return p
}

func pick[T any](d dice, list []T) T { return list[d.IntN(len(list))] }
