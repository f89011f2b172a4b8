// Package price is the price source of the embedded service: a seeded, bounded random walk around the price table in
// assets (protocol §3.8), and the gas price table that the network fee is made from (protocol §3.5).
//
// Promise: a price depends on seed, asset and time only, so a seed repeats and any moment can be asked for. Stablecoins
// stay within ±0.1 % of the table, everything else within ±3 %. Assets with the same table price (a coin and its
// wrapped form) move together. An asset without a table price has no price; it never becomes zero.
//
// Units: micro-USD for one whole unit; gas in gas units.
package price

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/big"
	"time"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
)

const (
	ppm          = 1_000_000
	stablePPM    = 1_000  // ±0.1 %
	otherPPM     = 30_000 // ±3 %
	stableWithin = 20_000 // a table price this near to one dollar belongs to a stablecoin
	dollar       = 1_000_000
	unit         = 1 << 20 // fixed-point one of the walk
)

// wave is one component of the walk: every period a new target, weighted so that all weights add up to weightSum.
type wave struct {
	period time.Duration
	weight int64
}

const weightSum = 32

// waves make slow drift with a little fast noise: within a minute a price moves by less than 0.6 %, between seconds by
// about 0.01 %.
func waves() [4]wave {
	return [4]wave{{2 * time.Hour, 20}, {16 * time.Minute, 8}, {2 * time.Minute, 3}, {15 * time.Second, 1}}
}

// Table gives prices. It is immutable and safe for concurrent use.
type Table struct {
	seed   [32]byte
	base   map[caip.AggregateID]*big.Int
	gas    map[uint64]*big.Int       // wei per gas
	native map[uint64]catalog.Entity // coin that pays gas
}

// New makes the table of a catalogue. The seed may have any length. It fails when a chain has no gas price or no native
// coin.
func New(cat *catalog.Catalog, seed []byte) (*Table, error) {
	t := &Table{
		seed: sha256.Sum256(seed), base: map[caip.AggregateID]*big.Int{}, gas: map[uint64]*big.Int{},
		native: map[uint64]catalog.Entity{},
	}
	for _, a := range cat.Aggregates() {
		if a.PriceMicroUSD != nil {
			t.base[a.ID] = new(big.Int).Set(a.PriceMicroUSD)
		}
	}
	for _, c := range cat.Chains() {
		coin, ok := cat.NativeOf(c.ID)
		if !ok || c.GasPriceWei == nil {
			return nil, fmt.Errorf("price table: %s has no gas price or no coin to pay it", c.Chain)
		}
		t.gas[c.ID], t.native[c.ID] = c.GasPriceWei, coin
	}
	return t, nil
}

// Price is the price of an aggregated asset at a moment, and false when it has none.
func (t *Table) Price(id caip.AggregateID, at time.Time) (*big.Int, bool) {
	base := t.base[id]
	if base == nil {
		return nil, false
	}
	bound := int64(otherPPM)
	if d := new(big.Int).Sub(base, big.NewInt(dollar)); d.IsInt64() && -stableWithin <= d.Int64() &&
		d.Int64() <= stableWithin {
		bound = stablePPM
	}
	// base × (1 + walk × bound), with walk in -1 … 1 as a fixed-point number
	scale := new(big.Int).SetInt64(unit * ppm)
	v := new(big.Int).SetInt64(unit*ppm + t.walk(base, at)*bound)
	return v.Mul(v, base).Quo(v, scale), true
}

// GasCostMicroUSD is the worth of an amount of gas on a chain at the table's gas price, rounded up, and false when
// chain or price is unknown.
func (t *Table) GasCostMicroUSD(chainID, gas uint64, at time.Time) (*big.Int, bool) {
	wei, known := t.gas[chainID]
	coin, hasCoin := t.native[chainID]
	if !known || !hasCoin {
		return nil, false
	}
	p, ok := t.Price(coin.Aggregate, at)
	if !ok {
		return nil, false
	}
	cost := new(big.Int).SetUint64(gas)
	cost.Mul(cost, wei).Mul(cost, p)
	return amount.ScaleUp(cost, coin.Decimals, 0), true
}

// walk is the walk's position, -unit … unit, for a table price at a moment: straight lines between pseudo-random
// targets, summed over the waves.
func (t *Table) walk(base *big.Int, at time.Time) int64 {
	ms := at.UnixMilli()
	var sum int64
	for i, w := range waves() {
		period := w.period.Milliseconds()
		step, into := floorDiv(ms, period)
		from, to := t.target(base, i, step), t.target(base, i, step+1)
		sum += (from + (to-from)*into/period) * w.weight
	}
	return sum / weightSum
}

func floorDiv(a, b int64) (q, r int64) {
	if q, r = a/b, a%b; r < 0 {
		q, r = q-1, r+b
	}
	return q, r
}

// target is a number in -unit … unit that looks random.
func (t *Table) target(base *big.Int, wave int, step int64) int64 {
	in := make([]byte, 0, 96)
	in = append(in, t.seed[:]...)
	in = append(in, byte(wave))
	in = binary.BigEndian.AppendUint64(in, uint64(step))
	in = append(in, base.Bytes()...)
	sum := sha256.Sum256(in)
	return int64(binary.BigEndian.Uint64(sum[:8])%(2*unit+1)) - unit
}
