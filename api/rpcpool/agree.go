package rpcpool

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/go-json-experiment/json/jsontext"
)

// NoQuorumError means that too few endpoints gave the same answer. Waiting may help: endpoints are at different blocks
// for moments.
type NoQuorumError struct {
	Method    string
	Need      int
	Groups    [][]string // hosts that gave the same answer, the largest group first
	Endpoints []EndpointFault
	cause     error
}

// Error says how many agree, and what the others did.
func (e *NoQuorumError) Error() string {
	var parts []string
	for i, g := range e.Groups {
		parts = append(parts, fmt.Sprintf("answer %d from %s", i+1, strings.Join(g, ", ")))
	}
	for _, f := range e.Endpoints {
		parts = append(parts, f.Host+": "+f.Fault)
	}
	return fmt.Sprintf("%d endpoints must give the same answer to %s: %s", e.Need, e.Method, strings.Join(parts, "; "))
}

// Unwrap returns the context's error or ErrOtherChain, if that is the reason.
func (e *NoQuorumError) Unwrap() error { return e.cause }

// ballot is an answer and the hosts that gave it.
type ballot struct {
	key    string
	parsed any // what the caller would get, nil for an error or a call without result
	answer reply
	from   []*endpoint
}

// Agreed stores an answer that Quorum hosts give alike, or returns *NoQuorumError. Answers are alike when their
// canonical JSON is, or when result would receive the same: members that it does not take may differ from client to
// client. Errors are alike by the data of their revert, else by code and message; a quorum of errors is an *Error.
//
// What depends on the newest block differs from endpoint to endpoint for moments. Such a call names its block by hash,
// as AgreedBlock gives it.
func (p *Pool) Agreed(ctx context.Context, result any, method string, params ...any) error {
	return p.agreed(ctx, result, newRequest(p.id.Add(1), method, params), false)
}

// agreed is Agreed. What exists is known to some endpoints; null is then no answer of the others.
func (p *Pool) agreed(ctx context.Context, result any, call request, exists bool) error {
	p.probe()
	b, err := p.agree(ctx, result, call, exists)
	if err != nil {
		return err
	}
	if b.answer.err != nil {
		return fmt.Errorf("%s at %s: %w", call.Method, b.from[0].host, b.answer.err)
	}
	return store(b.answer.result, result)
}

func (p *Pool) agree(ctx context.Context, result any, call request, exists bool) (*ballot, error) {
	ctx, cancel := p.bounded(ctx, 2*p.o.Timeout)
	defer cancel()
	r := p.round(call.Method, false)
	race := r.race(ctx)
	won := 0
	defer func() { race.end(won) }()
	v := votes{need: p.o.Quorum, result: result}
	hedge := time.NewTimer(p.o.Hedge)
	defer hedge.Stop()
	for {
		var pause <-chan time.Time
		for race.flying+v.best() < p.o.Quorum && pause == nil {
			e, wait := r.next()
			switch {
			case e != nil:
				race.start(e, []request{call}, true)
			case wait > 0:
				pause = time.After(wait)
			case race.flying == 0:
				return nil, v.noQuorum(r, nil)
			default:
				pause = make(chan time.Time) // nothing left to ask: wait for what is under way
			}
		}
		select {
		case <-ctx.Done():
			return nil, v.noQuorum(r, p.ended(ctx))
		case <-pause:
		case <-hedge.C:
			if e := r.spare(); e != nil {
				race.start(e, []request{call}, true)
			}
			hedge.Reset(p.o.Hedge)
		case o := <-race.results:
			race.landed(o)
			if o.fault != nil {
				continue
			}
			answer := o.answers[call.ID]
			if answer.err != nil && answer.err.lacks() {
				r.faults[o.e] = &fault{words: "it does not have the block: " + answer.err.Message}
				continue
			}
			if exists && answer.err == nil && answer.result.Kind() == 'n' {
				r.faults[o.e] = &fault{words: "it does not have the block yet"}
				continue
			}
			if b := v.cast(o.e, answer); b != nil {
				won = o.n
				p.outvote(&v, b, call.Method)
				return b, nil
			}
		}
	}
}

// votes are the answers so far.
type votes struct {
	need   int
	result any
	all    []*ballot
	bad    []*endpoint // their answers had not the expected form
}

// best is the size of the largest group.
func (v *votes) best() int {
	most := 0
	for _, b := range v.all {
		most = max(most, b.size())
	}
	return most
}

// size counts hosts: two addresses at one host are one witness.
func (b *ballot) size() int {
	hosts := map[string]bool{}
	for _, e := range b.from {
		hosts[e.witness] = true
	}
	return len(hosts)
}

// cast adds an answer and returns its group if that is a quorum now.
func (v *votes) cast(e *endpoint, r reply) *ballot {
	n, err := v.ballot(r)
	if err != nil {
		v.bad = append(v.bad, e)
		return nil
	}
	at := slices.IndexFunc(v.all, func(b *ballot) bool {
		return b.key == n.key || b.parsed != nil && n.parsed != nil && reflect.DeepEqual(b.parsed, n.parsed)
	})
	if at < 0 {
		at = len(v.all)
		v.all = append(v.all, n)
	}
	b := v.all[at]
	if b.from = append(b.from, e); b.size() >= v.need {
		return b
	}
	return nil
}

func (v *votes) ballot(r reply) (*ballot, error) {
	b := &ballot{answer: r}
	if r.err != nil {
		b.key = fmt.Sprintf("error %d %s", r.err.Code, strings.ToLower(r.err.Message))
		if r.err.Reverted() {
			b.key = "revert " + hex.EncodeToString(r.err.Data)
		}
		return b, nil
	}
	key, err := canonical(r.result)
	if err != nil {
		return nil, err
	}
	b.key = "result " + key
	if v.result == nil {
		return b, nil
	}
	if t := reflect.TypeOf(v.result); t.Kind() == reflect.Pointer {
		parsed := reflect.New(t.Elem()).Interface()
		switch err := store(r.result, parsed); {
		case errors.Is(err, ErrNotFound):
		case err != nil:
			return nil, err
		default:
			b.parsed = parsed
			if raw, ok := parsed.(*jsontext.Value); ok {
				*raw = jsontext.Value(key)
			}
		}
	}
	return b, nil
}

// outvote counts the endpoints that said something else.
func (p *Pool) outvote(v *votes, won *ballot, method string) {
	for _, b := range v.all {
		if b == won {
			continue
		}
		for _, e := range b.from {
			e.mu.Lock()
			e.disagreed++
			e.mu.Unlock()
			p.o.Log.Warn("an endpoint answers unlike the others", "chain", p.kind.chain, "endpoint", e.host,
				"method", method)
		}
	}
}

func (v *votes) noQuorum(r *round, cause error) *NoQuorumError {
	n := &NoQuorumError{Method: r.method, Need: v.need, cause: cause}
	answered := map[*endpoint]bool{}
	slices.SortStableFunc(v.all, func(a, b *ballot) int { return b.size() - a.size() })
	for _, b := range v.all {
		var hosts []string
		for _, e := range b.from {
			answered[e] = true
			hosts = append(hosts, e.host)
		}
		n.Groups = append(n.Groups, hosts)
	}
	u := r.unavailable()
	if n.cause == nil {
		n.cause = u.cause
	}
	for i, e := range r.p.all {
		switch {
		case answered[e]:
		case slices.Contains(v.bad, e):
			n.Endpoints = append(n.Endpoints, EndpointFault{Host: e.host, Fault: "its answer has another form"})
		default:
			n.Endpoints = append(n.Endpoints, u.Endpoints[i])
		}
	}
	return n
}

// AgreedBlock stores the newest block that Quorum endpoints have, as eth_getBlockByNumber gives it without
// transactions. tag is "latest", "safe" or "finalized". One endpoint alone can neither hold it back nor move it on
// while Quorum honest ones answer.
func (p *Pool) AgreedBlock(ctx context.Context, result any, tag string) error {
	if p.o.Quorum == 1 {
		return p.Call(ctx, result, "eth_getBlockByNumber", tag, false)
	}
	at := newRequest(p.id.Add(1), "eth_getBlockByNumber", []any{tag, false})
	number, err := p.reached(ctx, at, func(r reply) (uint64, error) {
		var b *Block
		if err := store(r.result, &b); err != nil || b == nil {
			return 0, errAnswer
		}
		return uint64(b.Number), nil
	})
	if err != nil {
		return err
	}
	call := newRequest(p.id.Add(1), "eth_getBlockByNumber", []any{hexutil.Uint64(number), false})
	return p.agreed(ctx, result, call, true)
}

// Block is what AgreedBlock needs of a block, for callers that only pin one.
type Block struct {
	Number hexutil.Uint64 `json:"number"`
	Hash   common.Hash    `json:"hash"`
	Time   hexutil.Uint64 `json:"timestamp"`
}

// Reached is the highest number that Quorum hosts have reached, of a method that answers one which grows, such as
// Solana's getBlockHeight. One endpoint alone can neither hold it back nor move it on while Quorum honest ones answer.
func (p *Pool) Reached(ctx context.Context, method string, params ...any) (uint64, error) {
	return p.reached(ctx, newRequest(p.id.Add(1), method, params), plainNumber)
}

func (p *Pool) reached(ctx context.Context, call request, number func(reply) (uint64, error)) (uint64, error) {
	ctx, cancel := p.bounded(ctx, p.o.Timeout+p.o.Hedge)
	defer cancel()
	r := p.round(call.Method, false)
	race := r.race(ctx)
	defer race.end(0)
	for _, e := range p.all {
		if state, _ := e.phase(p.o.Clock()); state != open {
			race.start(e, []request{call}, true)
		}
	}
	numbers := map[string]uint64{}
	var late <-chan time.Time
	for ctx.Err() == nil {
		var pause <-chan time.Time
		for race.flying+len(numbers) < p.o.Quorum && pause == nil {
			if e, wait := r.next(); e != nil {
				race.start(e, []request{call}, true)
			} else if wait > 0 {
				pause = time.After(wait)
			} else {
				break
			}
		}
		if race.flying == 0 && pause == nil {
			break
		}
		select {
		case o := <-race.results:
			race.landed(o)
			answer := o.answers[call.ID]
			if o.fault == nil && answer.err == nil {
				if n, err := number(answer); err == nil {
					numbers[o.e.witness] = max(numbers[o.e.witness], n)
				}
			}
			if len(numbers) >= p.o.Quorum && late == nil {
				late = time.After(p.o.Hedge / 4) // the others may still come; a silent one is not waited for
			}
			continue
		case <-pause:
			continue
		case <-late:
		case <-ctx.Done():
		}
		break
	}
	if len(numbers) < p.o.Quorum {
		v := votes{need: p.o.Quorum}
		return 0, v.noQuorum(r, p.ended(ctx))
	}
	sorted := make([]uint64, 0, len(numbers))
	for _, n := range numbers {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	return sorted[len(sorted)-p.o.Quorum], nil
}
