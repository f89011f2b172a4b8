package rpcpool

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"coffer/api/text"
)

// Pauses of the breaker. A hint of the endpoint is followed up to maxPause.
const (
	firstPause = 250 * time.Millisecond
	limitPause = time.Second
	growPause  = time.Minute
	longPause  = time.Minute // what a person has to repair
	maxPause   = 10 * time.Minute
)

// fault is why an endpoint gave no answer. It is no answer to the call: another endpoint may give one.
type fault struct {
	words string        // for a person, without credentials
	least time.Duration // the breaker pauses at least as long
	limit bool          // the endpoint limits requests
	soft  bool          // a matter of this call alone: the breaker stays closed
	rests bool          // it was not asked because its breaker is open
	sent  bool          // the request may have arrived
	cause error
}

// Error implements error.
func (f *fault) Error() string { return f.words }

// Unwrap returns the cause, for errors.Is.
func (f *fault) Unwrap() error { return f.cause }

// ErrTooLarge means that an answer exceeds the limit of the pool.
var ErrTooLarge = errors.New("the answer is too large: ask for less at once")

var errSilent = errors.New("no answer in time")

// network turns an error of net/http into a fault. The error's own text may repeat the address; only the parts that
// are known are used.
func (e *endpoint) network(err error, after time.Duration, sent bool) *fault {
	f := &fault{cause: plainCause(err), sent: sent, least: firstPause}
	var (
		dns     *net.DNSError
		refused x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		timeout interface{ Timeout() bool }
	)
	switch {
	case errors.Is(err, errSilent), errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &timeout) && timeout.Timeout():
		f.words = fmt.Sprintf("no answer within %v", after)
	case errors.As(err, &dns):
		f.words = "its name cannot be resolved: check the address and your network"
	case errors.Is(err, syscall.ECONNREFUSED):
		f.words = "it refuses the connection: is the node running?"
	case errors.As(err, &refused), errors.As(err, &name), errors.As(err, &invalid):
		f.words, f.least = "its certificate is not valid for this address", longPause
	case errors.As(err, &record):
		f.words, f.least = "it does not speak TLS: check the address", longPause
	default:
		f.words = "the connection broke: " + e.clean(unwrapURL(err).Error())
	}
	return f
}

// plainCause keeps what callers compare with, and nothing that holds an address.
func plainCause(err error) error {
	for _, known := range []error{context.Canceled, errOvertaken, errSilent, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return known
		}
	}
	return nil
}

func unwrapURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// status turns an HTTP status other than 2xx into a fault.
func (e *endpoint) status(r *http.Response, now time.Time) *fault {
	f := &fault{sent: true, least: firstPause, words: fmt.Sprintf("it fails (HTTP %d)", r.StatusCode)}
	switch code := r.StatusCode; {
	case code == http.StatusTooManyRequests:
		f.words, f.limit, f.least = "it limits requests (HTTP 429)", true, max(limitPause, retryAfter(r.Header, now))
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		f.words, f.least = fmt.Sprintf("it refuses access (HTTP %d): check this endpoint's key", code), longPause
	case code == http.StatusPaymentRequired:
		f.words, f.least = "its plan does not cover the request (HTTP 402)", longPause
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed, code == http.StatusGone:
		f.words, f.least = fmt.Sprintf("no node answers at this path (HTTP %d): check the address", code), longPause
	case code == http.StatusRequestEntityTooLarge:
		f.words, f.soft, f.cause = "it refuses the size of the request (HTTP 413)", true, ErrTooLarge
	case code >= 300 && code < 400:
		f.words = fmt.Sprintf("it redirects (HTTP %d), which is not followed: name the final address", code)
		f.least = longPause
	case code == http.StatusServiceUnavailable:
		f.least = max(f.least, retryAfter(r.Header, now))
	}
	return f
}

// retryAfter reads the header of that name, in seconds or as a date; 0 when there is none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	if n, err := strconv.ParseUint(v, 10, 32); err == nil {
		return min(time.Duration(n)*time.Second, maxPause)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	if served, err := http.ParseTime(h.Get("Date")); err == nil {
		now = served
	}
	return min(max(at.Sub(now), 0), maxPause)
}

// limited reports whether an error limits the rate of requests. The same codes refuse a range of logs or the size of a
// batch; those are answers to the request.
func (e *Error) limited() bool {
	if e.Reverted() {
		return false
	}
	m := strings.ToLower(e.Message)
	switch e.Code {
	case 429, -32007, -32012, -32097:
		return true
	case -32005, -32016:
		return !containsAny(m, "range", "results", "batch", "too large", "too wide", "response size") && !e.late()
	case -32000, -32001, -32029, -32090, -32603:
		return containsAny(m, "rate limit", "too many requests", "compute units per second", "request limit",
			"capacity exceeded")
	}
	return false
}

// late reports whether a node of Solana says that it is behind the others.
func (e *Error) late() bool {
	return containsAny(strings.ToLower(e.Message), "node is behind", "node is unhealthy", "minimum context slot")
}

// lacks reports whether the node does not have the block or state that it was asked about; another one may.
func (e *Error) lacks() bool {
	return !e.Reverted() && (e.late() || containsAny(strings.ToLower(e.Message), "header not found", "unknown block",
		"block not found", "missing trie node", "state not available", "state is not available", "historical state",
		"required historical", "header for hash not found", "hash not found", "pruned", "unfinalized data",
		"not canonical", "not currently canonical", "no state found", "world state unavailable", "resource not found"))
}

// absent reports whether the node has no such method.
func (e *Error) absent() bool {
	return e.Code == -32601 || e.Code == -32004 && strings.Contains(strings.ToLower(e.Message), "not supported")
}

// batch reports whether an error refuses a batch for its size or for being one.
func (e *Error) batch() bool {
	m := strings.ToLower(e.Message)
	return !e.Reverted() && (strings.Contains(m, "batch") || strings.Contains(m, "response too large"))
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// clean makes a foreign text fit to be shown: no control characters, and none of the endpoint's credentials, which a
// gateway may repeat.
func (e *endpoint) clean(s string) string {
	for _, secret := range e.secrets {
		s = strings.ReplaceAll(s, secret, "…")
	}
	return text.Clean(s, maxMessage)
}
