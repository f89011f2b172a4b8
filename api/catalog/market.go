package catalog

import (
	"math/big"
	"time"

	"coffer/api/caip"
)

// Market is what one whole unit of an asset costs in a market, in micro-USD. MicroUSD is nil when no price is known;
// Problem says why then. Source says who states it, and Updated since when it is stated.
type Market struct {
	MicroUSD *big.Int
	Source   string
	Updated  time.Time
	Problem  string
}

// Watched is the registry with the prices of a market in place of those of the data: each is asked for when it is used.
// The data say as before which assets a service takes.
func (c *Catalog) Watched(market func(caip.AggregateID) Market) *Catalog {
	out := *c
	out.market = market
	return &out
}

// IsWatched reports whether prices are those of a market.
func (c *Catalog) IsWatched() bool { return c.market != nil }

// Market is the price of an aggregated asset in the market; false where prices are those of the data.
func (c *Catalog) Market(id caip.AggregateID) (Market, bool) {
	if c.market == nil {
		return Market{}, false
	}
	return c.market(id), true
}

// Priced reports whether the data have a price of an asset, so that a service takes it as required.
func (c *Catalog) Priced(a caip.Asset) bool {
	e, ok := c.entities[a]
	return ok && c.aggregates[e.Aggregate].PriceMicroUSD != nil
}
