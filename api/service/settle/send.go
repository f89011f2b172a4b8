package settle

import (
	"context"
	"errors"

	"coffer/api/service/outbox"
	"coffer/api/service/quotestore"
)

// step is what a saga sends to one chain, and what becomes of the record with it. txs is asked when nothing was sent
// yet and may write into the record what the step is made of; done writes what came of it.
type step[T, R any] struct {
	name  string
	port  outbox.Port[T, R]
	txs   func(next *quotestore.Quote) ([]T, error)
	check func([]R) error
	gate  func() error
	// deadline is the last second in which the step can do anything, 0 when there is none
	deadline uint64
	done     func(next *quotestore.Quote, receipts []R)
}

// take does a step, or goes on with it when the record says that it was sent, and returns the record as it was
// committed. On a chain where not everything is final at once that is twice: with the step under way, and with what
// came of it. A step that came to nothing is over: its record says so, unless the refusal that is returned will.
func take[T, R any](ctx context.Context, s *Settler, q *quotestore.Quote, st step[T, R]) (*quotestore.Quote, error) {
	id, next := q.ID+" "+st.name, q.Clone()
	if q.Sent != "" {
		receipts, err := st.port.Result(ctx, id)
		if err != nil {
			return nil, err
		}
		next.Sent = ""
		failed := st.check(receipts)
		if failed == nil {
			st.done(next, receipts)
		} else if _, refused := errors.AsType[refusal](failed); refused {
			return nil, failed
		}
		return next, errors.Join(failed, s.Book.Advance(ctx, q, next))
	}
	txs, err := st.txs(next)
	if err != nil {
		return nil, err
	}
	sent := next.Clone()
	sent.Sent = st.name
	final, err := st.port.Send(ctx, outbox.Step[T, R]{
		ID: id, Time: uint64(s.Clock().Unix()), Deadline: st.deadline, Txs: txs, Check: st.check, Gate: st.gate,
		Sent: s.Book.Change(q, sent),
		Final: func(receipts []R) outbox.Change {
			st.done(next, receipts)
			return s.Book.Change(q, next)
		},
	})
	if !final {
		next = sent
	}
	return next, err
}
