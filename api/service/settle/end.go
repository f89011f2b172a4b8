package settle

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"coffer/api"
	"coffer/api/service/quotestore"
)

// EndAll brings every open quote of a network that ends to its end, as far as its record can be read and its chains let
// it. What lies in escrow goes back to who deposited it; without a deposit a quote is FAILED. One that was delivered is
// COMPLETED: the user has what was asked for, and what the solver still had in escrow ends with the network. Each step
// is one commit, as in a saga, so that a later call goes on where one was cut off. It is for a Settler that runs
// nothing else. left says why a quote stays open, by its id; the others end all the same. The error is the context's,
// or that of a book that cannot be read.
func (s *Settler) EndAll(ctx context.Context) (left map[string]error, err error) {
	ids, err := s.Book.Open(ctx)
	open, err := s.open(ctx, ids, err)
	if err != nil {
		return nil, fmt.Errorf("end the open quotes: %w", err)
	}
	left = map[string]error{}
	for _, q := range open {
		err := s.end(ctx, q)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			left[q.ID] = err
		}
	}
	return left, nil
}

// end brings one quote to its end. A panic is an error: what breaks down over one quote must not keep the others.
func (s *Settler) end(ctx context.Context, q *quotestore.Quote) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("settlement broke down: %v", p)
		}
	}()
	for !api.Terminal(q.Status) && ctx.Err() == nil {
		name, next, err := s.endNext(ctx, q)
		if err != nil {
			return err
		}
		q = next
		s.Log.Info("the network ends", "quote", q.ID, "step", name, "status", q.Status)
		s.step(name)
	}
	return nil
}

// endNext is the next step of a quote towards its end.
func (s *Settler) endNext(ctx context.Context, q *quotestore.Quote) (string, *quotestore.Quote, error) {
	switch {
	case q.Sent != "" || slices.ContainsFunc(q.Legs, func(l quotestore.Leg) bool { return l.Sent }):
		// refunded as well, it would be paid twice
		return "", nil, fmt.Errorf("%s was sent, and whether it happened is not known",
			cmp.Or(q.Sent, "what settles a deposit"))
	case q.FailReason != "":
		return s.refund(ctx, q)
	case q.Status == api.StatusExecuted:
		next := q.Clone()
		next.Status = api.StatusCompleted
		return "delivered", next, s.Book.Advance(ctx, q, next)
	}
	return s.refuse(ctx, q, refusal{reasonExpired, "the network ends"})
}
