package devnet

import (
	"bytes"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/service/store"
)

// endowmentUnits is what an account of a development network gets of each asset, in whole units.
const endowmentUnits = 10_000

// Endowment is what an account of a development network gets of an asset, in base units.
func Endowment(decimals int) *big.Int {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	return unit.Mul(unit, big.NewInt(endowmentUnits))
}

// endowment is what all accounts get of an asset, out of the treasury's part.
func (p parties) endowment(decimals int) *big.Int {
	one := Endowment(decimals)
	return one.Mul(one, big.NewInt(int64(len(p.endowed))))
}

// endow writes what the accounts get of a token into its storage.
func (p parties) endow(storage map[common.Hash]common.Hash, decimals int) {
	rest := storage[slotOf(p.treasury, slotBalances)].Big()
	storage[slotOf(p.treasury, slotBalances)] = common.BigToHash(rest.Sub(rest, p.endowment(decimals)))
	for _, a := range p.endowed {
		storage[slotOf(a, slotBalances)] = common.BigToHash(Endowment(decimals))
	}
}

// FundAssets are the assets of test funds, by their aggregated ids; USDC comes first.
func FundAssets() []caip.AggregateID {
	return []caip.AggregateID{"ob:usdc", "ob:eth", "ob:usdt", "ob:dai", "ob:weth", "ob:wbtc"}
}

// fundKinds are the tokens of test funds. What a catalogue file adds to these does not count: it would change what the
// tokens of the program began with, in data that exists.
func fundKinds(c *catalog.Catalog) map[tokenKind]bool {
	kinds, added := map[tokenKind]bool{}, c.Added()
	for _, id := range FundAssets() {
		agg, _ := c.Aggregate(id)
		for _, e := range agg.Entities {
			if !slices.Contains(added, e) {
				kinds[kindOf(e)] = true
			}
		}
	}
	return kinds
}

// endowed are the accounts that genesis endows, or has endowed, each once and in order.
func endowed(s store.Store, fresh bool, o Options) (all []common.Address, err error) {
	if !fresh {
		known, err := store.Get(s, bucketInstallation, []byte(keyEndowed))
		for a := range slices.Chunk(known, common.AddressLength) {
			all = append(all, common.BytesToAddress(a))
		}
		return all, err
	}
	all = slices.Clone(o.Endow)
	slices.SortFunc(all, common.Address.Cmp)
	return slices.Compact(all), nil
}

func joined(all []common.Address) []byte {
	parts := make([][]byte, len(all))
	for i := range all {
		parts[i] = all[i][:]
	}
	return bytes.Join(parts, nil)
}
