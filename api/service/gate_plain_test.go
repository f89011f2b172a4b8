package service_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/service"
	"coffer/api/service/store/storetest"
)

// journal is a log that may be read while it is written.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

// served is a service that listens, with its log as lines of JSON.
type served struct {
	*service.Running
	service *service.Service
	over    *http.Transport
	log     *journal
}

// listen starts a service on a free port; change may alter its options.
func listen(t testing.TB, timeouts service.Timeouts, change func(*service.Options)) served {
	t.Helper()
	o := options(storetest.New(t))
	log := new(journal)
	o.Clock, o.Log = time.Now, slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if change != nil {
		change(&o)
	}
	s := open(t, o)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := s.Serve(ctx, service.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir(), Timeouts: timeouts})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := r.Wait(); err != nil {
			t.Error(err)
		}
	})
	return served{r, s, trusting(t, r.CAFile), log}
}

// dial opens a TCP connection to the port, bounded in time.
func dial(t testing.TB, s served) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

// The port speaks TLS. Whatever begins with another byte than a handshake gets one 401 in the documented form over
// HTTP/1.1, and no more.
func TestPlainHTTPOnTheTLSPortGetsOne401(t *testing.T) {
	s := listen(t, service.Timeouts{Header: 300 * time.Millisecond}, nil)
	const secret = "a-key-that-was-sent-in-the-clear"
	ids := map[string]bool{}
	for name, c := range map[string]struct{ sent, path string }{
		"get": {"GET /api/assets/list?x=1 HTTP/1.1\r\nHost: x\r\nx-api-key: " + secret + "\r\n\r\n",
			"/api/assets/list"},
		"two": {"GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n", "/a"},
		"post": {"POST /api/v3/quote/call-quote HTTP/1.1\r\nHost: x\r\nx-api-key: " + key +
			"\r\nContent-Length: 5\r\n\r\n{...}", "/api/v3/quote/call-quote"},
		"http/1.0":  {"GET /old HTTP/1.0\r\n\r\n", "/old"},
		"http/2":    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "*"},
		"escapes":   {"GET /%1b[2J HTTP/1.1\r\nHost: x\r\n\r\n", "/\ufffd[2J"},
		"no http":   {"SSH-2.0-OpenSSH_9.9\r\n\r\n", "/"},
		"bytes":     {"\x00\x01\x02\r\n\r\n", "/"},
		"too large": {"GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 200<<10) + "\r\n\r\n", "/"},
		"half":      {"GET /api HT", "/"}, // answered at the time-out
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, s)
			if _, err := io.WriteString(conn, c.sent); err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(conn)
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			var e map[string]any
			if err := json.Unmarshal(body, &e); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			at, bad := time.Parse(time.RFC3339, e["timestamp"].(string))
			if res.StatusCode != 401 || res.Proto != "HTTP/1.1" || !res.Close ||
				res.Header.Get("Content-Type") != "application/json" ||
				e["error"] != api.ErrUnauthorized || e["statusCode"] != 401.0 || e["message"] == "" ||
				e["path"] != c.path || bad != nil || time.Since(at).Abs() > time.Minute {
				t.Errorf("%s %d %v %s", res.Proto, res.StatusCode, res.Header, body)
			}
			if rest, _ := io.ReadAll(in); len(rest) > 0 {
				t.Errorf("after the answer came %q", rest)
			}
			id := res.Header.Get("X-Request-Id")
			if id == "" || ids[id] {
				t.Errorf("X-Request-Id %q", id)
			}
			ids[id] = true
		})
	}
	if log := s.log.String(); strings.Contains(log, secret) || strings.Contains(log, key) {
		t.Errorf("a key is in the log:\n%s", log)
	}
}

func TestPlainHEADGetsNoBody(t *testing.T) {
	s := listen(t, service.Timeouts{}, nil)
	c := dial(t, s)
	if _, err := io.WriteString(c, "HEAD /api HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(c)
	head, body, _ := strings.Cut(string(raw), "\r\n\r\n")
	if err != nil || !strings.HasPrefix(head, "HTTP/1.1 401 ") || body != "" {
		t.Errorf("%v %q", err, raw)
	}
}

// Accept hands every connection on at once: silent ones, and ones that send plain HTTP byte by byte, keep nobody out.
func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
	s := listen(t, service.Timeouts{}, nil)
	for i := range 200 {
		c := dial(t, s)
		if i%2 == 0 {
			if _, err := io.WriteString(c, "GET / HTT"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if status, body := get(t, s.over, s.BaseURL+"/chains/supported-list", key); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

// drip sends a byte now and then until the other side has had enough, and returns how long that took.
func drip(t *testing.T, c io.ReadWriter, what string) time.Duration {
	t.Helper()
	began := time.Now()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, c)
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(15 * time.Second)
	for i := 0; ; i++ {
		select {
		case <-gone:
			return time.Since(began)
		case <-limit:
			t.Fatal("the connection lives on")
		case <-tick.C:
			_, _ = io.WriteString(c, what[i%len(what):i%len(what)+1])
		}
	}
}

// A connection that sends its header, or its handshake, a byte at a time is cut at the header time-out, however busy it
// looks.
func TestASlowHeaderIsCutAtTheHeaderTimeout(t *testing.T) {
	const header = 400 * time.Millisecond
	s := listen(t, service.Timeouts{Header: header}, nil)
	secure := s.over.TLSClientConfig.Clone()
	secure.ServerName, secure.NextProtos = "127.0.0.1", []string{"http/1.1"}
	for name, begin := range map[string]func() (io.ReadWriter, string){
		"header over tls": func() (io.ReadWriter, string) {
			c := tls.Client(dial(t, s), secure)
			if _, err := io.WriteString(c, "GET /api/assets/list HTTP/1.1\r\nHost: x\r\n"); err != nil {
				t.Fatal(err)
			}
			return c, "X-Slow: a\r\n"
		},
		"handshake": func() (io.ReadWriter, string) {
			c := dial(t, s)
			_, _ = c.Write([]byte{0x16, 3, 1, 2, 0})
			return c, "\x01"
		},
		"plain header": func() (io.ReadWriter, string) {
			c := dial(t, s)
			_, _ = io.WriteString(c, "GET / HTTP/1.1\r\n")
			return c, "X-Slow: a\r\n"
		},
		"nothing at all": func() (io.ReadWriter, string) {
			return struct {
				io.Reader
				io.Writer
			}{dial(t, s), io.Discard}, "x"
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, what := begin()
			if took := drip(t, c, what); took < header/2 || took > header+5*time.Second {
				t.Errorf("it was cut after %s", took)
			}
		})
	}
	if status, _ := get(t, s.over, s.BaseURL+"/chains/supported-list", key); status != 200 {
		t.Errorf("afterwards: %d", status)
	}
}

// A body that comes a byte at a time is cut at the read time-out.
func TestASlowBodyIsCutAtTheReadTimeout(t *testing.T) {
	s := listen(t, service.Timeouts{Header: 300 * time.Millisecond, Read: 600 * time.Millisecond}, nil)
	secure := s.over.TLSClientConfig.Clone()
	secure.ServerName, secure.NextProtos = "127.0.0.1", []string{"http/1.1"}
	c := tls.Client(dial(t, s), secure)
	if _, err := io.WriteString(c, "POST /api/v3/quote/call-quote HTTP/1.1\r\nHost: x\r\nx-api-key: "+key+
		"\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	if took := drip(t, c, " "); took > 6*time.Second {
		t.Errorf("it was cut after %s", took)
	}
}

// The answer to plain HTTP has an id as every other one has: of the same kind, never that of another answer, and it
// leads to a line of the log.
func TestPlainHTTPIsAnsweredWithARequestID(t *testing.T) {
	s := listen(t, service.Timeouts{}, nil)
	seen := map[string]bool{}
	other := func() string {
		t.Helper()
		r := request(t, context.Background(), http.MethodGet, s.BaseURL+"/chains/supported-list", "")
		res, err := s.over.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.Header.Get("X-Request-Id")
	}
	for range 3 {
		conn := dial(t, s)
		if _, err := io.WriteString(conn, "GET /api/assets/list HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		conn.Close()
		plain, secure := res.Header.Get("X-Request-Id"), other()
		if a, b, ok := strings.Cut(plain, "-"); !ok || b == "" || !strings.HasPrefix(secure, a+"-") {
			t.Errorf("X-Request-Id %q over plain HTTP, %q over TLS", plain, secure)
		}
		if seen[plain] || seen[secure] || plain == secure {
			t.Errorf("%q or %q names two answers", plain, secure)
		}
		seen[plain], seen[secure] = true, true
	}
	end := time.Now().Add(20 * time.Second)
	for id := range seen {
		for !strings.Contains(s.log.String(), `"request":"`+id+`"`) { // a line is written when its connection has ended
			if other(); time.Now().After(end) {
				t.Fatalf("%s leads to no line of the log", id)
			}
		}
	}
}
