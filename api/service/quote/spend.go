package quote

import (
	"context"
	"math/big"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/chain"
	"coffer/api/service/quotestore"
)

// taken lists what the simulated calls take of the target chain's assets: what was declared, and more where they took
// more. An executing quote pledges all of it. What only overrides put there is not taken.
func (q *Quoter) taken(ctx context.Context, f funds, declared []quotestore.Amount) ([]quotestore.Amount, error) {
	out := make([]quotestore.Amount, 0, len(declared))
	at := map[string]int{}
	for i, d := range declared {
		at[d.Asset] = i
		out = append(out, quotestore.Amount{Asset: d.Asset, Value: d.Value})
	}
	for _, e := range q.Network.Catalog.On(caip.EVM(f.chainID)) {
		spent, err := f.spent(e.Asset)
		if err != nil {
			return nil, err
		}
		i, known := at[e.Asset.String()]
		if spent.Sign() == 0 || known && spent.Cmp(out[i].Value) <= 0 {
			continue
		}
		balance, err := q.Network.Balance(ctx, f.evm.Address, e.Asset)
		if err != nil {
			return nil, err
		}
		switch spent = minOf(spent, balance); {
		case !known:
			out = append(out, quotestore.Amount{Asset: e.Asset.String(), Value: spent})
		case spent.Cmp(out[i].Value) > 0:
			out[i].Value = spent
		}
	}
	return out, nil
}

// take notes what the calls of a quote took, and refuses what is pledged already.
func (q *Quoter) take(ctx context.Context, c *call, run chain.Message) (err error) {
	k := c.context
	if c.taken, err = q.taken(ctx, c.funds, k.Required); err == nil && len(k.Overrides) > 0 {
		err = q.takenPlainly(ctx, c, run)
	}
	if err != nil {
		return err
	}
	return q.unpledged(ctx, c.funds, c.taken)
}

// takenPlainly adds what the calls take without the request's overrides, which could hide it. Where the operation fails
// without them it takes nothing, and settlement would refuse it.
func (q *Quoter) takenPlainly(ctx context.Context, c *call, run chain.Message) error {
	k := c.context
	st, err := q.state(ctx, k.ChainID, time.Unix(max(c.now.Unix(), int64(k.ValidAfter)), 0))
	if err != nil {
		return err
	}
	defer st.Close()
	if err := q.overlay(st, k.Owner, c.funds.needs, nil); err != nil {
		return err
	}
	before, err := q.balancesOf(st, k.Owner, k.ChainID, false)
	if err != nil {
		return err
	}
	r := st.Call(run)
	if r.Err != nil {
		return st.Err()
	}
	f := c.funds
	f.spent = q.spentSince(st, k.Owner, k.ChainID, before)
	c.taken, err = q.taken(ctx, f, c.taken)
	return err
}

// unpledged checks that calls take nothing that is pledged to quotes in execution (protocol §4.3). What they take
// beyond what was declared must be covered by what is there (protocol §2.8); only what is declared is delivered.
func (q *Quoter) unpledged(ctx context.Context, f funds, taken []quotestore.Amount) error {
	declared := map[string]need{}
	for _, n := range f.needs {
		declared[n.asset.String()] = n
	}
	all, err := q.Book.Pledged(ctx, f.evm.Address.Hex())
	if err != nil {
		return err
	}
	for _, t := range taken {
		pledged := all.Of(t.Asset)
		n, known := declared[t.Asset]
		if pledged.Sign() == 0 || known && t.Value.Cmp(n.required) <= 0 {
			continue
		}
		balance, err := q.Network.Balance(ctx, f.evm.Address, t.CAIP())
		if err != nil {
			return err
		}
		free := less(balance, pledged)
		if known && free.Cmp(n.required) < 0 {
			free = n.required // by then
		}
		if t.Value.Cmp(free) > 0 {
			return overdrawn(t.CAIP(), t.Value, free, pledged)
		}
	}
	return nil
}

func overdrawn(asset caip.Asset, taken, free, pledged *big.Int) error {
	return api.NewError(api.ErrInsufficientBalance,
		"Insufficient balance of %s: the calls take %s, available %s (%s is pledged to quotes in execution)",
		asset.Display(), taken, free, pledged)
}
