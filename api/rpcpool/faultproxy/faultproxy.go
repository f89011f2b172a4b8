// Package faultproxy is an HTTP proxy in front of a JSON-RPC node that misbehaves as its script says: it delays, hangs,
// drops connections, limits, lies, reorders and cuts answers. It is for tests.
//
// A rule applies to requests that contain a call of its method. Chance is drawn from the seed of the proxy, so requests
// that arrive in the same order meet the same faults.
package faultproxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Rule says what happens to which requests. An empty On is every method. Of those that match, the first Skip are let
// through, and the rule ends after Times more (0: never). Chance between 0 and 1 lets the others through; 0 is always.
type Rule struct {
	On     string
	Skip   int
	Times  int
	Chance float64
	Fault  Fault
}

// Fault is one way to misbehave. The functions of this package make them.
type Fault struct {
	before func(*exchange) (handled bool)
	after  func(*exchange, []byte) []byte
	cut    int
}

// exchange is one request and what is known of it.
type exchange struct {
	p       *Proxy
	w       http.ResponseWriter
	r       *http.Request
	methods map[string]string // by id
	on      string
}

// Proxy is a running proxy.
type Proxy struct {
	URL      string
	upstream http.Handler
	server   *httptest.Server
	closed   chan struct{}

	mu     sync.Mutex
	rng    *rand.Rand
	rules  []Rule
	seen   []int
	counts map[string]int
	http   int
	last   http.Header
}

// New starts a proxy on a loopback address in front of a node.
func New(upstream http.Handler, seed uint64, rules ...Rule) *Proxy {
	p := &Proxy{upstream: upstream, closed: make(chan struct{}), counts: map[string]int{}}
	p.rng = rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // it has to be repeatable
	p.Script(rules...)
	p.server = httptest.NewServer(p)
	p.URL = p.server.URL
	return p
}

// Close ends the proxy and every request that hangs.
func (p *Proxy) Close() {
	close(p.closed)
	p.server.Close()
}

// Script replaces the rules and their counts.
func (p *Proxy) Script(rules ...Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules, p.seen = rules, make([]int, len(rules))
}

// Calls is how many calls of a method arrived, those that met a fault included; "" counts HTTP requests.
func (p *Proxy) Calls(method string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if method == "" {
		return p.http
	}
	return p.counts[method]
}

// Header is that of the last request.
func (p *Proxy) Header() http.Header {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last.Clone()
}

// ServeHTTP answers one request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	x := &exchange{p: p, w: w, r: r, methods: methods(body)}
	faults := p.drawn(x)
	for _, rule := range faults {
		f := rule.Fault
		if x.on = rule.On; f.before != nil && f.before(x) {
			return
		}
	}
	in := r.Clone(r.Context())
	in.Body, in.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	in.Header.Del("Accept-Encoding")
	rec := httptest.NewRecorder()
	p.upstream.ServeHTTP(rec, in)
	answer, cut := rec.Body.Bytes(), 0
	for _, rule := range faults {
		f := rule.Fault
		if x.on = rule.On; f.after != nil {
			answer = f.after(x, answer)
		}
		cut = max(cut, f.cut)
	}
	for k, v := range rec.Header() {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	w.WriteHeader(rec.Code)
	if cut > 0 {
		_, _ = w.Write(answer[:max(0, len(answer)-cut)])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(answer)
}

// drawn are the rules that apply to one request.
func (p *Proxy) drawn(x *exchange) (apply []Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.http++
	p.last = x.r.Header.Clone()
	for _, m := range x.methods {
		p.counts[m]++
	}
	for i, rule := range p.rules {
		if !x.has(rule.On) {
			continue
		}
		n := p.seen[i]
		p.seen[i]++
		if n < rule.Skip || rule.Times > 0 && n >= rule.Skip+rule.Times ||
			rule.Chance > 0 && p.rng.Float64() >= rule.Chance {
			continue
		}
		apply = append(apply, rule)
	}
	return apply
}

func (x *exchange) has(method string) bool {
	for _, m := range x.methods {
		if m == method {
			return true
		}
	}
	return method == ""
}

// methods reads which calls a request has.
func methods(body []byte) map[string]string {
	type call struct {
		ID     json.RawMessage
		Method string
	}
	var many []call
	if json.Unmarshal(body, &many) != nil {
		many = make([]call, 1)
		_ = json.Unmarshal(body, &many[0])
	}
	list := map[string]string{}
	for _, c := range many {
		list[string(c.ID)] = c.Method
	}
	return list
}

// Delay answers later.
func Delay(d time.Duration) Fault {
	return Fault{before: func(x *exchange) bool {
		select {
		case <-time.After(d):
			return false
		case <-x.r.Context().Done():
		case <-x.p.closed:
		}
		return true
	}}
}

// Hang never answers.
func Hang() Fault {
	return Fault{before: func(x *exchange) bool {
		select {
		case <-x.r.Context().Done():
		case <-x.p.closed:
		}
		panic(http.ErrAbortHandler)
	}}
}

// Drop closes the connection without an answer. The node does not get the request.
func Drop() Fault {
	return Fault{before: func(*exchange) bool { panic(http.ErrAbortHandler) }}
}

// Deaf hands the request to the node and closes the connection instead of answering.
func Deaf() Fault {
	return Fault{after: func(*exchange, []byte) []byte { panic(http.ErrAbortHandler) }}
}

// Status answers with a status, a header Retry-After unless it is empty, and a body.
func Status(status int, retryAfter, body string) Fault {
	return Fault{before: func(x *exchange) bool {
		if retryAfter != "" {
			x.w.Header().Set("Retry-After", retryAfter)
		}
		x.w.WriteHeader(status)
		_, _ = io.WriteString(x.w, body)
		return true
	}}
}

// HTML answers with a web page and status 200.
func HTML() Fault {
	return Status(http.StatusOK, "", "<!DOCTYPE html><html><body>Sign in</body></html>")
}

// Redirect sends the client elsewhere.
func Redirect(to string) Fault {
	return Fault{before: func(x *exchange) bool {
		x.w.Header().Set("Location", to)
		x.w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	}}
}

// Refuse answers the calls of the rule's method with an error; data may be nil.
func Refuse(code int, message string, data any) Fault {
	return Fault{after: func(x *exchange, answer []byte) []byte {
		return x.each(answer, func(a map[string]any) {
			delete(a, "result")
			e := map[string]any{"code": code, "message": message}
			if data != nil {
				e["data"] = data
			}
			a["error"] = e
		})
	}}
}

// Lie replaces a field of the results of the rule's method: "status", "logs.0.data", or "" for all of it.
func Lie(path string, value any) Fault {
	return Fault{after: func(x *exchange, answer []byte) []byte {
		return x.each(answer, func(a map[string]any) {
			if _, ok := a["result"]; ok {
				a["result"] = replaced(a["result"], path, value)
			}
		})
	}}
}

// LeaveOut removes the answers to the rule's method from a batch.
func LeaveOut() Fault {
	return Fault{after: func(x *exchange, answer []byte) []byte {
		var many []map[string]any
		if unmarshal(answer, &many) != nil {
			return answer
		}
		var kept []map[string]any
		for _, a := range many {
			if m := x.methods[fmt.Sprint(a["id"])]; x.on != "" && m != x.on {
				kept = append(kept, a)
			}
		}
		return marshal(kept)
	}}
}

// Shuffle answers the calls of a batch in another order.
func Shuffle() Fault {
	return Fault{after: func(x *exchange, answer []byte) []byte {
		var many []json.RawMessage
		if json.Unmarshal(answer, &many) != nil {
			return answer
		}
		x.p.mu.Lock()
		defer x.p.mu.Unlock()
		x.p.rng.Shuffle(len(many), func(i, j int) { many[i], many[j] = many[j], many[i] })
		return marshal(many)
	}}
}

// Cut ends the connection n bytes before the end of the answer.
func Cut(n int) Fault { return Fault{cut: n} }

// Pad makes the answer larger by n blanks.
func Pad(n int) Fault {
	return Fault{after: func(_ *exchange, answer []byte) []byte {
		return append(bytes.Clone(answer), bytes.Repeat([]byte{' '}, n)...)
	}}
}

// each changes the answers to the calls of the rule's method.
func (x *exchange) each(answer []byte, change func(map[string]any)) []byte {
	var many []map[string]any
	single := unmarshal(answer, &many) != nil
	if single {
		many = make([]map[string]any, 1)
		if unmarshal(answer, &many[0]) != nil {
			return answer
		}
	}
	for _, a := range many {
		if m := x.methods[fmt.Sprint(a["id"])]; x.on == "" || m == x.on {
			change(a)
		}
	}
	if single {
		return marshal(many[0])
	}
	return marshal(many)
}

// replaced is a value with another one at a path.
func replaced(in any, path string, value any) any {
	if path == "" {
		return value
	}
	name, rest, _ := strings.Cut(path, ".")
	switch in := in.(type) {
	case map[string]any:
		in[name] = replaced(in[name], rest, value)
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i < len(in) {
			in[i] = replaced(in[i], rest, value)
		}
	}
	return in
}

func unmarshal(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return raw
}
