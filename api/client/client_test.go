package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coffer/api"
	"coffer/api/secret"
)

const key = "sentinel-key-42bb"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is a TLS server with a handler, the number of requests and the keys it saw.
type service struct {
	*httptest.Server
	requests atomic.Int64
	keys     atomic.Int64
	conns    atomic.Int64
}

func serve(t *testing.T, h http.HandlerFunc) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if r.Header.Get("x-api-key") == key {
			s.keys.Add(1)
		}
		h(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			s.conns.Add(1)
		}
	}
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func pool(s *httptest.Server) *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(s.Certificate())
	return p
}

// sleeps records the pauses instead of making them.
type sleeps struct {
	mu   sync.Mutex
	list []time.Duration
}

func (s *sleeps) sleep(ctx context.Context, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, d)
	return ctx.Err()
}

func dial(t *testing.T, s *service, change ...func(o *Options)) *Client {
	t.Helper()
	o := Options{BaseURL: s.URL + "/api", APIKey: secret.New([]byte(key)), RootCAs: pool(s.Server),
		Sleep: (&sleeps{}).sleep, Rand: func() float64 { return 0.5 }}
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

func writeJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, body)
}

func ok(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, body) }
}

func kindOf(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("want a client error, got %v", err)
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), key) {
		t.Fatalf("the key is in the error: %v", err)
	}
	return e
}

func TestN1_OnlyPlainHTTPSAddressesAreAccepted(t *testing.T) {
	for _, bad := range []string{"http://example.org/api", "https://user@example.org", "https://user:pw@example.org",
		"https://example.org?x=1", "https://example.org#f", "https://", "ftp://x", "", "://", "example.org",
		"HTTP://example.org", "https://example.org/?"} {
		if _, err := New(Options{BaseURL: bad}); !errors.Is(err, ErrBaseURL) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestN1_BadCertificatesAndOldTLSGetNoByteOfTheKey(t *testing.T) {
	s := serve(t, ok(`[]`))
	c := dial(t, s, func(o *Options) { o.RootCAs = x509.NewCertPool() })
	if _, err := c.Chains(t.Context()); kindOf(t, err).Sent {
		t.Error("sent to a server with an unknown certificate")
	}
	old := httptest.NewUnstartedServer(ok(`[]`))
	old.Config.ErrorLog = log.New(io.Discard, "", 0)
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	old.StartTLS()
	defer old.Close()
	o := Options{BaseURL: old.URL, APIKey: secret.New([]byte(key)), RootCAs: pool(old), Sleep: (&sleeps{}).sleep}
	d, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Chains(t.Context()); kindOf(t, err).Sent {
		t.Error("sent over TLS 1.1")
	}
	if s.requests.Load() != 0 {
		t.Error("a request arrived")
	}
}

func TestN2_RedirectsAreNeverFollowed(t *testing.T) {
	for _, code := range []int{301, 302, 303, 307, 308} {
		other := serve(t, ok(`{}`))
		for _, target := range []string{other.URL + "/steal", "/api/elsewhere", "http://127.0.0.1:1/plain"} {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, code) })
			c := dial(t, s)
			if _, err := c.Status(t.Context(), "0x1"); kindOf(t, err).Kind != KindRedirect {
				t.Errorf("GET %d: %v", code, err)
			}
			if _, err := c.ExecuteQuote(t.Context(), []byte(`{}`)); kindOf(t, err).Kind != KindRedirect {
				t.Errorf("execute %d: %v", code, err)
			}
			if s.requests.Load() != 2 {
				t.Errorf("%d requests to the service", s.requests.Load())
			}
		}
		if other.requests.Load() != 0 {
			t.Errorf("%d: the key went elsewhere", code)
		}
	}
}

func TestK2_TheKeyIsOnlyOnTheWire(t *testing.T) {
	s := serve(t, ok(`[]`))
	var logged bytes.Buffer
	c := dial(t, s, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	if _, err := c.Chains(t.Context()); err != nil || s.keys.Load() != 1 {
		t.Fatal(err, s.keys.Load())
	}
	req, err := http.NewRequest("GET", s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.normal.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if req.Header.Get("x-api-key") != "" {
		t.Error("the caller's request carries the key")
	}
	other := serve(t, ok(`[]`))
	if _, err := c.normal.Get(other.URL); err == nil || other.requests.Load() != 0 {
		t.Error("the transport serves another host")
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if strings.Contains(fmt.Sprintf(verb, c.o), key) {
			t.Errorf("%s shows the key", verb)
		}
	}
	if strings.Contains(logged.String(), key) {
		t.Error("the log shows the key")
	}
	bad := dial(t, s, func(o *Options) { o.APIKey = secret.New([]byte(key + "\n")) })
	if _, err := bad.Chains(t.Context()); strings.Contains(err.Error(), key) {
		t.Error("an impossible key is shown")
	}
}

func TestN3_SlowAndMuteServersRunIntoADeadline(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("quoteId") == "drip" {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"a":`)
			w.(http.Flusher).Flush()
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	c := dial(t, s)
	for _, id := range []string{"mute", "drip"} {
		_, err := c.attempt(t.Context(), call{op: "read status", method: "GET", path: "/v3/status",
			query: url.Values{"quoteId": {id}}, timeout: 50 * time.Millisecond})
		if e := kindOf(t, err); e.Kind != KindTimeout || !e.Sent {
			t.Errorf("%s: %v", id, e)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { _, err := c.ExecuteQuote(ctx, []byte(`{}`)); done <- err }()
	for s.requests.Load() < 3 {
		select {
		case err := <-done:
			t.Fatal("ended early", err)
		default:
		}
	}
	cancel()
	if e := kindOf(t, <-done); e.Kind != KindCancelled || !e.Sent {
		t.Errorf("cancelled: %v", e)
	}
}

func TestN3_EveryCallHasItsDeadline(t *testing.T) {
	var left time.Duration
	rt := roundTrip(func(r *http.Request) (*http.Response, error) {
		at, has := r.Context().Deadline()
		if !has {
			t.Errorf("%s has no deadline", r.URL.Path)
		}
		left = time.Until(at)
		return nil, errors.New("stop")
	})
	c, err := New(Options{BaseURL: EmbeddedBaseURL, Transport: rt, Sleep: (&sleeps{}).sleep})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for name, step := range map[string]struct {
		call func()
		want time.Duration
	}{
		"status": {func() { c.Status(ctx, "0x1") }, getTimeout},
		"history": {func() {
			c.History(ctx, HistoryQuery{User: "0x1", Limit: 5, Continuation: "c",
				SortBy: "updatedAt"})
		}, getTimeout},
		"prepare": {func() { c.PrepareCallQuote(ctx, nil) }, quoteTimeout},
		"quote":   {func() { c.CallQuote(ctx, []byte(`{}`)) }, quoteTimeout},
		"execute": {func() { c.ExecuteQuote(ctx, []byte(`{}`)) }, executeTimeout},
	} {
		step.call()
		if left > step.want || left < step.want-5*time.Second {
			t.Errorf("%s: %v, want %v", name, left, step.want)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, header http.Header, body string) *http.Response {
	if header == nil {
		header = http.Header{"Content-Type": {"application/json"}}
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

func TestN4_ReadsAreTriedThreeTimesWithJitterAndABudget(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 502, `{}`) })
	var z sleeps
	c := dial(t, s, func(o *Options) { o.Sleep = z.sleep })
	if _, err := c.Chains(t.Context()); err == nil || s.requests.Load() != maxAttempts {
		t.Fatalf("%d requests, %v", s.requests.Load(), err)
	}
	if len(z.list) != 2 || z.list[0] != 125*time.Millisecond || z.list[1] != 250*time.Millisecond {
		t.Errorf("pauses %v", z.list)
	}
	for range 40 {
		c.Chains(t.Context())
	}
	if n := s.requests.Load(); n > 41+int64(bucketSize) {
		t.Errorf("%d requests for 41 calls: the bucket does not hold", n)
	}
}

func TestN4_WhatCannotChangeIsNotTriedAgain(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 422, 500} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, status, `{"message":"no"}`) })
		if _, err := dial(t, s).Chains(t.Context()); err == nil || s.requests.Load() != 1 {
			t.Errorf("%d: %d requests, %v", status, s.requests.Load(), err)
		}
	}
}

func TestN5_PostsAreSentAgainOnlyWhenNothingLeft(t *testing.T) {
	// No server listens: no byte can leave, so one more try is allowed.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	var z sleeps
	c, err := New(Options{BaseURL: "https://" + address, Sleep: z.sleep})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.limiter = nil
	for i, post := range posts(c) {
		if e := kindOf(t, post(t.Context())); e.Sent || len(z.list) != i+1 {
			t.Errorf("post %d: %v, %d pauses", i, e, len(z.list))
		}
	}
	tried := len(z.list)
	for i, execute := range executes(c) {
		_, err := execute(t.Context(), []byte(`{}`))
		if e := kindOf(t, err); e.Sent || len(z.list) != tried {
			t.Errorf("execute %d: %v, %d pauses", i, e, len(z.list))
		}
	}
	// The connection breaks after the request: it may have had effect, so the client must never send it again.
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) })
	d := dial(t, s)
	for i, post := range posts(d) {
		if e := kindOf(t, post(t.Context())); !e.Sent || s.requests.Load() != int64(i+1) {
			t.Errorf("%v, %d requests", e, s.requests.Load())
		}
	}
}

// posts are the calls that may be tried once more when nothing left; executes are sent once in every case. Both
// contain both versions of the interface.
func posts(c *Client) []func(context.Context) error {
	var out []func(context.Context) error
	for _, post := range []func(context.Context, []byte) (Answer, error){
		c.PrepareCallQuote, c.PrepareCallQuoteV1, c.CallQuote, c.CallQuoteV1, c.Quote, c.QuoteV1,
	} {
		out = append(out, func(ctx context.Context) error { _, err := post(ctx, []byte(`{}`)); return err })
	}
	return out
}

func executes(c *Client) []func(context.Context, []byte) (api.ExecuteResponse, error) {
	return []func(context.Context, []byte) (api.ExecuteResponse, error){c.ExecuteQuote, c.ExecuteQuoteV1}
}

func TestN6_ExecuteIsSentExactlyOnceOnAFreshHTTP1Connection(t *testing.T) {
	var replayable, protocol atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Idempotency-Key") != "" || r.Header.Get("X-Idempotency-Key") != "" {
			replayable.Add(1)
		}
		if r.ProtoMajor != 1 {
			protocol.Add(1)
		}
		io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	})
	c := dial(t, s)
	const runs = 100
	for i := range runs {
		_, err := executes(c)[i%2](t.Context(), []byte(`{"id":"0x1"}`))
		if e := kindOf(t, err); !e.Sent {
			t.Fatal(e)
		}
	}
	if s.requests.Load() != runs || s.conns.Load() != runs || replayable.Load() != 0 || protocol.Load() != 0 {
		t.Errorf("%d requests, %d connections, %d replayable, %d over HTTP/2", s.requests.Load(), s.conns.Load(),
			replayable.Load(), protocol.Load())
	}
}

func TestN6_TheExecuteRequestCannotBeReplayed(t *testing.T) {
	c, err := New(Options{BaseURL: EmbeddedBaseURL, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.GetBody != nil || !r.Close {
			t.Error("the body could be sent again")
		}
		return answer(200, nil, `{"success":true,"guarantees":null,"error":null}`), nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	for _, execute := range executes(c) {
		if r, err := execute(t.Context(), []byte(`{}`)); err != nil || !r.Success {
			t.Fatal(err)
		}
	}
}

func TestX2_OnlyAReadableAnswerCountsAsOne(t *testing.T) {
	for body, readable := range map[string]bool{
		`{"success":true,"guarantees":null,"error":null}`: true, `{"success":false,"error":"no"}`: true,
		`{}`: false, `{"success":"true"}`: false, `{"success":true`: false, `[]`: false, ``: false,
		`{"success":true}{}`: false, `{"success":true,"success":false}`: false,
	} {
		c := dial(t, serve(t, ok(body)))
		for _, execute := range executes(c) {
			_, err := execute(t.Context(), []byte(`{}`))
			if (err == nil) != readable {
				t.Errorf("%q: %v", body, err)
			}
			if err != nil && !kindOf(t, err).Sent {
				t.Errorf("%q: an unreadable answer means that the request arrived", body)
			}
		}
	}
}

func TestN8_RetryAfterIsBoundedWhateverItSays(t *testing.T) {
	now := time.Unix(1_760_000_000, 0)
	for value, want := range map[string]time.Duration{
		"": 0, "0": time.Second, "-1": time.Second, "5": 5 * time.Second, "1000000000": time.Minute,
		"9223372036854775808": time.Second, "soon": time.Second,
		now.Add(10 * time.Second).UTC().Format(http.TimeFormat): 10 * time.Second,
		now.Add(-time.Hour).UTC().Format(http.TimeFormat):       time.Second,
		now.Add(time.Hour).UTC().Format(http.TimeFormat):        time.Minute,
	} {
		h := http.Header{}
		if value != "" {
			h.Set("Retry-After", value)
		}
		if got := retryAfter(h, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
	for _, status := range []int{429, 503} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3")
			writeJSON(w, status, `{"error":"x","message":"slow down","statusCode":1}`)
		})
		var z sleeps
		c := dial(t, s, func(o *Options) { o.Sleep = z.sleep })
		_, err := c.Chains(t.Context())
		var no *api.Error
		if !errors.As(err, &no) || no.RetryAfter != 3*time.Second || no.StatusCode != status ||
			s.requests.Load() != 3 || z.list[0] != 3*time.Second {
			t.Errorf("%d: %v %v", status, err, z.list)
		}
		if _, err := c.PrepareCallQuote(t.Context(), []byte(`{}`)); err == nil || s.requests.Load() != 4 {
			t.Errorf("%d: a post was repeated", status)
		}
	}
}

func TestN8_FiveRequestsASecondLeave(t *testing.T) {
	s := serve(t, ok(`[]`))
	var z sleeps
	at := time.Unix(1_760_000_000, 0)
	c := dial(t, s, func(o *Options) { o.Sleep = z.sleep; o.Clock = func() time.Time { return at } })
	fresh, err := New(c.o)
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	for range 8 {
		if _, err := fresh.Chains(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(z.list) != 3 || z.list[0] != 200*time.Millisecond || z.list[2] != 600*time.Millisecond {
		t.Errorf("pauses %v", z.list)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fresh.Chains(ctx); kindOf(t, err).Sent {
		t.Error("sent although the caller gave up in the queue")
	}
}

func TestL1_AnswersAreBoundedAfterDecompression(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write([]byte(`"`))
	zeros := bytes.Repeat([]byte("0"), 1<<20)
	for range 64 {
		z.Write(zeros)
	}
	z.Write([]byte(`"`))
	z.Close()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("quoteId") == "bomb" {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb.Bytes())
			return
		}
		w.Write(append(append([]byte(`"`), bytes.Repeat([]byte("0"), 5<<20)...), '"'))
	})
	c := dial(t, s)
	for _, id := range []string{"bomb", "big"} {
		if _, err := c.Status(t.Context(), id); kindOf(t, err).Kind != KindTooLarge {
			t.Errorf("%s: %v", id, err)
		}
	}
	if bomb.Len() > 1<<20 {
		t.Errorf("the bomb has %d bytes", bomb.Len())
	}
}

func TestL2_AnswersPassTheLexicalGate(t *testing.T) {
	for _, body := range []string{`{"a":1,"a":2}`, `{"a":1,"A":2}`, `{} {}`, "{\"a\":\"\xff\"}",
		strings.Repeat("[", 100) + strings.Repeat("]", 100)} {
		c := dial(t, serve(t, ok(body)))
		if _, err := c.PrepareCallQuote(t.Context(), []byte(`{}`)); kindOf(t, err).Kind != KindBadAnswer {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestN11_EveryErrorBodyBecomesATypedErrorWithCleanText(t *testing.T) {
	bodies := []string{
		`{"error":"NoRoute","message":"no routes found","statusCode":400}`,
		`{"message":"Incorrect tamper proof signature","statusCode":400}`,
		`{"error":"UnauthorizedException","message":"x","code":401}`,
		`{"error":"UnauthorizedException","message":"Invalid or missing API key","statusCode":401,"timestamp":"t",` +
			`"path":"/p"}`,
		`<html><body>502 Bad Gateway</body></html>`, ``, `plain text`, `{"error":5}`, `[]`, `null`,
		"{\"message\":\"\x1b[31mred\x07\"}", `{"message":"` + strings.Repeat("a", 5000) + `"}`,
	}
	for _, body := range bodies {
		for _, status := range []int{400, 401, 403, 404, 409, 422, 429, 500, 503} {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				io.WriteString(w, body)
			})
			_, err := dial(t, s).CallQuote(t.Context(), []byte(`{}`))
			var no *api.Error
			if !errors.As(err, &no) || no.StatusCode != status || no.Name == "" || no.Message == "" {
				t.Fatalf("%d %.40q: %v", status, body, err)
			}
			if strings.ContainsAny(no.Message, "\x1b\x07\n") || len([]rune(no.Message)) > 501 ||
				strings.Contains(err.Error(), key) {
				t.Errorf("%d %.40q: %q", status, body, no.Message)
			}
			s.Close()
		}
	}
}

func TestN11_AWrongContentTypeIsNoAnswer(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `{}`)
	})
	if _, err := dial(t, s).Chains(t.Context()); kindOf(t, err).Kind != KindBadAnswer {
		t.Error(err)
	}
	c := dial(t, serve(t, ok(`{"not":"a list"}`)))
	if _, err := c.Chains(t.Context()); kindOf(t, err).Kind != KindBadAnswer {
		t.Error(err)
	}
}

func TestN9_TheServicesClockIsMeasured(t *testing.T) {
	at := time.Unix(1_760_000_000, 500_000_000)
	for name, c := range map[string]struct{ date, skew time.Duration }{
		"same second": {-500 * time.Millisecond, 0}, "ahead": {time.Hour - 500*time.Millisecond,
			time.Hour - 500*time.Millisecond}, "behind": {-time.Hour - 500*time.Millisecond,
			-time.Hour - 500*time.Millisecond},
	} {
		h := http.Header{"Content-Type": {"application/json"}, "Date": {at.Add(c.date).UTC().Format(http.TimeFormat)}}
		cl, err := New(Options{BaseURL: EmbeddedBaseURL, Clock: func() time.Time { return at },
			Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				return answer(200, h, `{"x":1}`),
					nil
			})})
		if err != nil {
			t.Fatal(err)
		}
		a, err := cl.PrepareCallQuote(t.Context(), []byte(`{}`))
		if err != nil || a.Skew != c.skew || cl.Skew() != c.skew || a.ServerDate.IsZero() ||
			string(a.Raw()) != `{"x":1}` {
			t.Errorf("%s: %v %v %v", name, a.Skew, cl.Skew(), err)
		}
	}
}

// plausible answers every endpoint with the smallest document of its kind and notes the request.
func plausible(got *[]string) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		body := ""
		if r.Body != nil {
			b, _ := io.ReadAll(r.Body)
			body = string(b)
		}
		*got = append(*got, r.Method+" "+r.URL.RequestURI()+" "+body)
		status, reply := 200, `{}`
		switch r.URL.Path {
		case "/api/account/predict-address":
			status, reply = 201, `{"predictedAddress":"0x1"}`
		case "/api/chains/supported-list", "/api/assets/list":
			reply = `[]`
		case "/api/v3/quote/execute-quote", "/api/quotes/execute-quote":
			reply = `{"success":true}`
		}
		return answer(status, nil, reply), nil
	}
}

func TestEveryEndpointIsAskedAsTheInterfaceSays(t *testing.T) {
	var got []string
	c, err := New(Options{BaseURL: EmbeddedBaseURL, Transport: plausible(&got)})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	var errs []error
	note := func(err error) { errs = append(errs, err) }
	_, err = c.PredictAddress(ctx, api.PredictRequest{Type: api.AccountKernelV31, SignerAddress: "0x2"})
	note(err)
	_, err = c.Chains(ctx)
	note(err)
	_, err = c.Assets(ctx)
	note(err)
	_, err = c.Balances(ctx, BalanceQuery{Accounts: []string{"eip155:1:0x3", "solana:K"},
		Aggregates: []string{"ob:usdc"}, Assets: []string{"eip155:1/slip44:60"}})
	note(err)
	_, err = c.PrepareCallQuote(ctx, []byte(`{"p":1}`))
	note(err)
	_, err = c.CallQuote(ctx, []byte(`{"q":1}`))
	note(err)
	_, err = c.ExecuteQuote(ctx, []byte(`{"x":1}`))
	note(err)
	_, err = c.PrepareCallQuoteV1(ctx, []byte(`{"p":2}`))
	note(err)
	_, err = c.CallQuoteV1(ctx, []byte(`{"q":2}`))
	note(err)
	_, err = c.ExecuteQuoteV1(ctx, []byte(`{"x":2}`))
	note(err)
	_, err = c.Quote(ctx, []byte(`{"s":3}`))
	note(err)
	_, err = c.QuoteV1(ctx, []byte(`{"s":2}`))
	note(err)
	_, err = c.Status(ctx, "0x4")
	note(err)
	_, err = c.History(ctx, HistoryQuery{User: "0x5", Limit: 20, Continuation: "a&b", SortBy: "createdAt"})
	note(err)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`POST /api/account/predict-address {"type":"kernel-v3.1-ecdsa","signerAddress":"0x2"}`,
		"GET /api/chains/supported-list ", "GET /api/assets/list ",
		"GET /api/v3/balances/aggregated-balance?account=eip155%3A1%3A0x3%2Csolana%3AK&aggregatedAssetId=ob%3Ausdc&as" +
			"setId=eip155%3A1%2Fslip44%3A60 ",
		`POST /api/v3/quote/prepare-call-quote {"p":1}`, `POST /api/v3/quote/call-quote {"q":1}`,
		`POST /api/v3/quote/execute-quote {"x":1}`,
		`POST /api/quotes/prepare-call-quote {"p":2}`, `POST /api/quotes/call-quote {"q":2}`,
		`POST /api/quotes/execute-quote {"x":2}`,
		`POST /api/v3/quote {"s":3}`, `POST /api/v1/quote {"s":2}`,
		"GET /api/v3/status/get-execution-status?quoteId=0x4 ",
		"GET /api/v3/status/get-tx-history?continuation=a%26b&limit=20&sortBy=createdAt&user=0x5 ",
	}
	for i, w := range want {
		if i >= len(got) || got[i] != w {
			t.Errorf("request %d: %v, want %s", i, got[i:], w)
			break
		}
	}
}

func TestRequestBodiesArriveByteForByte(t *testing.T) {
	const body = "{ \"id\" : \"0x1\",\n \"big\": 123456789012345678901234567890, \"z\":null }"
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if string(b) != body || r.Header.Get("Content-Type") != "application/json" {
			writeJSON(w, 400, `{"message":"changed"}`)
			return
		}
		writeJSON(w, 200, `{"success":true}`)
	})
	c := dial(t, s)
	for _, execute := range executes(c) {
		if _, err := execute(t.Context(), []byte(body)); err != nil {
			t.Error(err)
		}
	}
	for _, post := range []func(context.Context, []byte) (Answer, error){c.CallQuote, c.CallQuoteV1, c.Quote,
		c.QuoteV1} {
		if _, err := post(t.Context(), []byte(body)); err != nil {
			t.Error(err)
		}
	}
}

func TestTheWindowIsWhatTheLastAnswerStated(t *testing.T) {
	header := http.Header{}
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for name, all := range header {
			w.Header()[name] = all
		}
		writeJSON(w, 429, `{"error":"TooManyRequests","message":"slower"}`)
	})
	c := dial(t, s)
	state := func(limit, remaining, reset string) Window {
		header = http.Header{"X-Ratelimit-Limit": {limit}, "X-Ratelimit-Remaining": {remaining},
			"X-Ratelimit-Reset": {reset}}
		_, _ = c.Quote(t.Context(), []byte(`{}`))
		return c.Window()
	}
	if got := c.Window(); got != (Window{PerSecond: 5}) {
		t.Errorf("%+v before an answer", got)
	}
	want := Window{PerSecond: 5, Limit: 60, Remaining: 7, Reset: time.Unix(1_760_000_000, 0)}
	if got := state("60", "7", "1760000000"); got != want {
		t.Errorf("%+v", got)
	}
	for _, bad := range [][3]string{{"", "7", "1"}, {"60", "-1", "1"}, {"60", "x", "1"}, {"60", "7", "1e9"},
		{"9999999999999999999999", "7", "1"}} {
		if got := state(bad[0], bad[1], bad[2]); got != want {
			t.Errorf("%q: %+v", bad, got)
		}
	}
}
