package settle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/service/attest"
	"coffer/api/service/chain"
	"coffer/api/service/chain/solana"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quotestore"
)

// settling is one way for deposits to leave the escrow.
type settling struct {
	verb  string
	state quotestore.LegState
}

// status is that of a quote after one of its deposits was settled: what was delivered is COMPLETED at once, what is
// given back ends with the last deposit.
func (how settling) status(q *quotestore.Quote) string {
	switch {
	case how.state == quotestore.LegReleased:
		return api.StatusCompleted
	case held(q) < 0 && !slices.ContainsFunc(q.Legs, func(l quotestore.Leg) bool {
		return l.State == quotestore.LegRefunded || l.State == quotestore.LegReleased
	}):
		return api.StatusFailed // none had landed
	case held(q) < 0:
		return api.StatusRefunded
	}
	return q.Status
}

// release hands the next deposit to the solver; the first one completes the quote.
func (s *Settler) release(ctx context.Context, q *quotestore.Quote) (string, *quotestore.Quote, error) {
	if q.Sent == "" {
		if err := s.Faults.wait(ctx, AtRelease, q.ID); err != nil {
			return "", nil, err
		}
	}
	return s.settleNext(ctx, q, settling{"release", quotestore.LegReleased})
}

// refund gives the next deposit back in full; the last one ends the quote. That nothing of the delivery was signed is
// what the records say: on chains of others the lane of the target chain has to bear them out.
func (s *Settler) refund(ctx context.Context, q *quotestore.Quote) (string, *quotestore.Quote, error) {
	if s.operated() && !q.Signed && q.ChainID != 0 {
		if err := s.explained(ctx, q.ChainID); err != nil {
			return "", nil, fmt.Errorf("refund of quote %s: %w", q.ID, err)
		}
	}
	return s.settleNext(ctx, q, settling{"refund", quotestore.LegRefunded})
}

// settleNext settles the first deposit in escrow that its chain and the attesters let go; one that they hold, or whose
// chain is silent, keeps no other back. A fault of the database, after which nobody knows what was committed, stops the
// saga.
func (s *Settler) settleNext(ctx context.Context, q *quotestore.Quote, how settling) (string, *quotestore.Quote,
	error) {
	var refused []error
	var under []int
	for i, l := range q.Legs {
		name := how.name(q, i)
		if l.State != quotestore.LegDeposited {
			continue
		}
		if underWay(q, i, name) {
			under = append(under, i)
			continue
		}
		next, err := s.settleLeg(ctx, q, i, name, how)
		if err == nil && next.Legs[i].Sent {
			name += ", sent"
		}
		if err == nil || !s.keepsNoOther(ctx, err) {
			return name, next, err
		}
		refused = append(refused, err)
	}
	for i, l := range q.Legs {
		if l.State != quotestore.LegUnread {
			continue
		}
		next, err := s.lookAgain(ctx, q, i, how)
		if err == nil || !s.keepsNoOther(ctx, err) {
			return "look " + l.Chain().String(), next, err
		}
		refused = append(refused, err)
	}
	if len(under) > 0 {
		return s.await(ctx, q, how, under, refused)
	}
	if len(refused) == 0 {
		return "", nil, fmt.Errorf("quote %s is %s and has nothing to %s", q.ID, q.Status, how.verb)
	}
	if q.Status == api.StatusExecuted { // what was asked for has arrived
		next := q.Clone()
		next.Status = api.StatusCompleted
		return "complete", next, s.Book.Advance(ctx, q, next)
	}
	return "", nil, errors.Join(refused...)
}

// name is that of the step that settles a deposit.
func (how settling) name(q *quotestore.Quote, i int) string {
	return how.verb + " " + q.Legs[i].Chain().String()
}

// keepsNoOther reports whether the other deposits of a quote can be settled although one cannot. On chains of others
// anything may be the matter with one; a record that was overtaken is read again first.
func (s *Settler) keepsNoOther(ctx context.Context, err error) bool {
	return isHeld(err) || s.operated() && ctx.Err() == nil && !errors.Is(err, quotestore.ErrOvertaken)
}

// awaited is how long one deposit of several is waited for at a time.
const awaited = time.Second

// await waits for what settles some deposits, until one of them is settled. The others are why the rest is not settled:
// with them it is not waited for ever.
func (s *Settler) await(ctx context.Context, q *quotestore.Quote, how settling, under []int,
	others []error) (string, *quotestore.Quote, error) {
	for {
		for _, i := range under {
			name, within, cancel := how.name(q, i), ctx, func() {}
			if len(under) > 1 || len(others) > 0 {
				within, cancel = context.WithTimeout(ctx, awaited)
			}
			next, err := s.settleLeg(within, q, i, name, how)
			late := within.Err() != nil && ctx.Err() == nil
			cancel()
			if err == nil || !late {
				return name, next, err
			}
		}
		if len(others) > 0 {
			return "", nil, errors.Join(others...)
		}
	}
}

// isHeld reports whether a chain or the attesters have refused to let a deposit go: nothing happened then.
func isHeld(err error) bool {
	_, evm := errors.AsType[*chain.TxError](err)
	_, sol := errors.AsType[*solana.TxError](err)
	return evm || sol || errors.Is(err, chain.ErrNotAccepted) || errors.Is(err, solana.ErrNotAccepted) ||
		errors.Is(err, attest.ErrTooFew)
}

func (s *Settler) settleLeg(ctx context.Context, q *quotestore.Quote, i int, name string,
	how settling) (*quotestore.Quote, error) {
	at := q.Legs[i].ChainID
	send := s.settleEVM
	if at == 0 {
		send = s.settleSolana
	}
	next, err := send(ctx, q, i, name, how)
	if err == nil {
		return next, nil
	}
	err = fmt.Errorf("%s of quote %s: %w", name, q.ID, err)
	if at != 0 && !underWay(q, i, name) && !errors.Is(err, quotestore.ErrOvertaken) {
		// after the refund deadline anyone may send it back (protocol §3.3)
		switch state, unread := s.forGood(ctx, q, at); {
		case unread != nil:
		case state == entrypoint.DepositRefunded:
			return s.acknowledge(ctx, q, i, quotestore.LegRefunded, how, err)
		case state == entrypoint.DepositReleased:
			return s.acknowledge(ctx, q, i, quotestore.LegReleased, how, err)
		}
	}
	return next, err
}

// settled writes down that a deposit has left the escrow.
func settled(q *quotestore.Quote, i int, how settling, by quotestore.Ref) {
	l := &q.Legs[i]
	l.State, l.Settled, l.SettledTx = how.state, by.Hash, by.Signature
	if how.state == quotestore.LegRefunded {
		q.Origin = append(q.Origin, by)
	}
	q.Status = how.status(q)
}

func (s *Settler) settleEVM(ctx context.Context, q *quotestore.Quote, i int, name string,
	how settling) (*quotestore.Quote, error) {
	at, id := q.Legs[i].ChainID, common.HexToHash(q.ID)
	return take(ctx, s, q, step[chain.Tx, chain.Receipt]{
		name: name, port: s.Network.Outbox.EVM(at), leg: i + 1,
		txs: func(next *quotestore.Quote) ([]chain.Tx, error) {
			next.Status = how.status(next) // before what was sent is final, too
			tx := chain.Tx{From: s.Signers.Operator, To: s.Network.Pins.Paymaster, Gas: settleGas,
				Data: filler.RefundCalldata(s.Network.Pins.Escrow, id, q.Owner)} // as the payee, who need not wait
			if s.Network.Version == 1 { // there the operator is, and deposits only end
				tx.To, tx.Data = s.Network.Pins.Escrow, escrow.RefundCalldata(id, q.Owner)
			}
			if how.state == quotestore.LegReleased {
				signatures, err := s.attested(ctx, q, at)
				if err != nil {
					return nil, err
				}
				tx.To, tx.Data = s.Network.Pins.Escrow, escrow.ReleaseCalldata(id, q.Owner, signatures)
			}
			return []chain.Tx{tx}, nil
		},
		check: chain.AllSucceed,
		done: func(next *quotestore.Quote, rs []chain.Receipt) {
			settled(next, i, how, s.ref(at, rs[0].TxHash))
		},
	})
}

// attested asks the attesters for the release of a quote's deposit on a chain.
func (s *Settler) attested(ctx context.Context, q *quotestore.Quote, chainID uint64) ([][]byte, error) {
	if len(q.Destination) == 0 {
		return nil, fmt.Errorf("quote %s was filled by no transaction", q.ID)
	}
	return attest.Collect(ctx, s.Network.Pins.Paymaster, s.Attesters, s.Network.Threshold, attest.Claim{
		Escrow:  escrow.Place{ChainID: chainID, Escrow: s.Network.Pins.Escrow, Salt: s.Network.EscrowSalt},
		QuoteID: common.HexToHash(q.ID), Depositor: q.Owner, Terms: q.Terms(), Fill: q.Destination[0].ID(),
	})
}

// inEscrow asks the escrow of a chain about the deposit of a quote: several nodes, where the chain has some.
func (s *Settler) inEscrow(ctx context.Context, q *quotestore.Quote, chainID uint64) (entrypoint.DepositState, error) {
	ask, err := s.Codec.AskDeposit(common.HexToHash(q.ID), q.Owner)
	if err != nil {
		return entrypoint.DepositNone, err
	}
	if w, able := s.Network.Chains[chainID].(chain.Witness); able {
		answer, _, err := w.Ask(ctx, s.Network.Pins.Escrow, ask)
		if err != nil {
			return entrypoint.DepositNone, err
		}
		return s.Codec.ReadDeposit(answer)
	}
	st, err := s.Network.Chains[chainID].State(ctx, uint64(s.Clock().Unix()))
	if err != nil {
		return entrypoint.DepositNone, err
	}
	defer st.Close()
	state, err := s.Codec.ReadDeposit(st.Call(chain.Message{To: s.Network.Pins.Escrow, Data: ask}).Return)
	return state, errors.Join(err, st.Err())
}

// acknowledge writes down that somebody else settled a deposit. When it was to be released, the solver has lost it; the
// quote still ends, as the user has what he asked for. When the record has moved on, it was this saga after all, whose
// commit was reported as failed: then the failure stands and the next attempt begins from the record.
func (s *Settler) acknowledge(ctx context.Context, q *quotestore.Quote, i int, found quotestore.LegState,
	how settling, failed error) (*quotestore.Quote, error) {
	next := q.Clone()
	next.Legs[i].State = found
	next.Status = how.status(next)
	if err := s.Book.Advance(ctx, q, next); err != nil {
		return next, errors.Join(failed, err)
	}
	s.Log.Error("a deposit was settled by someone else", "quote", q.ID, "chain", q.Legs[i].ChainID, "state",
		string(found))
	return next, nil
}
