package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/client/httplog"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// spoken is one sample exchange.
type spoken struct {
	method, path, body string
	status             int
	answer             string
}

const quoteAnswer = `{"id":"0x9f3c00000000000000000000000000000000000000000000000000000000abcd",` +
	`"accounts":[{"type":"kernel-v3.1-ecdsa","accountAddress":"` +
	tuitest.Account +
	`"}],"originToken":{"aggregatedAssetId":"ob:usdc","amount":"10000000","fiatValue":[]},` +
	`"destinationToken":{"amount":"2941176470588235","ratio":1.50e3},` +
	`"originChainsOperations":[{"userOp":{"nonce":"0x00","callData":"0x` + "e9ae5c53" +
	`","signature":"0x"}}],"expirationTimestamp":"1795253460","note":"a\u001b[2Jb"}`

func samples() []spoken {
	return []spoken{
		{"GET", "/api/v3/balances/aggregated-balance?account=eip155%3A1%3A" + tuitest.Account +
			"&aggregatedAssetId=ob%3Ausdc", "", 200, `{"totalBalance":{"fiatValue":"4812.07"}}`},
		{"GET", "/api/v3/status/get-tx-history?limit=20", "", 503, `<html><body>down</body></html>`},
		{"POST", "/api/v3/quote/call-quote", `{"chainOperation":{"userOp":{"signature":"0xfeedbeeffeedbeef"}}}`, 400,
			`{"error":"QuoteExpired","message":"too late","statusCode":400}`},
		{"POST", "/api/v3/quote", `{"from":{"asset":{"assetId":"ob:usdc"},"amount":"10000000"},"slippageTolerance":50}`,
			200, quoteAnswer},
		{"POST", "/api/v3/quote/execute-quote", `{"id":"0x9f3c"}`, 0, ""},
	}
}

// speak sends samples through a log, with a clock that moves 40 ms per reading.
func speak(t testing.TB, all []spoken) *httplog.Log {
	t.Helper()
	at := tuitest.Now()
	l := httplog.NewLog(func() time.Time { at = at.Add(40 * time.Millisecond); return at })
	for _, s := range all {
		rt := l.Wrap(trip(func(*http.Request) (*http.Response, error) {
			if s.status == 0 {
				return nil, errors.New("read tcp: connection reset by peer")
			}
			h := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"r-77"}}
			return &http.Response{StatusCode: s.status, Header: h, Body: io.NopCloser(strings.NewReader(s.answer))}, nil
		}))
		r, err := http.NewRequestWithContext(t.Context(), s.method, "https://embedded.invalid"+s.path,
			strings.NewReader(s.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if res, err := rt.RoundTrip(r); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
	}
	return l
}

func shown(t testing.TB, l *httplog.Log, w, h int) *Model {
	t.Helper()
	m := New(tuitest.Context(t), Deps{Log: l, Version: "test"})
	t.Cleanup(m.Close)
	m.Update(screen.ResizedMsg{W: w, H: h})
	m.Init()
	return m
}

func TestGoldenScreens(t *testing.T) {
	for _, size := range []struct{ w, h int }{{80, 20}, {120, 36}, {60, 16}} {
		for name, keys := range map[string][]string{
			"list": nil, "quote": {"k", "enter"}, "folded": {"k", "enter", "c"}, "value": {"k", "enter", "j", "j"},
			"search": {"k", "enter", "/", "n", "o", "n", "c", "e", "enter"},
			"failed": {"enter"}, "page": {"g", "j", "enter", "j"}, "sealed": {"g", "j", "j", "enter", "k", "k", "e"},
			"filter": {"/", "q", "u", "o", "t", "e", "enter"},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size.w, size.h), func(t *testing.T) {
				m := shown(t, speak(t, samples()), size.w, size.h)
				tuitest.Keys(m, keys...)
				golden.RequireEqual(t, tuitest.Text(t, m, size.w, size.h))
			})
		}
	}
	t.Run("empty", func(t *testing.T) {
		golden.RequireEqual(t, tuitest.Text(t, shown(t, speak(t, nil), 80, 20), 80, 20))
	})
	t.Run("no log", func(t *testing.T) {
		golden.RequireEqual(t, tuitest.Text(t, shown(t, nil, 80, 20), 80, 20))
	})
}

func TestItFollowsNewExchangesUntilThePersonMoves(t *testing.T) {
	l := speak(t, samples())
	m := shown(t, l, 80, 20)
	add := func() {
		rt := l.Wrap(trip(func(*http.Request) (*http.Response, error) { return nil, errors.New("no") }))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://embedded.invalid/new", nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = rt.RoundTrip(r)
		m.Update(changedMsg{})
	}
	add()
	if e, _ := m.selected(); e.Path != "/new" {
		t.Errorf("selected %s", e.Path)
	}
	tuitest.Keys(m, "k")
	before, _ := m.selected()
	add()
	if e, _ := m.selected(); e.ID != before.ID {
		t.Errorf("the selection went from %d to %d by itself", before.ID, e.ID)
	}
	tuitest.Keys(m, "G")
	add()
	if e, _ := m.selected(); e.ID != 8 {
		t.Errorf("selected %d", e.ID)
	}
}

func TestTheListenerTellsAndEnds(t *testing.T) {
	l := speak(t, nil)
	m := New(tuitest.Context(t), Deps{Log: l})
	cmd := m.Init()
	speakInto := l.Wrap(trip(func(*http.Request) (*http.Response, error) { return nil, errors.New("no") }))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://embedded.invalid/new", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = speakInto.RoundTrip(r)
	if _, ok := cmd().(changedMsg); !ok {
		t.Error("the listener did not tell")
	}
	cmd = m.Update(changedMsg{})
	if len(m.all) != 1 {
		t.Errorf("%d exchanges", len(m.all))
	}
	m.Close()
	for range 2 { // one signal may be left
		if msg := cmd(); msg == nil {
			return
		}
	}
	t.Error("the listener goes on after Close")
}

func TestCopiesAreWhatWasSentWithoutSignatures(t *testing.T) {
	m := shown(t, speak(t, samples()), 80, 20)
	said := func(cmd tea.Cmd) screen.CopyMsg {
		c, _ := cmd().(screen.CopyMsg)
		return c
	}
	curl := said(tuitest.Keys(m, "g", "j", "j", "y"))
	if !strings.HasPrefix(curl.Text,
		`curl -sS -X 'POST' "$COFFER_URL"'/api/v3/quote/call-quote' -H "x-api-key: $API_KEY"`) ||
		strings.Contains(curl.Text, "feedbeef") {
		t.Errorf("%s", curl.Text)
	}
	if c := said(tuitest.Keys(m, "j", "Y")); c.Text != quoteAnswer {
		t.Errorf("%s", c.Text)
	}
	if c := said(tuitest.Keys(m, "enter", "g", "j", "Y")); c.What != "body of the request" ||
		!strings.Contains(c.Text, `"slippageTolerance":50`) {
		t.Errorf("%+v", c)
	}
	value := said(tuitest.Keys(m, "/", "r", "a", "t", "i", "o", "enter", "v"))
	if value.Text != "1.50e3" {
		t.Errorf("%q", value.Text)
	}
}

func TestAnExportIsMadeFromACommandAndSaysItsPath(t *testing.T) {
	var name string
	var data []byte
	ctx := tuitest.Context(t)
	ctx.Export = func(n string, b []byte) (string, error) { name, data = n, b; return "/exports/wire.har", nil }
	m := New(ctx, Deps{Log: speak(t, samples()), Version: "test"})
	defer m.Close()
	m.Update(screen.ResizedMsg{W: 80, H: 20})
	m.Init()
	cmd := tuitest.Keys(m, "x")
	if name != "" {
		t.Error("written on the event loop")
	}
	toast, _ := cmd().(screen.ToastMsg)
	if name != "wire.har" || !jsontext.Value(data).IsValid() || bytes.Contains(data, []byte("feedbeef")) ||
		toast.Text != "5 exchanges in /exports/wire.har" {
		t.Errorf("%q, %+v", name, toast)
	}
}

func TestTheWheelOfASearchTurnsBothWays(t *testing.T) {
	m := shown(t, speak(t, []spoken{{"GET", "/x", "", 200, `{"a":1,"b":{"a":2},"c":[{"a":3}]}`}}), 80, 20)
	tuitest.Keys(m, "enter", "/", "a", "enter")
	var got []string
	for _, k := range []string{"n", "n", "n", "N", "N", "N"} {
		tuitest.Keys(m, k)
		got = append(got, m.detail.selected().place())
	}
	if m.detail.hits < 4 || got[0] != "/b/a" || got[1] != "/c/0/a" || got[2] == "/a" {
		t.Fatalf("%d matches: %v", m.detail.hits, got)
	}
	if got[3] != got[1] || got[4] != got[0] {
		t.Errorf("back is another way: %v", got)
	}
}

// TH-R1: no text of an answer acts on the terminal.
func TestR1_HostileBodiesAreCleaned(t *testing.T) {
	for _, body := range []string{"\x1b]0;owned\x07", "{\"a\u202e\":\"\x9b31m\"}", "{\"\x1b[2J\":\"\x1b[2J\"}",
		"a\r\nb\x08\x08c", `{"a":"` + strings.Repeat("\u0301", 300) + `"}`} {
		m := shown(t, speak(t, []spoken{{"GET", "/x\u202e", "", 200, body}}), 80, 20)
		for _, keys := range [][]string{nil, {"enter"}, {"j"}, {"j"}, {"e"}} {
			tuitest.Keys(m, keys...)
			if text := ansi.Strip(tuitest.Text(t, m, 80, 20)); strings.ContainsAny(text,
				"\x1b\x07\x08\r\u202e\u009b\u0301") {
				t.Errorf("%q shows %q", body, text)
			}
		}
		if c, ok := tuitest.Keys(m, "Y")().(screen.CopyMsg); ok && strings.ContainsAny(c.Text, "\x1b\x07\x08\r") {
			t.Errorf("copied %q", c.Text)
		}
	}
}

func TestClicksChooseAndOpen(t *testing.T) {
	m := shown(t, speak(t, samples()), 80, 20)
	m.Update(screen.ClickMsg{X: 5, Y: 3})
	if e, _ := m.selected(); e.ID != 2 || m.detail != nil || m.follow {
		t.Fatalf("selected %d", e.ID)
	}
	m.Update(screen.ClickMsg{X: 5, Y: 3})
	if m.detail == nil || m.detail.e.ID != 2 {
		t.Fatal("not opened")
	}
	m.Update(screen.ClickMsg{X: 5, Y: 1})
	if m.detail.table.Selected() != 0 {
		t.Error("a click in the tree selects nothing")
	}
}

func TestEveryKeyThatIsOfferedHasAnActionOfItsOwn(t *testing.T) {
	m := shown(t, speak(t, samples()), 80, 20)
	for _, keys := range [][]string{nil, {"k", "enter"}} {
		tuitest.Keys(m, keys...)
		seen := map[string]bool{}
		for _, k := range m.Keys() {
			if seen[k.ActionName()] {
				t.Errorf("two keys are called %s", k.ActionName())
			}
			seen[k.ActionName()] = true
		}
	}
}

func FuzzTree(f *testing.F) {
	f.Add([]byte(quoteAnswer), false)
	f.Add([]byte(`{"a":1,"a":2}`), true)
	f.Add([]byte("[[[[1"), true)
	f.Add([]byte("<html>"), false)
	f.Add([]byte("\xff{"), false)
	f.Fuzz(func(t *testing.T, b []byte, cut bool) {
		root := &node{name: "body", open: true}
		parse(root, b, cut)
		at := 0
		walk(root, func(n *node) bool {
			if n.kind == noteKind || n.text == "" {
				return true
			}
			i := bytes.Index(b[at:], []byte(n.text))
			if i < 0 {
				t.Fatalf("%q is not in the body, or not in its place", n.text)
			}
			at += i + len(n.text)
			return true
		})
		d := &detail{root: root, table: kit.NewTable(kit.Column{Min: 20, Grow: 1}), find: kit.NewField("", 10)}
		d.resize(60, 16)
		d.refresh()
		tuitest.CheckBox(t, d.view(tuitest.Theme(), 60, 16), 60, 16)
	})
}
