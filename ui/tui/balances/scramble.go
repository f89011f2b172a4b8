package balances

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"slices"

	"coffer/api/amount"
)

// scrambler turns real figures into believable others: it multiplies everything by one factor, so that shares, prices
// and order stay. It draws the factor once per start and never writes it anywhere.
type scrambler struct{ num, den *big.Int }

// newScrambler draws a factor between 1.3 and 8, or one divided by that.
func newScrambler(random io.Reader) (scrambler, error) {
	var b [9]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return scrambler{}, fmt.Errorf("no random number for the scrambled amounts: %w", err)
	}
	one := new(big.Int).Lsh(big.NewInt(1), 64)
	f := new(big.Int).SetUint64(binary.BigEndian.Uint64(b[:8]))
	f.Mul(f, big.NewInt(67)).Quo(f, big.NewInt(10))
	f.Add(f, new(big.Int).Quo(new(big.Int).Mul(one, big.NewInt(13)), big.NewInt(10)))
	if b[8]&1 == 1 {
		return scrambler{num: one, den: f}, nil
	}
	return scrambler{num: f, den: one}, nil
}

// figure scales one figure. Unknown stays unknown, zero stays zero, and no other figure becomes zero.
func (s scrambler) figure(v *big.Int) *big.Int {
	if v == nil || v.Sign() == 0 {
		return v
	}
	out := new(big.Int).Mul(v, s.num)
	if out.Quo(out, s.den); out.Sign() == 0 {
		out.SetInt64(int64(v.Sign()))
	}
	return out
}

// holdings scales a copy of everything. Correct sums stay correct to the last digit.
func (s scrambler) holdings(real *holdings) *holdings {
	out := *real
	out.assets = slices.Clone(real.assets)
	out.total = nil
	for i := range out.assets {
		out.assets[i] = s.asset(real.assets[i])
		if m := out.assets[i].micro; m != nil {
			out.total = sum(out.total, m)
		}
	}
	if out.total == nil {
		out.total = s.figure(real.total)
	}
	out.says = s.figure(real.says)
	if !real.differs() {
		out.says = out.total
	}
	return &out
}

func (s scrambler) asset(real asset) asset {
	out := real
	out.given = given{}
	out.parts = slices.Clone(real.parts)
	for i := range out.parts {
		p := &out.parts[i]
		p.amount, p.micro, p.given = s.figure(p.amount), s.figure(p.micro), given{}
	}
	out.amount, out.micro = s.figure(real.amount), s.figure(real.micro)
	if now, was := partsAmount(out), partsAmount(real); was != nil && real.amount != nil && was.Cmp(real.amount) == 0 {
		out.amount = now
	}
	if now, was := partsWorth(out), partsWorth(real); was != nil && real.micro != nil && was.Cmp(real.micro) == 0 {
		out.micro = now
	}
	return out
}

// partsAmount adds up the parts in the decimals of the asset; nil when one is unknown or there are no parts.
func partsAmount(a asset) *big.Int {
	if len(a.parts) == 0 || a.decimals < 0 {
		return nil
	}
	total := new(big.Int)
	for _, p := range a.parts {
		if p.amount == nil {
			return nil
		}
		if p.decimals >= 0 {
			total.Add(total, amount.Scale(p.amount, p.decimals, a.decimals))
		}
	}
	return total
}

// partsWorth adds up the values of the parts; nil when one is unknown or there are no parts.
func partsWorth(a asset) *big.Int {
	if len(a.parts) == 0 {
		return nil
	}
	total := new(big.Int)
	for _, p := range a.parts {
		if p.micro == nil {
			return nil
		}
		total.Add(total, p.micro)
	}
	return total
}
