package chainview

import (
	"context"
	"sync"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/feeds"
)

// prices are those of the feeds that nodes were named with. They are read in the background from the first question on.
type prices struct {
	feeds *feeds.Feeds
	begin sync.Once
}

func newPrices(v *View, nodes []Node) *prices {
	var o feeds.Options
	for _, n := range nodes {
		c := v.chains[n.Chain]
		if c == nil || len(n.Feeds) == 0 {
			continue
		}
		watched := feeds.Chain{ID: n.Chain, Name: n.Name, Nodes: c.pool, Feeds: n.Feeds, Sequencer: n.Sequencer}
		if _, several := c.at.Node.(agreeing); several {
			watched.Agreed = c.pool.Agreed
		}
		o.Chains = append(o.Chains, watched)
	}
	if len(o.Chains) == 0 {
		return nil
	}
	return &prices{feeds: feeds.New(o)}
}

func (p *prices) start() *feeds.Feeds {
	p.begin.Do(p.feeds.Run)
	return p.feeds
}

// Price is what an aggregated asset costs, as the nodes read it from the feeds: no older than the feed's heartbeat,
// within its bounds, and the same within 5 % on all chains. It waits for nothing: before the first look there is none.
func (v *View) Price(id caip.AggregateID) catalog.Market {
	if v.prices == nil {
		return catalog.Market{Problem: "no price feed of a chain with a node of yours is known"}
	}
	s := v.prices.start().Now(id)
	return catalog.Market{MicroUSD: s.MicroUSD, Source: s.Source, Updated: s.Updated, Problem: s.Problem}
}

// priced begins to read prices; the result waits until that was done once, for as long as a question may take.
func (v *View) priced(ctx context.Context) (wait func()) {
	if v.prices == nil {
		return func() {}
	}
	f := v.prices.start()
	ctx, cancel := context.WithTimeout(ctx, Bound)
	return func() {
		defer cancel()
		f.Ready(ctx)
	}
}
