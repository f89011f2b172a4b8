package balances

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"slices"

	"coffer/api/amount"
	"coffer/ui/present"
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
func (s scrambler) holdings(real *present.Holdings) *present.Holdings {
	out := *real
	out.Assets = slices.Clone(real.Assets)
	out.Total = nil
	for i := range out.Assets {
		out.Assets[i] = s.asset(real.Assets[i])
		if m := out.Assets[i].Micro; m != nil {
			out.Total = present.Plus(out.Total, m)
		}
	}
	if out.Total == nil {
		out.Total = s.figure(real.Total)
	}
	out.Says = s.figure(real.Says)
	if !real.Differs() {
		out.Says = out.Total
	}
	return &out
}

func (s scrambler) asset(real present.Holding) present.Holding {
	out := real
	out.Given = present.Stated{}
	out.Parts = slices.Clone(real.Parts)
	for i := range out.Parts {
		p := &out.Parts[i]
		p.Amount, p.Micro, p.Given = s.figure(p.Amount), s.figure(p.Micro), present.Stated{}
	}
	out.Amount, out.Micro = s.figure(real.Amount), s.figure(real.Micro)
	if now, was := partsAmount(out), partsAmount(real); was != nil && real.Amount != nil && was.Cmp(real.Amount) == 0 {
		out.Amount = now
	}
	if now, was := partsWorth(out), partsWorth(real); was != nil && real.Micro != nil && was.Cmp(real.Micro) == 0 {
		out.Micro = now
	}
	return out
}

// partsAmount adds up the parts in the decimals of the asset; nil when one is unknown or there are no parts.
func partsAmount(a present.Holding) *big.Int {
	if len(a.Parts) == 0 || a.Decimals < 0 {
		return nil
	}
	total := new(big.Int)
	for _, p := range a.Parts {
		if p.Amount == nil {
			return nil
		}
		if p.Decimals >= 0 {
			total.Add(total, amount.Scale(p.Amount, p.Decimals, a.Decimals))
		}
	}
	return total
}

// partsWorth adds up the values of the parts; nil when one is unknown or there are no parts.
func partsWorth(a present.Holding) *big.Int {
	if len(a.Parts) == 0 {
		return nil
	}
	total := new(big.Int)
	for _, p := range a.Parts {
		if p.Micro == nil {
			return nil
		}
		total.Add(total, p.Micro)
	}
	return total
}
