package rpcpool

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Endpoint is one node. URL is https, or http on a loopback address; a user in it is sent as basic authentication.
// Header is sent with every request. Neither is ever printed: whatever formats an Endpoint gets scheme and host.
// Secrets are the credentials in them, for those that are a part of a segment or a value: the whole ones are known
// without it.
type Endpoint struct {
	URL     string
	Header  http.Header
	Secrets []string
}

// String returns scheme and host.
func (e Endpoint) String() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return "an address that cannot be read"
	}
	return u.Scheme + "://" + u.Host
}

// Format writes scheme and host whatever the verb.
func (e Endpoint) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(e.String())) }

// MarshalText returns scheme and host.
func (e Endpoint) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// endpoint is a node with its breaker. A fault opens the breaker for a pause that doubles; when it has passed, one
// request at a time is let through, and its success closes the breaker.
type endpoint struct {
	at      *url.URL
	host    string // scheme://host
	witness string // one for all addresses of a host: together they have one vote
	header  http.Header
	secrets []string // longest first
	slots   chan struct{}
	turn    chan struct{} // taken while one request asks for the chain

	mu        sync.Mutex
	verified  bool // it serves the right chain; asked again after each fault
	trial     bool // the breaker is half open and its one request is under way
	until     time.Time
	pause     time.Duration
	fault     string
	other     bool // its last fault is that it serves another chain
	faultAt   time.Time
	latency   time.Duration
	head      uint64
	headAt    time.Time
	slow      int // reads in a row that another endpoint answered first, after this one had its time
	absent    map[string]time.Time
	batch     int // the largest batch that it takes
	spare     int // slots to leave unused because it limits
	unused    int // slots that are left unused
	answered  int // requests in a row
	calls     uint64
	faults    uint64
	disagreed uint64
}

// ErrURL means that an endpoint's address is not acceptable.
var ErrURL = errors.New("an endpoint's address must be https, or http on a loopback address, without a fragment")

func newEndpoint(o Endpoint, slots int) (*endpoint, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Hostname() == "" || u.Fragment != "" || u.Opaque != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return nil, ErrURL
	}
	header := o.Header.Clone()
	var secrets []string
	if u.User != nil {
		password, _ := u.User.Password()
		basic := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
		secrets = []string{u.User.Username(), password, basic}
		if header == nil {
			header = http.Header{}
		}
		header.Set("Authorization", "Basic "+basic)
		u.User = nil
	}
	e := &endpoint{at: u, host: u.Scheme + "://" + strings.ToLower(u.Host), header: header,
		slots: make(chan struct{}, slots), turn: make(chan struct{}, 1),
		absent: map[string]time.Time{}, batch: mostBatch}
	e.witness = witness(u)
	e.hide(secrets...)
	e.hide(o.Secrets...)
	e.hide(u.Path, u.RawQuery)
	e.hide(strings.Split(u.Path, "/")...)
	for _, values := range u.Query() {
		e.hide(values...)
	}
	for _, values := range o.Header {
		for _, v := range values {
			e.hide(v)
			e.hide(strings.Fields(v)...)
		}
	}
	slices.SortFunc(e.secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return e, nil
}

// witness is the host without what makes no other of it.
func witness(u *url.URL) string {
	name, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	if loopback(name) {
		name = "localhost"
	}
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return name + ":" + port
}

// shortSecret is the length from which a part of an address or header is hidden in texts. What is shorter is no
// credential, and hiding it would tear ordinary words apart.
const shortSecret = 6

func (e *endpoint) hide(parts ...string) {
	for _, p := range parts {
		for _, form := range []string{p, url.PathEscape(p), url.QueryEscape(p)} {
			if len(form) >= shortSecret && !slices.Contains(e.secrets, form) {
				e.secrets = append(e.secrets, form)
			}
		}
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// phase is the state of a breaker.
type phase int

const (
	closed phase = iota
	halfOpen
	open
)

// phase says whether the endpoint may be asked, and when that changes if it may not.
func (e *endpoint) phase(now time.Time) (phase, time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case now.Before(e.until):
		return open, e.until
	case e.pause > 0 && e.trial:
		return open, now.Add(firstPause)
	case e.pause > 0:
		return halfOpen, now
	default:
		return closed, now
	}
}

// enter takes the right to send one request. It is refused while the breaker is open.
func (e *endpoint) enter(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now.Before(e.until) || e.pause > 0 && e.trial {
		return false
	}
	e.trial = e.pause > 0
	e.calls++
	return true
}

// leave gives the right back, with what came of it: nil for an answer. It reports whether the breaker opened or closed.
func (e *endpoint) leave(now time.Time, took time.Duration, f *fault) (changed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.trial = false
	if f == nil {
		e.slow = 0
		e.widen()
		if e.latency == 0 {
			e.latency = took
		}
		e.latency += (took - e.latency) / 4
		if now.Before(e.until) { // the answer to a request from before the fault
			return false
		}
		changed = e.pause > 0
		e.pause = 0
		return changed
	}
	if f.soft {
		return false
	}
	if f.limit {
		e.spare = (cap(e.slots) + e.spare) / 2
	}
	return e.trip(now, f)
}

// trip opens the breaker. Faults of requests that were under way together count once. The caller holds the lock.
func (e *endpoint) trip(now time.Time, f *fault) bool {
	e.faults++
	e.fault, e.faultAt, e.verified, e.slow, e.answered = f.words, now, false, 0, 0
	e.other = errors.Is(f.cause, ErrOtherChain)
	if now.Before(e.until) {
		e.until = latest(e.until, now.Add(f.least))
		return false
	}
	e.pause = max(f.least, min(2*e.pause, growPause))
	e.until = now.Add(e.pause)
	return true
}

// release gives a slot back, or leaves it unused while the endpoint limits.
func (e *endpoint) release() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.unused < e.spare {
		e.unused++
		return
	}
	<-e.slots
}

// widen takes one more slot into use after as many answers as there are slots. The caller holds the lock.
func (e *endpoint) widen() {
	if e.answered++; e.spare == 0 || e.answered < cap(e.slots) {
		return
	}
	e.answered = 0
	if e.spare--; e.unused > e.spare {
		e.unused--
		<-e.slots
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// lost notes that a read was given up here: another endpoint had answered it, or the caller's time had passed. After
// some of these in a row the endpoint counts as silent.
func (e *endpoint) lost(now time.Time, after time.Duration) (changed bool) {
	const most = 3
	e.mu.Lock()
	defer e.mu.Unlock()
	e.trial = false
	if e.slow++; e.slow < most {
		return false
	}
	return e.trip(now, &fault{words: fmt.Sprintf("%d reads in a row had no answer within %v", most, after),
		least: firstPause})
}

// without reports whether the endpoint said of late that it has no such method.
func (e *endpoint) without(method string, now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return now.Before(e.absent[method])
}

// noteAbsent remembers for a while that the endpoint has no such method.
func (e *endpoint) noteAbsent(method string, now time.Time) {
	const long = 10 * time.Minute
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.absent) < 64 {
		e.absent[method] = now.Add(long)
	}
}

// batchLimit is the largest batch to send; shrink halves it after one of n calls was refused.
func (e *endpoint) batchLimit() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.batch
}

func (e *endpoint) shrink(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.batch = max(1, min(e.batch, n/2))
}

// noteHead keeps the newest block that the endpoint named.
func (e *endpoint) noteHead(number uint64, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.head, e.headAt = number, now
}

// known is the newest block that the endpoint named, 0 for none.
func (e *endpoint) known() (number uint64, at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.head, e.headAt
}

// verify asks once which chain the endpoint serves.
func (p *Pool) verify(ctx context.Context, e *endpoint) *fault {
	e.mu.Lock()
	done := e.verified
	e.mu.Unlock()
	if done {
		return nil
	}
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return e.network(context.Cause(ctx), p.o.Timeout, false)
	}
	e.mu.Lock()
	done = e.verified
	e.mu.Unlock()
	if done {
		return nil
	}
	call := request{Version: "2.0", ID: p.id.Add(1), Method: p.kind.first, Params: []any{}}
	answers, f := p.exchange(ctx, e, []request{call}, true)
	if f != nil {
		f.sent = false
		return f
	}
	answer := answers[call.ID]
	switch {
	case answer.err != nil && answer.err.limited():
		return &fault{words: "it limits requests: " + answer.err.Message, limit: true,
			least: max(limitPause, answer.backoff)}
	case answer.err != nil:
		return &fault{words: "it does not say which chain it serves: " + answer.err.Message, least: longPause}
	}
	found, err := p.kind.serves(answer)
	switch {
	case err != nil:
		return &fault{words: "it does not say which chain it serves: check the address", least: longPause}
	case found != p.kind.right:
		return &fault{words: fmt.Sprintf("it serves chain %s, not %s: check the address", e.clean(found), p.kind.right),
			least: longPause, cause: ErrOtherChain}
	}
	e.mu.Lock()
	e.verified = true
	e.mu.Unlock()
	return nil
}
