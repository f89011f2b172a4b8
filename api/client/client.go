// Package client speaks to the service over HTTPS, or in process through a RoundTripper.
//
// Promise (TH-N1 … N8, N11, X2): https only, and the client sends nothing before it has checked that; TLS 1.2 or
// newer; HTTP/1.1 only, because over HTTP/2 net/http sends a POST again when a server refuses its stream; no cookies;
// redirects are errors and are never followed; every request has one absolute deadline over connection, headers and
// body, at which its connection is closed whatever the server does; an answer 1xx is an error, except one `100
// Continue`; an answer is at most 4 MiB after decompression (256 KiB to a prepare or a quote, because the journal
// keeps those) and passes the lexical gate; only the transport adds the API key to a request, and the key never
// appears in an error. GET is tried up to three times with jitter and a budget; prepare and call-quote at most twice,
// and only when no byte of the first request left; execute exactly once, on its own connection. At most five requests
// a second leave this client.
//
// Proxies: the client honours HTTPS_PROXY and NO_PROXY, as companies need them, but not silently: Proxy names the one
// in use, so that a screen can show it. TLS ends at the service, never at the proxy: a proxy learns the service's name
// and the times of requests, not the key nor a body, and one that answers in the service's place has no certificate
// for it and gets no byte of the key.
//
// Errors: *api.Error when the service refused (its text is cleaned), *Error otherwise. Error.Sent false means that no
// byte of the request left this machine. Amounts and times are as in package api.
package client

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"coffer/api"
	"coffer/api/secret"
	"coffer/api/text"
)

// EmbeddedBaseURL is the base address for a service in process.
const EmbeddedBaseURL = "https://embedded.invalid/api"

// Options configure a Client. Transport, when set, reaches a service in process and replaces the network; the rate
// limit does not apply then. Proxy chooses the proxy of a request and defaults to http.ProxyFromEnvironment. Clock,
// Sleep and Rand (0 ≤ x < 1) default to the real ones. Wrap, when set, goes around the transport that adds the API
// key, so that it sees every exchange and never the key; New calls it once for each transport of the client and must
// neither change nor repeat a request.
type Options struct {
	BaseURL   string
	APIKey    secret.Secret
	RootCAs   *x509.CertPool
	Transport http.RoundTripper
	Wrap      func(http.RoundTripper) http.RoundTripper
	Proxy     func(*http.Request) (*url.URL, error)
	Clock     func() time.Time
	Sleep     func(ctx context.Context, d time.Duration) error
	Rand      func() float64
	Log       *slog.Logger
}

// Client is safe for concurrent use. Close it when it is no longer needed.
type Client struct {
	o       Options
	base    *url.URL
	normal  *http.Client
	once    *http.Client // execute: no kept connections, no HTTP/2, so that no layer below can send a request again
	inside  bool
	limiter *rate.Limiter
	retries *bucket
	skew    atomic.Int64
	window  atomic.Pointer[Window]
	closers []func()
}

// Kind is the kind of a failure that is not an answer of the service.
type Kind string

// The kinds of failures.
const (
	KindNetwork   Kind = "network"   // no connection, or it broke
	KindTimeout   Kind = "timeout"   // a deadline passed
	KindCancelled Kind = "cancelled" // the caller cancelled
	KindTooLarge  Kind = "too large" // more than the call allows
	KindBadAnswer Kind = "bad answer"
	KindRedirect  Kind = "redirect"
	KindRequest   Kind = "request" // the request could not be built
)

// Error is a failure to get an answer. Sent false means that no byte of the request left; with Sent true the service
// may have acted on it.
type Error struct {
	Op   string
	Kind Kind
	Sent bool
	Err  error
}

// maxErrorText bounds the text of an error, in characters.
const maxErrorText = 500

// Error names what failed; it never contains the key. The cause may repeat what a server or a proxy sent (a status
// line, a header, a name in a certificate), so its text is cleaned and cut (TH-R1).
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.Op, e.Kind, text.Clean(fmt.Sprint(e.Err), maxErrorText))
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Answer is a document and how it arrived. Skew is the service's clock minus the local one, 0 when the answer carried
// no date.
type Answer struct {
	*api.Document
	Received   time.Time
	ServerDate time.Time
	Skew       time.Duration
}

var errNoSuccess = errors.New("the answer does not say whether the quote was accepted")

// ErrBaseURL means that the base address is not acceptable.
var ErrBaseURL = errors.New("the service's address must be https, without user, query or fragment")

// New makes a client. It sends nothing.
func New(o Options) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(o.BaseURL, "/"))
	if err != nil || base.Scheme != "https" || base.Host == "" || base.User != nil || base.RawQuery != "" ||
		base.ForceQuery || base.Fragment != "" {
		return nil, ErrBaseURL
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = Sleep
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	if o.Proxy == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Client{o: o, base: base, inside: o.Transport != nil, retries: &bucket{tokens: bucketSize}}
	if !c.inside {
		c.limiter = rate.NewLimiter(perSecond, perSecond)
	}
	c.build()
	return c, nil
}

// Proxy is the host of the proxy through which requests leave, "" when they go directly to the service or stay in
// process. It never contains a password.
func (c *Client) Proxy() string {
	if c.inside {
		return ""
	}
	u, err := c.o.Proxy(&http.Request{URL: c.base})
	if err != nil || u == nil {
		return ""
	}
	return u.Host
}

// Close releases idle connections.
func (c *Client) Close() {
	for _, f := range c.closers {
		f()
	}
}

// Skew is the service's clock minus the local one as of the last answer.
func (c *Client) Skew() time.Duration { return time.Duration(c.skew.Load()) }

// perSecond is how many requests a second leave for a network.
const perSecond = 5

// Window is what this client may still ask for. PerSecond is its own limit, 0 without one. Limit is the number of
// requests that the service allows the key in its present window, of which Remaining are left until Reset; 0 while the
// service states no window.
type Window struct {
	PerSecond        int
	Limit, Remaining int
	Reset            time.Time
}

// Window is the window as of the last answer.
func (c *Client) Window() Window {
	var w Window
	if known := c.window.Load(); known != nil {
		w = *known
	}
	if !c.inside {
		w.PerSecond = perSecond
	}
	return w
}

// noteWindow reads the window that an answer states (docs/interface.md#errors); an incomplete one is ignored.
func (c *Client) noteWindow(h http.Header) {
	figure := func(name string) (int, bool) {
		n, err := strconv.ParseInt(h.Get("x-ratelimit-"+name), 10, 64)
		return int(n), err == nil && n >= 0 && n < 1<<40
	}
	limit, ok := figure("limit")
	left, okLeft := figure("remaining")
	reset, okReset := figure("reset")
	if ok && okLeft && okReset {
		c.window.Store(&Window{Limit: limit, Remaining: left, Reset: time.Unix(int64(reset), 0)})
	}
}

// Sleep waits, or returns the context's error.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
