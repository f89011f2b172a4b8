package settle

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/api/service/book"
	"coffer/api/service/chain"
	"coffer/api/service/genesis"
	"coffer/api/service/quote/entry"
	"coffer/api/service/store"
)

// Gas limits of the service's own transactions.
const (
	fillGas   = 150_000
	settleGas = 300_000
)

// run takes a quote from wherever it stands to a terminal status. It stops with an error when the context ends or the database or a chain cannot
// be written; everything committed so far stays and Resume goes on from there.
func (s *Settler) run(ctx context.Context, q *book.Quote) error {
	for !api.Terminal(q.Status) {
		if err := ctx.Err(); err != nil {
			return err
		}
		name, next, err := s.next(ctx, q)
		if err != nil {
			return err
		}
		q = next
		s.Log.Info("settlement", "quote", q.ID, "step", name, "status", q.Status, "failReason", q.FailReason)
		s.step(name)
	}
	return nil
}

// next does the one step that the record calls for and returns the record as it was committed.
func (s *Settler) next(ctx context.Context, q *book.Quote) (string, *book.Quote, error) {
	if q.FailReason != "" {
		return s.giveBack(q)
	}
	if q.Status == api.StatusExecuted {
		return s.release(q)
	}
	if uint64(s.Clock().Unix()) > q.ValidUntil {
		return s.refuse(q, refusal{reasonExpired, "the operation's time was over before the fill"})
	}
	c, o, err := s.load(q)
	if err != nil {
		return "", nil, err
	}
	o.context = c
	for i, l := range q.Legs {
		if l.State == book.LegWaiting && l.ChainID != q.ChainID {
			return s.orRefuse(s.deposit(o, i))
		}
	}
	return s.orRefuse(s.target(ctx, o))
}

func (s *Settler) load(q *book.Quote) (c book.Context, o *order, err error) {
	found := false
	err = s.Book.View(func(tx store.Tx) (err error) {
		c, found, err = s.Book.Context(tx, q.OpHash)
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("the prepared operation of quote %s is not in the book", q.ID)
	}
	if err != nil {
		return c, nil, err
	}
	o, err = s.restore(q, c)
	return c, o, err
}

// orRefuse turns a step that the world refused into the decision to refund; other errors stop the saga.
func (s *Settler) orRefuse(name string, o *order, next *book.Quote, err error) (string, *book.Quote, error) {
	var r refusal
	if errors.As(err, &r) {
		return s.refuse(o.Quote, r)
	}
	return name, next, err
}

// refuse commits the decision not to go on: from here on only refunds follow. Without a deposit in escrow this is the end.
func (s *Settler) refuse(q *book.Quote, r refusal) (string, *book.Quote, error) {
	next := q.Clone()
	next.FailReason, next.Status = r.reason, api.StatusInProgress
	if held(q) < 0 {
		next.Status = api.StatusFailed
	}
	s.Log.Warn("settlement refused", "quote", q.ID, "failReason", r.reason, "why", r.text)
	err := s.Book.Update(func(tx store.Tx) error { return s.Book.Save(tx, next) })
	return "refused", next, err
}

// held is the index of a deposit that lies in escrow, −1 when none does.
func held(q *book.Quote) int {
	for i, l := range q.Legs {
		if l.State == book.LegDeposited {
			return i
		}
	}
	return -1
}

// deposit runs one funding operation on its chain and commits the block with the record.
func (s *Settler) deposit(o *order, i int) (string, *order, *book.Quote, error) {
	l := o.Legs[i]
	name := "deposit " + caip.EVM(l.ChainID).String()
	tx, err := s.bundle([]op.UserOp{o.deposits[i]})
	if err != nil {
		return name, o, nil, err
	}
	next := o.Clone()
	_, err = s.Installation.Chains[l.ChainID].Seal(chain.SealRequest{
		Time: uint64(s.Clock().Unix()), Txs: []chain.Tx{tx},
		Accept: func(rs []chain.Receipt) error { return s.judge(o, rs[0], 1, []book.Leg{l}) },
		Record: func(tx store.Tx, b chain.Block) error {
			next.Legs[i].State, next.Legs[i].Deposit = book.LegDeposited, b.Receipts[0].TxHash
			next.Origin = append(next.Origin, s.ref(l.ChainID, b.Receipts[0].TxHash))
			next.Status = api.StatusInProgress
			return s.Book.Save(tx, next)
		},
	})
	return name, o, next, err
}

// target seals fill and operations in one block, or nothing (protocol §5.1d).
func (s *Settler) target(ctx context.Context, o *order) (string, *order, *book.Quote, error) {
	const name = "target"
	if err := s.beforeFill(ctx, o); err != nil {
		return name, o, nil, err
	}
	txs, err := s.fillTxs(o.Quote)
	if err != nil {
		return name, o, nil, err
	}
	ops := o.targetOps()
	bundle, err := s.bundle(ops)
	if err != nil {
		return name, o, nil, err
	}
	fills := len(txs)
	next := o.Clone()
	_, err = s.Installation.Chains[o.ChainID].Seal(chain.SealRequest{
		Time: uint64(s.Clock().Unix()), Txs: append(txs, bundle),
		Accept: func(rs []chain.Receipt) error {
			for _, r := range rs[:fills] {
				if !r.Success {
					return refusal{reasonCapacity, "the solver's transfer failed: " + s.codec.Explain(r.Revert).Text}
				}
			}
			if fault := s.Faults.Revert; fault != nil && fault(o.ID) {
				return refusal{reasonReverted, "a fault was asked for"}
			}
			return s.judge(o, rs[fills], len(ops), sameChain(o.Quote))
		},
		Record: func(tx store.Tx, b chain.Block) error {
			s.executed(next, b.Receipts[fills].TxHash)
			return s.Book.Save(tx, next)
		},
	})
	var refused *chain.TxError
	if errors.As(err, &refused) && refused.Index < fills {
		err = refusal{reasonCapacity, "the solver cannot pay its transfer: " + refused.Error()}
	}
	return name, o, next, err
}

// sameChain lists the deposits that the target block makes itself.
func sameChain(q *book.Quote) []book.Leg {
	var out []book.Leg
	for _, l := range q.Legs {
		if l.ChainID == q.ChainID {
			out = append(out, l)
		}
	}
	return out
}

// executed writes what the target block has done into the record.
func (s *Settler) executed(q *book.Quote, tx common.Hash) {
	here := s.ref(q.ChainID, tx)
	q.Destination = append(q.Destination, here)
	q.Status = api.StatusExecuted
	if q.Whole() {
		q.Origin = append(q.Origin, here)
		q.Status = api.StatusCompleted
		return
	}
	for i := range q.Legs {
		if q.Legs[i].ChainID == q.ChainID {
			q.Legs[i].State, q.Legs[i].Deposit = book.LegDeposited, tx
			q.Origin = append(q.Origin, here)
		}
	}
}

// release hands the next deposit to the solver; the last one completes the quote.
func (s *Settler) release(q *book.Quote) (string, *book.Quote, error) {
	solver := genesis.AddressOf(s.Installation.Solver)
	return s.settleLeg(q, "release", book.LegReleased, api.StatusCompleted, func(id common.Hash) []byte {
		return escrow.ReleaseCalldata(id, q.Owner, solver)
	})
}

// giveBack refunds the next deposit in full; the last one ends the quote.
func (s *Settler) giveBack(q *book.Quote) (string, *book.Quote, error) {
	name, next, err := s.settleLeg(q, "refund", book.LegRefunded, api.StatusRefunded, func(id common.Hash) []byte {
		return escrow.RefundCalldata(id, q.Owner)
	})
	return name, next, err
}

func (s *Settler) settleLeg(q *book.Quote, verb string, state book.LegState, last string, data func(common.Hash) []byte) (string, *book.Quote, error) {
	i := held(q)
	if i < 0 {
		return "", nil, fmt.Errorf("quote %s is %s and has nothing to %s", q.ID, q.Status, verb)
	}
	at := q.Legs[i].ChainID
	next := q.Clone()
	_, err := s.Installation.Chains[at].Seal(chain.SealRequest{
		Time: uint64(s.Clock().Unix()),
		Txs: []chain.Tx{{
			From: s.Installation.Operator, To: s.Installation.Network.Pins.Escrow, Data: data(common.HexToHash(q.ID)), Gas: settleGas,
		}},
		Accept: genesis.AllSucceed,
		Record: func(tx store.Tx, b chain.Block) error {
			hash := b.Receipts[0].TxHash
			next.Legs[i].State, next.Legs[i].Settled = state, hash
			if state == book.LegRefunded {
				next.Origin = append(next.Origin, s.ref(at, hash))
			}
			if held(next) < 0 {
				next.Status = last
			}
			return s.Book.Save(tx, next)
		},
	})
	if err != nil {
		err = fmt.Errorf("%s of quote %s on eip155:%d: %w", verb, q.ID, at, err)
	}
	name := verb + " " + caip.EVM(at).String()
	if err == nil {
		return name, next, nil
	}
	if found, ok := s.settledByOthers(q, at); ok {
		next, err = s.acknowledge(q, i, found, last, err)
	}
	return name, next, err
}

// settledByOthers reports whether a deposit has left the escrow without this saga: after the refund deadline anyone may send it back (protocol
// §3.3).
func (s *Settler) settledByOthers(q *book.Quote, chainID uint64) (book.LegState, bool) {
	ask, err := s.codec.AskDeposit(common.HexToHash(q.ID), q.Owner)
	if err != nil {
		return book.LegWaiting, false
	}
	st, err := s.Installation.Chains[chainID].State(uint64(s.Clock().Unix()))
	if err != nil {
		return book.LegWaiting, false
	}
	defer st.Close()
	state, err := s.codec.ReadDeposit(st.Call(chain.Message{To: s.Installation.Network.Pins.Escrow, Data: ask}).Return)
	switch {
	case err == nil && state == entry.DepositRefunded:
		return book.LegRefunded, true
	case err == nil && state == entry.DepositReleased:
		return book.LegReleased, true
	}
	return book.LegWaiting, false
}

// acknowledge writes down that somebody else settled a deposit. When it was to be released, the solver has lost it; the quote still ends, as
// the user has what he asked for. When the record has moved on, it was this saga after all, whose commit was reported as failed: then the
// failure stands and the next attempt begins from the record.
func (s *Settler) acknowledge(q *book.Quote, i int, found book.LegState, last string, failed error) (*book.Quote, error) {
	next := q.Clone()
	if next.Legs[i].State = found; held(next) < 0 {
		next.Status = last
	}
	err := s.Book.Update(func(tx store.Tx) error {
		if stored, err := s.Book.Quote(tx, q.ID); err != nil || stored.Updated != q.Updated {
			return errors.Join(failed, err)
		}
		s.Log.Error("a deposit was settled by somebody else", "quote", q.ID, "chain", q.Legs[i].ChainID, "state", string(found))
		return s.Book.Save(tx, next)
	})
	return next, err
}

// fillTxs are the solver's transfers of what the quote delivers.
func (s *Settler) fillTxs(q *book.Quote) ([]chain.Tx, error) {
	var txs []chain.Tx
	for _, f := range q.Fills {
		t := chain.Tx{From: s.Installation.Solver, To: q.Owner, Value: f.Delivers.Value, Gas: fillGas}
		if token, isToken := f.Delivers.CAIP().Token(); isToken {
			t.To, t.Value, t.Data = token, new(big.Int), erc20.Transfer(q.Owner, f.Delivers.Value)
		} else if !f.Delivers.CAIP().IsNative() {
			return nil, fmt.Errorf("quote %s delivers %q", q.ID, f.Delivers.Asset)
		}
		txs = append(txs, t)
	}
	return txs, nil
}

func (s *Settler) ref(chainID uint64, tx common.Hash) book.Ref {
	return book.Ref{ChainID: chainID, Hash: tx, URL: s.ExplorerBase + "/explorer/" + caip.EVM(chainID).String() + "/tx/" + tx.Hex()}
}
