package settle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quotestore"
)

// handle has the prepared operation run by the entry point, on a network without a solver. The operation can be
// submitted by anyone who knows it, so what the entry point says of its hash decides, and not the receipt of the
// operator's transaction: one that came second has only cost gas. What was sent can run until the end of its window; a
// quote does not fail for an operation that is not on chain before a final block is later. Until then neither the clock
// nor the newest block is a reason: the account's owner may pay once more after a failure.
func (s *Settler) handle(ctx context.Context, o *order) (*quotestore.Quote, error) {
	now := chain.Together(ctx)
	if o.Sent == "" {
		if err := s.prime(now, o); err != nil {
			return nil, err
		}
		if next, _, err := s.observed(now, o, false); next != nil || err != nil {
			return next, err
		}
		if s.expired(o.Quote) {
			return nil, outOfTime()
		}
	}
	next, err := s.submit(now, o)
	if first, reverts := errors.AsType[*chain.RevertedError](err); reverts {
		if err := s.laterHead(ctx, now, o.ChainID); err != nil {
			return nil, err
		}
		next, err = s.submit(chain.Together(ctx), o)
		if again, still := errors.AsType[*chain.RevertedError](err); still && bytes.Equal(again.Data, first.Data) {
			f := s.Codec.Explain(again.Data)
			err = refusal{reasonOf(f), f.Text}
		}
	}
	refused, isRefused := errors.AsType[refusal](err)
	if !isRefused {
		return next, err
	}
	late := o.Sent != "" && uint64(s.Clock().Unix()) > o.ValidUntil
	next, never, err := s.observed(ctx, o, late)
	switch {
	case next != nil || err != nil:
		return next, err
	case o.Sent == "":
		return nil, refused
	case never:
		return nil, outOfTime()
	}
	return nil, fmt.Errorf("quote %s: its operation did not run and still can: %w", o.ID, errors.New(refused.text))
}

// submit sends the operation, or goes on with what was sent.
func (s *Settler) submit(ctx context.Context, o *order) (*quotestore.Quote, error) {
	return take(ctx, s, o.Quote, step[chain.Tx, chain.Receipt]{
		name: "target", port: s.Network.Outbox.EVM(o.ChainID), deadline: o.ValidUntil,
		txs: func(*quotestore.Quote) ([]chain.Tx, error) {
			return s.bundleNow(ctx, o, o.ChainID, o.targetOps(), s.plainly(o))
		},
		check: func(rs []chain.Receipt) error { return s.checkReceipt(o, rs[0], 1, nil) },
		gate:  func() error { return s.stillServed(ctx, o, o.ChainID) },
		done: func(next *quotestore.Quote, rs []chain.Receipt) {
			s.executed(o, next, nil, s.ref(o.ChainID, rs[0].TxHash))
		},
	})
}

// A node that says that the transaction reverts is asked again at another head, or, on a chain that makes no block, a
// while later. The same answer is one of the chain, and not of a node that was behind.
const (
	headPause  = time.Second
	headWithin = 30 * time.Second
)

// laterHead waits for another head than that of a sight (chain.Together).
func (s *Settler) laterHead(ctx, sight context.Context, chainID uint64) error {
	at := func(ctx context.Context) (common.Hash, error) {
		st, err := s.Network.Chains[chainID].State(ctx, 0)
		if err != nil {
			return common.Hash{}, err
		}
		defer st.Close()
		return st.Header().Hash, nil
	}
	before, err := at(sight)
	for waited := time.Duration(0); err == nil && waited < headWithin; waited += headPause {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(headPause):
		}
		var now common.Hash
		if now, err = at(ctx); now != before {
			break
		}
	}
	return err
}

// observed commits what the entry point says of the operation, and returns nil when it says nothing; never says that it
// cannot any more. An event that may still be taken back is an error: it is looked at again. Unless it must search, a
// nonce that is not used is enough to say nothing; one that is used, without the log that says by what, is an error.
func (s *Settler) observed(ctx context.Context, o *order, must bool) (next *quotestore.Quote, never bool, err error) {
	if !must {
		nonce, err := s.Network.AccountNonce(ctx, o.ChainID, o.Owner, o.account.Key192(op.LanePrepared))
		if err != nil || nonce.Cmp(o.prepared.op.Nonce) == 0 {
			return nil, false, err
		}
	}
	logs, able := s.Network.Chains[o.ChainID].(chain.Finder)
	if !able {
		return nil, false, fmt.Errorf("logs of %s cannot be searched", caip.EVM(o.ChainID))
	}
	r, found, final, err := logs.Find(ctx, o.ValidAfter, o.ValidUntil, s.Network.Pins.EntryPoint,
		s.Codec.OutcomeTopic(), o.OpHash)
	if err == nil && !found && !final && !must { // another operation used the nonce, or nodes are behind
		err = fmt.Errorf("quote %s: the nonce of its operation is used, and no node tells by which", o.ID)
	}
	if err != nil || !found {
		return nil, err == nil && final, err
	}
	if !final {
		return nil, false, fmt.Errorf("quote %s: block %d with its operation is not final yet", o.ID, r.Block)
	}
	outcomes, err := s.Codec.Outcomes(r.Logs)
	if err != nil {
		return nil, false, err
	}
	i := slices.IndexFunc(outcomes, func(out entrypoint.Outcome) bool { return out.OpHash == o.OpHash })
	if i < 0 {
		return nil, false, fmt.Errorf("quote %s: transaction %s does not have its operation", o.ID, r.TxHash)
	}
	next = o.Clone()
	next.Sent = ""
	s.executed(o, next, nil, s.ref(o.ChainID, r.TxHash))
	if !outcomes[i].Success { // its nonce is used all the same
		next.Status, next.FailReason = api.StatusFailed, reasonReverted
		s.Log.Warn("settlement refused", "quote", o.ID, "failReason", reasonReverted, "why",
			s.Codec.Explain(outcomes[i].Revert).Text)
	}
	return next, false, s.Book.Advance(ctx, o.Quote, next)
}
