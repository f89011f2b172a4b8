package settle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/filler"
	"coffer/api/service/chain"
	"coffer/api/service/quotestore"
)

// mustVoid reports whether it has to be certain first that a quote is not delivered any more, before its deposits go
// back: bytes of its delivery were signed, and on a chain of others they may be anywhere (protocol §5.7).
func (s *Settler) mustVoid(q *quotestore.Quote) bool {
	return q.Signed && !q.Voided && !q.Lapsed && q.ChainID != 0 && held(q) >= 0
}

// void uses the id up. When the filler refuses, it was used before: the chain says by what.
func (s *Settler) void(ctx context.Context, q *quotestore.Quote) (string, *quotestore.Quote, error) {
	const name = "void"
	next, err := take(ctx, s, q, step[chain.Tx, chain.Receipt]{
		name: name, port: s.Network.Outbox.EVM(q.ChainID),
		txs: func(*quotestore.Quote) ([]chain.Tx, error) {
			return []chain.Tx{{From: s.Signers.Operator, To: s.Network.Pins.Solver, Gas: settleGas,
				Data: filler.VoidCalldata(common.HexToHash(q.ID))}}, nil
		},
		check: chain.AllSucceed,
		done:  func(next *quotestore.Quote, _ []chain.Receipt) { next.Voided = true },
	})
	if err == nil || q.Sent != "" {
		return name, next, err
	}
	found, errFound := s.used(ctx, q, q)
	if found == nil {
		return name, nil, errors.Join(err, errFound)
	}
	return name, found, nil
}

// used commits what the filler says of a quote's id in a final block: it was delivered all the same, or used up. It is
// nil when neither is so, or not yet for good. known is the record with what else was found out of it.
func (s *Settler) used(ctx context.Context, q, known *quotestore.Quote) (*quotestore.Quote, error) {
	logs, able := s.Network.Chains[q.ChainID].(chain.Finder)
	if !able {
		return nil, fmt.Errorf("logs of %s cannot be searched", caip.EVM(q.ChainID))
	}
	id, from, until := common.HexToHash(q.ID), uint64(q.AcceptedAt.Unix())-earliest, uint64(math.MaxUint64-1)
	next := known.Clone()
	r, found, final, err := logs.Find(ctx, from, until, s.Network.Pins.Solver, filler.FilledTopic(), id)
	if err != nil {
		return nil, err
	}
	want := q.Terms()
	for _, l := range r.Logs {
		by, terms, ok := filler.DecodeFilled(l.Topics, l.Data)
		if !found || !final || !ok || l.Address != s.Network.Pins.Solver || by != id ||
			terms != want.Hash(s.Network.Pins.Paymaster, id, q.Owner) {
			continue
		}
		landed, _ := s.Codec.Deposits(r.Logs) // what cannot be read has not paid
		next.FailReason = ""
		s.executed(&order{Quote: q}, next, landed, s.ref(q.ChainID, r.TxHash))
		s.Log.Warn("a quote was delivered, by bytes that this service did not follow", "quote", q.ID, "tx", r.TxHash)
		return next, s.Book.Advance(ctx, q, next)
	}
	_, found, final, err = logs.Find(ctx, from, until, s.Network.Pins.Solver, filler.VoidedTopic(), id)
	if err != nil || !found || !final {
		return nil, err
	}
	next.Voided, next.FailReason = true, cmp.Or(next.FailReason, reasonExpired)
	if next.Status = api.StatusInProgress; held(next) < 0 {
		next.Status = settling{state: quotestore.LegRefunded}.status(next)
	}
	return next, s.Book.Advance(ctx, q, next)
}
