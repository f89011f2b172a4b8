//go:build unix

package crash_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"coffer/api"
	"coffer/api/service/crash/traffic"
)

// payer is one of the crowd: always busy with one quote. What it knows survives the service.
type payer struct {
	h      *harness
	n      int
	recipe traffic.Recipe
	dice   *rand.Rand

	newborn  *traffic.Person // is asking for test funds
	person   *traffic.Person
	offer    *traffic.Offer
	sent     bool    // execute went out
	accepted bool    // and was answered with 200
	unsure   bool    // and was answered while the database was away: it may have been written
	seen     *served // the life that is known to have the quote in flight
}

// work sets the crowd to work; the channel is closed when all have stopped: after draining, or with ctx.
func (h *harness) work(ctx context.Context, fail context.CancelCauseFunc) <-chan struct{} {
	var all sync.WaitGroup
	for _, p := range h.payers {
		all.Go(func() {
			if err := p.run(ctx); err != nil && ctx.Err() == nil {
				fail(fmt.Errorf("payer %d (%s): %w", p.n, p.recipe.Name, err))
			}
		})
	}
	for _, s := range h.senders {
		all.Go(func() {
			if err := s.run(ctx); err != nil && ctx.Err() == nil {
				fail(fmt.Errorf("sender %d: %w", s.n, err))
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	return ended
}

func (p *payer) run(ctx context.Context) error {
	var dead *served
	for {
		if p.h.draining.Load() && !p.sent {
			p.offer = nil
			return nil
		}
		s, err := p.h.alive(ctx, dead)
		if err != nil {
			return err
		}
		w, asked := s.pick(p.dice), p.sent || p.offer == nil
		err = p.step(ctx, s, w.client(p.n))
		var answered *api.Error
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case away(err):
			p.h.refusals(awayName)
			if err := rest(ctx, awayRest); err != nil {
				return err
			}
		case (!errors.As(err, &answered) || answered.Name == api.ErrUnavailable) && s.lost(w):
			// the process that stands by is gone, or had none to forward to
			if !asked {
				dead = s // what became of the execution, only the next life tells for certain
			} else if err := rest(ctx, pollRest); err != nil {
				return err
			}
		case errors.As(err, &answered):
			if err := p.refused(s, answered); err != nil {
				return err
			}
		case errors.Is(err, traffic.ErrBroken):
			return err
		default:
			dead = s // the connection broke: whatever was asked is asked of the next life
		}
	}
}

// step does the next thing: learn what became of the quote, or execute it, or get one.
func (p *payer) step(ctx context.Context, s *served, c *traffic.Client) error {
	switch {
	case p.sent:
		return p.reconcile(ctx, s, c)
	case p.offer != nil:
		p.sent, p.seen = true, s
		s.fly()
		err := c.Execute(ctx, p.offer)
		p.accepted, p.unsure = err == nil, away(err)
		return err
	case p.person == nil:
		return p.begin(ctx, c)
	}
	have, err := p.person.Holdings(ctx, c, traffic.Paying)
	if err != nil {
		return err
	}
	p.offer, err = p.recipe.Offer(ctx, c, p.dice, p.person, have, p.h.somebody(p.dice))
	if errors.Is(err, traffic.ErrPoor) {
		p.person = nil
		return nil
	}
	return err
}

// begin makes a new person and writes down what its test funds are. When the service dies while it gives them, the next
// life is asked by the same person and gives the rest.
func (p *payer) begin(ctx context.Context, c *traffic.Client) (err error) {
	if p.newborn == nil {
		if p.newborn, err = p.h.bear(p.recipe.Kind); err != nil {
			return fmt.Errorf("%w: %w", traffic.ErrBroken, err)
		}
	}
	have, err := p.newborn.Holdings(ctx, c, p.h.aggregates...)
	if err != nil {
		return err
	}
	p.h.join(p.n, p.newborn, have)
	p.person, p.newborn = p.newborn, nil
	return nil
}

// reconcile asks what became of a quote. An id without a record was never accepted, as the life that got the request is
// over; after a 200 that would be a lost quote.
func (p *payer) reconcile(ctx context.Context, s *served, c *traffic.Client) error {
	status, err := c.Status(ctx, p.offer.ID)
	if err != nil {
		return err
	}
	switch {
	case status.Status == "" && p.accepted:
		p.h.lost.Add(1)
		return fmt.Errorf("%w: quote %s was accepted and is lost", traffic.ErrBroken, p.offer.ID)
	case status.Status == "" && p.seen == s && !p.unsure:
		return fmt.Errorf("%w: quote %s has no record in the life that got it", traffic.ErrBroken, p.offer.ID)
	case status.Status == "":
		p.end(s, "")
	case api.Terminal(status.Status):
		p.accepted = true
		p.end(s, status.Status)
	default:
		p.accepted = true // it has a record: from now on it may not vanish
		if p.seen != s {
			p.seen = s
			s.fly()
		}
		return rest(ctx, pollRest)
	}
	return nil
}

// refused deals with an answer that is an error. Only what a crash or the pace of the crowd can bring about is no
// defect.
func (p *payer) refused(s *served, e *api.Error) error {
	switch e.Name {
	case api.ErrPrepareAgain, api.ErrQuoteExpired, api.ErrInsufficientBalance, api.ErrNoRoute:
	default:
		return fmt.Errorf("%w: %w", traffic.ErrBroken, e)
	}
	p.h.refusals(e.Name)
	if p.offer != nil {
		p.end(s, "")
	}
	return nil
}

// end closes the quote with what the client was told; "" says that it was never accepted.
func (p *payer) end(s *served, status string) {
	if p.seen == s {
		s.land()
	}
	p.h.told(p.recipe, p.person, p.offer, status)
	p.offer, p.sent, p.accepted, p.unsure, p.seen = nil, false, false, false, nil
}

// somebody is one of those who take part and can be paid; nil while there are none.
func (h *harness) somebody(dice *rand.Rand) *traffic.Person {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.active) == 0 {
		return nil
	}
	return h.active[slices.Sorted(maps.Keys(h.active))[dice.IntN(len(h.active))]]
}

// bear makes the next person.
func (h *harness) bear(kind string) (*traffic.Person, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p, err := traffic.NewPerson(h.network.Pins, kind, h.seed, len(h.born))
	if err == nil {
		h.born = append(h.born, p)
	}
	return p, err
}

// join enters a person with the test funds it was given, as the one whom a payer plays.
func (h *harness) join(payer int, p *traffic.Person, have []traffic.Holding) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active[payer] = p
	h.people[p] = &member{Person: p, uses: map[traffic.Use]uint64{}}
	for _, x := range have {
		h.move(traffic.Move{Account: p.Name(x.Asset.Chain), Asset: x.Asset, Amount: x.Amount})
	}
}
