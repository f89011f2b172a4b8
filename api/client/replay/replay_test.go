package replay

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/secret"
)

const key = "sentinel-key-19e4"

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// clock stays at one time until the test moves it.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }

func (c *clock) move(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.at = c.at.Add(d) }

func newClock() *clock { return &clock{at: time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)} }

func about(t testing.TB) About {
	t.Helper()
	n, err := network.Descriptor{Version: 1, Kind: network.Lab, Chains: []string{"eip155:1"},
		Genesis: map[string]string{}}.WithID()
	if err != nil {
		t.Fatal(err)
	}
	return About{Profile: "demo", BaseURL: "https://service.example/api", Network: n,
		Accounts: []api.Account{{Type: api.AccountKernelV31,
			AccountAddress: "0xfe52613d747E20F2f62e0A5cC36B0DFAe771C442",
			SignerAddress:  "0xcd75e991A4986A4E96042BFB3F6a7AB26F7b5B72"}}}
}

// script answers with the bodies of a list in turn; "!" is a failure.
func script(bodies ...string) http.RoundTripper {
	var mu sync.Mutex
	return trip(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		if r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		if len(bodies) == 0 {
			return nil, errors.New("the script is over")
		}
		b := bodies[0]
		bodies = bodies[1:]
		if b == "!" {
			return nil, errors.New("no route")
		}
		h := http.Header{"Content-Type": {"application/json"}, "Set-Cookie": {key},
			"Date": {"Sat, 21 Nov 2026 09:30:00 GMT"}}
		return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(strings.NewReader(b))}, nil
	})
}

func open(t *testing.T, rt http.RoundTripper, wrap func(http.RoundTripper) http.RoundTripper,
	now func() time.Time) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{BaseURL: "https://service.example/api", APIKey: secret.New([]byte(key)),
		Transport: rt, Wrap: wrap, Clock: now, Rand: func() float64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func record(t *testing.T, at *clock, use func(c *client.Client), bodies ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "recording")
	r, err := Record(dir, about(t), at.now)
	if err != nil {
		t.Fatal(err)
	}
	use(open(t, script(bodies...), r.Wrap, at.now))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestARecordedSessionAnswersWithoutANetwork(t *testing.T) {
	at := newClock()
	odd := `{"b" : 1.50, "a":"\u0041"}`
	dir := record(t, at, func(c *client.Client) {
		for _, id := range []string{"0x1", "0x1", "0x2"} {
			if _, err := c.Status(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		at.move(time.Minute)
		if _, err := c.Quote(t.Context(), []byte(`{"amount":"1","x":2}`)); err != nil {
			t.Fatal(err)
		}
		if a, err := c.CallQuote(t.Context(), []byte(`{"userOp":{"signature":"0xfeedbeef"}}`)); err != nil ||
			string(a.Raw()) != odd {
			t.Fatalf("%s, %v", a.Raw(), err)
		}
	}, `{"status":"PENDING"}`, `{"status":"COMPLETED"}`, `{"status":"FAILED"}`, `{"id":"0xq"}`, odd)
	checkFiles(t, dir, 6)

	later := &clock{at: at.now().Add(400 * 24 * time.Hour)}
	p, info, err := Open(dir, later.now)
	if err != nil || p.Len() != 5 || info.Profile != "demo" || info.Network.ID != about(t).Network.ID ||
		len(info.Accounts) != 1 {
		t.Fatalf("%+v, %v", info, err)
	}
	c := open(t, p, nil, p.Clock)
	if now := p.Clock(); !now.Equal(info.At) {
		t.Errorf("the replay begins at %s, the recording at %s", now, info.At)
	}
	for _, w := range []struct{ id, status string }{{"0x2", "FAILED"}, {"0x1", "PENDING"}, {"0x1", "COMPLETED"},
		{"0x1", "COMPLETED"}, {"0x2", "FAILED"}} {
		if s, err := c.Status(t.Context(), w.id); err != nil || s.Status != w.status {
			t.Errorf("%s: %q, %v, expected %s", w.id, s.Status, err, w.status)
		}
	}
	if c.Skew() != 0 {
		t.Errorf("the date of the recording counts as a clock: %s", c.Skew())
	}
	a, err := c.Quote(t.Context(), []byte(`{ "x": 2, "amount": "1" }`))
	if err != nil || string(a.Raw()) != `{"id":"0xq"}` {
		t.Errorf("another spelling of the same request: %v", err)
	}
	if now := p.Clock(); !now.Equal(info.At.Add(time.Minute)) {
		t.Errorf("after the quote it is %s", now.Sub(info.At))
	}
	later.move(5 * time.Second)
	if now := p.Clock(); !now.Equal(info.At.Add(65 * time.Second)) {
		t.Errorf("the clock of the replay stands at %s", now.Sub(info.At))
	}
	if a, err := c.CallQuote(t.Context(), []byte(`{"userOp":{"signature":"0xfeedbeef"}}`)); err != nil ||
		string(a.Raw()) != odd {
		t.Errorf("an answer is not as it was: %v", err)
	}
}

// checkFiles: modes, names, and no secret in any file.
func checkFiles(t *testing.T, dir string, n int) {
	t.Helper()
	if i, err := os.Stat(dir); err != nil || i.Mode().Perm() != 0o700 && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", i, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != n {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		i, _ := f.Info()
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil || i.Mode().Perm() != 0o600 && runtime.GOOS != "windows" || strings.Contains(string(b), key) ||
			strings.Contains(string(b), "feedbeef") || strings.Contains(string(b), "ookie") {
			t.Errorf("%s, %s, %v:\n%s", f.Name(), i.Mode(), err, b)
		}
	}
}

func TestARequestThatWasNeverMadeIsNamed(t *testing.T) {
	at := newClock()
	dir := record(t, at, func(c *client.Client) {
		_, _ = c.Quote(t.Context(), []byte(`{"amount":"1"}`))
		_, _ = c.Status(t.Context(), "0x1")
	}, `{"id":"0xq"}`, `{}`)
	p, _, err := Open(dir, at.now)
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, p, nil, p.Clock)
	_, err = c.Chains(t.Context())
	var failed *client.Error
	if !errors.As(err, &failed) || failed.Kind != client.KindRequest || !errors.Is(err, ErrNotRecorded) ||
		!strings.Contains(err.Error(), "GET /api/chains/supported-list") {
		t.Errorf("%v", err)
	}
	if a, err := c.Quote(t.Context(), []byte(`{"amount":"2"}`)); err != nil || string(a.Raw()) != `{"id":"0xq"}` {
		t.Errorf("the next of the same place: %v", err)
	}
	if _, err = c.Quote(t.Context(), []byte(`{"amount":"1"}`)); !errors.Is(err, ErrExhausted) ||
		!strings.Contains(err.Error(), "POST /api/v3/quote") {
		t.Errorf("%v", err)
	}
	if _, err := c.Status(t.Context(), "0x77"); err != nil {
		t.Errorf("%v", err)
	}
	if _, err = c.ExecuteQuote(t.Context(), []byte(`{}`)); !errors.Is(err, ErrNothingSent) {
		t.Errorf("%v", err)
	}
	if _, err = c.Relay(t.Context(), api.RelayRequest{}); !errors.Is(err, ErrNothingSent) {
		t.Errorf("%v", err)
	}
}

func TestAFailureIsRecordedAndAnswered(t *testing.T) {
	at := newClock()
	dir := record(t, at, func(c *client.Client) {
		if _, err := c.ExecuteQuote(t.Context(), []byte(`{}`)); err == nil {
			t.Fatal("no failure")
		}
		if _, err := c.Quote(t.Context(), []byte(`{}`)); err == nil {
			t.Fatal("no failure")
		}
	}, "!", "!")
	p, _, err := Open(dir, at.now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, p, nil, p.Clock).Quote(t.Context(), []byte(`{}`)); err == nil ||
		!strings.Contains(err.Error(), "no route") {
		t.Errorf("%v", err)
	}
}

func TestARecordingTakesAnEmptyDirectoryOnly(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "letter"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Record(dir, about(t), newClock().now); !errors.Is(err, ErrTaken) {
		t.Errorf("%v", err)
	}
	bad := about(t)
	bad.BaseURL = "http://service.example"
	var format *FormatError
	if _, err := Record(filepath.Join(t.TempDir(), "x"), bad, newClock().now); !errors.As(err, &format) {
		t.Errorf("%v", err)
	}
}

func TestWhatCannotBeWrittenIsSaidAtTheEndAndTheSessionGoesOn(t *testing.T) {
	at := newClock()
	dir := filepath.Join(t.TempDir(), "recording")
	r, err := Record(dir, about(t), at.now)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	c := open(t, script(`{}`, `{}`), r.Wrap, at.now)
	for range 2 {
		if _, err := c.Status(t.Context(), "0x1"); err != nil {
			t.Errorf("a session suffers from its recording: %v", err)
		}
	}
	if err := r.Close(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestEveryBodyComesBackByteForByte(t *testing.T) {
	for i, body := range []string{"", "{}", `{"a":1}`, `{"a": 1}`, "[1.50,1e3,12345678901234567890123]", `"\u0041\/"`,
		"<html>\x00", "\xff\xfe", "\ufeff{}", strings.Repeat("x", 100)} {
		e := exchange{number: 7, at: newClock().now(), method: "GET", path: "/x", status: 200, answer: []byte(body),
			headers: map[string]string{"content-type": "text/html"}}
		b, err := e.encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseExchange("000007.json", b)
		if err != nil || string(got.answer) != body || got.status != 200 || !got.at.Equal(e.at) {
			t.Errorf("%d: %q became %q, %v\n%s", i, body, got.answer, err, b)
		}
	}
}

func TestABrokenTapeIsRefusedWithItsFile(t *testing.T) {
	good, err := exchange{number: 1, at: newClock().now(), method: "GET", path: "/api/x", status: 200,
		answer: []byte(`{}`)}.encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"version": {`"version":1`, `"version":2`}, "number": {`"number":1`, `"number":2`},
		"method": {`"GET"`, `"DELETE"`}, "path": {`"/api/x"`, `"api x"`},
		"status": {`"status":200`, `"status":2000`}, "member": {`"version":1`, `"version":1,"more":1`},
		"twice": {`"version":1`, `"version":1,"version":1`},
		"time":  {`2026-11`, `1926-11`}, "bodies": {`"version":1`, `"version":1,"answerText":"x"`},
		"failure": {`"version":1`, `"version":1,"failure":"x"`},
		"took":    {`"tookMs":0`, `"tookMs":-1`},
	} {
		changed := strings.Replace(string(good), change[0], change[1], 1)
		var format *FormatError
		if _, err := parseExchange("000001.json", []byte(changed)); changed == string(good) ||
			!errors.As(err, &format) || format.File != "000001.json" {
			t.Errorf("%s: %v\n%s", name, err, changed)
		}
	}
	dir := filepath.Join(t.TempDir(), "recording")
	if _, err := Record(dir, about(t), newClock().now); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "1.json"), good, 0o600); err != nil {
		t.Fatal(err)
	}
	var format *FormatError
	if _, _, err := Open(dir, newClock().now); !errors.As(err, &format) || format.File != "1.json" {
		t.Errorf("%v", err)
	}
	if _, _, err := Open(t.TempDir(), newClock().now); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestAboutIsStrict(t *testing.T) {
	a := about(t)
	a.At = newClock().now()
	good, err := a.encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseAbout(good); err != nil || !got.At.Equal(a.At) || got.Accounts[0] != a.Accounts[0] {
		t.Fatalf("%+v, %v", got, err)
	}
	for name, change := range map[string][2]string{
		"version": {`"version": 1`, `"version": 3`}, "http": {`https://service`, `http://service`},
		"user":    {`https://service`, `https://me@service`},
		"network": {`"eip155:1"`, `"eip155:2"`}, "type": {api.AccountKernelV31, "kernel-v9"},
		"address": {`0xfe52`, `fe52`}, "member": {`"profile"`, `"more": 1, "profile"`},
		"profile": {`"demo"`, `""`}, "way out": {`"demo"`, `"../demo"`}, "time": {`"2026-`, `"x2026-`},
	} {
		changed := strings.Replace(string(good), change[0], change[1], 1)
		var format *FormatError
		if _, err := ParseAbout([]byte(changed)); changed == string(good) || !errors.As(err, &format) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARecorderIsSafeForConcurrentUse(t *testing.T) {
	at := newClock()
	bodies := make([]string, 64)
	for i := range bodies {
		bodies[i] = fmt.Sprintf(`{"status":"S%d"}`, i)
	}
	dir := record(t, at, func(c *client.Client) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 8 {
					_, _ = c.Status(t.Context(), "0x1")
				}
			})
		}
		wg.Wait()
	}, bodies...)
	p, _, err := Open(dir, at.now)
	if err != nil || p.Len() != 64 {
		t.Fatalf("%v", err)
	}
}

func FuzzExchange(f *testing.F) {
	for _, e := range []exchange{
		{number: 1, method: "GET", path: "/x", status: 200, answer: []byte(`{"a":1}`)},
		{number: 1, method: "POST", path: "/x", query: "a=b", request: []byte(`{}`), failure: "no route"},
		{number: 1, method: "GET", path: "/x", status: 200, answer: []byte("\xff")},
	} {
		e.at = newClock().now()
		b, err := e.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := parseExchange("000001.json", b)
		if err != nil {
			var format *FormatError
			if !errors.As(err, &format) {
				t.Fatalf("%T", err)
			}
			return
		}
		again, err := e.encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseExchange("000001.json", again)
		if err != nil || string(got.answer) != string(e.answer) ||
			exactly(got.method, got.path, got.query, got.request) != exactly(e.method, e.path, e.query, e.request) {
			t.Fatalf("%v\n%s\n%s", err, b, again)
		}
	})
}

func FuzzAbout(f *testing.F) {
	a := about(f)
	a.At = newClock().now()
	b, err := a.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := ParseAbout(b)
		if err != nil {
			return
		}
		again, err := a.encode()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseAbout(again); err != nil || got.Network.ID != a.Network.ID || !got.At.Equal(a.At) ||
			len(got.Accounts) != len(a.Accounts) {
			t.Fatalf("%v\n%s", err, again)
		}
	})
}
