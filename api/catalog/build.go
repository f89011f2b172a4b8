package catalog

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/assets"
)

// add takes over chains and assets; an error begins with the path of what is wrong.
func (c *Catalog) add(d assets.Catalog) error {
	for i, chain := range d.Chains {
		if err := c.addChain(chain); err != nil {
			return fmt.Errorf("/chains/%d: %w", i, err)
		}
	}
	slices.SortFunc(c.evm, func(a, b ChainInfo) int { return cmp.Compare(a.ID, b.ID) })
	for i, t := range d.Tokens {
		if err := c.addToken(t); err != nil {
			return fmt.Errorf("/tokens/%d: %w", i, err)
		}
	}
	for _, info := range c.chains {
		if err := c.checkNative(info); err != nil {
			return err
		}
	}
	return nil
}

func (c *Catalog) addChain(d assets.Chain) error {
	id, err := caip.ParseChain(d.Chain)
	if err != nil {
		return err
	}
	info := ChainInfo{Chain: id, Name: d.Name, Short: d.Short, NativeSymbol: d.NativeSymbol, Explorer: d.BlockExplorer}
	var evm bool
	if info.ID, evm = id.EVMID(); evm {
		if info.GasPriceWei, err = amount.ParseBase(d.GasPriceWei); err != nil {
			return fmt.Errorf("gas price of %s: %w", id, err)
		}
		c.evm = append(c.evm, info)
	} else if id != caip.SolanaMainnet() {
		return fmt.Errorf("%s is neither an EVM chain nor Solana's main network", id)
	}
	for _, other := range c.chains {
		if other.Chain == id {
			return fmt.Errorf("chain %s appears twice", id)
		}
		if other.Short == info.Short || other.Name == info.Name {
			return fmt.Errorf("%s and %s have the same name", other.Chain, id)
		}
	}
	if !isLabel(info.Name) || !isLabel(info.Short) || !isSymbol(info.NativeSymbol) {
		return fmt.Errorf("chain %s needs a name, a short name and a native symbol in plain ASCII", id)
	}
	c.chains[id] = info
	return nil
}

// addToken adds an aggregate, or entities to one that is known.
func (c *Catalog) addToken(t assets.Token) error {
	agg, err := readAggregate(t)
	if err != nil {
		return err
	}
	known, twice := c.aggregates[agg.ID]
	switch {
	case twice && !known.sameAsset(agg):
		return fmt.Errorf("%s is described in two different ways: it is %s, %q, with %d decimals and the price %v",
			agg.ID, known.Symbol, known.Name, known.Decimals, known.PriceMicroUSD)
	case !twice:
		known = &agg
		c.order = append(c.order, agg.ID)
		c.aggregates[agg.ID] = known
	}
	if len(t.AggregatedEntities) == 0 {
		return fmt.Errorf("%s is on no chain", agg.ID)
	}
	for _, d := range t.AggregatedEntities {
		e, err := c.readEntity(agg.ID, d)
		if err != nil {
			return err
		}
		// The escrow of a chain holds one deposit of an account for each quote, so a chain cannot pay an aggregate in
		// two tokens.
		if slices.ContainsFunc(known.Entities, func(other Entity) bool { return other.Asset.Chain == e.Asset.Chain }) {
			return fmt.Errorf("%s has two tokens on %s", agg.ID, e.Asset.Chain)
		}
		c.entities[e.Asset] = e
		c.added = append(c.added, e)
		known.Entities = append(known.Entities, e)
	}
	return nil
}

// leastPrice, in micro USD, is the lowest that the walk of the embedded service can move by 3 % without becoming
// coarse.
const leastPrice = 100

func readAggregate(t assets.Token) (Aggregate, error) {
	id, err := caip.ParseAggregate(t.AggregatedAssetID)
	if err != nil {
		return Aggregate{}, err
	}
	if id == caip.Single {
		return Aggregate{}, fmt.Errorf("%s is reserved", id)
	}
	if err := checkAsset(string(id), t.Symbol, t.Name, t.Decimals); err != nil {
		return Aggregate{}, err
	}
	a := Aggregate{ID: id, Symbol: t.Symbol, Name: t.Name, Decimals: *t.Decimals}
	if t.PriceMicroUSD != "" {
		if a.PriceMicroUSD, err = amount.ParseBase(t.PriceMicroUSD); err != nil {
			return Aggregate{}, fmt.Errorf("price of %s: %w", id, err)
		}
		if a.PriceMicroUSD.Cmp(big.NewInt(leastPrice)) < 0 {
			return Aggregate{}, fmt.Errorf("price of %s is below %d; leave an unknown price out", id, leastPrice)
		}
	}
	return a, nil
}

func (c *Catalog) readEntity(id caip.AggregateID, d assets.Entity) (Entity, error) {
	asset, err := caip.ParseAsset(d.AssetType)
	if err != nil {
		return Entity{}, fmt.Errorf("%s: %w", id, err)
	}
	if asset.Display() != d.AssetType {
		return Entity{}, fmt.Errorf("%s is not written as %s", d.AssetType, asset.Display())
	}
	if _, known := c.chains[asset.Chain]; !known {
		return Entity{}, fmt.Errorf("%s is on an unknown chain", asset)
	}
	if other, twice := c.entities[asset]; twice {
		return Entity{}, fmt.Errorf("%s is in the catalogue already, in %s", asset, other.Aggregate)
	}
	if err := checkAsset(d.AssetType, d.Symbol, d.Name, d.Decimals); err != nil {
		return Entity{}, err
	}
	return Entity{Asset: asset, Decimals: *d.Decimals, Symbol: d.Symbol, Name: d.Name, Aggregate: id}, nil
}

// checkNative demands that the coin that pays gas on a chain is listed under the
// chain's native symbol.
func (c *Catalog) checkNative(info ChainInfo) error {
	native := caip.SOL()
	if !info.Chain.IsSolana() {
		native = caip.Native(info.ID)
	}
	e, ok := c.entities[native]
	if !ok {
		return fmt.Errorf("chain %s has no native coin", info.Chain)
	}
	if e.Symbol != info.NativeSymbol {
		return fmt.Errorf("the native coin of %s is %s, not %s", info.Chain, info.NativeSymbol, e.Symbol)
	}
	return nil
}

func checkAsset(id, symbol, name string, decimals *int) error {
	if !isSymbol(symbol) || !isLabel(name) {
		return fmt.Errorf("%s needs a symbol and a name in plain ASCII", id)
	}
	if decimals == nil || *decimals < 0 || *decimals > 18 {
		return fmt.Errorf("%s needs decimals from 0 to 18", id)
	}
	return nil
}

func (a *Aggregate) sameAsset(b Aggregate) bool {
	samePrice := a.PriceMicroUSD.String() == b.PriceMicroUSD.String() // none reads "<nil>"
	return samePrice && a.Symbol == b.Symbol && a.Name == b.Name && a.Decimals == b.Decimals
}

// isSymbol allows printable ASCII without spaces (TH-B4).
func isSymbol(s string) bool { return isText(s, 0x21) }

// isLabel allows printable ASCII.
func isLabel(s string) bool { return isText(s, 0x20) }

func isText(s string, lowest byte) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		if s[i] < lowest || s[i] > 0x7e {
			return false
		}
	}
	return true
}
