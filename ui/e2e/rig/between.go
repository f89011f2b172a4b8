//go:build unix

package rig

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
)

// Between stands between a wallet and a real service: it passes requests on and answers back, notes what it saw, and
// may change an answer or cut the connection. To the wallet it is the service.
type Between struct {
	Server  *httptest.Server
	At      Serving
	Client  *http.Client
	Service *exec.Cmd
	// Recast is what is passed on instead of the request's body. It is written in With.
	Recast func(r Request) []byte
	// Hijack is what is said in place of an answer, below the rules of HTTP; then nothing, and the connection stays
	// open. It is written in With.
	Hijack func(r Request) string

	mu     sync.Mutex
	seen   []Request
	heard  map[string]string // the last answer of the service to each path
	change func(r Request, status int, answer []byte) (int, []byte)
	cut    func(r Request) bool   // the request is passed on, the connection ends before the answer
	refuse func(r Request) bool   // the connection ends before the request is passed on
	lie    func(r Request) []byte // what is answered without the service's hearing of it; nil passes the request on
	held   []func() (int, error)  // requests that were answered so, to be passed on after all
}

// Request is a request of the wallet, its path without the base path.
type Request struct {
	Path  string
	Body  []byte
	query url.Values
}

func newBetween(t *testing.T, at Serving, roots *x509.CertPool) *Between {
	t.Helper()
	trust := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: trust}}
	b := &Between{At: at, Client: client, heard: map[string]string{}}
	b.Server = httptest.NewTLSServer(http.HandlerFunc(b.serve))
	t.Cleanup(b.Server.Close)
	return b
}

func (b *Between) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	q := Request{Path: strings.TrimPrefix(r.URL.Path, "/api"), Body: body, query: r.URL.Query()}
	refused := false
	var lie []byte
	b.With(func() {
		b.seen = append(b.seen, q)
		refused = b.refuse != nil && b.refuse(q)
		if b.lie == nil {
			return
		}
		if lie = b.lie(q); lie != nil && Executes(q) {
			later := r.Clone(context.Background())
			b.held = append(b.held, func() (int, error) {
				status, _, _, err := b.forward(later, body)
				return status, err
			})
		}
	})
	if lie != nil {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(lie)
		return
	}
	if refused {
		panic(http.ErrAbortHandler)
	}
	if b.lies(w, q) {
		return
	}
	b.With(func() {
		if b.Recast != nil {
			body = b.Recast(q)
		}
	})
	status, header, answer, err := b.forward(r, body)
	lost := err != nil
	b.With(func() {
		b.heard[q.Path] = string(answer)
		if lost = lost || b.cut != nil && b.cut(q); !lost && b.change != nil {
			status, answer = b.change(q, status, answer)
		}
	})
	if lost {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", header.Get("Content-Type"))
	w.WriteHeader(status)
	_, _ = w.Write(answer)
}

// lies takes the connection over when the test has something to say in place of an answer, and holds it until the
// wallet lets go.
func (b *Between) lies(w http.ResponseWriter, q Request) bool {
	lie := ""
	b.With(func() {
		if b.Hijack != nil {
			lie = b.Hijack(q)
		}
	})
	if lie == "" {
		return false
	}
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, lie); err == nil {
		_, _ = io.Copy(io.Discard, c)
	}
	return true
}

// With runs f while no other request is looked at. What change, cut and refuse share with a test is read and written in
// it.
func (b *Between) With(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

func (b *Between) forward(r *http.Request, body []byte) (int, http.Header, []byte, error) {
	base, err := url.Parse(b.At.BaseURL)
	if err != nil {
		return 0, nil, nil, err
	}
	to := base.Scheme + "://" + base.Host + r.URL.RequestURI()
	out, err := http.NewRequestWithContext(r.Context(), r.Method, to, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	for _, name := range []string{"Content-Type", "Accept", "X-Api-Key"} {
		out.Header.Set(name, r.Header.Get(name))
	}
	answer, err := b.Client.Do(out)
	if err != nil {
		return 0, nil, nil, err
	}
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header, text, errors.Join(err, answer.Body.Close())
}

// Behaves sets what happens to the next answers; nil: nothing.
func (b *Between) Behaves(change func(Request, int, []byte) (int, []byte)) {
	b.With(func() { b.change = change })
}

// Cuts sets which requests get no answer: those that the service hears of, and those that it does not.
func (b *Between) Cuts(cut, refuse func(Request) bool) {
	b.With(func() { b.cut, b.refuse = cut, refuse })
}

// Holds holds back what is executed from now on and says that it was accepted, and then that it ended so.
func (b *Between) Holds(status string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := map[string]bool{}
	b.lie = func(r Request) []byte {
		switch id := r.query.Get("quoteId"); {
		case Executes(r):
			var q struct {
				ID string `json:"id"`
			}
			if json.Unmarshal(r.Body, &q, json.RejectUnknownMembers(false)) == nil {
				held[q.ID] = true
			}
			return []byte(`{"success":true}`)
		case r.Path == PathStatus && held[id]:
			return fmt.Appendf(nil, `{"quoteId":%q,"status":%q}`, id, status)
		}
		return nil
	}
}

// Honest ends the lies; what was held stays held until it is released.
func (b *Between) Honest() {
	b.With(func() { b.lie = nil })
}

// Releases passes on what was held, and says with which status it was answered last.
func (b *Between) Releases(t *testing.T) int {
	t.Helper()
	var held []func() (int, error)
	b.With(func() { held, b.held = b.held, nil })
	last := 0
	for _, pass := range held {
		status, err := pass()
		must(t, err)
		last = status
	}
	return last
}

// Saw returns the requests so far to a path.
func (b *Between) Saw(path string) (out []Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.seen {
		if r.Path == path {
			out = append(out, r)
		}
	}
	return out
}

// Heard returns the last answer of the service to a path, as it was before any change.
func (b *Between) Heard(path string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.heard[path]
}

// Executes says whether a request executes a quote.
func Executes(r Request) bool { return strings.HasSuffix(r.Path, "/execute-quote") }

// Paths of the interface, below its base.
const (
	PathPrepare   = "/v3/quote/prepare-call-quote"
	PathCallQuote = "/v3/quote/call-quote"
	PathQuote     = "/v3/quote"
	PathExecute   = "/v3/quote/execute-quote"
	PathBalances  = "/v3/balances/aggregated-balance"
	PathStatus    = "/v3/status/get-execution-status"
)
