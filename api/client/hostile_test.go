package client

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"coffer/api"
	"coffer/api/secret"
)

func TestN5_NoRequestTravelsOverHTTP2(t *testing.T) {
	var second atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 {
			second.Add(1)
		}
		writeJSON(w, 200, `{}`)
	})
	c := dial(t, s)
	for range 2 {
		if _, err := c.PrepareCallQuote(t.Context(), []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Status(t.Context(), "0x1"); err != nil {
			t.Fatal(err)
		}
	}
	if second.Load() != 0 {
		t.Errorf("%d requests over HTTP/2, where net/http may send a POST again by itself", second.Load())
	}
}

// TestN6_AConnectionThatDiesIsNoReasonToSendAgain lets the service answer once and then cut every kept connection
// silently, the case in which net/http tries another connection.
func TestN6_AConnectionThatDiesIsNoReasonToSendAgain(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodPost && r.Header.Get("Content-Type") != "" &&
			strings.HasSuffix(r.URL.Path, "execute-quote") {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.(*tls.Conn).NetConn().(*net.TCPConn).SetLinger(0)
			conn.Close() // a reset, after the request was read
			return
		}
		writeJSON(w, 200, `{}`)
	})
	c := dial(t, s)
	for i := range 30 {
		if _, err := c.Status(t.Context(), "0x1"); err != nil {
			t.Fatal(err)
		}
		before := s.requests.Load()
		_, err := c.ExecuteQuote(t.Context(), []byte(`{"id":"0x1"}`))
		if e := kindOf(t, err); !e.Sent || s.requests.Load() != before+1 {
			t.Fatalf("run %d: %v, %d requests", i, e, s.requests.Load()-before)
		}
	}
}

// tunnel is a proxy that records what it can see, and connects or answers by itself.
type tunnel struct {
	mu   sync.Mutex
	seen bytes.Buffer
	self *tls.Config // when set, the proxy plays the service with this certificate
}

func (p *tunnel) serve(t *testing.T) *url.URL {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.note([]byte(r.Method + " " + r.Host + " " + r.URL.String() + "\n"))
		for name, v := range r.Header {
			p.note([]byte(name + ": " + strings.Join(v, ",") + "\n"))
		}
		if r.Method != http.MethodConnect {
			return
		}
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
			return
		}
		if p.self != nil {
			inner := tls.Server(earlyConn{conn, rw}, p.self)
			b, _ := io.ReadAll(bufio.NewReader(inner))
			p.note(b)
			return
		}
		up, err := net.Dial("tcp", r.Host)
		if err != nil {
			t.Error(err)
			return
		}
		defer up.Close()
		done := make(chan struct{})
		go func() { io.Copy(conn, up); conn.Close(); close(done) }()
		io.Copy(io.MultiWriter(up, p), rw) // the reader holds what the client sent early
		up.Close()
		<-done
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("me", "proxy-password")
	return u
}

// earlyConn is a hijacked connection whose first bytes the server had already read.
type earlyConn struct {
	net.Conn
	early io.Reader
}

func (c earlyConn) Read(b []byte) (int, error) { return c.early.Read(b) }

func (p *tunnel) note(b []byte) { _, _ = p.Write(b) }

func (p *tunnel) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.Write(b)
}

func (p *tunnel) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.String()
}

func TestN1_AProxySeesTheNameOfTheServiceAndNothingElse(t *testing.T) {
	s := serve(t, ok(`{"success":true,"error":null}`))
	p := &tunnel{}
	at := p.serve(t)
	c := dial(t, s, func(o *Options) { o.Proxy = http.ProxyURL(at) })
	if _, err := c.PrepareCallQuote(t.Context(), []byte(`{"secret":"body-of-the-call"}`)); err != nil {
		t.Fatal(err)
	}
	if r, err := c.ExecuteQuote(t.Context(), []byte(`{"secret":"body-of-the-call"}`)); err != nil || !r.Success {
		t.Fatal(err)
	}
	if s.keys.Load() != 2 {
		t.Fatalf("%d requests with the key arrived", s.keys.Load())
	}
	c.Close()
	seen := p.all()
	if strings.Count(seen, "CONNECT ") != 2 || strings.Contains(seen, key) ||
		strings.Contains(strings.ToLower(seen), "x-api-key") || strings.Contains(seen, "body-of-the-call") {
		t.Errorf("the proxy saw %q", seen)
	}
	if got := c.Proxy(); got != at.Host || strings.Contains(got, "proxy-password") {
		t.Errorf("the proxy is named %q", got)
	}
}

func TestN1_AProxyThatPlaysTheServiceGetsNoByteOfTheKey(t *testing.T) {
	s := serve(t, ok(`{}`))
	other := httptest.NewTLSServer(http.NotFoundHandler())
	defer other.Close()
	forged := other.TLS.Clone()
	forged.NextProtos = nil
	// No authority in the client's pool signed the certificate: the pool holds another one.
	p := &tunnel{self: forged}
	at := p.serve(t)
	c, err := New(Options{BaseURL: s.URL, APIKey: secret.New([]byte(key)), Sleep: (&sleeps{}).sleep,
		Proxy: http.ProxyURL(at)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.limiter = nil
	_, err = c.ExecuteQuote(t.Context(), []byte(`{"secret":"body-of-the-call"}`))
	if e := kindOf(t, err); e.Sent {
		t.Errorf("counted as sent: %v", e)
	}
	if seen := p.all(); strings.Contains(seen, key) || strings.Contains(seen, "body-of-the-call") {
		t.Errorf("the proxy saw %q", seen)
	}
}

func TestProxyIsNamedOnlyWhereThereIsOne(t *testing.T) {
	inside, err := New(Options{BaseURL: EmbeddedBaseURL, Transport: roundTrip(nil),
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy:1"})})
	if err != nil || inside.Proxy() != "" {
		t.Errorf("in process: %q, %v", inside.Proxy(), err)
	}
	direct, err := New(Options{BaseURL: "https://service.example",
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }})
	if err != nil || direct.Proxy() != "" {
		t.Errorf("direct: %q, %v", direct.Proxy(), err)
	}
}

func TestR1_WhatAServerPutsIntoAnErrorIsCleaned(t *testing.T) {
	for name, wire := range map[string]string{
		"status line": "HTTP/1.1 abc\x1b]0;owned\x07\u202e\r\n\r\n",
		"header line": "HTTP/1.1 200 OK\r\n\x1b]0;owned\x07 no colon\r\n\r\n",
		"long":        "HTTP/1.1 " + strings.Repeat("\x9b31m", 4000) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				io.WriteString(conn, wire)
			})
			_, err := dial(t, s).ExecuteQuote(t.Context(), []byte(`{}`))
			e := kindOf(t, err)
			if text := e.Error(); !e.Sent || strings.ContainsAny(text, "\x1b\x07\u202e\u009b") ||
				len([]rune(text)) > maxErrorText+60 {
				t.Errorf("%q", text)
			}
		})
	}
}

func TestN2_CookiesAreNeitherKeptNorSent(t *testing.T) {
	var cookies atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		cookies.Add(int64(len(r.Cookies())))
		http.SetCookie(w, &http.Cookie{Name: "track", Value: "me", Secure: true})
		writeJSON(w, 200, `{}`)
	})
	c := dial(t, s)
	for range 3 {
		if _, err := c.Status(t.Context(), "0x1"); err != nil {
			t.Fatal(err)
		}
	}
	if cookies.Load() != 0 {
		t.Errorf("%d cookies came back", cookies.Load())
	}
}

func TestL1_ABombIsNotUnpackedBeyondTheLimit(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	zeros := make([]byte, 1<<20)
	for range 32 { // 32 MiB in some dozen kB
		z.Write(zeros)
	}
	z.Close()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(packed.Bytes())
	})
	for status, call := range map[string]func(c *Client) error{
		"read":    func(c *Client) error { _, err := c.PrepareCallQuote(t.Context(), []byte(`{}`)); return err },
		"execute": func(c *Client) error { _, err := c.ExecuteQuote(t.Context(), []byte(`{}`)); return err },
	} {
		if e := kindOf(t, call(dial(t, s))); e.Kind != KindTooLarge || !e.Sent {
			t.Errorf("%s: %v", status, e)
		}
	}
}

// padded is a JSON object of n bytes with a member that no version of the interface knows.
func padded(n int) string {
	const head, tail = `{"padding":"`, `"}`
	return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
}

func TestK10_AnswersToPrepareAndQuoteAreBounded(t *testing.T) {
	size := maxQuoteBytes
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { writeJSON(w, 200, padded(size)) })
	c := dial(t, s)
	for i, post := range posts(c) {
		if err := post(t.Context()); err != nil {
			t.Errorf("post %d: %d bytes are refused: %v", i, size, err)
		}
	}
	size++
	for i, post := range posts(c) {
		if e := kindOf(t, post(t.Context())); e.Kind != KindTooLarge || !e.Sent ||
			!strings.Contains(e.Error(), "more than 256 KiB") {
			t.Errorf("post %d of %d bytes: %v", i, size, e)
		}
	}
}

// TestK10_ADocumentNearTheBoundStillTakesSignatures: the bound limits the answer, not the larger document that goes
// back with signatures.
func TestK10_ADocumentNearTheBoundStillTakesSignatures(t *testing.T) {
	c := dial(t, serve(t, ok(padded(maxQuoteBytes))))
	a, err := c.CallQuote(t.Context(), []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	more := `"` + strings.Repeat("y", maxQuoteBytes) + `"`
	if _, err := a.Splice(api.Edit{Pointer: "/padding", Value: []byte(more)}); err != nil {
		t.Errorf("%v", err)
	}
}

func TestK10_ListsKeepTheirOwnBound(t *testing.T) {
	c := dial(t, serve(t, ok(padded(4*maxQuoteBytes))))
	for name, read := range map[string]func() error{
		"balances": func() error { _, err := c.BalancesDocument(t.Context(), BalanceQuery{}); return err },
		"assets":   func() error { _, err := c.AssetsDocument(t.Context()); return err },
		"chains":   func() error { _, err := c.ChainsDocument(t.Context()); return err },
		"history":  func() error { _, err := c.HistoryDocument(t.Context(), HistoryQuery{}); return err },
	} {
		if err := read(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
