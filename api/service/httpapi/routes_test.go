package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/openapi"
	"coffer/api/service/access"
	"coffer/api/service/httpapi"
)

func withRelay(c *httpapi.Config, u *useCases) { c.Relay = u }

// gate notes what it was asked and answers with a fixed grant.
type gate struct {
	asked []access.Attempt
	grant access.Grant
	err   error
}

func (g *gate) Admit(_ context.Context, a access.Attempt) (access.Grant, error) {
	g.asked = append(g.asked, a)
	return g.grant, g.err
}

func TestEveryDescribedEndpointIsServedWithItsPermission(t *testing.T) {
	g := &gate{err: api.NewError(api.ErrForbidden, "no")}
	b := newBench(t, withRelay, func(c *httpapi.Config, _ *useCases) { c.Auth = g })
	for _, e := range openapi.Endpoints() {
		before := len(g.asked)
		w := b.send(httptest.NewRequest(e.Method, "/api"+e.Path, nil))
		switch {
		case e.Open:
			if w.Code != e.Status || len(g.asked) != before {
				t.Errorf("%s: %d, asked %d times for a key", e.Path, w.Code, len(g.asked)-before)
			}
		case w.Code != 403 || len(g.asked) != before+1:
			t.Errorf("%s %s: %d %s", e.Method, e.Path, w.Code, w.Body)
		default:
			if got := g.asked[before]; got.Permission != e.Permission || got.Endpoint != e.Path {
				t.Errorf("%s: asked as %+v", e.Path, got)
			}
		}
	}
}

func TestPermissionsFollowWhatAnEndpointDoes(t *testing.T) {
	for _, e := range openapi.Endpoints() {
		want := access.Quote
		switch {
		case e.Open:
			want = ""
		case e.Method == http.MethodGet:
			want = access.Read
		case strings.HasSuffix(e.Path, "execute-quote"), e.Path == "/account/relay",
			e.Path == "/account/undelegate":
			want = access.Execute
		}
		if e.Permission != want {
			t.Errorf("%s demands %q, expected %q", e.Path, e.Permission, want)
		}
	}
}

func TestRateLimitHeadersAreOnEveryAnswerToAKnownKey(t *testing.T) {
	g := &gate{grant: access.Grant{Caller: "k", Limit: 60, Remaining: 7, Reset: time.Unix(1_760_000_042, 5)}}
	b := newBench(t, func(c *httpapi.Config, _ *useCases) { c.Auth = g })
	limited := api.NewError(api.ErrTooManyRequests, "too many")
	limited.RetryAfter = 41500 * time.Millisecond
	for name, err := range map[string]error{"200": nil, "403": api.NewError(api.ErrForbidden, "no"), "429": limited} {
		g.err = err
		w := b.get("/api/assets/list")
		head := w.Header()
		if head.Get("x-ratelimit-limit") != "60" || head.Get("x-ratelimit-remaining") != "7" ||
			head.Get("x-ratelimit-reset") != "1760000043" {
			t.Errorf("%s: %v", name, head)
		}
		if want := map[bool]string{true: "42", false: ""}[name == "429"]; head.Get("Retry-After") != want {
			t.Errorf("%s: Retry-After %q, expected %q", name, head.Get("Retry-After"), want)
		}
	}
	g.grant, g.err = access.Grant{Caller: "no window"}, nil
	if head := b.get("/api/assets/list").Header(); head.Get("x-ratelimit-limit") != "" {
		t.Errorf("a key without a window: %v", head)
	}
}

func TestObserveIsToldOfEveryRequest(t *testing.T) {
	var seen []string
	b := newBench(t, func(c *httpapi.Config, _ *useCases) {
		c.Observe = func(endpoint string, status int, took time.Duration) {
			if took < 0 {
				t.Errorf("%s took %s", endpoint, took)
			}
			seen = append(seen, endpoint+" "+http.StatusText(status))
		}
	})
	b.get("/api/assets/list")
	b.get("/api/nothing")
	b.withoutKey("/api/assets/list")
	b.withoutKey("/api/explorer/eip155:1/tx/0x1")
	b.withoutKey("/healthz")
	b.panics = "broken"
	b.post("/api/v3/quote/prepare-call-quote", prepareBody)
	want := "/assets/list OK| Not Found|/assets/list Unauthorized|/explorer Not Found|/healthz " +
		"OK|/v3/quote/prepare-call-quote Internal Server Error"
	if got := strings.Join(seen, "|"); got != want {
		t.Errorf("%s\nexpected %s", got, want)
	}
}

func TestHealthNeedsNeitherKeyNorBasePath(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{"/healthz", "/api/healthz"} {
		if w := b.withoutKey(path); w.Code != 200 || w.Body.String() != `{"status":"ok"}` {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestTheDescriptionNeedsNoBasePath(t *testing.T) {
	b := newBench(t)
	below, without := b.withoutKey("/api/openapi.json"), b.withoutKey("/openapi.json")
	if without.Code != http.StatusOK || !bytes.Equal(below.Body.Bytes(), without.Body.Bytes()) {
		t.Fatalf("%d with %d bytes, below the base path %d with %d", without.Code, without.Body.Len(), below.Code,
			below.Body.Len())
	}
	var d struct{ Servers []struct{ URL string } }
	if err := json.Unmarshal(without.Body.Bytes(), &d); err != nil || len(d.Servers) != 1 ||
		d.Servers[0].URL != "/api" {
		t.Errorf("%v: it does not name the base path: %+v", err, d)
	}
}

func TestHEADIsAnsweredLikeGETWithoutABody(t *testing.T) {
	b := newBench(t)
	block, ok, err := b.in.Chains[8453].Block(context.Background(), 1)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	for _, path := range []string{
		"/healthz", "/api/healthz", "/api/openapi.json", "/api/assets/list", "/api/chains/supported-list",
		"/api/v3/status/get-tx-history?user=x",
		"/api" + httpapi.TransactionPath(caip.EVM(8453), block.Receipts[0].TxHash.Hex()),
		"/api/explorer/eip155:1/tx/0x" + strings.Repeat("0", 64), "/api/nothing",
	} {
		whole := b.get(path)
		r := httptest.NewRequest(http.MethodHead, path, nil)
		r.Header.Set("x-api-key", key)
		w := b.send(r)
		if w.Code != whole.Code || w.Body.Len() != 0 ||
			w.Header().Get("Content-Type") != whole.Header().Get("Content-Type") {
			t.Errorf("%s: %d with %d bytes and %v, GET %d with %v", path, w.Code, w.Body.Len(), w.Header(), whole.Code,
				whole.Header())
		}
		if length := whole.Header().Get("Content-Length"); whole.Code == http.StatusOK &&
			w.Header().Get("Content-Length") != length {
			t.Errorf("%s: Content-Length %q, GET %q", path, w.Header().Get("Content-Length"), length)
		}
	}
	for path, want := range map[string]int{"/api/assets/list": http.StatusUnauthorized,
		"/api/v3/quote": http.StatusNotFound} {
		if w := b.send(httptest.NewRequest(http.MethodHead, path, nil)); w.Code != want || w.Body.Len() != 0 {
			t.Errorf("%s without a key: %d with %d bytes, expected %d", path, w.Code, w.Body.Len(), want)
		}
	}
}

func TestAnUnchangedDescriptionIsNotSentAgain(t *testing.T) {
	b := newBench(t)
	ask := func(known string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/api/openapi.json", nil)
		if known != "" {
			r.Header.Set("If-None-Match", known)
		}
		return b.send(r)
	}
	first := ask("")
	tag := first.Header().Get("ETag")
	if first.Code != http.StatusOK || len(tag) < 10 || first.Header().Get("Cache-Control") != "no-cache" {
		t.Fatalf("%d %v", first.Code, first.Header())
	}
	for _, known := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
		w := ask(known)
		if w.Code != http.StatusNotModified || w.Body.Len() != 0 || w.Header().Get("ETag") != tag ||
			w.Header().Get("Content-Length") != "" {
			t.Errorf("If-None-Match %s: %d with %d bytes, %v", known, w.Code, w.Body.Len(), w.Header())
		}
	}
	for _, other := range []string{`"other"`, strings.Trim(tag, `"`), `"` + tag} {
		if w := ask(other); w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), first.Body.Bytes()) {
			t.Errorf("If-None-Match %s: %d with %d bytes", other, w.Code, w.Body.Len())
		}
	}
	if w := b.get("/api/assets/list"); w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("ETag") != "" {
		t.Errorf("what belongs to a key is not kept: %v", w.Header())
	}
}

func TestTheDescriptionIsServedWithoutAKeyAndHasWhatIsServed(t *testing.T) {
	for name, change := range map[string]func(*httpapi.Config, *useCases){"with a relay": withRelay,
		"without": func(*httpapi.Config, *useCases) {}} {
		b := newBench(t, change)
		w := b.withoutKey("/api/openapi.json")
		var d struct {
			Info  struct{ Version string }
			Paths map[string]any
		}
		if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || w.Code != 200 || d.Info.Version != "1.6.2" {
			t.Fatalf("%s: %v %d %.200s", name, err, w.Code, w.Body)
		}
		if _, there := d.Paths["/account/relay"]; there != (name == "with a relay") {
			t.Errorf("%s: the relay is described: %t", name, there)
		}
		if name == "with a relay" {
			want, err := openapi.Describe("/api", openapi.Endpoints())
			if err != nil || !bytes.Equal(want, w.Body.Bytes()) {
				t.Errorf("%v: the description served is another one", err)
			}
		}
	}
	if w := newBench(t).get("/api/account/roles?account=x"); w.Code != 404 {
		t.Errorf("roles without a relay: %d", w.Code)
	}
}

func TestV1RecordsCarryTheChainIDOfEVMTransactionsOnly(t *testing.T) {
	b := newBench(t)
	id := "?quoteId=0x" + strings.Repeat("a", 64)
	for path, want := range map[string]bool{"/api/status/get-execution-status": true,
		"/api/v3/status/get-execution-status": false} {
		w := b.get(path + id)
		if w.Code != 200 || strings.Contains(w.Body.String(), `"chainId":10,`) != want ||
			strings.Count(w.Body.String(), "chainId") > 1 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if !strings.Contains(w.Body.String(),
			`"explorerUrl":"https://here.example/api/explorer/solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/tx/`+solanaTx+
				`"`) {
			t.Errorf("%s: the Solana transaction has no page: %s", path, w.Body)
		}
	}
}

func TestRolesAreAskedForByCAIP10(t *testing.T) {
	b := newBench(t, withRelay)
	const at = "0xC162a3cE45ad151eeCd0a5532D6E489D034aB3B8"
	if w := b.get("/api/account/roles?account=eip155:10:" + at); w.Code != 200 ||
		!strings.Contains(strings.ToLower(w.Body.String()), strings.ToLower(at)) ||
		!strings.Contains(w.Body.String(), "eip155:10") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, bad := range []string{"", "?account=" + at, "?account=eip155:57:" + at, "?account=eip155:10:0x1",
		"?account=solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:11111111111111111111111111111111"} {
		w := b.get("/api/account/roles" + bad)
		if m := errorOf(t, w); w.Code != 400 || m["error"] != api.ErrValidation {
			t.Errorf("%q: %d %s", bad, w.Code, w.Body)
		}
	}
}

func TestBalancesV2TakesOneAddress(t *testing.T) {
	b := newBench(t)
	const path = "/api/v2/balances/aggregated-balance?address="
	w := b.get(path + "0xC162a3cE45ad151eeCd0a5532D6E489D034aB3B8&assetId=eip155:1/slip44:60")
	var out map[string]json.RawMessage
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != 200 {
		t.Fatal(w.Code, w.Body)
	}
	var list []any
	if err := json.Unmarshal(out["balanceByAggregatedAsset"], &list); err != nil ||
		len(list) != len(b.in.Catalog.Aggregates()) {
		t.Errorf("%d aggregates of %d", len(list), len(b.in.Catalog.Aggregates()))
	}
	if _, there := out["accounts"]; there || !strings.Contains(string(out["balanceBySpecificAsset"]),
		"eip155:1/slip44:60") {
		t.Errorf("%s", w.Body)
	}
	for _, bad := range []string{"", "me", "0x12", "eip155:1:0xC162a3cE45ad151eeCd0a5532D6E489D034aB3B8",
		"0xC162a3cE45ad151eeCd0a5532D6E489D034aB3B8&assetId=ob:usdc"} {
		if w := b.get(path + bad); w.Code != 400 {
			t.Errorf("%q: %d %s", bad, w.Code, w.Body)
		}
	}
}
