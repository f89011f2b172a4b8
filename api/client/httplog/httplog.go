// Package httplog keeps what went over the wire, for the user to inspect: which request, when, how long, what came
// back.
//
// Promise (TH-K2): no secret by construction. A Log listens above the transport that adds the API key to a request and
// never sees it. It keeps only the headers of a short list. Bodies carry no key, no passphrase and no seed: no
// endpoint of the interface takes one, which is why no endpoint is left out. What a body can carry are signatures, and
// a signed operation authorises until its nonce is used; so the Log replaces every `signature` before it keeps a body
// (Redacted), and nothing copied or exported from here has any effect when sent. It keeps everything else unchanged,
// byte for byte.
//
// Bounds: MaxExchanges exchanges and MaxBytes of bodies, the oldest go first; MaxBody of each body: the Log counts the
// rest and drops it. Times are those of the given clock. Errors of the transport are kept as cleaned text of at most
// 500 characters (TH-R1).
package httplog

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"coffer/api/client/internal/tap"
	"coffer/api/text"
)

// The bounds of a Log.
const (
	MaxExchanges = 500
	MaxBytes     = 32 << 20
	MaxBody      = 1 << 20
	maxError     = 500
)

// Exchange is one request and its outcome. Base is scheme and host, Path and Query are as sent, Query without its
// question mark. RequestSize and ResponseSize count what was sent and received; where Request or Response is shorter,
// the rest was left out or signatures were taken out. Status is 0 and Err says why when there was no answer. Done is
// false while the answer is awaited; Took is then 0.
type Exchange struct {
	ID                            int
	At                            time.Time
	Took                          time.Duration
	Method, Base, Path, Query     string
	Status                        int
	Request, Response             []byte
	RequestSize, ResponseSize     int
	RequestCut, ResponseCut       bool // more than MaxBody
	Sealed                        int  // signatures taken out of both bodies
	Err                           string
	Done                          bool
	RequestHeader, ResponseHeader map[string]string
}

// Log is a ring of exchanges. It is safe for concurrent use.
type Log struct {
	clock   func() time.Time
	changed chan struct{}

	mu    sync.Mutex
	next  int
	bytes int
	ring  []*Exchange
}

// NewLog makes an empty Log.
func NewLog(clock func() time.Time) *Log {
	return &Log{clock: clock, changed: make(chan struct{}, 1), next: 1}
}

// Wrap returns a transport that keeps the exchanges through it in the Log.
func (l *Log) Wrap(inner http.RoundTripper) http.RoundTripper { return tap.Transport(inner, l.heard) }

// Changed gets a value when an exchange was added or completed since the last receive. It serves one reader.
func (l *Log) Changed() <-chan struct{} { return l.changed }

// All returns the exchanges, oldest first. Bodies and headers are shared and must not be changed.
func (l *Log) All() []Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Exchange, len(l.ring))
	for i, e := range l.ring {
		out[i] = *e
	}
	return out
}

func (l *Log) heard(r *http.Request, body []byte) func(tap.Outcome) {
	e := &Exchange{
		At: l.clock(), Method: r.Method, Base: r.URL.Scheme + "://" + r.URL.Host, Path: r.URL.EscapedPath(),
		Query: r.URL.RawQuery, RequestSize: len(body),
		RequestHeader: Headers(r.Header),
	}
	if len(body) > 0 {
		e.RequestHeader["content-length"] = fmt.Sprint(len(body))
	}
	kept, n := Redacted(body)
	e.Request, e.RequestCut = cut(kept)
	e.Sealed = n
	l.add(e)
	return func(o tap.Outcome) { l.end(e, o) }
}

func (l *Log) add(e *Exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.ID = l.next
	l.next++
	l.ring = append(l.ring, e)
	l.bytes += len(e.Request)
	l.trim()
	l.signal()
}

// end completes an exchange. The body of one that has left the ring meanwhile does not count.
func (l *Log) end(e *Exchange, o tap.Outcome) {
	took := l.clock().Sub(e.At)
	kept, n := Redacted(o.Body)
	body, isCut := cut(kept)
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Took, e.Done, e.Status, e.ResponseSize, e.Sealed = took, true, o.Status, o.Size, e.Sealed+n
	e.Response, e.ResponseCut, e.ResponseHeader = body, isCut || o.Size > len(o.Body), Headers(o.Header)
	if o.Err != nil {
		e.Err = text.Clean(o.Err.Error(), maxError)
	}
	if len(l.ring) > 0 && e.ID >= l.ring[0].ID {
		l.bytes += len(body)
		l.trim()
	}
	l.signal()
}

// trim drops the oldest until the bounds hold; l.mu is held.
func (l *Log) trim() {
	drop := 0
	for len(l.ring)-drop > 1 && (len(l.ring)-drop > MaxExchanges || l.bytes > MaxBytes) {
		l.bytes -= len(l.ring[drop].Request) + len(l.ring[drop].Response)
		drop++
	}
	if drop > 0 {
		l.ring = append([]*Exchange(nil), l.ring[drop:]...) // a new array, so that the dropped exchanges are freed
	}
}

func (l *Log) signal() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func cut(b []byte) ([]byte, bool) {
	if len(b) <= MaxBody {
		return b, false
	}
	return append([]byte(nil), b[:MaxBody]...), true
}

// Headers returns the headers to keep, by lower-case name: type, length, date and id of a message, and when to try
// again. It drops every other header, whatever its name.
func Headers(h http.Header) map[string]string {
	out := map[string]string{}
	for _, name := range []string{"accept", "content-type", "content-length", "date", "retry-after", "x-request-id"} {
		if v := h.Get(name); v != "" {
			out[name] = text.Clean(v, maxError)
		}
	}
	return out
}
