//go:build unix

package crash_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"coffer/api/caip"
	"coffer/api/service/crash/traffic"
)

// sender is somebody who sends to the chains past the service, through JSON-RPC, while the crowd pays.
type sender struct {
	h    *harness
	n    int
	dice *rand.Rand
	kind string
	make func(*traffic.Person, []traffic.Holding) (traffic.Outsider, error)

	person   *traffic.Person
	it       traffic.Outsider // nil until it has funds
	recalled int              // how much was there when it was looked at last
	seen     *served          // the life in which that was
	did      map[string]int   // what was sealed, by its sort; guarded by the harness
}

// pause is the most that a sender rests between two things.
const pause = 30 * time.Millisecond

// makeSenders makes a few of each sort.
func (h *harness) makeSenders() {
	stranger := func(p *traffic.Person, have []traffic.Holding) (traffic.Outsider, error) {
		return traffic.NewStranger(p, have)
	}
	operator := func(p *traffic.Person, have []traffic.Holding) (traffic.Outsider, error) {
		o, err := traffic.NewOperator(p, have)
		if err == nil { // its deposit belongs to it as well: Recall knows, as long as no one else pays it
			h.forget(p, o.Coin())
		}
		return o, err
	}
	payer := func(p *traffic.Person, have []traffic.Holding) (traffic.Outsider, error) {
		return traffic.NewPayer(p, have)
	}
	for n, s := range []sender{
		{kind: traffic.StrangerKind, make: stranger}, {kind: traffic.StrangerKind, make: stranger},
		{kind: traffic.StrangerKind, make: stranger}, {kind: traffic.OperatorKind, make: operator},
		{kind: traffic.PayerKind, make: payer},
	} {
		s.h, s.n, s.dice = h, n, rand.New(rand.NewPCG(h.seed, uint64(200+n)))
		h.senders = append(h.senders, &s)
	}
}

func (s *sender) run(ctx context.Context) error {
	var dead *served
	for {
		if s.h.draining.Load() && s.it != nil && s.it.Idle() {
			return nil
		}
		at, err := s.h.alive(ctx, dead)
		if err != nil {
			return err
		}
		w := at.pick(s.dice)
		err = s.step(ctx, at, w)
		var refused *traffic.Refusal
		switch {
		case err == nil:
			if err := rest(ctx, time.Duration(s.dice.Int64N(int64(pause)))); err != nil {
				return err
			}
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case away(err):
			s.h.refusals(awayName)
			if err := rest(ctx, awayRest); err != nil {
				return err
			}
		case errors.As(err, &refused), errors.Is(err, traffic.ErrBroken):
			return err
		default:
			dead = at
		}
	}
}

// step looks, in a new life, whether everything that was sealed in the last one is there, and sends the next thing.
func (s *sender) step(ctx context.Context, at *served, w *way) error {
	if s.it == nil {
		return s.begin(ctx, at, w)
	}
	if s.seen != at {
		n, err := s.it.Recall(ctx, w.nodes, s.recalled)
		if err != nil {
			return err
		}
		s.recalled, s.seen = n, at
	}
	moves, err := s.it.Step(ctx, w.nodes, s.h.somebody(s.dice))
	if err != nil {
		return err
	}
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	s.did = s.it.Did()
	for _, m := range moves {
		s.h.move(m)
	}
	return nil
}

// begin gives a new person test funds. From then on others pay it, too.
func (s *sender) begin(ctx context.Context, at *served, w *way) (err error) {
	if s.person == nil {
		if s.person, err = s.h.bear(s.kind); err != nil {
			return fmt.Errorf("%w: %w", traffic.ErrBroken, err)
		}
	}
	have, err := s.person.Holdings(ctx, w.client(s.n), s.h.aggregates...)
	if err != nil {
		return err
	}
	s.h.join(crowd+s.n, s.person, have)
	s.it, err = s.make(s.person, have)
	s.seen = at
	if errors.Is(err, traffic.ErrPoor) {
		s.it, s.person = nil, nil
		return nil
	}
	return err
}

// recallAll compares everything that was ever sealed.
func (h *harness) recallAll(ctx context.Context, s *served) error {
	for _, o := range h.senders {
		if _, err := o.it.Recall(ctx, s.nodes, 0); errors.Is(err, traffic.ErrBroken) {
			h.problem("%v", err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// forget drops a balance that no sum of moves tells, and whose it is from those who are paid.
func (h *harness) forget(p *traffic.Person, asset caip.Asset) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.balances[p.Name(asset.Chain)], asset)
	maps.DeleteFunc(h.active, func(_ int, one *traffic.Person) bool { return one == p })
}

// sent counts what the senders have sealed. The lock is held.
func (h *harness) sent() map[string]int {
	all := map[string]int{}
	for _, s := range h.senders {
		for sort, n := range s.did {
			all[sort] += n
		}
	}
	return all
}
