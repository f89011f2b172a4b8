package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/service/access"
	"coffer/api/service/devnet"
	"coffer/api/service/httpapi"
	"coffer/api/service/portfolio"
	"coffer/api/service/price"
	"coffer/api/service/quotestore"
	"coffer/api/service/store"
)

// solanaTx can be the signature of a Solana transaction.
const solanaTx = "2z1h92bonjpq5yELFiDfNgKoAFEp1MxU8qLuAV7RRbFDTHZ6Ts8AvGYBry7TR9doZK1ePMdWJGNt7XiNzU9wAd5B"

const key = "a-key-that-must-never-be-logged"

func now() time.Time { return time.Unix(1_760_000_000, 123_000_000) }

// useCases answers with fixed outcomes and remembers what it was asked.
type useCases struct {
	err     error
	panics  any
	answer  string
	history quotestore.HistoryQuery
}

func (u *useCases) do() (*api.Document, error) {
	if u.panics != nil {
		panic(u.panics)
	}
	if u.err != nil {
		return nil, u.err
	}
	return api.ParseDocument([]byte(u.answer), api.DefaultLimits())
}

func (u *useCases) Prepare(context.Context, *api.Document) (*api.Document, error)     { return u.do() }
func (u *useCases) PrepareV1(context.Context, *api.Document) (*api.Document, error)   { return u.do() }
func (u *useCases) CallQuote(context.Context, *api.Document) (*api.Document, error)   { return u.do() }
func (u *useCases) CallQuoteV1(context.Context, *api.Document) (*api.Document, error) { return u.do() }
func (u *useCases) Quote(context.Context, *api.Document) (*api.Document, error)       { return u.do() }
func (u *useCases) QuoteV1(context.Context, *api.Document) (*api.Document, error)     { return u.do() }
func (u *useCases) Execute(context.Context, *api.Document) (*api.Document, error)     { return u.do() }
func (u *useCases) ExecuteV1(context.Context, *api.Document) (*api.Document, error)   { return u.do() }
func (u *useCases) Relay(context.Context, *api.Document) (*api.Document, error)       { return u.do() }
func (u *useCases) Undelegate(context.Context, *api.Document) (*api.Document, error)  { return u.do() }
func (u *useCases) Code(context.Context, []caip.Account) (api.CodeResponse, error) {
	return api.CodeResponse{}, u.err
}
func (u *useCases) Roles(_ context.Context, c caip.Chain, a common.Address) (api.RolesResponse, error) {
	return api.RolesResponse{SessionAddress: a.Hex(), CoSigner: c.String(), AdminNonce: "0", OperationNonce: "0"}, u.err
}
func (u *useCases) Status(_ context.Context, id string) (api.ExecutionStatus, bool, error) {
	switch id {
	case "0x" + strings.Repeat("a", 64):
	case "0x" + strings.Repeat("d", 64):
		return api.ExecutionStatus{QuoteID: id, Status: api.StatusPending}, true, u.err
	default:
		return api.ExecutionStatus{}, false, u.err
	}
	return api.ExecutionStatus{QuoteID: id, Status: api.StatusPending, OriginChainOperations: []api.OperationRef{
		{Hash: "0x" + strings.Repeat("b", 64), Chain: "eip155:10", ExplorerURL: "https://old.example:1/x"},
		{Hash: solanaTx, Chain: caip.SolanaMainnet().String()},
	}}, true, u.err
}
func (u *useCases) History(_ context.Context, q quotestore.HistoryQuery) (quotestore.Page, error) {
	u.history = q
	return quotestore.Page{}, u.err
}

type bench struct {
	*useCases
	in      *devnet.Installation
	handler http.Handler
	log     *bytes.Buffer
}

func newBench(t testing.TB, change ...func(*httpapi.Config, *useCases)) *bench {
	t.Helper()
	in, err := devnet.Open(store.NewMemory(), devnet.Options{Clock: now,
		Seed: []byte("an installation seed of 32 bytes"), Kind: network.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	prices, err := price.New(in.Catalog, []byte("seed"))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{useCases: &useCases{answer: "{}"}, in: in, log: &bytes.Buffer{}}
	config := httpapi.Config{
		BasePath: "/api", Auth: access.NewOneKey(key), Network: in.Network, YieldToWriter: in.Store.YieldToWriter,
		Portfolio: portfolio.New(portfolio.Deps{Network: in.Network, Prices: prices, Clock: now}),
		Quoter:    b.useCases, Settler: b.useCases, Records: b.useCases, Clock: now, Random: strings.NewReader("1234"),
		Log:          slog.New(slog.NewJSONHandler(b.log, nil)),
		ExplorerBase: func() string { return "https://here.example/api" },
	}
	for _, c := range change {
		c(&config, b.useCases)
	}
	b.handler, err = httpapi.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

func (b *bench) get(path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("x-api-key", key)
	return b.send(r)
}

func (b *bench) post(path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("x-api-key", key)
	r.Header.Set("Content-Type", "application/json")
	return b.send(r)
}

// errorOf checks the shape of an error body and returns it.
func errorOf(t *testing.T, w *httptest.ResponseRecorder) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
		t.Fatalf("%d %q: %v", w.Code, w.Body, err)
	}
	if ct := w.Header().Get("Content-Type"); ct != "application/json" {
		t.Errorf("Content-Type %q", ct)
	}
	if m["statusCode"] != float64(w.Code) {
		t.Errorf("statusCode %v in an answer with %d", m["statusCode"], w.Code)
	}
	for _, name := range []string{"error", "message"} {
		if s, _ := m[name].(string); s == "" {
			t.Errorf("%q is missing: %s", name, w.Body)
		}
	}
	return m
}

const (
	prepareBody = `{"accounts":[{"type":"kernel-v3.1-ecdsa","signerAddress":"0x11111111111111111111111111111111111111` +
		`11","accountAddress":"0x2222222222222222222222222222222222222222"}],"targetChain":"eip155:8453",` +
		`"calls":[{"to":"0x3333333333333333333333333333333333333333","data":"0x","value":"0"}]}`
	predictBody = `{"type":"kernel-v3.1-ecdsa","signerAddress":"0x5d6fb4eb211a6a2e406a1111b54d26c534753c8e"}`
)

func TestEveryErrorOfAUseCaseKeepsItsNameAndStatus(t *testing.T) {
	b := newBench(t)
	for name, status := range map[string]int{
		api.ErrTamperProof: 400, api.ErrInvalidSignature: 400, api.ErrQuoteExpired: 400, api.ErrPrepareAgain: 400,
		api.ErrInsufficientBalance: 400,
		api.ErrNoRoute:             400, api.ErrDelegation: 400, api.ErrForbidden: 403, api.ErrNotFound: 404,
		api.ErrAlreadyExecuted:  409,
		api.ErrSimulationFailed: 422, api.ErrTooManyRequests: 429, api.ErrValidation: 400,
	} {
		b.err = fmt.Errorf("wrapped: %w", api.NewError(name, "plain words"))
		w := b.post("/api/v3/quote/prepare-call-quote", prepareBody)
		if m := errorOf(t, w); w.Code != status || m["error"] != name || m["message"] != "plain words" {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestRetryAfterIsSentInWholeSeconds(t *testing.T) {
	b := newBench(t)
	e := api.NewError(api.ErrTooManyRequests, "too many")
	e.RetryAfter = 1200 * time.Millisecond
	b.err = e
	if w := b.post("/api/v3/quote/prepare-call-quote", prepareBody); w.Header().Get("Retry-After") != "2" {
		t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
	}
}

func TestAMissingOrWrongKeyIsAnsweredWithTimeAndPath(t *testing.T) {
	b := newBench(t)
	for _, k := range []string{"", "wrong"} {
		r := httptest.NewRequest(http.MethodGet, "/api/assets/list?x=1", nil)
		r.Header.Set("x-api-key", k)
		w := b.send(r)
		m := errorOf(t, w)
		want := map[string]any{
			"error": "UnauthorizedException", "message": "Invalid or missing API key", "statusCode": 401.0,
			"timestamp": "2025-10-09T08:53:20.123Z", "path": "/api/assets/list",
		}
		if fmt.Sprint(m) != fmt.Sprint(want) {
			t.Errorf("key %q: %v, expected %v", k, m, want)
		}
	}
}

func TestUnknownPathsAndMethodsHaveTheErrorBody(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{"/", "/api", "/api/", "/api/nothing", "/assets/list", "/api/assets/list/",
		"/apix/assets/list", "/api/network.json", "/api/explorer/x"} {
		w := b.get(path)
		if m := errorOf(t, w); w.Code != 404 || m["error"] != api.ErrNotFound {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if m := errorOf(t, b.get("/assets/list")); !strings.HasSuffix(m["message"].(string),
		"the interface is below /api") {
		t.Errorf("a forgotten base path: %v", m)
	}
	w := b.post("/api/assets/list", "{}")
	if m := errorOf(t, w); w.Code != 404 || !strings.Contains(m["message"].(string), "takes GET") {
		t.Errorf("POST on a GET path: %d %s", w.Code, w.Body)
	}
}

func TestBodiesMustBeJSONWithinTheLimits(t *testing.T) {
	b := newBench(t)
	const path = "/api/account/predict-address"
	for name, c := range map[string]struct {
		head, value, body string
		status            int
		error             string
	}{
		"form":         {"Content-Type", "application/x-www-form-urlencoded", predictBody, 415, api.ErrMediaType},
		"no type":      {"Content-Type", "", predictBody, 415, api.ErrMediaType},
		"charset":      {"Content-Type", "application/json; charset=latin1", predictBody, 415, api.ErrMediaType},
		"utf-8":        {"Content-Type", "application/json; charset=UTF-8", predictBody, 201, ""},
		"compressed":   {"Content-Encoding", "gzip", predictBody, 415, api.ErrMediaType},
		"empty":        {"", "", "", 400, api.ErrValidation},
		"not json":     {"", "", "{", 400, api.ErrValidation},
		"twice":        {"", "", `{"type":"a","type":"b"}`, 400, api.ErrValidation},
		"trailing":     {"", "", predictBody + "{}", 400, api.ErrValidation},
		"deep":         {"", "", strings.Repeat("[", 40) + strings.Repeat("]", 40), 400, api.ErrValidation},
		"just fitting": {"", "", predictBody + strings.Repeat(" ", 4<<20-len(predictBody)), 201, ""},
		"too large":    {"", "", predictBody + strings.Repeat(" ", 4<<20-len(predictBody)+1), 400, api.ErrValidation},
		"no members":   {"", "", "{}", 400, api.ErrValidation},
	} {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(c.body))
		r.Header.Set("x-api-key", key)
		r.Header.Set("Content-Type", "application/json")
		if c.head != "" {
			r.Header.Set(c.head, c.value)
		}
		w := b.send(r)
		if w.Code != c.status {
			t.Errorf("%s: %d %s, expected %d", name, w.Code, w.Body, c.status)
			continue
		}
		if c.error != "" {
			if m := errorOf(t, w); m["error"] != c.error {
				t.Errorf("%s: %s, expected %s", name, w.Body, c.error)
			}
		}
	}
}

// Large bodies are held in memory: a caller who keeps some from ending gets no more of them, but goes on with small
// ones, as all others do.
func TestOnlySoManyLargeBodiesAreUnderWay(t *testing.T) {
	b := newBench(t)
	post := func(body io.Reader) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/api/account/predict-address", body)
		r.Header.Set("x-api-key", key)
		r.Header.Set("Content-Type", "application/json")
		return b.send(r)
	}
	large := func() io.Reader { return strings.NewReader(predictBody + strings.Repeat(" ", 300<<10)) }
	const many = 8
	var held []*io.PipeWriter
	done := make(chan int, many)
	for range many {
		in, out := io.Pipe()
		go func() { done <- post(in).Code }()
		_, err := io.Copy(out, large()) // ends when all of it was taken, beyond what needs room
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, out)
	}
	w := post(large())
	if m := errorOf(t, w); w.Code != 429 || m["error"] != api.ErrTooManyRequests ||
		w.Header().Get("Retry-After") != "1" {
		t.Errorf("one more large body: %d %s", w.Code, w.Body)
	}
	if w := post(strings.NewReader(predictBody)); w.Code != 201 {
		t.Errorf("a small body: %d %s", w.Code, w.Body)
	}
	for _, out := range held {
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for range many {
		if code := <-done; code != 201 {
			t.Errorf("a large body that ended: %d", code)
		}
	}
	for range many + 1 {
		if w := post(large()); w.Code != 201 {
			t.Errorf("a large body after them: %d %s", w.Code, w.Body)
		}
	}
}

func TestAValidationErrorListsEveryFailure(t *testing.T) {
	b := newBench(t)
	w := b.post("/api/account/predict-address", `{"type":"role-based","sessionAddress":"0x1"}`)
	m := errorOf(t, w)
	var paths []string
	for _, d := range m["details"].([]any) {
		paths = append(paths, d.(map[string]any)["path"].(string))
	}
	for _, want := range []string{"sessionAddress", "adminAddress"} {
		if !strings.Contains(strings.Join(paths, " "), want) || !strings.Contains(m["message"].(string), want) {
			t.Errorf("%s is not among the failures: %s", want, w.Body)
		}
	}
}

func TestAPanicOrAnInternalErrorShowsNoDetail(t *testing.T) {
	b := newBench(t)
	for _, set := range []func(){
		func() { b.err = errors.New("disk full at /home/somebody/coffer.db") },
		func() { b.err, b.panics = nil, "disk full at /home/somebody/coffer.db" },
	} {
		set()
		w := b.post("/api/v3/quote/prepare-call-quote", prepareBody)
		m := errorOf(t, w)
		if w.Code != 500 || m["error"] != api.ErrInternal || strings.Contains(w.Body.String(), "disk") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if id := w.Header().Get("X-Request-Id"); id == "" || !strings.Contains(w.Body.String(), id) ||
			!strings.Contains(b.log.String(), id) {
			t.Errorf("request id %q must be in the answer and in the log", id)
		}
	}
	if !strings.Contains(b.log.String(), "disk full") {
		t.Error("the cause is not in the log")
	}
}

func TestLogLinesNeverHoldTheKey(t *testing.T) {
	b := newBench(t)
	b.get("/api/assets/list")
	b.get("/api/assets/list?x-api-key=" + key)
	r := httptest.NewRequest(http.MethodGet, "/api/assets/list", nil)
	r.Header.Set("x-api-key", key+"-wrong")
	b.send(r)
	b.panics = "x"
	b.post("/api/v3/quote/prepare-call-quote", prepareBody)
	if strings.Contains(b.log.String(), key) {
		t.Errorf("the key is in the log:\n%s", b.log)
	}
	if n := strings.Count(b.log.String(), `"msg":"request"`); n != 4 {
		t.Errorf("%d lines for 4 requests", n)
	}
}

func TestListsAreBareArrays(t *testing.T) {
	b := newBench(t)
	for path, want := range map[string]int{"/api/chains/supported-list": 8,
		"/api/assets/list": len(b.in.Catalog.Aggregates())} {
		w := b.get(path)
		var list []map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list) != want || w.Code != 200 {
			t.Errorf("%s: %d, %d elements (%v), expected %d", path, w.Code, len(list), err, want)
		}
	}
}

func TestPredictAddressAnswers201InEIP55(t *testing.T) {
	b := newBench(t)
	w := b.post("/api/account/predict-address", predictBody)
	var out api.PredictResponse
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != 201 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if out.PredictedAddress == strings.ToLower(out.PredictedAddress) || len(out.PredictedAddress) != 42 {
		t.Errorf("%q is not in EIP-55 form", out.PredictedAddress)
	}
}

func TestAnUnknownQuoteIDIsAnEmptyObject(t *testing.T) {
	b := newBench(t)
	w := b.get("/api/v3/status/get-execution-status?quoteId=0x" + strings.Repeat("c", 64))
	if w.Code != 200 || strings.TrimSpace(w.Body.String()) != "{}" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, bad := range []string{"", "?quoteId=", "?quoteId=0x12", "?quoteId=x&quoteId=y", "?quoteId=%zz"} {
		if w := b.get("/api/v3/status/get-execution-status" + bad); w.Code != 400 {
			t.Errorf("%q: %d %s", bad, w.Code, w.Body)
		}
	}
}

func TestAKnownQuoteAlwaysListsItsOriginOperations(t *testing.T) {
	b := newBench(t)
	w := b.get("/api/v3/status/get-execution-status?quoteId=0x" + strings.Repeat("d", 64))
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"originChainOperations":[]`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestExplorerAddressesAreThoseOfThisService(t *testing.T) {
	b := newBench(t)
	w := b.get("/api/v3/status/get-execution-status?quoteId=0x" + strings.Repeat("A", 64))
	want := "https://here.example/api/explorer/eip155:10/tx/0x" + strings.Repeat("b", 64)
	if !strings.Contains(w.Body.String(), `"explorerUrl":"`+want+`"`) {
		t.Errorf("%s, expected %s", w.Body, want)
	}
}

func TestHistoryParametersHaveTheDocumentedDefaultsAndBounds(t *testing.T) {
	b := newBench(t)
	const path, user = "/api/v3/status/get-tx-history", "0xC162a3cE45ad151eeCd0a5532D6E489D034aB3B8"
	if w := b.get(path + "?user=" + user); w.Code != 200 || !strings.Contains(w.Body.String(), `"transactions":[]`) ||
		strings.Contains(w.Body.String(), "continuation") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if want := (quotestore.HistoryQuery{User: strings.ToLower(user), Limit: 20, SortBy: "createdAt"}); b.history !=
		want {
		t.Errorf("%+v, expected %+v", b.history, want)
	}
	b.get(path + "?user=" + user + "&limit=1000&sortBy=updatedAt&continuation=abc")
	if want := (quotestore.HistoryQuery{User: strings.ToLower(user), Limit: 100, SortBy: "updatedAt",
		Continuation: "abc"}); b.history != want {
		t.Errorf("%+v, expected %+v", b.history, want)
	}
	for _, limit := range []string{"4294967296", "99999999999999999999999"} {
		if b.get(path + "?user=" + user + "&limit=" + limit); b.history.Limit != 100 {
			t.Errorf("limit %s: %d", limit, b.history.Limit)
		}
	}
	for _, bad := range []string{"?user=" + user + "&limit=01", "", "?user=me", "?user=" + user + "&limit=0",
		"?user=" + user + "&limit=-1", "?user=" + user + "&limit=1.5",
		"?user=" + user + "&limit=+3", "?user=" + user + "&sortBy=amount", "?user=" + user + "&user=" + user} {
		if w := b.get(path + bad); w.Code != 400 {
			t.Errorf("%q: %d %s", bad, w.Code, w.Body)
		}
	}
}

func TestAnOversizedQueryIsRefused(t *testing.T) {
	b := newBench(t)
	if w := b.get("/api/assets/list?x=" + strings.Repeat("y", 70_000)); w.Code != 400 {
		t.Errorf("%d", w.Code)
	}
}

func TestABrokenOffBodyIsA400(t *testing.T) {
	b := newBench(t)
	r := httptest.NewRequest(http.MethodPost, "/api/account/predict-address",
		io.MultiReader(strings.NewReader("{"), brokenReader{}))
	r.Header.Set("x-api-key", key)
	r.Header.Set("Content-Type", "application/json")
	if w := b.send(r); w.Code != 400 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func FuzzParseHistory(f *testing.F) {
	f.Add("0xC162a3cE45ad151eeCd0a5532D6E489D034aB3B8", "20", "", "createdAt")
	f.Add("9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM", "", "x", "updatedAt")
	f.Add("", "-1", "\x00", "'")
	f.Fuzz(func(t *testing.T, user, limit, continuation, sortBy string) {
		q, failures := httpapi.ParseHistory(user, limit, continuation, sortBy)
		if len(failures) == 0 && (q.User == "" || q.Limit < 1 || q.Limit > 100 ||
			q.SortBy != "createdAt" && q.SortBy != "updatedAt") {
			t.Errorf("accepted as %+v", q)
		}
		for _, x := range failures {
			if len([]rune(x.Got)) > 81 {
				t.Errorf("a failure repeats %d runes", len([]rune(x.Got)))
			}
		}
	})
}
