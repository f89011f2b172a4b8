package client

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/api/secret"
)

// patience is how long a test waits before it reports that a call hangs.
const patience = 30 * time.Second

// liar is a TLS server that sends arbitrary bytes on each connection, below the rules of HTTP.
type liar struct {
	net.Listener
	roots  *x509.CertPool
	mu     sync.Mutex
	open   []net.Conn
	served sync.WaitGroup
	spoke  chan struct{} // one for each connection that is about to lie
}

// lie serves each connection with says, after the handshake; plain serves without TLS.
func lie(t *testing.T, plain bool, says func(c net.Conn)) *liar {
	t.Helper()
	cert := httptest.NewTLSServer(http.NotFoundHandler())
	defer cert.Close()
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &liar{Listener: in, roots: pool(cert), spoke: make(chan struct{}, 64)}
	l.served.Go(func() {
		for {
			c, err := in.Accept()
			if err != nil {
				return
			}
			l.mu.Lock()
			l.open = append(l.open, c)
			l.mu.Unlock()
			l.served.Go(func() {
				defer c.Close()
				if plain {
					l.spoke <- struct{}{}
					says(c)
					return
				}
				s := tls.Server(c, &tls.Config{Certificates: cert.TLS.Certificates, MinVersion: tls.VersionTLS12})
				if s.Handshake() != nil {
					return
				}
				l.spoke <- struct{}{}
				says(s)
			})
		}
	})
	t.Cleanup(func() {
		in.Close()
		l.mu.Lock()
		for _, c := range l.open {
			c.Close()
		}
		l.mu.Unlock()
		l.served.Wait()
	})
	return l
}

func (l *liar) client(t *testing.T, change ...func(o *Options)) *Client {
	t.Helper()
	o := Options{BaseURL: "https://" + l.Addr().String() + "/api", APIKey: secret.New([]byte(key)), RootCAs: l.roots,
		Sleep: (&sleeps{}).sleep}
	for _, f := range change {
		f(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.limiter = nil
	t.Cleanup(c.Close)
	return c
}

// once sends text when the request begins to arrive, then nothing.
func once(text string) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
			return
		}
		if _, err := io.WriteString(c, text); err == nil {
			_, _ = io.Copy(io.Discard, c)
		}
	}
}

// forever sends first once, then part again and again without a pause, or with one.
func forever(first, part string, pause time.Duration) func(net.Conn) {
	return func(c net.Conn) {
		once := bufio.NewReader(c)
		if _, err := once.ReadString('\n'); err != nil {
			return
		}
		_, err := io.WriteString(c, first)
		for err == nil {
			_, err = io.WriteString(c, part)
			time.Sleep(pause)
		}
	}
}

const (
	jsonHead  = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	switching = "HTTP/1.1 101 Switching Protocols\r\n"
	upgrade   = switching + "Connection: Upgrade\r\nUpgrade: x\r\n\r\n"
	drip      = 5 * time.Millisecond
)

// neverReads leaves arriving bytes unread until the test closes the connection.
func neverReads(c net.Conn) {
	for c.SetDeadline(time.Time{}) == nil {
		time.Sleep(drip)
	}
}

// nothingPacked is a gzip stream without content or end: its head, and a part that unpacks to no byte.
func nothingPacked(t *testing.T) (head, part string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := z.Flush(); err != nil {
		t.Fatal(err)
	}
	head = b.String()
	b.Reset()
	for range 200 {
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	return head, b.String()
}

type endless struct {
	says  func(net.Conn)
	kind  Kind
	plain bool
	words string
}

func endlessAnswers(t *testing.T) map[string]endless {
	head, part := nothingPacked(t)
	packed := jsonHead + "Content-Encoding: gzip\r\n\r\n"
	return map[string]endless{
		"101 and silence":               {says: once(switching + "\r\n"), kind: KindBadAnswer, words: "answered 101"},
		"101 that upgrades and silence": {says: once(upgrade), kind: KindBadAnswer, words: "answered 101"},
		"101 and bytes without end":     {says: forever(upgrade, "{}", 0), kind: KindBadAnswer, words: "answered 101"},
		"102 and silence": {says: once("HTTP/1.1 102 Processing\r\n\r\n"), kind: KindBadAnswer,
			words: "answered 102"},
		"103 without end": {says: forever("", "HTTP/1.1 103 Early Hints\r\n\r\n", drip),
			kind: KindBadAnswer, words: "answered 103"},
		"199 before an answer": {says: once("HTTP/1.1 199 X\r\n\r\n" + jsonHead +
			"Content-Length: 2\r\n\r\n{}"), kind: KindBadAnswer, words: "answered 199"},
		"100 without end": {says: forever("", "HTTP/1.1 100 Continue\r\n\r\n", drip), kind: KindBadAnswer,
			words: "answered 100"},
		"100 and silence": {says: once("HTTP/1.1 100 Continue\r\n\r\n"), kind: KindTimeout,
			words: "no whole answer within"},
		"silence": {says: once(""), kind: KindTimeout, words: "no whole answer within"},
		"headers without end": {says: forever(jsonHead, "X-More: "+strings.Repeat("x", 1000)+"\r\n", 0),
			kind: KindNetwork},
		"one header without end": {says: forever(jsonHead+"X-More: ", strings.Repeat("x", 1000), 0),
			kind: KindNetwork},
		"headers by drips": {says: forever(jsonHead+"X-More: ", "x", drip), kind: KindTimeout},
		"a body by drips":  {says: forever(jsonHead+"\r\n{\"a\":\"", "x", drip), kind: KindTimeout},
		"a body without end": {says: forever(jsonHead+"\r\n{\"a\":\"", strings.Repeat("x", 64<<10), 0),
			kind: KindTooLarge},
		"half a body": {says: once(jsonHead + "Content-Length: 9\r\n\r\n{\"a\":"), kind: KindTimeout},
		"chunks by drips": {says: forever(jsonHead+"Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n",
			drip), kind: KindTimeout},
		"trailers by drips": {says: forever(jsonHead+"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n",
			"X-More: x\r\n", drip), kind: KindTimeout},
		"nothing, packed, without end": {says: forever(packed+head, part, 0), kind: KindTimeout},
		"a redirect without end": {says: forever("HTTP/1.1 307 Go\r\nLocation: /api/x\r\n\r\n", " ", drip),
			kind: KindTimeout},
		"an error by drips": {says: forever("HTTP/1.1 400 No\r\n\r\n", " ", drip), kind: KindTimeout},
		"HTTP/2 and goodbye": {says: once("\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x08\x07" +
			strings.Repeat("\x00", 12)), kind: KindTimeout},
		"a server that never reads": {says: neverReads, kind: KindTimeout},
		"a handshake that never begins": {says: func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, kind: KindTimeout,
			plain: true},
		"a handshake by drips": {says: forever("\x16\x03\x03\x40\x00", "\x02", drip), kind: KindTimeout, plain: true},
	}
}

// TestK6_EveryRequestHasAnEndWhateverTheServerSays lets the server break the rules of HTTP, for a read, for a body
// that does not fit into the buffers of the connection, and for the connection that executes.
func TestK6_EveryRequestHasAnEndWhateverTheServerSays(t *testing.T) {
	for name, e := range endlessAnswers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lie(t, e.plain, e.says)
			c := l.client(t)
			for _, k := range []call{
				{op: "read status", method: http.MethodGet, path: "/v3/status"},
				{op: "prepare", method: http.MethodPost, path: "/v3/prepare", body: make([]byte, 8<<20)},
				{op: "execute", method: http.MethodPost, path: "/v3/execute", body: []byte("{}"), once: true},
			} {
				k.timeout = time.Second // and an answer that ends the request by itself has all the time that it needs
				if e.kind != KindTimeout && len(k.body) < 1<<20 {
					k.timeout = patience
				}
				err := within(t, func() error { _, err := c.attempt(t.Context(), k); return err })
				got := kindOf(t, err)
				// the body was still on its way
				late := k.method == http.MethodPost && got.Kind == KindTimeout && k.body[0] == 0
				if got.Kind != e.kind && !late || got.Sent == e.plain {
					t.Errorf("%s: %v, sent %v; want %s", k.op, got, got.Sent, e.kind)
				}
				if !late && !strings.Contains(got.Error(), e.words) {
					t.Errorf("%s: %v", k.op, got)
				}
			}
		})
	}
}

// TestK6_WhoGivesUpIsFreeAtOnce cancels, with all the time of the request left, while the server sends or is silent.
func TestK6_WhoGivesUpIsFreeAtOnce(t *testing.T) {
	gone := errors.New("the person left")
	for name, e := range endlessAnswers(t) {
		if e.kind != KindTimeout {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lie(t, e.plain, e.says)
			c := l.client(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				<-l.spoke
				cancel(gone)
			}()
			err := within(t, func() error {
				_, err := c.attempt(ctx, call{op: "execute", method: http.MethodPost, path: "/v3/execute",
					body: make([]byte, 8<<20), timeout: time.Hour, once: true})
				return err
			})
			if got := kindOf(t, err); got.Kind != KindCancelled || !errors.Is(got, gone) {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestK6_TheBodyOfASwitchedConnectionEndsWithTheRequest: net/http hands out the bare connection, whose reads do not
// follow the request's end.
func TestK6_TheBodyOfASwitchedConnectionEndsWithTheRequest(t *testing.T) {
	l := lie(t, false, once(upgrade))
	c := l.client(t)
	var e exchange
	ctx, end := e.within(t.Context(), 300*time.Millisecond, false)
	defer end()
	req, err := c.request(ctx, call{method: http.MethodGet, path: "/v3/status"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.normal.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	err = within(t, func() error { _, err := io.ReadAll(res.Body); return err })
	if got := kindOf(t, failure(ctx, "read", true, err)); got.Kind != KindTimeout {
		t.Errorf("%v", got)
	}
}

func TestK6_AContinueThatWasNotAskedForIsPassedOver(t *testing.T) {
	l := lie(t, false, once("HTTP/1.1 100 Continue\r\n\r\n"+jsonHead+"Content-Length: 16\r\n\r\n{\"success\":true}"))
	c := l.client(t)
	for range 2 {
		if r, err := c.ExecuteQuote(t.Context(), []byte(`{}`)); err != nil || !r.Success {
			t.Errorf("%v, %v", r, err)
		}
	}
}

// TestK6_AConnectionThatServedWellIsKept: the end of a request closes only what hangs.
func TestK6_AConnectionThatServedWellIsKept(t *testing.T) {
	s := serve(t, ok(`{}`))
	c := dial(t, s)
	for range 20 {
		if _, err := c.Status(t.Context(), "0x1"); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.conns.Load(); n != 1 {
		t.Errorf("%d connections for 20 requests one after the other", n)
	}
}

// TestK6_AProxyThatSaysNothingHoldsNoRequest covers the path through a proxy, up to the service behind it.
func TestK6_AProxyThatSaysNothingHoldsNoRequest(t *testing.T) {
	for name, says := range map[string]func(net.Conn){
		"silence": once(""), "101": once(upgrade), "100 without end": forever("", "HTTP/1.1 100 Continue\r\n\r\n",
			drip),
		"connected, then silence": once("HTTP/1.1 200 OK\r\n\r\n"),
		"a redirect":              once("HTTP/1.1 302 X\r\nLocation: https://x.invalid/\r\n\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lie(t, true, says)
			at := &url.URL{Scheme: "http", Host: l.Addr().String()}
			c := l.client(t, func(o *Options) { o.BaseURL, o.Proxy = "https://service.invalid/api", http.ProxyURL(at) })
			err := within(t, func() error {
				_, err := c.attempt(t.Context(), call{op: "read status", method: http.MethodGet, path: "/v3/status",
					timeout: 300 * time.Millisecond})
				return err
			})
			if got := kindOf(t, err); got.Sent {
				t.Errorf("counted as sent: %v", got)
			}
		})
	}
}

// within returns what f returns, and fails when f does not end.
func within(t *testing.T, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		t.Fatal("the call hangs")
		return nil
	}
}
