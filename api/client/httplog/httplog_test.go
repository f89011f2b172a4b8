package httplog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/client"
	"coffer/api/client/httplog"
	"coffer/api/secret"
)

const key = "sentinel-key-7b1d"

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answering(status int, body string) trip {
	return func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		h := http.Header{"Content-Type": {"application/json"}, "Set-Cookie": {"a=" + key}, "X-Internal": {key},
			"X-Request-Id": {"r-1"}}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r},
			nil
	}
}

// clock moves by 7 ms at each reading.
func clock() func() time.Time {
	var mu sync.Mutex
	at := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(7 * time.Millisecond)
		return at
	}
}

func dial(t *testing.T, l *httplog.Log, rt http.RoundTripper) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{BaseURL: "https://service.example/api", APIKey: secret.New([]byte(key)),
		Transport: rt, Wrap: l.Wrap})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TH-K2: the key that the inner transport adds is not in what is kept, copied or exported.
func TestK2_TheKeyIsNotKept(t *testing.T) {
	l := httplog.NewLog(clock())
	sent := ""
	c := dial(t, l, trip(func(r *http.Request) (*http.Response, error) {
		sent = r.Header.Get("x-api-key")
		return answering(200, `{"success":true}`)(r)
	}))
	if _, err := c.ExecuteQuote(t.Context(), []byte(`{"id":"0x1"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Status(t.Context(), "0x1"); err != nil || sent != key {
		t.Fatalf("%v, key %q", err, sent)
	}
	all := l.All()
	archive, err := httplog.HAR(all, "test")
	if err != nil || len(all) != 2 {
		t.Fatalf("%d exchanges, %v", len(all), err)
	}
	everything := fmt.Sprintf("%+v %s %s %s", all, archive, all[0].Curl("https://service.example/api"), all[1].Curl(""))
	if strings.Contains(everything, key) || strings.Contains(everything,
		strings.Trim(fmt.Sprintf("%d", []byte(key)), "[]")) {
		t.Error("the key was kept")
	}
	e := all[0]
	if e.Method != "POST" || e.Path != "/api/v3/quote/execute-quote" || e.Status != 200 ||
		string(e.Request) != `{"id":"0x1"}` || string(e.Response) != `{"success":true}` || !e.Done || e.Took <= 0 {
		t.Errorf("%+v", e)
	}
	if len(e.ResponseHeader) != 2 || e.ResponseHeader["x-request-id"] != "r-1" ||
		e.RequestHeader["content-length"] != "12" {
		t.Errorf("headers %v and %v", e.RequestHeader, e.ResponseHeader)
	}
	if all[1].Query != "quoteId=0x1" {
		t.Errorf("%q", all[1].Query)
	}
}

func TestSignaturesAreLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		body, want string
		n          int
	}{
		"none":     {`{"a":"b", "n": 1.50}`, `{"a":"b", "n": 1.50}`, 0},
		"unsigned": {`{"userOp":{"signature":"0x"}}`, `{"userOp":{"signature":"0x"}}`, 0},
		"signed": {`{"userOp":{"signature":"0xabcd"}, "x":1}`,
			`{"userOp":{"signature":"[signature left out: 6 characters]"}, "x":1}`, 1},
		"delegation": {`{"signature":{"r":"0x12ab","v":"0x1b"}}`,
			`{"signature":{"r":"[signature left out: 6 characters]","v":"[signature left out: 4 characters]"}}`, 2},
		"case":      {`{"Signature":"0xabcd"}`, `{"Signature":"[signature left out: 6 characters]"}`, 1},
		"escape":    {`{"\u0073ignature":"0xabcd"}`, `{"\u0073ignature":"[signature left out: 6 characters]"}`, 1},
		"integrity": {`{"tamperProofSignature":"0xabcdef"}`, `{"tamperProofSignature":"0xabcdef"}`, 0},
		"no JSON":   {`signature=0xabcdef`, `[left out: it is no readable JSON and may hold a signature]`, 1},
		"twice": {`{"signature":"0xabcd","signature":"0xabcd"}`,
			`[left out: it is no readable JSON and may hold a signature]`, 1},
		"page": {`<html>no</html>`, `<html>no</html>`, 0},
	} {
		got, n := httplog.Redacted([]byte(c.body))
		if string(got) != c.want || n != c.n {
			t.Errorf("%s: %s, %d", name, got, n)
		}
	}
}

func TestTheLogIsBounded(t *testing.T) {
	l := httplog.NewLog(clock())
	rt := l.Wrap(answering(200, strings.Repeat("x", 3<<20)))
	send := func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://s.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := rt.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	for range 40 {
		send()
	}
	all := l.All()
	total := 0
	for _, e := range all {
		total += len(e.Request) + len(e.Response)
		if !e.ResponseCut || e.ResponseSize != 3<<20 || len(e.Response) != httplog.MaxBody {
			t.Fatalf("exchange %d: %d of %d bytes, cut %v", e.ID, len(e.Response), e.ResponseSize, e.ResponseCut)
		}
	}
	if total > httplog.MaxBytes || len(all) != httplog.MaxBytes/httplog.MaxBody || all[len(all)-1].ID != 40 {
		t.Errorf("%d exchanges of %d bytes", len(all), total)
	}
	small := httplog.NewLog(clock())
	rt = small.Wrap(answering(200, "{}"))
	for range httplog.MaxExchanges + 20 {
		send()
	}
	if all := small.All(); len(all) != httplog.MaxExchanges || all[0].ID != 21 {
		t.Errorf("%d exchanges from %d", len(all), all[0].ID)
	}
}

func TestAWaitingExchangeShowsAndAFailureSaysWhy(t *testing.T) {
	l := httplog.NewLog(clock())
	c := dial(t, l, trip(func(*http.Request) (*http.Response, error) {
		if all := l.All(); len(all) != 1 || all[0].Done {
			t.Errorf("while it is awaited: %+v", all)
		}
		return nil, errors.New("no route\x1b[2J")
	}))
	if _, err := c.ExecuteQuote(t.Context(), []byte(`{}`)); err == nil {
		t.Fatal("no error")
	}
	e := l.All()[0]
	if !e.Done || e.Status != 0 || !strings.HasPrefix(e.Err, "no route") || strings.Contains(e.Err, "\x1b") {
		t.Errorf("%+v", e)
	}
	select {
	case <-l.Changed():
	default:
		t.Error("nobody was told")
	}
}

func TestTheLogIsSafeForConcurrentUse(t *testing.T) {
	l := httplog.NewLog(clock())
	c := dial(t, l, answering(200, `{}`))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				_, _ = c.Status(t.Context(), "0x1")
				_ = l.All()
			}
		})
	}
	wg.Wait()
	if n := len(l.All()); n != 160 {
		t.Errorf("%d exchanges", n)
	}
}

func sample() httplog.Exchange {
	return httplog.Exchange{
		Method: "POST", Base: "https://service.example", Path: "/api/v3/quote", Query: "a=b&c=it%27s",
		Request:       []byte(`{"memo":"it's $HOME; rm -rf \"x\" ` + "`id`" + ` \\ !!"}`),
		RequestHeader: map[string]string{"content-type": "application/json", "content-length": "9"}, Done: true,
		Status:   200,
		Response: []byte("{\"a\":\"\xff\"}"), ResponseHeader: map[string]string{"content-type": "application/json"},
	}
}

// A shell passes curl exactly the intended words.
func TestCurlIsOneCommandForAShell(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("this system has no shell to ask")
	}
	e := sample()
	cmd := exec.CommandContext(t.Context(), shell, "-c", `curl() { printf '%s\n' "$@"; }; `+
		e.Curl("https://service.example/api"))
	cmd.Env = []string{"API_KEY=k ey"}
	out, err := cmd.Output()
	want := strings.Join([]string{"-sS", "-X", "POST", "https://service.example/api/v3/quote?a=b&c=it%27s", "-H",
		"x-api-key: k ey",
		"-H", "content-type: application/json", "--data-raw", string(e.Request), ""}, "\n")
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
	for _, base := range []string{"inside this program", client.EmbeddedBaseURL, "http://service.example"} {
		if s := e.Curl(base); !strings.HasPrefix(s, `curl -sS -X 'POST' "$COFFER_URL"'/api/v3/quote?`) {
			t.Errorf("%s: %s", base, s)
		}
	}
	e.Request = []byte("a\x00b")
	if strings.Contains(e.Curl(""), "--data") {
		t.Error("a zero byte stands in a command line")
	}
}

func TestAnArchiveIsJSON(t *testing.T) {
	e := sample()
	broken := httplog.Exchange{ID: 2, Method: "GET", Base: "https://service.example", Path: "/x", Err: "no route",
		Done: true}
	b, err := httplog.HAR([]httplog.Exchange{e, broken}, "1.0")
	var doc struct {
		Log struct {
			Version string `json:"version"`
			Entries []struct {
				Request struct {
					URL  string `json:"url"`
					Body struct {
						Text string `json:"text"`
					} `json:"postData"`
				} `json:"request"`
				Comment string `json:"comment"`
			} `json:"entries"`
		} `json:"log"`
	}
	if err != nil || json.Unmarshal(b, &doc) != nil || doc.Log.Version != "1.2" || len(doc.Log.Entries) != 2 {
		t.Fatalf("%v\n%s", err, b)
	}
	if r := doc.Log.Entries[0].Request; r.URL != "https://service.example/api/v3/quote?a=b&c=it%27s" ||
		r.Body.Text != string(e.Request) || doc.Log.Entries[1].Comment != "no route" {
		t.Errorf("%+v", doc)
	}
}

// FuzzQuote reads a quoted word as a POSIX shell does and expects the original text.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "'", "''", `\'`, "a b", "$x`y`", "\n", `'\''`, "\xff", "--"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, ok := unquote(httplog.Quote(s)); !ok || got != s {
			t.Errorf("%q is read as %q, %v", s, got, ok)
		}
	})
}

// unquote is the shell's reading of one word of quoted runs and escaped characters; ok is false when a blank or an
// open quote ends it early.
func unquote(word string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(word); i++ {
		switch word[i] {
		case '\'':
			end := strings.IndexByte(word[i+1:], '\'')
			if end < 0 {
				return "", false
			}
			b.WriteString(word[i+1 : i+1+end])
			i += end + 1
		case '\\':
			i++
			if i == len(word) {
				return "", false
			}
			b.WriteByte(word[i])
		default:
			return "", false
		}
	}
	return b.String(), true
}

func TestAShellReadsWhatQuoteWrites(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("this system has no shell to ask")
	}
	for _, s := range []string{"", "'", "it's", `\`, "$HOME `id` $(id) !! ~ * ? [a] {a,b}", "a\nb\n", "\t\r\x01\x7f",
		"ü日\xff", "'\"'\"'", strings.Repeat("'", 50)} {
		out, err := exec.CommandContext(t.Context(), shell, "-c", "printf %s "+httplog.Quote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q became %q, %v", s, out, err)
		}
	}
}

// FuzzRedacted expects a document that differs in signatures only.
func FuzzRedacted(f *testing.F) {
	f.Add([]byte(`{"userOp":{"signature":"0xabcd"},"n":1.0}`))
	f.Add([]byte(`{"signature":{"r":"0x12"}}`))
	f.Add([]byte(`signature`))
	f.Add([]byte(`{"\u0073ignature":["0xabcdef"]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		got, n := httplog.Redacted(b)
		if !bytes.Equal(b, before) {
			t.Fatal("the body was changed")
		}
		if n == 0 && !bytes.Equal(got, b) {
			t.Fatalf("%q became %q", b, got)
		}
		if again, m := httplog.Redacted(got); m != 0 && !bytes.Equal(again, got) {
			t.Fatalf("%q still had %d signatures", got, m)
		}
		if doc, err := api.ParseDocument(got, api.DefaultLimits()); err == nil {
			doc.Leaves(func(pointer string, v []byte) {
				if strings.HasSuffix(strings.ToLower(pointer), "/signature") && v[0] == '"' && len(v) > 4 &&
					!bytes.HasPrefix(v, []byte(`"[signature left out`)) {
					t.Fatalf("%s is still %s", pointer, v)
				}
			})
		}
	})
}
