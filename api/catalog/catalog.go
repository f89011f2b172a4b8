// Package catalog is the typed registry of the chains and assets that the product
// knows, built from the data in package assets. Wallet and service use the same one:
// decimals and prices of a known asset come from here, never from an answer (TH-P5,
// TH-Q7, TH-B2).
//
// Promise: a Catalog is immutable and safe for concurrent use; everything it returns
// is the caller's own copy. Load fails when the data contradicts itself: a chain or an
// asset that appears twice, an asset on a chain that is not listed, decimals outside
// 0 … 18, a symbol that is not plain ASCII, a chain without its native coin.
//
// Units: prices are micro USD for one whole token, nil when unknown; gas prices are wei.
package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/big"
	"os"
	"slices"
	"sync"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/files"
	"coffer/assets"
)

// ChainInfo describes one chain. ID is the EVM chain id, 0 for Solana. Explorer is the
// address of the real chain's explorer. GasPriceWei is the price table of the network
// fee (protocol §3.5), nil for Solana.
type ChainInfo struct {
	Chain        caip.Chain
	ID           uint64
	Name         string
	Short        string
	NativeSymbol string
	Explorer     string
	GasPriceWei  *big.Int
}

// Entity is an asset on one chain, with the aggregate it belongs to. Its decimals may
// differ from the aggregate's.
type Entity struct {
	Asset     caip.Asset
	Decimals  int
	Symbol    string
	Name      string
	Aggregate caip.AggregateID
}

// Aggregate is one asset across chains. PriceMicroUSD is nil when there is no price. Priced says that the data has one,
// so that a service takes the asset, whether its price in a market is known now or not.
// Entities stand in the order of the data, EVM chains before Solana.
type Aggregate struct {
	ID            caip.AggregateID
	Symbol        string
	Name          string
	Decimals      int
	PriceMicroUSD *big.Int
	Priced        bool
	Entities      []Entity
}

// Catalog is the registry. The zero value knows nothing; use Load.
type Catalog struct {
	evm        []ChainInfo
	chains     map[caip.Chain]ChainInfo
	order      []caip.AggregateID
	aggregates map[caip.AggregateID]*Aggregate
	entities   map[caip.Asset]Entity
	added      []Entity
	market     func(caip.AggregateID) Market // nil: the prices are those of the data
}

// Load is the registry of the embedded data. It is built once; everything that it hands out is a copy.
func Load() (*Catalog, error) { return load() }

var load = sync.OnceValues(build)

func build() (*Catalog, error) {
	d, err := assets.Catalogue()
	if err != nil {
		return nil, err
	}
	return New(d)
}

// File is the name of the file in a data directory.
const File = "catalog.json"

// With is the registry of the embedded data and of what the file of an operator adds to it, if there is one: chains and
// assets in the form of assets/catalog.json, under the same rules. What is known already cannot be described anew. An
// error names the file, the path in it and what is wrong.
func With(file string) (*Catalog, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Load()
	}
	if err != nil {
		return nil, err
	}
	if why := files.Changeable(file, info); why != "" {
		return nil, fmt.Errorf("%s: %s", file, why)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c, err := Read(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// Read is With for the content of a file.
func Read(raw []byte) (*Catalog, error) {
	d, err := assets.ParseCatalog(raw)
	if err != nil {
		return nil, err
	}
	c, err := build()
	if err != nil {
		return nil, err
	}
	if err := c.add(d); err != nil {
		return nil, err
	}
	for _, e := range c.added {
		if e.Asset.Chain.IsSolana() {
			return nil, fmt.Errorf("%s: a file adds nothing to Solana", e.Asset)
		}
	}
	return c, nil
}

// Added lists what a file added to the embedded data, in the order of the file.
func (c *Catalog) Added() []Entity { return slices.Clone(c.added) }

// New builds a registry from given data, under the same rules as Load.
func New(d assets.Catalog) (*Catalog, error) {
	c := &Catalog{
		chains:     map[caip.Chain]ChainInfo{},
		aggregates: map[caip.AggregateID]*Aggregate{},
		entities:   map[caip.Asset]Entity{},
	}
	if err := c.add(d); err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	c.added = nil
	return c, nil
}

// Only is the part of the registry whose assets are kept: chains with their coin, and on them the assets that are.
func (c *Catalog) Only(keep func(caip.Asset) bool) *Catalog {
	out := &Catalog{chains: map[caip.Chain]ChainInfo{}, aggregates: map[caip.AggregateID]*Aggregate{},
		entities: map[caip.Asset]Entity{}, market: c.market}
	for id, info := range c.chains {
		for e := range c.Entities() {
			if e.Asset.Chain == id && e.Asset.IsNative() && keep(e.Asset) {
				out.chains[id] = info.copy()
			}
		}
	}
	stays := func(e Entity) bool {
		_, has := out.chains[e.Asset.Chain]
		return has && keep(e.Asset)
	}
	for _, info := range c.evm {
		if _, has := out.chains[info.Chain]; has {
			out.evm = append(out.evm, info.copy())
		}
	}
	for _, id := range c.order {
		a := *c.aggregates[id]
		a.Entities = slices.DeleteFunc(slices.Clone(a.Entities), func(e Entity) bool { return !stays(e) })
		if len(a.Entities) == 0 {
			continue
		}
		out.order, out.aggregates[id] = append(out.order, id), &a
		for _, e := range a.Entities {
			out.entities[e.Asset] = e
		}
	}
	out.added = slices.DeleteFunc(slices.Clone(c.added), func(e Entity) bool { return !stays(e) })
	return out
}

// Chains lists the EVM chains in ascending order of their ids.
func (c *Catalog) Chains() []ChainInfo {
	out := make([]ChainInfo, len(c.evm))
	for i, info := range c.evm {
		out[i] = info.copy()
	}
	return out
}

// Solana describes the one Solana chain.
func (c *Catalog) Solana() ChainInfo { return c.chains[caip.SolanaMainnet()].copy() }

// Chain finds a chain, EVM or Solana.
func (c *Catalog) Chain(id caip.Chain) (ChainInfo, bool) {
	info, ok := c.chains[id]
	return info.copy(), ok
}

// Aggregates lists all aggregated assets in the order of the data.
func (c *Catalog) Aggregates() []Aggregate {
	out := make([]Aggregate, len(c.order))
	for i, id := range c.order {
		out[i] = c.priced(c.aggregates[id])
	}
	return out
}

// Aggregate finds an aggregated asset.
func (c *Catalog) Aggregate(id caip.AggregateID) (Aggregate, bool) {
	a, ok := c.aggregates[id]
	if !ok {
		return Aggregate{}, false
	}
	return c.priced(a), true
}

// Entities lists the assets of all chains in the order of their aggregates.
func (c *Catalog) Entities() iter.Seq[Entity] {
	return func(yield func(Entity) bool) {
		for _, id := range c.order {
			for _, e := range c.aggregates[id].Entities {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// On lists those of a chain.
func (c *Catalog) On(chain caip.Chain) (all []Entity) {
	for e := range c.Entities() {
		if e.Asset.Chain == chain {
			all = append(all, e)
		}
	}
	return all
}

// Entity finds the asset of one chain.
func (c *Catalog) Entity(a caip.Asset) (Entity, bool) {
	e, ok := c.entities[a]
	return e, ok
}

// NativeOf is the native coin of an EVM chain.
func (c *Catalog) NativeOf(chainID uint64) (Entity, bool) {
	return c.Entity(caip.Native(chainID))
}

// Price is the price of an asset through its aggregate, in micro USD for one whole
// token; nil when the asset or its price is unknown.
func (c *Catalog) Price(a caip.Asset) *big.Int {
	e, ok := c.entities[a]
	if !ok {
		return nil
	}
	return c.price(c.aggregates[e.Aggregate])
}

// Unpriced reports whether no asset has a price here: on own nodes prices come from elsewhere, if at all, and what is
// required need not be paid in another asset.
func (c *Catalog) Unpriced() bool {
	for _, a := range c.aggregates {
		if a.PriceMicroUSD != nil {
			return false
		}
	}
	return true
}

func (c *Catalog) priced(a *Aggregate) Aggregate {
	out := *a
	out.Priced, out.PriceMicroUSD, out.Entities = a.PriceMicroUSD != nil, c.price(a), slices.Clone(a.Entities)
	return out
}

func (c *Catalog) price(a *Aggregate) *big.Int {
	if c.market != nil {
		return amount.Copy(c.market(a.ID).MicroUSD)
	}
	return amount.Copy(a.PriceMicroUSD)
}

func (i ChainInfo) copy() ChainInfo {
	i.GasPriceWei = amount.Copy(i.GasPriceWei)
	return i
}
