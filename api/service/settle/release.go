package settle

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/service/attest"
	"coffer/api/service/chain"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quotestore"
	"coffer/api/service/store"
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
	case held(q) < 0:
		return api.StatusRefunded
	}
	return q.Status
}

// release hands the next deposit to the solver; the first one completes the quote.
func (s *Settler) release(ctx context.Context, q *quotestore.Quote) (string, *quotestore.Quote, error) {
	if err := s.Faults.wait(ctx, AtRelease, q.ID); err != nil {
		return "", nil, err
	}
	return s.settleLeg(ctx, q, settling{"release", quotestore.LegReleased})
}

// giveBack refunds the next deposit in full; the last one ends the quote.
func (s *Settler) giveBack(ctx context.Context, q *quotestore.Quote) (string, *quotestore.Quote, error) {
	return s.settleLeg(ctx, q, settling{"refund", quotestore.LegRefunded})
}

func (s *Settler) settleLeg(ctx context.Context, q *quotestore.Quote, how settling) (string, *quotestore.Quote, error) {
	i := held(q)
	if i < 0 {
		return "", nil, fmt.Errorf("quote %s is %s and has nothing to %s", q.ID, q.Status, how.verb)
	}
	at := q.Legs[i].Chain().String()
	name := how.verb + " " + at
	seal := s.settleEVM
	if q.Legs[i].ChainID == 0 {
		seal = s.settleSolana
	}
	next, err := seal(ctx, q, i, how)
	if err == nil {
		return name, next, nil
	}
	err = fmt.Errorf("%s of quote %s on %s: %w", how.verb, q.ID, at, err)
	if errors.Is(err, attest.ErrTooFew) && q.Status == api.StatusExecuted {
		next, err = s.complete(ctx, q)
		return "complete", next, err
	}
	if q.Legs[i].ChainID != 0 && !errors.Is(err, quotestore.ErrOvertaken) {
		if found, ok := s.settledByOthers(ctx, q, q.Legs[i].ChainID); ok {
			next, err = s.acknowledge(ctx, q, i, found, how, err)
		}
	}
	return name, next, err
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

func (s *Settler) settleEVM(ctx context.Context, q *quotestore.Quote, i int, how settling) (*quotestore.Quote, error) {
	at, id := q.Legs[i].ChainID, common.HexToHash(q.ID)
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
	next := q.Clone()
	_, err := s.Network.Chains[at].Seal(ctx, chain.SealRequest{
		Time: uint64(s.Clock().Unix()), Txs: []chain.Tx{tx},
		Accept: chain.AllSucceed,
		Record: func(tx store.Tx, b chain.Block) error {
			settled(next, i, how, s.ref(at, b.Receipts[0].TxHash))
			return s.Book.Change(q, next)(tx)
		},
	})
	return next, err
}

// attested asks the attesters for the release of a quote's deposit on a chain.
func (s *Settler) attested(ctx context.Context, q *quotestore.Quote, chainID uint64) ([][]byte, error) {
	if len(q.Destination) == 0 {
		return nil, fmt.Errorf("quote %s was filled by no transaction", q.ID)
	}
	return attest.Collect(ctx, s.Attesters, s.Network.Threshold, attest.Claim{
		Escrow:  escrow.Place{ChainID: chainID, Escrow: s.Network.Pins.Escrow, Salt: s.Network.EscrowSalt},
		QuoteID: common.HexToHash(q.ID), Depositor: q.Owner, Terms: q.Terms(), Fill: q.Destination[0].ID(),
	})
}

// complete ends a quote whose deposits wait for attesters: what was asked for has arrived.
func (s *Settler) complete(ctx context.Context, q *quotestore.Quote) (*quotestore.Quote, error) {
	next := q.Clone()
	next.Status = api.StatusCompleted
	return next, s.Book.Advance(ctx, q, next)
}

// settledByOthers reports whether a deposit has left the escrow without this saga: after the refund deadline anyone may
// send it back (protocol §3.3).
func (s *Settler) settledByOthers(ctx context.Context, q *quotestore.Quote, chainID uint64) (quotestore.LegState,
	bool) {
	state, err := s.inEscrow(ctx, q, chainID)
	switch {
	case err == nil && state == entrypoint.DepositRefunded:
		return quotestore.LegRefunded, true
	case err == nil && state == entrypoint.DepositReleased:
		return quotestore.LegReleased, true
	}
	return quotestore.LegWaiting, false
}

// inEscrow asks the escrow of a chain about the deposit of a quote.
func (s *Settler) inEscrow(ctx context.Context, q *quotestore.Quote, chainID uint64) (entrypoint.DepositState, error) {
	ask, err := s.Codec.AskDeposit(common.HexToHash(q.ID), q.Owner)
	if err != nil {
		return entrypoint.DepositNone, err
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
	s.Log.Error("a deposit was settled by somebody else", "quote", q.ID, "chain", q.Legs[i].ChainID, "state",
		string(found))
	return next, nil
}
