package jsonrpc

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// What a body is answered with, over HTTP and over WebSocket alike.
func bodies() map[string][2]string {
	call := func(params string) string { return `{"jsonrpc":"2.0","id":1,"method":"echo","params":` + params + `}` }
	with := func(id, rest string) string { return `{"jsonrpc":"2.0","id":` + id + `,` + rest + `}` }
	ask := func(id, method string) string { return with(id, `"method":"`+method+`"`) }
	is := func(id, result string) string { return with(id, `"result":`+result) }
	wrong := func(id, code, text string) string {
		return with(id, `"error":{"code":`+code+`,"message":"`+text+`"}`)
	}
	invalid := func(id string) string { return wrong(id, "-32600", "invalid request") }
	batch := func(all ...string) string { return `[` + strings.Join(all, ",") + `]` }
	const far = "9007199254740993" // no float64
	return map[string][2]string{
		"call":              {call(`["0x1",{"a":[1]}]`), is("1", `["0x1",{"a":[1]}]`)},
		"id of text":        {ask(`"a\u0062"`, "none"), is(`"a\u0062"`, "null")},
		"id with digits":    {ask(far, "none"), is(far, "null")},
		"id null is a call": {ask("null", "none"), is("null", "null")},
		"params null":       {call("null"), is("1", "null")},
		"params empty":      {call("[]"), is("1", "[]")},
		"params absent":     {ask("1", "echo"), is("1", "null")},
		"params object":     {call(`{"a":1}`), wrong("1", "-32602", "non-array args")},
		"params text":       {call(`"0x1"`), wrong("1", "-32602", "non-array args")},
		"no JSON":           {`{"jsonrpc":`, wrong("null", "-32700", "parse error")},
		"nothing":           {` `, wrong("null", "-32700", "parse error")},
		"two values":        {call("[]") + " {}", wrong("null", "-32700", "parse error")},
		"a number":          {`1`, invalid("null")},
		"no method":         {`{"jsonrpc":"2.0","id":7}`, invalid("7")},
		"another version":   {`{"jsonrpc":"1.0","id":7,"method":"echo"}`, invalid("7")},
		"id of an object":   {ask("{}", "echo"), invalid("null")},
		"unknown method": {ask("1", "eth_noSuch"),
			wrong("1", "-32601", "the method eth_noSuch does not exist/is not available")},
		"error with a code": {ask("1", "revert"),
			with("1", `"error":{"code":3,"message":"execution reverted","data":"0x"}`)},
		"error without one": {ask("1", "fail"), wrong("1", "-32000", "nonce too low")},
		"panic":             {ask("1", "panic"), wrong("1", "-32603", "internal error")},
		"empty batch":       {`[]`, wrong("null", "-32600", "empty batch")},
		"batch": {batch(ask("1", "none"), ask(`"b"`, "fail")),
			batch(is("1", "null"), wrong(`"b"`, "-32000", "nonce too low"))},
		"a bad item":          {batch("1", ask("1", "none")), batch(invalid("null"), is("1", "null"))},
		"a notification in a": {batch(`{"jsonrpc":"2.0","method":"none"}`, ask("1", "none")), batch(is("1", "null"))},
		"batch too large": {batch(slices.Repeat([]string{ask("5", "none")}, 1001)...),
			batch(wrong("5", "-32600", "batch too large"))},
		"largest batch": {batch(slices.Repeat([]string{ask("5", "none")}, 1000)...),
			batch(slices.Repeat([]string{is("5", "null")}, 1000)...)},
	}
}

func TestEveryBodyIsAnsweredAsANodeDoes(t *testing.T) {
	_, h := begin(t, Options{})
	c := dial(t, h)
	for name, b := range bodies() {
		if status, got := post(t, h, b[0]); status != http.StatusOK || got != b[1] {
			t.Errorf("%s: %d %.300s, expected %.300s", name, status, got, b[1])
		}
		if got := ask(t, c, b[0]); got != b[1] {
			t.Errorf("%s over WebSocket: %.300s, expected %.300s", name, got, b[1])
		}
	}
}

func TestNotificationsGetNothing(t *testing.T) {
	_, h := begin(t, Options{})
	c := dial(t, h)
	const ping = `{"jsonrpc":"2.0","method":"ping"}`
	for _, body := range []string{ping, `[` + ping + `,` + ping + `]`, `{"jsonrpc":"2.0","method":"panic"}`} {
		if status, got := post(t, h, body); status != http.StatusNoContent || got != "" {
			t.Errorf("%s: %d %q", body, status, got)
		}
		if err := c.WriteMessage(1, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if got := ask(t, c, `{"jsonrpc":"2.0","id":1,"method":"none"}`); !strings.Contains(got, `"id":1`) {
		t.Errorf("after notifications: %s", got)
	}
}

func TestAPanicIsLoggedWithoutWhatItSays(t *testing.T) {
	var log bytes.Buffer
	_, h := begin(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	_, got := post(t, h, `{"jsonrpc":"2.0","id":1,"method":"panic","params":["0xsecret"]}`)
	if strings.Contains(got, "secret") || strings.Contains(log.String(), "secret") ||
		!strings.Contains(log.String(), "method=panic") || !strings.Contains(log.String(), "helpers_test.go") {
		t.Errorf("answer %s, log %s", got, &log)
	}
}

func TestARequestHasATime(t *testing.T) {
	_, h := begin(t, Options{Limits: Limits{Time: 20 * time.Millisecond}})
	const call = `{"jsonrpc":"2.0","id":1,"method":"sleep"}`
	const want = `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"request timed out"}}`
	if _, got := post(t, h, call); got != want {
		t.Errorf("%s", got)
	}
	start := time.Now() // a batch has the same time in all
	if _, got := post(t, h, `[`+strings.Repeat(call+",", 99)+call+`]`); strings.Count(got, want) != 100 {
		t.Errorf("%s", got)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("a batch took %s", took)
	}
}

func TestWhatIsTooLargeIsRefused(t *testing.T) {
	_, h := begin(t, Options{Limits: Limits{Answer: 2 << 20}})
	blank := strings.Repeat(" ", DefaultLimits().Body)
	if status, _ := post(t, h, blank+"1"); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a body over the limit: %d", status)
	}
	res, err := http.Post(h.URL, "application/json", io.MultiReader(strings.NewReader(blank), strings.NewReader("1")))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a body over the limit, of unknown length: %d", res.StatusCode)
	}
	const call = `{"jsonrpc":"2.0","id":1,"method":"none"}`
	if status, got := post(t, h, blank[:len(blank)-len(call)]+call); status != http.StatusOK || got == "" {
		t.Errorf("the largest body: %d %s", status, got)
	}
	large := func(n int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"large","params":[%d]}`, n, n)
	}
	if _, got := post(t, h, large(2<<20)); !strings.Contains(got, `"code":-32003,"message":"response too large"`) {
		t.Errorf("an answer over the limit: %.200s", got)
	}
	_, got := post(t, h, `[`+large(1<<20)+`,`+large(1<<19)+`,`+large(1<<20)+`,`+large(3)+`]`)
	var all []struct {
		ID    int
		Error *Error
	}
	if err := json.Unmarshal([]byte(got), &all); err != nil || len(all) != 4 {
		t.Fatalf("%v, %d answers", err, len(all))
	}
	for i, late := range []bool{false, false, true, false} {
		if (all[i].Error != nil) != late {
			t.Errorf("answer %d of a batch over the limit: %v", i, all[i].Error)
		}
	}
}

func TestManyLargeAnswersAtOnceAreRefused(t *testing.T) {
	s, _ := begin(t, Options{})
	for range maxLarge {
		s.large <- struct{}{}
	}
	q := &request{Server: s, methods: methods()}
	got := q.answer(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"large","params":[2000000]}`))
	if !strings.Contains(string(got), `"code":-32003`) {
		t.Errorf("%.100s", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := q.read(ctx, strings.NewReader(strings.Repeat("x", smallBody))); err == nil {
		t.Error("a large body did not wait")
	}
	q.release()
	if len(s.large) != maxLarge {
		t.Error("a place was given back that was not taken")
	}
}

func TestHTTPStatuses(t *testing.T) {
	s := NewServer(Options{Hosts: []string{"Node.example"}, CORS: []string{"https://app.example"}})
	remote := NewServer(Options{Remote: true, CORS: []string{"*"}})
	const call = `{"jsonrpc":"2.0","id":1,"method":"none"}`
	head := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	kind := func(value string) func(*http.Request) { return head("Content-Type", value) }
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	page := func(method, origin string) func(*http.Request) {
		return func(r *http.Request) {
			r.Method = method
			r.Header.Set("Origin", origin)
		}
	}
	for name, c := range map[string]struct {
		s      *Server
		change func(*http.Request)
		want   int
	}{
		"as it should be":   {s, func(*http.Request) {}, 200},
		"with a charset":    {s, kind("application/json; charset=utf-8"), 200},
		"another JSON type": {s, kind("application/json-rpc"), 200},
		"plain text":        {s, kind("text/plain"), 415},
		"no content type":   {s, func(r *http.Request) { r.Header.Del("Content-Type") }, 415},
		"compressed":        {s, head("Content-Encoding", "gzip"), 415},
		"a health check": {s, func(r *http.Request) {
			r.Method, r.Body, r.ContentLength = http.MethodGet, http.NoBody, 0
		}, 200},
		"a GET with a body":     {s, func(r *http.Request) { r.Method = http.MethodGet }, 405},
		"DELETE":                {s, func(r *http.Request) { r.Method = http.MethodDelete }, 405},
		"localhost":             {s, host("LOCALHOST.:8545"), 200},
		"IPv6":                  {s, host("[::1]:8545"), 200},
		"a name that is known":  {s, host("node.example:8545"), 200},
		"another name":          {s, host("evil.example:8545"), 403},
		"a name like ours":      {s, host("localhost.evil.example"), 403},
		"another address":       {s, host("192.0.2.1"), 403},
		"no host":               {s, host(""), 403},
		"an address, remote":    {remote, host("192.0.2.1"), 200},
		"a name, remote":        {remote, host("evil.example"), 403},
		"our page":              {s, page("POST", "https://app.example"), 200},
		"another page":          {s, page("POST", "http://localhost:3000"), 403},
		"a page without name":   {s, page("POST", "null"), 403},
		"any page":              {remote, page("POST", "https://x"), 200},
		"preflight of our page": {s, page("OPTIONS", "https://app.example"), 200},
		"preflight of another":  {s, page("OPTIONS", "https://x"), 403},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/1", strings.NewReader(call))
		r.Host = "127.0.0.1:8545"
		r.Header.Set("Content-Type", "application/json")
		c.change(r)
		w := httptest.NewRecorder()
		c.s.Endpoint(methods()).ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s: %d, expected %d: %s", name, w.Code, c.want, w.Body)
		}
		origin := r.Header.Get("Origin")
		allowed := w.Header().Get("Access-Control-Allow-Origin")
		if (allowed != "") != (origin != "" && c.want == 200) || allowed != "" && allowed != origin {
			t.Errorf("%s: the page of %q may read: %q", name, origin, allowed)
		}
		if c.want == http.StatusForbidden && strings.Contains(w.Body.String(), "result") {
			t.Errorf("%s: it was carried out", name)
		}
	}
}

func TestALargeAnswerIsCompressedForThoseWhoAsk(t *testing.T) {
	_, h := begin(t, Options{})
	for header, compressed := range map[string]bool{
		"gzip": true, "deflate, GZIP;q=0.5": true, "": false, "gzip;q=0": false, "br": false,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL,
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"large","params":[100000]}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept-Encoding", header)
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Header.Get("Content-Encoding") == "gzip"; got != compressed {
			t.Errorf("%q: compressed %t", header, got)
		}
		var body io.Reader = res.Body
		if compressed {
			if body, err = gzip.NewReader(res.Body); err != nil {
				t.Fatal(err)
			}
		}
		if raw, err := io.ReadAll(body); err != nil || len(raw) < 100000 || !json.Valid(raw) {
			t.Errorf("%q: %d bytes, %v", header, len(raw), err)
		}
		_ = res.Body.Close()
	}
}

func TestCallsComeInManyAtOnce(t *testing.T) {
	_, h := begin(t, Options{})
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			for j := range 20 {
				id := fmt.Sprintf("%d", i*1000+j)
				_, got := post(t, h, `{"jsonrpc":"2.0","id":`+id+`,"method":"echo","params":[`+id+`]}`)
				if got != `{"jsonrpc":"2.0","id":`+id+`,"result":[`+id+`]}` {
					t.Errorf("%s: %s", id, got)
				}
			}
		})
	}
	all.Wait()
}

// Every body is answered with JSON that names an id it had, or with nothing, and no method sees what is no array.
func FuzzBody(f *testing.F) {
	for _, b := range bodies() {
		if len(b[0]) < 1000 {
			f.Add([]byte(b[0]))
		}
	}
	s := NewServer(Options{Limits: Limits{Batch: 8}})
	f.Fuzz(func(t *testing.T, body []byte) {
		q := request{Server: s, methods: Methods{"echo": methods()["echo"], "panic": methods()["panic"]}}
		out := q.answer(t.Context(), body)
		if out == nil {
			return
		}
		if !json.Valid(out) {
			t.Fatalf("%q is answered with %q", body, out)
		}
		one := struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
		}{}
		all := []json.RawMessage{out}
		if out[0] == '[' {
			if err := json.Unmarshal(out, &all); err != nil || len(all) == 0 || len(all) > 8 {
				t.Fatalf("%q is answered with %q: %v", body, out, err)
			}
		}
		for _, raw := range all {
			if err := json.Unmarshal(raw, &one); err != nil || one.Version != "2.0" || !isID(one.ID) ||
				!bytes.Equal(one.ID, null) && !bytes.Contains(body, one.ID) {
				t.Fatalf("%q is answered with %q: %v", body, raw, err)
			}
		}
	})
}
