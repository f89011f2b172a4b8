package rpcpool

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// round is one call's way through the endpoints.
type round struct {
	p        *Pool
	method   string
	head     bool // what is asked depends on the newest block
	tries    map[*endpoint]int
	faults   map[*endpoint]*fault
	patience time.Time // no attempt begins later
}

// mostTries is how often one call asks the same endpoint. The second time is after its pause.
const mostTries = 2

func (p *Pool) round(method string, head bool) *round {
	return &round{p: p, method: method, head: head, tries: map[*endpoint]int{}, faults: map[*endpoint]*fault{},
		patience: time.Now().Add(p.o.Timeout)}
}

// next is the endpoint to ask now, or how long to wait until there may be one. Without either nothing is left.
func (r *round) next() (e *endpoint, wait time.Duration) {
	now := r.p.o.Clock()
	var half *endpoint
	for _, e := range r.order(now) {
		state, at := e.phase(now)
		switch {
		case state == closed:
			return e, 0
		case state == halfOpen && half == nil:
			half = e
		case state == open:
			d := max(at.Sub(now), time.Millisecond)
			if (wait == 0 || d < wait) && time.Now().Add(d).Before(r.patience) {
				wait = d
			}
		}
	}
	if half != nil {
		return half, 0
	}
	return nil, wait
}

// spare is a healthy endpoint that this call did not ask yet.
func (r *round) spare() *endpoint {
	now := r.p.o.Clock()
	for _, e := range r.order(now) {
		if state, _ := e.phase(now); state == closed && r.tries[e] == 0 {
			return e
		}
	}
	return nil
}

// order lists the endpoints that may still be asked: those in the order of the options, after that those that lack the
// method, are behind, or are busy.
func (r *round) order(now time.Time) []*endpoint {
	last := map[*endpoint]int{}
	var behind map[*endpoint]uint64
	if r.head {
		behind = r.p.behindBy(now)
	}
	list := make([]*endpoint, 0, len(r.p.all))
	for _, e := range r.p.all {
		if r.tries[e] >= mostTries {
			continue
		}
		last[e] = r.tries[e] << 3
		if e.without(r.method, now) {
			last[e] |= 4
		}
		if behind[e] > 0 {
			last[e] |= 2
		}
		if len(e.slots) == cap(e.slots) {
			last[e] |= 1
		}
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b *endpoint) int { return cmp.Compare(last[a], last[b]) })
	return list
}

// outcome is what one attempt brought.
type outcome struct {
	e       *endpoint
	n       int // of the attempt
	answers map[uint64]reply
	fault   *fault
}

// race runs attempts of one round. Its context ends with the round.
type race struct {
	*round
	ctx     context.Context
	results chan outcome
	cancels []context.CancelCauseFunc
	flying  int
}

func (r *round) race(ctx context.Context) *race {
	return &race{round: r, ctx: ctx, results: make(chan outcome, mostTries*len(r.p.all))}
}

// start asks an endpoint.
func (r *race) start(e *endpoint, calls []request, repeat bool) {
	r.tries[e]++
	ctx, cancel := context.WithCancelCause(r.ctx)
	n := len(r.cancels)
	r.cancels = append(r.cancels, cancel)
	r.flying++
	calls = slices.Clone(calls)
	ok := r.p.behind(func(context.Context) {
		answers, f := r.p.send(ctx, e, calls, repeat)
		r.results <- outcome{e, n, answers, f}
	})
	if !ok {
		r.results <- outcome{e, n, nil, &fault{words: ErrClosed.Error(), soft: true, cause: ErrClosed}}
	}
}

// landed takes note of an outcome. An endpoint that answered, or cannot, is not asked again.
func (r *race) landed(o outcome) {
	r.flying--
	switch f := o.fault; {
	case f == nil:
		r.tries[o.e] = mostTries
	case f.rests:
		r.tries[o.e]--
		return
	case f.soft:
		r.tries[o.e] = mostTries
	case f.limit: // its pauses grow, and the round's patience ends
		r.tries[o.e]--
	}
	if o.fault != nil {
		r.faults[o.e] = o.fault
	}
}

// end gives up what is under way: attempts from before the one that won had their time.
func (r *race) end(won int) {
	for n, cancel := range r.cancels {
		if n < won {
			cancel(errOvertaken)
		} else {
			cancel(context.Canceled)
		}
	}
}

// unavailable describes the endpoints after a round without an answer.
func (r *round) unavailable() *UnavailableError {
	for e, n := range r.tries {
		if n > 0 && r.faults[e] == nil {
			r.faults[e] = &fault{words: "no answer yet", sent: true}
		}
	}
	return r.p.unavailable(r.method, r.faults)
}

// isHead reports whether the answer to a call depends on the newest block.
func isHead(method string, params []any) bool {
	if isSolana(method) {
		return method != "getGenesisHash"
	}
	switch method {
	case "eth_blockNumber", "eth_gasPrice", "eth_maxPriorityFeePerGas", "eth_blobBaseFee":
		return true
	}
	for _, p := range params {
		if s, ok := p.(string); ok && slices.Contains([]string{"latest", "pending", "safe", "finalized"}, s) {
			return true
		}
	}
	return false
}

// repeatable reports whether a call may arrive twice: it reads, or it sends bytes that the chain takes once.
func repeatable(method string) bool {
	if isSolana(method) {
		return method == "sendTransaction" || method == "simulateTransaction" || strings.HasPrefix(method, "get") ||
			strings.HasPrefix(method, "is")
	}
	switch method {
	case "eth_sendRawTransaction":
		return true
	case "eth_submitWork", "eth_submitHashrate", "eth_getFilterChanges", "debug_setHead":
		return false
	}
	for _, prefix := range []string{"eth_send", "eth_sign", "eth_new", "eth_uninstall", "eth_subscribe",
		"eth_unsubscribe"} {
		if strings.HasPrefix(method, prefix) {
			return false
		}
	}
	for _, space := range []string{"eth_", "net_", "web3_", "debug_", "trace_", "txpool_", "ots_", "linea_", "rollup_",
		"optimism_", "arb_", "erigon_"} {
		if strings.HasPrefix(method, space) {
			return true
		}
	}
	return false
}
