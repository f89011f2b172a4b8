package settle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/chain"
	"coffer/api/service/quotestore"
)

// settleGas is enough for a release or a refund.
const settleGas = 300_000

// run takes a quote from its present step to its end. It stops with an error when the context ends or the
// database or a chain cannot be written; everything committed so far stays and Resume goes on from there.
func (s *Settler) run(ctx context.Context, q *quotestore.Quote) error {
	var kept *order   // read back once
	var done []string // steps that the next commit is of, too
	for !q.Done() {
		if err := ctx.Err(); err != nil {
			return err
		}
		name, next, err := s.next(ctx, q, &kept)
		if err != nil {
			errLeft := s.undefer(ctx, q)
			for _, name := range done {
				if errLeft == nil {
					s.step(name)
				}
			}
			return errors.Join(err, errLeft)
		}
		if api.Terminal(q.Status) { // the end of a quote is told once
			s.Log.Info("settlement: deposit settled", "quote", q.ID, "step", name)
		} else {
			s.Log.Info("settlement", "quote", q.ID, "step", name, "status", next.Status, "failReason", next.FailReason)
		}
		if q = next; q.Sent != "" {
			name += ", sent"
		}
		if done = append(done, name); q.Deferred() != "" {
			continue
		}
		for _, name := range done {
			s.step(name)
		}
		done = nil
	}
	return nil
}

// next does the one step that the record calls for and returns the record as it was committed, or is with the step
// after it (quotestore.Quote.Defer). Deposits on Solana come first, because their block hash expires.
func (s *Settler) next(ctx context.Context, q *quotestore.Quote, kept **order) (string, *quotestore.Quote, error) {
	if old, err := s.older(ctx, q); err != nil || old {
		return s.reread(ctx, q, err)
	}
	if q.FailReason != "" {
		if s.mustVoid(q) {
			return s.never(ctx, q)
		}
		return s.refund(ctx, q)
	}
	if q.Status == api.StatusExecuted || q.Status == api.StatusCompleted {
		return s.release(ctx, q)
	}
	if q.Sent == "" && s.expired(q) && !s.Network.OnOwnNodes() {
		return s.refuse(ctx, q, outOfTime())
	}
	if *kept == nil {
		o, err := s.restore(ctx, q)
		if err != nil {
			return "", nil, err
		}
		*kept = o
	}
	o := *kept
	o.Quote = q
	waiting := pendingDeposits(q)
	if len(waiting) == 0 {
		next, err := s.target(ctx, o)
		return s.orRefuse(ctx, "target", q, next, err)
	}
	name := "deposit " + q.Legs[waiting[0]].Chain().String()
	err := s.beforeDeposit(ctx, q, len(waiting))
	var next *quotestore.Quote
	if err == nil {
		next, err = s.deposit(ctx, o, waiting[0], name)
	}
	return s.orRefuse(ctx, name, q, next, err)
}

// beforeDeposit brings about the faults that were asked for before one of the deposits that are left.
func (s *Settler) beforeDeposit(ctx context.Context, q *quotestore.Quote, left int) error {
	if q.Sent != "" {
		return nil
	}
	if err := s.Faults.wait(ctx, AtDeposit, q.ID); err != nil {
		return err
	}
	err := s.Faults.refused(AtDeposit, q.ID)
	if err == nil && left == 1 {
		err = s.Faults.refused(AtLastDeposit, q.ID)
	}
	return err
}

// pendingDeposits lists the deposits that must still land before the target block, in the order in which they are made.
func pendingDeposits(q *quotestore.Quote) []int {
	var solana, evm []int
	for i, l := range q.Legs {
		switch {
		case l.State != quotestore.LegWaiting || l.ChainID == q.ChainID:
		case l.ChainID == 0:
			solana = append(solana, i)
		default:
			evm = append(evm, i)
		}
	}
	return append(solana, evm...)
}

// expired reports whether a quote may no longer be filled (protocol §5.2). Blocks do not go back with a clock: when a
// chain of the quote is past its time, anybody may have refunded a deposit there.
func (s *Settler) expired(q *quotestore.Quote) bool {
	now := uint64(s.Clock().Unix())
	if s.operated() {
		return now > q.ValidUntil // the head is what one node says, and refund deadlines leave hours
	}
	now = max(now, s.headTime(q.ChainID))
	for _, l := range q.Legs {
		now = max(now, s.headTime(l.ChainID))
	}
	return now > q.ValidUntil
}

// headTime is the time of the newest block of an EVM chain, 0 for Solana.
func (s *Settler) headTime(chainID uint64) uint64 {
	if chainID == 0 {
		return 0
	}
	return s.Network.Chains[chainID].Head().Time
}

func outOfTime() refusal {
	return refusal{reasonExpired, "the operation's time was over before the fill"}
}

// orRefuse turns a step that the world refused into the decision to refund; other errors stop the saga.
func (s *Settler) orRefuse(ctx context.Context, name string, q, next *quotestore.Quote, err error) (string,
	*quotestore.Quote, error) {
	var r refusal
	if errors.As(err, &r) {
		return s.refuse(ctx, q, r)
	}
	return name, next, err
}

// refuse commits the decision not to go on: from here on only refunds follow. Without a deposit in escrow this is the
// end. Deposits that the account's owner has made himself, with the signed operation or without, count and come back
// too. A chain of others that does not answer, or not for good yet, is asked again before its deposit goes back.
func (s *Settler) refuse(ctx context.Context, q *quotestore.Quote, r refusal) (string, *quotestore.Quote, error) {
	next := q.Clone()
	for i, l := range next.Legs {
		if l.State != quotestore.LegWaiting || l.ChainID == 0 {
			continue
		}
		state, err := s.landedYet(ctx, q, i)
		switch {
		case err == nil:
			next.Legs[i].State = state
		case !s.Network.OnOthers():
			return "", nil, fmt.Errorf("look for a deposit of quote %s on %s: %w", q.ID, l.Chain(), err)
		default: // the others need not wait for it
			next.Legs[i].State = quotestore.LegUnread
		}
	}
	next.FailReason, next.Status, next.Sent = r.reason, api.StatusInProgress, ""
	if held(next) < 0 {
		next.Status = api.StatusFailed
	}
	s.Log.Warn("settlement refused", "quote", q.ID, "failReason", r.reason, "why", r.text)
	err := s.Book.Advance(ctx, q, next)
	return "refused", next, err
}

// held is the index of a deposit that lies in escrow, or may, −1 when none does.
func held(q *quotestore.Quote) int {
	return slices.IndexFunc(q.Legs, quotestore.Leg.Held)
}

// deposit runs one funding operation on its chain.
func (s *Settler) deposit(ctx context.Context, o *order, i int, name string) (*quotestore.Quote, error) {
	l := o.Legs[i]
	if l.ChainID == 0 {
		return s.depositSolana(ctx, o, i, name)
	}
	return take(ctx, s, o.Quote, step[chain.Tx, chain.Receipt]{
		name: name, port: s.Network.Outbox.EVM(l.ChainID), deadline: o.ValidUntil,
		txs: func(*quotestore.Quote) ([]chain.Tx, error) {
			return s.bundleNow(ctx, o, l.ChainID, []operation{o.deposits[i]}, s.plainly(o))
		},
		goesOn: true,
		check:  func(rs []chain.Receipt) error { return s.checkReceipt(o, rs[0], 1, []quotestore.Leg{l}) },
		gate:   func() error { return s.stillServed(ctx, o, l.ChainID) },
		done: func(next *quotestore.Quote, rs []chain.Receipt) {
			s.landed(next, i, s.ref(l.ChainID, rs[0].TxHash))
			next.Status = api.StatusInProgress
		},
	})
}

// landed writes down a deposit.
func (s *Settler) landed(q *quotestore.Quote, i int, by quotestore.Ref) {
	l := &q.Legs[i]
	l.State, l.Deposit, l.DepositTx = quotestore.LegDeposited, by.Hash, by.Signature
	q.Origin = append(q.Origin, by)
}

// ref names a transaction of an EVM chain.
func (s *Settler) ref(chainID uint64, tx common.Hash) quotestore.Ref {
	return quotestore.Ref{ChainID: chainID, Hash: tx, URL: s.ExplorerBase + "/explorer/" + caip.EVM(chainID).String() +
		"/tx/" + tx.Hex()}
}

// solanaRef names a transaction of Solana.
func (s *Settler) solanaRef(signature string) quotestore.Ref {
	return quotestore.Ref{Signature: signature, URL: s.ExplorerBase + "/explorer/" + caip.SolanaMainnet().String() +
		"/tx/" +
		signature}
}
