package settle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/service/chain"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quotestore"
)

// What decides about an operator's money is read where it stays: several nodes say it, of blocks that are final. Where
// blocks are final at once a single look is enough.

// operated reports whether an operator settles on chains of others.
func (s *Settler) operated() bool { return s.Network.Limits != nil }

// never makes sure that no bytes that were signed deliver a quote any more (protocol §5.7). As long as one may, the id
// is used up; after the end of the delivery a final block tells, which costs nothing.
func (s *Settler) never(ctx context.Context, q *quotestore.Quote) (string, *quotestore.Quote, error) {
	if q.Sent == "" && s.expired(q) {
		return s.lapsed(ctx, q)
	}
	return s.void(ctx, q)
}

// lapsed commits that a final block of the target chain is later than the end of the delivery while the id is unused.
// An id that was used was delivered all the same, or used up.
func (s *Settler) lapsed(ctx context.Context, q *quotestore.Quote) (string, *quotestore.Quote, error) {
	const name = "lapsed"
	isUsed, final, err := s.isUsed(ctx, q)
	switch {
	case err != nil:
		return name, nil, err
	case isUsed:
		found, err := s.used(ctx, q, q)
		if err == nil && found == nil {
			err = fmt.Errorf("quote %s: its id was used on %s, not for good yet", q.ID, q.Target())
		}
		return name, found, err
	case final <= q.ValidUntil:
		return name, nil, fmt.Errorf("quote %s: no final block of %s is later than the end of its delivery yet", q.ID,
			q.Target())
	}
	next := q.Clone()
	next.Lapsed = true
	return name, next, s.Book.Advance(ctx, q, next)
}

// isUsed asks the filler whether it took the id of a quote, and is told the time of a final block that is not newer
// than what the answer is of. An id that is used stays so.
func (s *Settler) isUsed(ctx context.Context, q *quotestore.Quote) (isUsed bool, final uint64, err error) {
	w, able := s.Network.Chains[q.ChainID].(chain.Witness)
	if !able {
		return false, 0, fmt.Errorf("nodes of %s cannot be asked together", q.Target())
	}
	answer, final, err := w.Ask(ctx, s.Network.Pins.Solver, filler.UsedCalldata(common.HexToHash(q.ID)))
	if err == nil && len(answer) != common.HashLength {
		err = fmt.Errorf("the filler on %s answers %d bytes", q.Target(), len(answer))
	}
	return new(big.Int).SetBytes(answer).Sign() != 0, final, err
}

// explained is nil when the service's lane on a chain has sent what the chain knows of its key: what was signed is then
// in the records. It is found out once a process.
func (s *Settler) explained(ctx context.Context, chainID uint64) error {
	type explains interface {
		Explained(ctx context.Context, from common.Address) error
	}
	lane, able := s.Network.Outbox.EVM(chainID).(explains)
	if !able {
		return nil
	}
	return lane.Explained(ctx, s.Signers.Operator.Address())
}

// landedYet is what a leg is that was waiting when its quote turned back: deposited, or still waiting.
func (s *Settler) landedYet(ctx context.Context, q *quotestore.Quote, i int) (quotestore.LegState, error) {
	state, err := s.forGood(ctx, q, q.Legs[i].ChainID)
	if err == nil && state == entrypoint.DepositHeld {
		return quotestore.LegDeposited, nil
	}
	return quotestore.LegWaiting, err
}

// lookAgain reads a leg of which it was not known whether a deposit landed.
func (s *Settler) lookAgain(ctx context.Context, q *quotestore.Quote, i int, how settling) (*quotestore.Quote, error) {
	state, err := s.landedYet(ctx, q, i)
	if err != nil {
		return nil, fmt.Errorf("look for a deposit of quote %s on %s: %w", q.ID, q.Legs[i].Chain(), err)
	}
	next := q.Clone()
	next.Legs[i].State = state
	if state == quotestore.LegWaiting {
		next.Status = how.status(next)
	}
	return next, s.Book.Advance(ctx, q, next)
}

// forGood is what the escrow of a chain says of a quote's deposit, once that cannot be taken back. Until then it is an
// error. A deposit that is not there has none of the service's bytes under way.
func (s *Settler) forGood(ctx context.Context, q *quotestore.Quote, chainID uint64) (entrypoint.DepositState, error) {
	state, err := s.inEscrow(ctx, q, chainID)
	if _, late := s.Network.Chains[chainID].(chain.Witness); !late || err != nil || state == entrypoint.DepositNone {
		return state, err
	}
	_, err = s.depositLog(ctx, q, chainID, state)
	return state, err
}

// depositLog finds the receipt by which a deposit got into a state, once it is final.
func (s *Settler) depositLog(ctx context.Context, q *quotestore.Quote, chainID uint64,
	state entrypoint.DepositState) (chain.Receipt, error) {
	logs, able := s.Network.Chains[chainID].(chain.Finder)
	if !able {
		return chain.Receipt{}, fmt.Errorf("logs of %s cannot be searched", caip.EVM(chainID))
	}
	topic := map[entrypoint.DepositState]common.Hash{entrypoint.DepositHeld: escrow.DepositedTopic(),
		entrypoint.DepositReleased: escrow.ReleasedTopic(), entrypoint.DepositRefunded: escrow.RefundedTopic()}[state]
	since := uint64(q.AcceptedAt.Unix()) - earliest
	r, found, final, err := logs.Find(ctx, since, math.MaxUint64-1, s.Network.Pins.Escrow, topic,
		common.HexToHash(q.ID), common.BytesToHash(q.Owner[:]))
	if err == nil && (!found || !final) {
		err = fmt.Errorf("%w: a deposit of quote %s on %s", errNotFinal, q.ID, caip.EVM(chainID))
	}
	return r, err
}

// earliest is how long before its acceptance a deposit for a quote may be in a block, in seconds: its owner may have
// made it himself, and clocks differ.
const earliest = 3600

var errNotFinal = errors.New("what the chain says of it may still be taken back")
