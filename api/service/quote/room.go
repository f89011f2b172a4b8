package quote

import (
	"cmp"
	"context"
	"math/big"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/service/deployment"
	"coffer/api/service/quotestore"
)

// mostDepth is how long the deposits of a quote may take to become final, one after the other: its operations live for
// Window.
const mostDepth = 6 * time.Minute

func undeliverable(asset caip.Asset) error {
	return api.NewError(api.ErrNoRoute, "no routes found: no solver can deliver that much %s", asset.Display())
}

// Room says that the solver has, and may pay out, what a quote on a chain would deliver, and that an operator on chains
// of others pays what gas costs now on each chain, would have no more in escrow than it wants, and that enough
// attesters answer to release it: what it has promised to others, and what is in escrow, is not free. The error is
// NoRoute.
func Room(ctx context.Context, n *deployment.Network, book *quotestore.Book, prices Prices, now time.Time,
	target uint64, fills []quotestore.Fill, legs []quotestore.Leg) error {
	var others []*quotestore.Quote
	if n.Limits != nil {
		err := Sendable(n, target)
		for _, l := range legs {
			err = cmp.Or(err, Sendable(n, l.ChainID))
		}
		if err != nil {
			return err
		}
		if others, err = OpenQuotes(ctx, book); err != nil {
			return err
		}
	}
	for _, f := range fills {
		have, err := n.Stock(ctx, f.Delivers.CAIP(), now)
		if err != nil {
			return err
		}
		if less(have, Promised(others, f.Delivers.Asset)).Cmp(f.Delivers.Value) < 0 {
			return undeliverable(f.Delivers.CAIP())
		}
	}
	if n.Limits == nil || len(legs) == 0 {
		return nil
	}
	if n.Limits.Attested != nil {
		if few := n.Limits.Attested(now); few != nil {
			return api.NewError(api.ErrNoRoute, "no routes found: %v", few)
		}
	}
	others = append(others, &quotestore.Quote{Status: api.StatusPending, Legs: legs})
	sum, err := Exposure(n, prices, now, others)
	if err != nil {
		return err
	}
	if sum.Cmp(n.Limits.Exposure) > 0 {
		return api.NewError(api.ErrNoRoute, "no routes found: the operator lets no more than $%s be in escrow at once",
			amount.USD2(n.Limits.Exposure))
	}
	return nil
}

// Sendable is NoRoute while nothing is sent on a chain because gas costs too much there.
func Sendable(n *deployment.Network, chainID uint64) error {
	if err := dear(n, chainID); err != nil {
		return api.NewError(api.ErrNoRoute, "no routes found: %v", err)
	}
	return nil
}

func dear(n *deployment.Network, chainID uint64) error {
	if n.Dear == nil {
		return nil
	}
	return n.Dear(chainID)
}

// OpenQuotes are the accepted quotes that are not done.
func OpenQuotes(ctx context.Context, book *quotestore.Book) (out []*quotestore.Quote, err error) {
	ids, err := book.Open(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		q, err := book.Quote(ctx, id)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, nil
}

// Exposure is the worth of what quotes have in escrow, or will have, in micro-USD. Without a price the error is
// NoRoute.
func Exposure(n *deployment.Network, prices Prices, now time.Time, quotes []*quotestore.Quote) (*big.Int, error) {
	sum := new(big.Int)
	for _, q := range quotes {
		for _, l := range q.Legs {
			if l.State == quotestore.LegReleased || l.State == quotestore.LegRefunded ||
				l.State == quotestore.LegWaiting && q.FailReason != "" {
				continue
			}
			worth, known := worthOf(n, prices, l.Pays, now)
			if !known {
				return nil, api.NewError(api.ErrNoRoute, "no routes found: %s has no price now",
					l.Pays.CAIP().Display())
			}
			sum.Add(sum, worth)
		}
	}
	return sum, nil
}

// worthOf is the worth of an amount in micro-USD.
func worthOf(n *deployment.Network, prices Prices, a quotestore.Amount, now time.Time) (*big.Int, bool) {
	e, known := n.Catalog.Entity(a.CAIP())
	if !known {
		return nil, false
	}
	price, known := prices.Price(e.Aggregate, now)
	if !known {
		return nil, false
	}
	return amount.Value(a.Value, e.Decimals, price), true
}

// Promised is what quotes in execution will still be delivered of an asset.
func Promised(others []*quotestore.Quote, asset string) *big.Int {
	sum := new(big.Int)
	for _, q := range others {
		if q.Status != api.StatusPending && q.Status != api.StatusInProgress || q.FailReason != "" {
			continue
		}
		for _, f := range q.Fills {
			if f.Delivers.Asset == asset {
				sum.Add(sum, f.Delivers.Value)
			}
		}
	}
	return sum
}

// stocked is Room for a plan, whose deposits must not take too long to become final.
func (q *Quoter) stocked(ctx context.Context, p plan, target uint64, now time.Time) error {
	var fills []quotestore.Fill
	for _, f := range p.fills {
		fills = append(fills, quotestore.Fill{Delivers: quotestore.Amount{Asset: f.asset.String(), Value: f.amount}})
	}
	var legs []quotestore.Leg
	depth := time.Duration(0)
	for _, l := range p.legs {
		legs = append(legs, quotestore.Leg{ChainID: l.chainID,
			Pays: quotestore.Amount{Asset: l.asset.String(), Value: l.amount}})
		if l.chainID == target { // it is paid in the transaction of the delivery
			continue
		}
		d, err := q.depth(ctx, l.chainID)
		if err != nil {
			return err
		}
		depth += d
	}
	if depth > mostDepth {
		return api.NewError(api.ErrNoRoute, "no routes found: it takes %s until these deposits are final, and an "+
			"operation waits %s for them", depth.Round(time.Second), mostDepth)
	}
	return Room(ctx, q.Network, q.Book, q.Prices, now, target, fills, legs)
}

// depth is how long a deposit on a chain takes to become final.
func (q *Quoter) depth(ctx context.Context, chainID uint64) (time.Duration, error) {
	late, is := q.Network.Chains[chainID].(deployment.Deep)
	if !is || q.Network.Limits == nil {
		return 0, nil
	}
	return late.Depth(ctx)
}

// shallow refuses a source whose deposits would be final too late.
func (q *Quoter) shallow(ctx context.Context, chainID uint64) error {
	d, err := q.depth(ctx, chainID)
	if err == nil && d > mostDepth {
		err = api.NewError(api.ErrNoRoute, "no routes found: a deposit is final after %s there, and an operation "+
			"waits %s for it", d.Round(time.Second), mostDepth)
	}
	return err
}

// sponsored refuses an account that costs its operator too much gas. Micro is what one more quote would add. Calls on
// one chain count, as nothing is charged for them, and quotes that failed.
func (q *Quoter) sponsored(ctx context.Context, f funds, whole bool) (micro *big.Int, err error) {
	if q.Network.Limits == nil {
		return nil, nil
	}
	micro = new(big.Int)
	if f.chainID != 0 {
		if micro, err = q.gasFee(f.chainID, f.gas, f.now); err != nil {
			return nil, err
		}
	}
	spent, err := q.Book.Sponsored(ctx, f.owner().Hex(), f.now.Add(-24*time.Hour))
	if err != nil {
		return nil, err
	}
	if whole {
		spent.Add(spent, micro)
	}
	if spent.Cmp(q.Network.Limits.SponsorPerDay) > 0 {
		return nil, api.NewError(api.ErrNoRoute, "no routes found: the operator pays $%s of gas for an account in 24 "+
			"hours, and this would be more", amount.USD2(q.Network.Limits.SponsorPerDay))
	}
	return micro, nil
}
