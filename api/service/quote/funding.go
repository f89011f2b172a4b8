package quote

import (
	"context"
	"math/big"

	"coffer/api/amount"
)

// funding is one way to pay for a call.
type funding struct {
	paying
	market  market
	sources []source
	plan    plan
}

// fund finds out how the paying asset covers the needs.
func (q *Quoter) fund(ctx context.Context, p paying, f funds) (funding, error) {
	if q.Network.OnOwnNodes() {
		return q.present(ctx, p, f)
	}
	m, err := q.market(p, f)
	if err != nil {
		return funding{}, err
	}
	sources, held, err := q.sources(ctx, p, f)
	m.held = held
	if err != nil && missing(f.needs) { // whatever is named to pay for nothing is good enough
		return funding{}, err
	}
	pl, err := route(m, f.needs, sources)
	if err == nil {
		err = q.stocked(ctx, pl, f.chainID, f.now)
	}
	if err == nil {
		pl.gas, err = q.sponsored(ctx, f, len(pl.legs) == 0)
	}
	return funding{p, m, sources, pl}, err
}

// fundOther looks for another aggregate that covers the needs, the one worth most first.
func (q *Quoter) fundOther(ctx context.Context, not paying, f funds) (funding, bool) {
	var best funding
	var worth *big.Int
	for _, agg := range q.Network.Catalog.Aggregates() {
		if agg.ID == not.aggregate.ID {
			continue
		}
		found, err := q.fund(ctx, paying{aggregate: agg}, f)
		if err != nil {
			continue
		}
		sum := new(big.Int)
		for _, s := range found.sources {
			sum.Add(sum, amount.Value(s.available, s.decimals, found.market.price))
		}
		if worth == nil || sum.Cmp(worth) > 0 {
			best, worth = found, sum
		}
	}
	return best, worth != nil
}
