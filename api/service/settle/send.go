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
	// leg is the place of the deposit that the step settles, from 1 on; 0 for a step of the whole quote
	leg int
	// goesOn says that another step is sent right after this one
	goesOn bool
	done   func(next *quotestore.Quote, receipts []R)
}

// sent reports whether a record says that the step is under way.
func (st step[T, R]) sent(q *quotestore.Quote) bool {
	if st.leg == 0 {
		return q.Sent != ""
	}
	return underWay(q, st.leg-1, st.name)
}

// underWay reports whether what settles a deposit was sent and is not final. Earlier versions sent one at a time.
func underWay(q *quotestore.Quote, i int, name string) bool { return q.Legs[i].Sent || q.Sent == name }

// note writes into a record whether the step is under way.
func (st step[T, R]) note(q *quotestore.Quote, is bool) {
	switch {
	case st.leg > 0:
		if q.Legs[st.leg-1].Sent = is; q.Sent == st.name {
			q.Sent = ""
		}
	case is:
		q.Sent = st.name
	default:
		q.Sent = ""
	}
}

// take does a step, or goes on with it when the record says that it was sent, and returns the record as it was
// committed. On a chain where not everything is final at once that is twice: with the step under way, and with what
// came of it; where another step is sent right after, the second is left for its commit. A step that came to nothing is
// over: its record says so, unless the refusal that is returned will.
func take[T, R any](ctx context.Context, s *Settler, q *quotestore.Quote, st step[T, R]) (*quotestore.Quote, error) {
	id := q.ID + " " + st.name
	if st.sent(q) {
		receipts, err := outcome(ctx, q, st.port, id)
		if err != nil {
			return nil, err
		}
		next := q.Clone()
		st.note(next, false)
		failed := st.check(receipts)
		if failed == nil {
			if st.done(next, receipts); st.goesOn && !s.Faults.delay() {
				next.Defer(st.name)
				return next, nil
			}
		} else if _, refused := errors.AsType[refusal](failed); refused {
			return nil, failed
		}
		return next, errors.Join(failed, s.Book.Advance(ctx, q, next))
	}
	next := q.Clone()
	txs, err := st.txs(next)
	if err != nil {
		return nil, err
	}
	sent := next.Clone()
	st.note(sent, true)
	final, err := st.port.Send(ctx, outbox.Step[T, R]{
		ID: id, Time: uint64(s.Clock().Unix()), Deadline: st.deadline, Txs: txs, Check: st.check, Gate: st.gate,
		Outcome: true,
		Waits:   func() error { return s.undefer(ctx, q) },
		Sent:    s.Book.Change(q, sent),
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

// outcome waits for what came of a step that was sent. Where the port lets it, that it is over is committed with the
// next step of the record.
func outcome[T, R any](ctx context.Context, q *quotestore.Quote, port outbox.Port[T, R], id string) ([]R, error) {
	by, able := port.(outbox.Handing[R])
	if !able {
		return port.Result(ctx, id)
	}
	receipts, over, err := by.Outcome(ctx, id)
	if over != nil {
		q.With(over)
	}
	return receipts, err
}

// undefer commits what a record left for its next step, when that does not come soon. It says what came of something
// that was sent, so it holds in a later epoch, too.
func (s *Settler) undefer(ctx context.Context, q *quotestore.Quote) error {
	if q.Deferred() == "" {
		return nil
	}
	was, now := q.Clone(), q.Clone()
	was.Sent = q.Deferred()
	err := s.Book.Advance(context.WithoutCancel(ctx), was, now)
	if err == nil {
		*q = *now
	}
	return err
}
