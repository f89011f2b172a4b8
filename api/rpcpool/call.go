package rpcpool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Call is one call of a Batch. Result is a pointer, or nil when the answer does not matter; Err is what came instead of
// a result.
type Call struct {
	Method string
	Params []any
	Result any
	Err    error
}

// Call asks any endpoint that works and stores its answer in result, a pointer or nil. The error is an *Error when the
// node answered one.
func (p *Pool) Call(ctx context.Context, result any, method string, params ...any) error {
	calls := []Call{{Method: method, Params: params, Result: result}}
	err := p.Batch(ctx, calls)
	if err == nil {
		err = calls[0].Err
	}
	return err
}

// Batch sends the calls in one HTTP body, or in several if the endpoint takes fewer at once. Each call gets its Err;
// the error that Batch returns is that of the calls that no endpoint answered. Calls may be answered by different
// endpoints, so what has to fit together names its block by hash.
func (p *Pool) Batch(ctx context.Context, calls []Call) error {
	if len(calls) == 0 {
		return nil
	}
	w := waiting{calls: calls, soft: map[uint64]error{}}
	repeat, head := true, false
	w.first = p.id.Add(uint64(len(calls))) - uint64(len(calls)) + 1
	for i, c := range calls {
		w.pending = append(w.pending, newRequest(w.first+uint64(i), c.Method, c.Params))
		repeat = repeat && repeatable(c.Method)
		head = head || isHead(c.Method, c.Params)
	}
	if head {
		p.look(ctx)
	}
	p.probe()
	err := p.collect(ctx, &w, p.round(calls[0].Method, head), repeat)
	unanswered := 0
	for _, c := range w.pending {
		call := &calls[c.ID-w.first]
		if call.Err = w.soft[c.ID]; call.Err == nil {
			call.Err = err
			unanswered++
		}
	}
	if unanswered == 0 {
		return nil
	}
	return err
}

func newRequest(id uint64, method string, params []any) request {
	if params == nil {
		params = []any{}
	}
	return request{Version: "2.0", ID: id, Method: method, Params: params}
}

// waiting are the calls of a batch that have no answer yet. soft are answers that another endpoint may improve.
type waiting struct {
	calls   []Call
	first   uint64
	pending []request
	soft    map[uint64]error
}

// take stores answers and keeps the calls that need another endpoint.
func (w *waiting) take(e *endpoint, answers map[uint64]reply) {
	w.pending = slices.DeleteFunc(w.pending, func(c request) bool {
		r, ok := answers[c.ID]
		if !ok {
			return false
		}
		call := &w.calls[c.ID-w.first]
		if r.err != nil {
			call.Err = fmt.Errorf("%s at %s: %w", c.Method, e.host, r.err)
			if r.err.lacks() || r.err.absent() {
				w.soft[c.ID] = call.Err
				return false
			}
			return true
		}
		switch err := store(r.result, call.Result); {
		case errors.Is(err, errAnswer):
			w.soft[c.ID] = fmt.Errorf("%s at %s: %w", c.Method, e.host, err)
			return false
		case err != nil:
			call.Err = fmt.Errorf("%s at %s: %w", c.Method, e.host, err)
		default:
			call.Err = nil
		}
		return true
	})
}

// collect asks endpoint after endpoint until every call has its answer. A call that must not arrive twice goes to
// another endpoint only if no byte of it left.
func (p *Pool) collect(ctx context.Context, w *waiting, r *round, repeat bool) error {
	bodies := 1 + len(w.pending)/mostBatch
	slow := p.o.Hedge * time.Duration(bodies)
	ctx, cancel := p.bounded(ctx, p.o.Timeout*time.Duration(1+bodies))
	defer cancel()
	race := r.race(ctx)
	won := 0
	defer func() { race.end(won) }()
	hedge := time.NewTimer(slow)
	defer hedge.Stop()
	for {
		var pause <-chan time.Time
		if race.flying == 0 {
			e, wait := r.next()
			switch {
			case e != nil:
				race.start(e, w.pending, repeat)
				hedge.Reset(slow)
			case wait > 0:
				pause = time.After(wait)
			default:
				return p.unavailable(r.method, r.faults)
			}
		}
		select {
		case <-ctx.Done():
			u := r.unavailable()
			u.cause = p.ended(ctx)
			return u
		case <-pause:
		case <-hedge.C:
			if e := r.spare(); e != nil && repeat && race.flying == 1 {
				race.start(e, w.pending, repeat)
			}
			hedge.Reset(slow)
		case o := <-race.results:
			race.landed(o)
			hedge.Reset(slow)
			if o.fault == nil {
				won = o.n
			}
			w.take(o.e, o.answers)
			if len(w.pending) == 0 {
				return nil
			}
			if !repeat && (o.fault == nil || o.fault.sent) {
				return p.unavailable(r.method, r.faults)
			}
		}
	}
}
