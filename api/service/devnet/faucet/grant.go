package faucet

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/erc20"
	"coffer/api/service/chain"
	"coffer/api/service/devnet"
)

// gift is one transfer of a grant.
type gift struct {
	entity catalog.Entity
	amount *big.Int
}

const (
	coinGas  = 21_000
	tokenGas = 100_000
)

func (g gift) transfer(in *devnet.Installation, to common.Address) chain.Tx {
	token, isToken := g.entity.Asset.Token()
	if !isToken {
		return chain.Tx{From: in.Faucet, To: to, Value: g.amount, Gas: coinGas}
	}
	return chain.Tx{From: in.Faucet, To: token, Data: erc20.Transfer(to, g.amount), Gas: tokenGas}
}

// share is one asset of every grant: between min and max whole units, in multiples of step, on count chains or one
// more.
type share struct {
	asset          caip.AggregateID
	count          int
	min, max, step string
}

const (
	baseChain = 8453
	bnbChain  = 56 // younger than grants: an address keeps what it was given
	usdc      = caip.AggregateID("ob:usdc")
)

// shares are the test funds of protocol §5.4 beside the fixed sum on Base. USDC comes first: it decides on the chains.
func shares() []share {
	return []share{
		{usdc, 3, "400", "1500", "0.01"},
		{"ob:eth", 2, "0.05", "0.35", "0.0001"},
		{"ob:usdt", 1, "60", "350", "0.01"},
		{"ob:dai", 1, "40", "260", "0.01"},
		{"ob:weth", 1, "0.02", "0.15", "0.0001"},
		{"ob:wbtc", 1, "0.001", "0.009", "0.00001"},
	}
}

const baseUSDC = "25"

// addedUnits is what is given of each asset that a catalogue file added: whole units, or dollars where it has a price.
const addedUnits = "100"

// grant computes the gifts for an address; seed and address alone decide. The other assets go to the chains that the
// USDC goes to wherever they exist there: every chain more is one more block to commit before the request is answered.
// What a catalogue file added comes on top and changes nothing else.
func (f *Faucet) grant(a common.Address) ([]gift, error) {
	dice, added := &dice{seed: append(slices.Clone(f.seed), a[:]...)}, f.Installation.Catalog.Added()
	var gifts []gift
	chosen := map[caip.Chain]bool{caip.EVM(baseChain): true}
	for _, s := range shares() {
		agg, ok := f.Installation.Catalog.Aggregate(s.asset)
		if !ok {
			return nil, fmt.Errorf("%s is not in the catalogue", s.asset)
		}
		var here, anywhere []catalog.Entity
		for _, e := range agg.Entities {
			id, evm := e.Asset.Chain.EVMID()
			if s.asset == usdc && id == baseChain {
				fixed, err := amount.Parse(baseUSDC, e.Decimals)
				if err != nil {
					return nil, err
				}
				gifts = append(gifts, gift{e, fixed})
				continue
			}
			if !evm || id == bnbChain || slices.Contains(added, e) {
				continue
			}
			if anywhere = append(anywhere, e); chosen[e.Asset.Chain] {
				here = append(here, e)
			}
		}
		if s.asset == usdc || len(here) == 0 {
			here = anywhere
		}
		for _, e := range dice.pick(here, s.count+int(dice.below(2))) {
			v, err := s.draw(dice, e.Decimals)
			if err != nil {
				return nil, err
			}
			chosen[e.Asset.Chain] = true
			gifts = append(gifts, gift{e, v})
		}
	}
	for _, e := range added {
		v, err := amount.Parse(addedUnits, e.Decimals)
		if err != nil {
			return nil, err
		}
		if price := f.Installation.Catalog.Price(e.Asset); price != nil {
			v.Mul(v, big.NewInt(1_000_000)).Quo(v, price)
		}
		gifts = append(gifts, gift{e, v})
	}
	return gifts, nil
}

// draw is a multiple of step between min and max in base units.
func (s share) draw(d *dice, decimals int) (*big.Int, error) {
	var bounds [3]*big.Int
	for i, text := range []string{s.min, s.max, s.step} {
		v, err := amount.Parse(text, decimals)
		if err != nil {
			return nil, err
		}
		bounds[i] = v
	}
	steps := new(big.Int).Sub(bounds[1], bounds[0])
	steps.Quo(steps, bounds[2])
	n := new(big.Int).SetUint64(d.below(steps.Uint64() + 1))
	return n.Mul(n, bounds[2]).Add(n, bounds[0]), nil
}

// dice draws numbers from a seed.
type dice struct {
	seed []byte
	n    uint64
}

func (d *dice) below(n uint64) uint64 {
	d.n++
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(slices.Clone(d.seed), d.n))
	return binary.BigEndian.Uint64(sum[:8]) % n
}

// pick chooses n different places, or all when there are fewer.
func (d *dice) pick(from []catalog.Entity, n int) []catalog.Entity {
	rest := slices.Clone(from)
	var out []catalog.Entity
	for len(out) < n && len(rest) > 0 {
		i := int(d.below(uint64(len(rest))))
		out, rest = append(out, rest[i]), slices.Delete(rest, i, i+1)
	}
	return out
}
