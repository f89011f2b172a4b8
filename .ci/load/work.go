package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"coffer/api"
	"coffer/api/service/crash/traffic"
)

// worker is somebody at work with accounts that nobody else uses, paying from one to another.
type worker struct {
	client *traffic.Client
	people []*traffic.Person
	turn   int
	dice   *rand.Rand
}

// crew are the workers of a run.
type crew struct{ workers []*worker }

func newCrew(o options, c *traffic.Client, people []*traffic.Person) *crew {
	var all crew
	share := len(people) / o.workers
	for i := range o.workers {
		all.workers = append(all.workers, &worker{
			client: c, people: people[i*share : (i+1)*share],
			dice: rand.New(rand.NewPCG(o.seed, uint64(i))), //nolint:gosec // chance, not secrets
		})
	}
	return &all
}

// phase is one kind of work; do carries out one piece of it and enters its times.
type phase struct {
	name string
	do   func(context.Context, *worker, *result) error
}

// phases are the single phases in their order.
func phases() []phase {
	return []phase{
		{"balances", balances},
		{"prepare", prepare},
		{"full flow", func(ctx context.Context, w *worker, r *result) error { _, err := w.flow(ctx, r); return err }},
	}
}

// mixed is the soak's work: three questions for balances, a page of history and a prepare to each flow.
func mixed() phase {
	return phase{"soak", func(ctx context.Context, w *worker, r *result) error {
		switch w.dice.IntN(6) {
		case 0:
			_, err := w.flow(ctx, r)
			return err
		case 1:
			return prepare(ctx, w, r)
		case 2:
			return history(ctx, w, r)
		}
		return balances(ctx, w, r)
	}}
}

// run lets everybody work on one phase for a time.
func (c *crew) run(ctx context.Context, p phase, d time.Duration) *result {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	all := newResult()
	var wait sync.WaitGroup
	for _, w := range c.workers {
		wait.Go(func() {
			for ctx.Err() == nil {
				// What was begun is finished: a piece of work that the end cut off would be a failure without a fault.
				if err := p.do(context.WithoutCancel(ctx), w, all); err != nil {
					all.fail(err)
				}
			}
		})
	}
	wait.Wait()
	all.took = time.Since(all.begun)
	return all
}

// next is the person whose turn it is, and the one after.
func (w *worker) next() (*traffic.Person, *traffic.Person) {
	w.turn++
	return w.people[w.turn%len(w.people)], w.people[(w.turn+1)%len(w.people)]
}

func balances(ctx context.Context, w *worker, r *result) error {
	p, _ := w.next()
	begin := time.Now()
	_, err := p.Holdings(ctx, w.client, traffic.Paying, "ob:eth")
	r.add("balances", begin, err)
	return err
}

func history(ctx context.Context, w *worker, r *result) error {
	p, _ := w.next()
	begin := time.Now()
	_, err := w.client.History(ctx, p.Address.Hex(), "", 20)
	r.add("history", begin, err)
	return err
}

// wish is a payment of the first person who can afford one.
func (w *worker) wish(ctx context.Context) (*traffic.Person, traffic.Wish, error) {
	for range w.people {
		p, to := w.next()
		have, err := p.Holdings(ctx, w.client, traffic.Paying)
		if err != nil {
			return nil, traffic.Wish{}, err
		}
		wish, err := traffic.Choose(w.dice, have, to)
		if !errors.Is(err, traffic.ErrPoor) {
			return p, wish, err
		}
	}
	return nil, traffic.Wish{}, traffic.ErrPoor
}

func prepare(ctx context.Context, w *worker, r *result) error {
	p, wish, err := w.wish(ctx)
	if err != nil {
		return err
	}
	begin := time.Now()
	_, err = p.Prepare(ctx, w.client, wish)
	r.add("prepare", begin, err)
	return err
}

// flow is the whole way of one call: prepare, sign, quote, sign, execute, and asking until it is COMPLETED. Any other
// end is a failure.
func (w *worker) flow(ctx context.Context, r *result) (id string, err error) {
	p, wish, err := w.wish(ctx)
	if err != nil {
		return "", err
	}
	begin := time.Now()
	prepared, err := p.Prepare(ctx, w.client, wish)
	if err != nil {
		return "", err
	}
	at := r.add("of it prepare", begin, nil)
	offer, err := p.CallQuote(ctx, w.client, wish, prepared)
	if err != nil {
		return "", err
	}
	at = r.add("of it sign, quote, sign", at, nil)
	if err := w.client.Execute(ctx, offer); err != nil {
		return offer.ID, err
	}
	at = r.add("of it execute", at, nil)
	// who asks without rest takes the processor away from what is measured
	for wait := 2 * time.Millisecond; ; wait += wait / 2 {
		s, err := w.client.Status(ctx, offer.ID)
		switch {
		case err != nil:
			return offer.ID, err
		case s.Status == api.StatusCompleted:
			r.add("of it settle", at, nil)
			if offer.Effect.CrossChain() {
				r.add("of all, cross-chain", begin, nil)
			}
			r.add("full flow", begin, nil)
			return offer.ID, nil
		case api.Terminal(s.Status) || s.Status == "":
			return offer.ID, fmt.Errorf("quote %s is %q: %s", offer.ID, s.Status, s.FailReason)
		}
		time.Sleep(min(wait, 50*time.Millisecond))
	}
}
