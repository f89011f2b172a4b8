package settle

import (
	"context"
	"fmt"

	"coffer/api"
	"coffer/api/service/quotestore"
)

// EndAll brings every open quote of a network that ends to its end, and returns when none is open that can be read.
// What lies in escrow goes back to who deposited it; without a deposit a quote is FAILED. One that was delivered is
// COMPLETED: the user has what was asked for, and what the solver still had in escrow ends with the network. Each step
// is one commit, as in a saga, so that a later call goes on where one was cut off. It is for a Settler that runs
// nothing else.
func (s *Settler) EndAll(ctx context.Context) error {
	open, err := s.open(ctx)
	if err != nil {
		return fmt.Errorf("end the open quotes: %w", err)
	}
	for _, q := range open {
		for !api.Terminal(q.Status) {
			if err := ctx.Err(); err != nil {
				return err
			}
			name, next, err := s.endNext(ctx, q)
			if err != nil {
				return fmt.Errorf("end the open quote %s: %w", q.ID, err)
			}
			q = next
			s.Log.Info("the network ends", "quote", q.ID, "step", name, "status", q.Status)
			s.step(name)
		}
	}
	return nil
}

// endNext is the next step of a quote towards its end.
func (s *Settler) endNext(ctx context.Context, q *quotestore.Quote) (string, *quotestore.Quote, error) {
	switch {
	case q.FailReason != "":
		return s.refund(ctx, q)
	case q.Status == api.StatusExecuted:
		next := q.Clone()
		next.Status = api.StatusCompleted
		return "delivered", next, s.Book.Advance(ctx, q, next)
	}
	return s.refuse(ctx, q, refusal{reasonExpired, "the network ends"})
}
