// Package rpcpool asks the endpoints of one chain by JSON-RPC over HTTP.
//
// Promise: Call and Batch give the answer of any endpoint that works, in the order in which they were named; what fails
// at one is asked at the next, and a slow read is asked at a second one meanwhile. Agreed gives only what Quorum
// endpoints answer alike, or *NoQuorumError. Broadcast hands the same signed bytes to every endpoint. Everything ends
// within a bounded time: a request after Timeout, a call after twice that, a large batch after Timeout more for each
// hundred calls.
//
// An endpoint rests after a fault: a broken connection, silence, HTTP 429 or 5xx, a rate limit of JSON-RPC, an answer
// that is no JSON-RPC, another chain than ChainID, or than Solana by its first block. Pauses double, and a pause that
// the endpoint asks for is kept. After the pause one request tries it. An error that the node answers (a revert, a bad
// parameter) is an answer and no fault.
//
// Sending: a request of a method that changes something is sent at most once, but for Broadcast, whose repetition
// changes nothing. Redirects are not followed. An answer has at most MaxBytes after decompression.
//
// Secrets: addresses may contain credentials. Of an address, only scheme and host reach errors, logs and Health, and
// texts of an endpoint are searched for the rest. Errors: *Error is what a node answered; *UnavailableError means that
// no endpoint gave an answer; ErrNotFound is null where a value was needed.
package rpcpool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Defaults of Options.
const (
	DefaultTimeout  = 10 * time.Second
	DefaultHedge    = time.Second
	DefaultMaxBytes = 16 << 20
	DefaultSlots    = 8
	DefaultBehind   = 3
	solanaBehind    = 25 // slots, ten seconds
)

// mostBatch is how many calls one HTTP body has at most. Endpoints that take fewer are sent fewer.
const mostBatch = 100

// Options configure a Pool. Only URLs and ChainID are needed, or, for a Solana chain, Solana: the reference of its
// CAIP-2 id, with which its genesis hash begins. Of HTTP only the transport is used; nil makes one that honours
// HTTPS_PROXY.
type Options struct {
	URLs    []Endpoint
	ChainID uint64
	Solana  string
	Quorum  int // equal answers that Agreed needs; 0 is 1
	HTTP    *http.Client
	Clock   func() time.Time
	Log     *slog.Logger
	Timeout time.Duration // of an attempt

	Hedge    time.Duration // a read without an answer for so long is asked at a second endpoint as well
	MaxBytes int64         // of an answer
	Slots    int           // requests under way at one endpoint
	Behind   uint64        // blocks that an endpoint may be behind the others and still be asked for the newest
}

// Pool is safe for concurrent use. Close it at the end.
type Pool struct {
	o      Options
	kind   family
	all    []*endpoint
	client *http.Client
	id     atomic.Uint64
	ctx    context.Context // of what goes on behind callers
	cancel context.CancelFunc
	work   sync.WaitGroup
	idle   func()

	mu       sync.Mutex
	done     bool
	surveyed time.Time
	survey   chan struct{} // closed at the end of the survey that is under way
}

// New makes a pool. It sends nothing; the first call to an endpoint is preceded by the question which chain it serves.
func New(o Options) (*Pool, error) {
	o.Quorum, o.Timeout = max(1, o.Quorum), cmp.Or(o.Timeout, DefaultTimeout)
	o.Hedge, o.MaxBytes = cmp.Or(o.Hedge, DefaultHedge), cmp.Or(o.MaxBytes, DefaultMaxBytes)
	kind, behind := evm(o.ChainID), uint64(DefaultBehind)
	if o.Solana != "" {
		kind, behind = solana(o.Solana), solanaBehind
	}
	o.Slots, o.Behind = cmp.Or(o.Slots, DefaultSlots), cmp.Or(o.Behind, behind)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &Pool{o: o, kind: kind, idle: func() {}}
	hosts := map[string]bool{}
	for i, u := range o.URLs {
		e, err := newEndpoint(u, o.Slots)
		if err != nil {
			return nil, fmt.Errorf("endpoint %d of %s: %w", i+1, p.kind, err)
		}
		if slices.ContainsFunc(p.all, func(other *endpoint) bool { return *other.at == *e.at }) {
			return nil, fmt.Errorf("%s: %s is named twice", p.kind, e.host)
		}
		hosts[e.witness] = true
		p.all = append(p.all, e)
	}
	switch {
	case len(p.all) == 0:
		return nil, fmt.Errorf("%s has no endpoint", p.kind)
	case len(hosts) < o.Quorum:
		return nil, fmt.Errorf("%s: %d equal answers are needed, and there are %d different hosts", p.kind,
			o.Quorum, len(hosts))
	}
	p.client = &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if o.HTTP != nil {
		p.client.Transport = o.HTTP.Transport
	}
	if p.client.Transport == nil {
		t := transport(o.Slots)
		p.client.Transport, p.idle = t, t.CloseIdleConnections
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

func transport(slots int) *http.Transport {
	return &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) {
			if r.URL.Scheme == "http" { // on this machine
				return nil, nil
			}
			return http.ProxyFromEnvironment(r)
		},
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout:    5 * time.Second,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    slots,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// ErrOtherChain is wrapped when an endpoint serves another chain than the pool is for.
var ErrOtherChain = errors.New("an endpoint serves another chain")

// ErrClosed is returned after Close.
var ErrClosed = errors.New("the endpoints are closed")

// Close ends what is under way and waits for it.
func (p *Pool) Close() {
	p.mu.Lock()
	p.done = true
	p.mu.Unlock()
	p.cancel()
	p.work.Wait()
	p.idle()
}

// behind starts work that outlives its caller, unless the pool is closed.
func (p *Pool) behind(f func(ctx context.Context)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return false
	}
	p.work.Go(func() { f(p.ctx) })
	return true
}

// bounded is a context that also ends with the pool.
func (p *Pool) bounded(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(ctx, d, errSilent)
	stop := context.AfterFunc(p.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// ended is why a context of bounded ended.
func (p *Pool) ended(ctx context.Context) error {
	if p.ctx.Err() != nil {
		return ErrClosed
	}
	return context.Cause(ctx)
}

// note logs that a breaker opened or closed.
func (p *Pool) note(e *endpoint, changed bool) {
	if !changed {
		return
	}
	e.mu.Lock()
	fault, pause := e.fault, e.pause
	e.mu.Unlock()
	if pause > 0 {
		p.o.Log.Warn("an endpoint rests", "chain", p.kind.chain, "endpoint", e.host, "fault", fault, "pause", pause)
		return
	}
	p.o.Log.Info("an endpoint works again", "chain", p.kind.chain, "endpoint", e.host)
}

// EndpointFault is why an endpoint gave no answer; it rests until Until.
type EndpointFault struct {
	Host  string
	Fault string
	Until time.Time
}

// UnavailableError means that no endpoint gave an answer. Sent false means that no byte of the call left.
type UnavailableError struct {
	Method    string
	Endpoints []EndpointFault
	Sent      bool
	cause     error
}

// Error names every endpoint and its fault.
func (e *UnavailableError) Error() string {
	parts := make([]string, len(e.Endpoints))
	for i, f := range e.Endpoints {
		parts[i] = f.Host + ": " + f.Fault
	}
	return fmt.Sprintf("no endpoint answers %s: %s", e.Method, strings.Join(parts, "; "))
}

// Unwrap returns the context's error, ErrTooLarge or ErrOtherChain, if that is the reason.
func (e *UnavailableError) Unwrap() error { return e.cause }

// unavailable describes the pool after a call that had no answer.
func (p *Pool) unavailable(method string, faults map[*endpoint]*fault) *UnavailableError {
	u := &UnavailableError{Method: method}
	for _, e := range p.all {
		at := EndpointFault{Host: e.host, Fault: "it was not asked"}
		e.mu.Lock()
		if e.pause > 0 {
			at.Fault, at.Until = e.fault, e.until
			if e.other && u.cause == nil {
				u.cause = ErrOtherChain
			}
		}
		e.mu.Unlock()
		if f := faults[e]; f != nil {
			at.Fault, u.Sent = f.words, u.Sent || f.sent
			if f.cause != nil {
				u.cause = f.cause
			}
		}
		u.Endpoints = append(u.Endpoints, at)
	}
	return u
}
