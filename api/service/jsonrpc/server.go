package jsonrpc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"coffer/api/text"
)

// Limits bound what one caller can take. Zero values are those of DefaultLimits.
type Limits struct {
	Body          int           // bytes of a request
	Batch         int           // items of a batch
	Answer        int           // bytes of the answer to a request, of a whole batch as well
	Time          time.Duration // for a request, a whole batch included
	Sockets       int           // WebSocket connections of all endpoints
	Calls         int           // under way on one WebSocket connection
	Subscriptions int           // on one WebSocket connection
	Write         time.Duration // that a reader may take for one message before its WebSocket connection is closed
	Ping          time.Duration // of silence, before a WebSocket connection is asked; it is closed after the same again
}

// DefaultLimits are those of public nodes, or stricter.
func DefaultLimits() Limits {
	return Limits{
		Body: 5 << 20, Batch: 1000, Answer: 25_000_000, Time: 30 * time.Second,
		Sockets: 256, Calls: 32, Subscriptions: 128, Write: 10 * time.Second, Ping: 30 * time.Second,
	}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		Body: cmp.Or(l.Body, d.Body), Batch: cmp.Or(l.Batch, d.Batch),
		Answer: cmp.Or(l.Answer, d.Answer),
		Time:   cmp.Or(l.Time, d.Time), Sockets: cmp.Or(l.Sockets, d.Sockets), Calls: cmp.Or(l.Calls, d.Calls),
		Subscriptions: cmp.Or(l.Subscriptions, d.Subscriptions), Write: cmp.Or(l.Write, d.Write),
		Ping: cmp.Or(l.Ping, d.Ping),
	}
}

// Options say who may call, and which errors are faults of this side: the log has their texts, and a caller gets what
// Fault makes of one, such as TextInternal; "" says that an error is no fault. Hosts are the names, beside this
// machine's loopback names, that a request may be addressed to; with Remote it may be any address as well. CORS are the
// origins of web pages that may call, "*" for all: a page of any other origin is refused. A program that is no browser
// names no origin.
type Options struct {
	Log    *slog.Logger // is told of methods that panic and of faults; never gets parameters or results
	Fault  func(error) string
	Hosts  []string
	Remote bool
	CORS   []string
	Limits Limits
}

// Server carries what its endpoints share: the bounds, and the turns in which calls run. Close ends it.
type Server struct {
	Options
	share *share
	large chan struct{} // requests that are large, or have a large answer
	late  *Expiry       // ends requests

	life    context.Context
	end     context.CancelFunc
	mu      sync.Mutex
	sockets int
	closed  bool
	open    sync.WaitGroup // requests and WebSocket connections
}

// NewServer makes a server without an endpoint.
func NewServer(o Options) *Server {
	o.Limits = o.Limits.withDefaults()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Options: o, share: newShare(), large: make(chan struct{}, maxLarge),
		late: NewExpiry(o.Limits.Time)}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Close ends every call, every WebSocket connection and its subscriptions, and returns when they have ended.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.late.Close()
	s.open.Wait()
}

// Occupied says that the service beside the endpoints has work to do: until free is called its requests come first.
func (s *Server) Occupied() (free func()) { return s.share.occupied() }

// Endpoint answers the calls of one chain, over HTTP and WebSocket.
func (s *Server) Endpoint(m Methods) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.begin() {
			http.Error(w, "the endpoint is closed", http.StatusServiceUnavailable)
			return
		}
		defer s.open.Done()
		s.serve(w, r, m)
	})
}

// begin counts a request, unless the server is closed.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.open.Add(1)
	}
	return !s.closed
}

// admitted reports whether a request may come from where it says: under a name of this machine, so that no page can
// reach it under a name of its own (DNS rebinding), and from no web page but those that CORS names.
func (s *Server) admitted(w http.ResponseWriter, r *http.Request) bool {
	if !s.Answers(r.Host) {
		http.Error(w, "invalid host specified", http.StatusForbidden)
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	w.Header().Add("Vary", "Origin")
	if !slices.Contains(s.CORS, "*") && !slices.ContainsFunc(s.CORS, func(known string) bool {
		return strings.EqualFold(known, origin)
	}) {
		http.Error(w, "this origin may not call", http.StatusForbidden)
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	return true
}

// Answers reports whether a Host header, with or without a port, names an endpoint of these options.
func (o Options) Answers(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")); err == nil {
		return o.Remote || ip.Unmap().IsLoopback()
	}
	return host == "localhost" ||
		slices.ContainsFunc(o.Hosts, func(known string) bool { return strings.EqualFold(known, host) })
}

// Bounds of what is held in memory: a request takes a place from smallBody bytes on, an answer from smallAnswer bytes
// on, until the answer is written.
const (
	maxLarge    = 16
	smallBody   = 64 << 10
	smallAnswer = 1 << 20
)

// request is what came in one body. It is released when its answer is written.
type request struct {
	*Server
	methods    Methods
	subscriber Subscriber // nil over HTTP
	large      bool
}

// read reads a body. A large one waits for its place.
func (r *request) read(ctx context.Context, from io.Reader) ([]byte, error) {
	first, err := io.ReadAll(io.LimitReader(from, smallBody))
	if err != nil || len(first) < smallBody {
		return first, err
	}
	select {
	case r.Server.large <- struct{}{}:
		r.large = true
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-r.life.Done():
		return nil, r.life.Err()
	}
	rest, err := io.ReadAll(from)
	return append(first, rest...), err
}

// mayHold reports whether an answer of so many bytes can be held.
func (r *request) mayHold(bytes int) bool {
	if bytes > r.Limits.Answer {
		return false
	}
	if bytes <= smallAnswer || r.large {
		return true
	}
	select {
	case r.Server.large <- struct{}{}:
		r.large = true
	default:
	}
	return r.large
}

func (r *request) release() {
	if r.large {
		<-r.Server.large
	}
}

// answer carries out what a body asks for; nil when nothing is to be answered.
func (r *request) answer(ctx context.Context, body []byte) []byte {
	all, batch, first, wrong := parse(body, r.Limits.Batch)
	if wrong != nil {
		out := refusal(first, wrong)
		if batch {
			out = append(append([]byte{'['}, out...), ']')
		}
		return out
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer r.late.Add(func() { cancel(context.DeadlineExceeded) })()
	if r.subscriber != nil {
		ctx = WithSubscriber(ctx, r.subscriber)
	}
	if !batch {
		return r.one(ctx, all[0], 0)
	}
	out := []byte{'['}
	for _, raw := range all {
		a := r.one(ctx, raw, len(out))
		if a != nil && len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, a...)
	}
	if len(out) == 1 {
		return nil
	}
	return append(out, ']')
}

// one carries out one message; the answer to a notification is nil. Held is what the answer to the batch has already.
func (r *request) one(ctx context.Context, raw json.RawMessage, held int) []byte {
	m, wrong := read(raw)
	if wrong != nil {
		return refusal(m.ID, wrong)
	}
	if held >= r.Limits.Answer {
		if m.ID == nil {
			return nil
		}
		return refusal(m.ID, Errorf(CodeTooLarge, textTooLarge))
	}
	method, known := r.methods[m.Method]
	if !known {
		return m.answer(nil, NotFound(text.Clean(m.Method, maxName)))
	}
	p, err := m.params()
	if err != nil {
		return m.answer(nil, err)
	}
	kind := kindOf(m.Method)
	leave, err := r.share.enter(ctx, kind)
	if err != nil {
		return m.answer(nil, err)
	}
	if kind == send {
		leave = sync.OnceFunc(leave)
		ctx = context.WithValue(ctx, placeKey{}, leave)
	}
	defer leave()
	result, err := r.call(ctx, m.Method, method, p)
	out := m.answer(result, err)
	if !r.mayHold(held + len(out)) {
		return m.answer(nil, Errorf(CodeTooLarge, textTooLarge))
	}
	return out
}

// call runs a method.
func (r *request) call(ctx context.Context, name string, method Method, p Params) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.Log.Error("a method of an endpoint panicked", "method", name, "stack", string(debug.Stack()))
			result, err = nil, Errorf(codeInternal, TextInternal)
		}
	}()
	result, err = method(ctx, p)
	told := ""
	if err != nil && r.Fault != nil {
		told = r.Fault(err)
	}
	switch {
	case err == nil:
	case told != "":
		r.Log.Error("a method of an endpoint failed", "method", name, "error", err)
		err = Errorf(codeInternal, "%s", told)
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		err = context.DeadlineExceeded
	}
	return result, err
}

// maxName bounds the name of a method in an error.
const maxName = 64
