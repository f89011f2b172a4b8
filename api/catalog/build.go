package catalog

import (
	"cmp"
	"fmt"
	"slices"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/assets"
)

func (c *Catalog) addChains(chains []assets.Chain, solana assets.Solana) error {
	for _, d := range chains {
		id, err := caip.ParseChain(d.Chain)
		if err != nil {
			return fmt.Errorf("catalog: %w", err)
		}
		n, ok := id.EVMID()
		if !ok {
			return fmt.Errorf("catalog: %s is not an EVM chain", id)
		}
		gas, err := amount.ParseBase(d.GasPriceWei)
		if err != nil {
			return fmt.Errorf("catalog: gas price of %s: %w", id, err)
		}
		info := ChainInfo{Chain: id, ID: n, Name: d.Name, Short: d.Short, NativeSymbol: d.NativeSymbol,
			Explorer: d.BlockExplorer, GasPriceWei: gas}
		if err := c.addChain(info); err != nil {
			return err
		}
		c.evm = append(c.evm, info)
	}
	slices.SortFunc(c.evm, func(a, b ChainInfo) int { return cmp.Compare(a.ID, b.ID) })

	id, err := caip.ParseChain(solana.Chain)
	if err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	if id != caip.SolanaMainnet() {
		return fmt.Errorf("catalog: %s is not Solana's main network", id)
	}
	return c.addChain(ChainInfo{Chain: id, Name: solana.Name, Short: solana.Short, NativeSymbol: solana.NativeSymbol,
		Explorer: solana.BlockExplorer})
}

func (c *Catalog) addChain(info ChainInfo) error {
	if _, twice := c.chains[info.Chain]; twice {
		return fmt.Errorf("catalog: chain %s appears twice", info.Chain)
	}
	for _, other := range c.chains {
		if other.Short == info.Short || other.Name == info.Name {
			return fmt.Errorf("catalog: %s and %s have the same name", other.Chain, info.Chain)
		}
	}
	if !isLabel(info.Name) || !isLabel(info.Short) || !isSymbol(info.NativeSymbol) {
		return fmt.Errorf("catalog: chain %s needs a name, a short name and a native symbol in plain ASCII", info.Chain)
	}
	c.chains[info.Chain] = info
	return nil
}

// addToken adds an aggregate, or, where extend allows it, entities to a known one.
func (c *Catalog) addToken(t assets.Token, extend bool) error {
	agg, err := readAggregate(t)
	if err != nil {
		return err
	}
	known, twice := c.aggregates[agg.ID]
	switch {
	case twice && !extend:
		return fmt.Errorf("catalog: %s appears twice", agg.ID)
	case twice && !known.sameAsset(agg):
		return fmt.Errorf("catalog: %s is described in two different ways", agg.ID)
	case !twice:
		known = &agg
		c.order = append(c.order, agg.ID)
		c.aggregates[agg.ID] = known
	}
	if len(t.AggregatedEntities) == 0 {
		return fmt.Errorf("catalog: %s is on no chain", agg.ID)
	}
	for _, d := range t.AggregatedEntities {
		e, err := c.readEntity(agg.ID, d)
		if err != nil {
			return err
		}
		// The escrow of a chain holds one deposit of an account for each quote, so a chain cannot pay an aggregate in
		// two tokens.
		if slices.ContainsFunc(known.Entities, func(other Entity) bool { return other.Asset.Chain == e.Asset.Chain }) {
			return fmt.Errorf("catalog: %s has two tokens on %s", agg.ID, e.Asset.Chain)
		}
		c.entities[e.Asset] = e
		known.Entities = append(known.Entities, e)
	}
	return nil
}

func readAggregate(t assets.Token) (Aggregate, error) {
	id, err := caip.ParseAggregate(t.AggregatedAssetID)
	if err != nil {
		return Aggregate{}, fmt.Errorf("catalog: %w", err)
	}
	if id == caip.Single {
		return Aggregate{}, fmt.Errorf("catalog: %s is reserved", id)
	}
	a := Aggregate{ID: id, Symbol: t.Symbol, Name: t.Name, Decimals: t.Decimals}
	if t.PriceMicroUSD != "" {
		if a.PriceMicroUSD, err = amount.ParseBase(t.PriceMicroUSD); err != nil {
			return Aggregate{}, fmt.Errorf("catalog: price of %s: %w", id, err)
		}
		if a.PriceMicroUSD.Sign() == 0 {
			return Aggregate{}, fmt.Errorf("catalog: price of %s is 0; leave an unknown price out", id)
		}
	}
	return a, checkAsset(string(id), t.Symbol, t.Name, t.Decimals)
}

func (c *Catalog) readEntity(id caip.AggregateID, d assets.Entity) (Entity, error) {
	asset, err := caip.ParseAsset(d.AssetType)
	if err != nil {
		return Entity{}, fmt.Errorf("catalog: %s: %w", id, err)
	}
	if asset.Display() != d.AssetType {
		return Entity{}, fmt.Errorf("catalog: %s is not written as %s", d.AssetType, asset.Display())
	}
	if _, known := c.chains[asset.Chain]; !known {
		return Entity{}, fmt.Errorf("catalog: %s is on an unknown chain", asset)
	}
	if other, twice := c.entities[asset]; twice {
		return Entity{}, fmt.Errorf("catalog: %s belongs to %s and %s", asset, other.Aggregate, id)
	}
	e := Entity{Asset: asset, Decimals: d.Decimals, Symbol: d.Symbol, Name: d.Name, Aggregate: id}
	return e, checkAsset(d.AssetType, d.Symbol, d.Name, d.Decimals)
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
		return fmt.Errorf("catalog: chain %s has no native coin", info.Chain)
	}
	if e.Symbol != info.NativeSymbol {
		return fmt.Errorf("catalog: the native coin of %s is %s, not %s", info.Chain, info.NativeSymbol, e.Symbol)
	}
	return nil
}

func checkAsset(id, symbol, name string, decimals int) error {
	if !isSymbol(symbol) || !isLabel(name) {
		return fmt.Errorf("catalog: %s needs a symbol and a name in plain ASCII", id)
	}
	if decimals < 0 || decimals > 18 {
		return fmt.Errorf("catalog: %s has %d decimals, want 0 to 18", id, decimals)
	}
	return nil
}

func (a *Aggregate) sameAsset(b Aggregate) bool {
	samePrice := a.PriceMicroUSD == nil && b.PriceMicroUSD == nil ||
		a.PriceMicroUSD != nil && b.PriceMicroUSD != nil && a.PriceMicroUSD.Cmp(b.PriceMicroUSD) == 0
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
