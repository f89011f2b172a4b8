package service_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"coffer/api/service"
	"coffer/api/service/store/storetest"
)

// crowd opens idle connections of clients without a key, from one loopback address or from several.
type crowd struct {
	t      *testing.T
	at     string
	plain  *tls.Config
	health string
	conns  []net.Conn
}

// opens makes n more connections from the address that from names for each. Every second one asks for its health and
// keeps the connection; the others say nothing.
func (c *crowd) opens(n int, from func(i int) string) {
	c.t.Helper()
	for i := range n {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from(i))}, Timeout: 10 * time.Second}
		raw, err := d.DialContext(c.t.Context(), "tcp", c.at)
		if err != nil {
			c.t.Fatal(err)
		}
		c.conns = append(c.conns, raw)
		if i%2 == 0 {
			continue
		}
		secure := tls.Client(raw, c.plain)
		if _, err := io.WriteString(secure, c.health); err != nil {
			c.t.Fatalf("connection %d: %v", i, err)
		}
		if _, err := secure.Read(make([]byte, 16)); err != nil {
			c.t.Fatalf("connection %d: %v", i, err)
		}
	}
}

// TestK12_IdleConnectionsWithoutAKeyKeepNoKeyOut fills the port with more than all the connections that it takes, and
// asks with a good key before, meanwhile and after: over the connection that was there first, and over new ones.
func TestK12_IdleConnectionsWithoutAKeyKeepNoKeyOut(t *testing.T) {
	const most = 128
	for name, from := range map[string]func(int) string{
		"one address":       func(int) string { return "127.0.0.1" },
		"several addresses": func(i int) string { return fmt.Sprintf("127.0.0.%d", 2+i%200) },
	} {
		for _, second := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, HTTP/2 %v", name, second), func(t *testing.T) {
				o := options(storetest.New(t))
				o.Clock = time.Now
				s := open(t, o)
				ctx, cancel := context.WithCancel(context.Background())
				r, err := s.Serve(ctx, service.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir(), Connections: most})
				if err != nil {
					t.Fatal(err)
				}
				way := func() *http.Transport {
					w := trusting(t, r.CAFile)
					w.ForceAttemptHTTP2 = second
					return w
				}
				kept := way()
				pool := kept.TLSClientConfig.RootCAs
				c := crowd{t: t, at: r.Addr.String(), health: "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
					plain: &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}}
				defer func() {
					for _, one := range c.conns {
						_ = one.Close()
					}
					cancel()
					if err := r.Wait(); err != nil {
						t.Error(err)
					}
				}()
				if reused := asksWithAKey(t, kept, r.BaseURL); reused {
					t.Error("the first request found a connection")
				}
				for range 3 {
					c.opens(most, from)
					if reused := asksWithAKey(t, kept, r.BaseURL); !reused {
						t.Error("the connection that had carried the key made room for one without")
					}
					asksWithAKey(t, way(), r.BaseURL)
				}
			})
		}
	}
}

// asksWithAKey makes a request with the good key, and says whether it went over a connection that was there.
func asksWithAKey(t *testing.T, way *http.Transport, base string) (reused bool) {
	t.Helper()
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }})
	req := request(t, ctx, http.MethodGet, base+"/chains/supported-list", "")
	req.Header.Set("x-api-key", key)
	res, err := way.RoundTrip(req)
	if err != nil {
		t.Fatalf("the good key is kept out: %v", err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil || res.Body.Close() != nil || res.StatusCode != http.StatusOK ||
		!strings.HasPrefix(string(body), "[") {
		t.Fatalf("%d %v %s", res.StatusCode, err, body)
	}
	return reused
}
