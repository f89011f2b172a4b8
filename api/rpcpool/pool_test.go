package rpcpool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"go.uber.org/goleak"

	"coffer/api/rpcpool"
	"coffer/api/rpcpool/faultproxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const chainID = 8453

// node answers like a node: fixed answers by method, or a function of the parameters.
type node struct {
	mu      sync.Mutex
	answers map[string]any
	batch   int // larger ones are refused
}

type nodeError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func newNode() *node {
	return (&node{answers: map[string]any{}}).set("eth_chainId", hexutil.Uint64(chainID)).set("eth_blockNumber", "0x64")
}

func (n *node) set(method string, answer any) *node {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answers[method] = answer
	return n
}

func (n *node) one(raw json.RawMessage) map[string]any {
	var q struct {
		ID     json.RawMessage
		Method string
		Params []json.RawMessage
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		panic(err)
	}
	n.mu.Lock()
	a, ok := n.answers[q.Method]
	n.mu.Unlock()
	if f, is := a.(func([]json.RawMessage) any); is {
		a = f(q.Params)
	}
	out := map[string]any{"jsonrpc": "2.0", "id": q.ID}
	e, failed := a.(nodeError)
	switch {
	case !ok:
		out["error"] = nodeError{-32601, "the method " + q.Method + " does not exist/is not available", nil}
	case failed:
		out["error"] = e
	default:
		out["result"] = a
	}
	return out
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body json.RawMessage
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	var many []json.RawMessage
	if json.Unmarshal(body, &many) != nil {
		_ = json.NewEncoder(w).Encode(n.one(body))
		return
	}
	if n.batch > 0 && len(many) > n.batch {
		_ = json.NewEncoder(w).Encode([]any{map[string]any{"jsonrpc": "2.0", "id": nil,
			"error": nodeError{-32600, "batch too large", nil}}})
		return
	}
	var out []any
	for _, raw := range many {
		out = append(out, n.one(raw))
	}
	_ = json.NewEncoder(w).Encode(out)
}

// proxied starts a fault proxy in front of a node.
func proxied(t testing.TB, n http.Handler, rules ...faultproxy.Rule) *faultproxy.Proxy {
	t.Helper()
	p := faultproxy.New(n, 1, rules...)
	t.Cleanup(p.Close)
	return p
}

func always(f faultproxy.Fault) faultproxy.Rule { return faultproxy.Rule{Fault: f} }

func on(method string, f faultproxy.Fault) faultproxy.Rule {
	return faultproxy.Rule{On: method, Fault: f}
}

// script is the rules of a proxy.
type script = []faultproxy.Rule

const patience = time.Second

func pool(t testing.TB, change func(*rpcpool.Options), proxies ...*faultproxy.Proxy) *rpcpool.Pool {
	t.Helper()
	o := rpcpool.Options{ChainID: chainID, Timeout: patience, Hedge: patience / 6}
	for _, p := range proxies {
		o.URLs = append(o.URLs, rpcpool.Endpoint{URL: p.URL})
	}
	if change != nil {
		change(&o)
	}
	p, err := rpcpool.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func quorum(n int) func(*rpcpool.Options) { return func(o *rpcpool.Options) { o.Quorum = n } }

// within fails the test when f takes longer than a call may.
func within(t *testing.T, f func()) {
	t.Helper()
	began := time.Now()
	f()
	if took, most := time.Since(began), 20*patience; took > most { // less than 2, where nothing else runs
		t.Errorf("it took %v, at most %v", took, most)
	}
}

func TestACallGoesToTheNextEndpointAfterAFault(t *testing.T) {
	for name, fault := range map[string]faultproxy.Fault{
		"drop": faultproxy.Drop(), "deaf": faultproxy.Deaf(), "hang": faultproxy.Hang(), "web page": faultproxy.HTML(),
		"429": faultproxy.Status(429, "30", "slow down"), "503": faultproxy.Status(503, "", "{}"),
		"-32005":     faultproxy.Refuse(-32005, "project ID request rate exceeded", nil),
		"429 in 200": faultproxy.Refuse(429, "Your app has exceeded its compute units per second capacity", nil),
		"cut":        faultproxy.Cut(5), "another chain": faultproxy.Lie("", "0x1"),
		"401":       faultproxy.Status(401, "", ""),
		"elsewhere": faultproxy.Redirect("http://127.0.0.1:1/"), "too large": faultproxy.Pad(2 << 20),
		"no object": faultproxy.Status(200, "", "[]"), "text": faultproxy.Status(200, "", "ok"),
	} {
		t.Run(name, func(t *testing.T) {
			bad := proxied(t, newNode().set("eth_gasPrice", "0x1"), always(fault))
			good := proxied(t, newNode().set("eth_gasPrice", "0x7"))
			p := pool(t, func(o *rpcpool.Options) { o.MaxBytes = 1 << 20 }, bad, good)
			var price hexutil.Uint64
			within(t, func() {
				if err := p.Call(t.Context(), &price, "eth_gasPrice"); err != nil || price != 7 {
					t.Fatalf("%d, %v", price, err)
				}
			})
		})
	}
}

func TestARevertIsAnAnswerWithItsData(t *testing.T) {
	first := proxied(t, newNode().set("eth_call", nodeError{3, "execution reverted: plain reason", "0x08c379a0"}))
	second := proxied(t, newNode().set("eth_call", "0x"))
	p := pool(t, nil, first, second)
	for range 3 {
		err := p.Call(t.Context(), nil, "eth_call", map[string]any{}, "latest")
		var e *rpcpool.Error
		if !errors.As(err, &e) || e.Code != 3 || !e.Reverted() || hexutil.Encode(e.Data) != "0x08c379a0" {
			t.Fatal(err)
		}
	}
	if second.Calls("eth_call") != 0 {
		t.Error("a revert went to another endpoint")
	}
}

func TestABatchIsOneBodyInAnyOrder(t *testing.T) {
	n := newNode().set("eth_getBalance", func(p []json.RawMessage) any { return p[0] })
	proxy := proxied(t, n, always(faultproxy.Shuffle()))
	p := pool(t, nil, proxy)
	calls := make([]rpcpool.Call, 20)
	got := make([]hexutil.Uint64, 20)
	for i := range calls {
		calls[i] = rpcpool.Call{Method: "eth_getBalance", Params: []any{hexutil.Uint64(i)}, Result: &got[i]}
	}
	calls[7].Method = "eth_noSuch"
	if err := p.Batch(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		var e *rpcpool.Error
		if i == 7 && errors.As(calls[i].Err, &e) && e.Code == -32601 {
			continue
		}
		if calls[i].Err != nil || int(v) != i {
			t.Errorf("call %d: %d, %v", i, v, calls[i].Err)
		}
	}
	if proxy.Calls("") != 2 { // the chain, then all at once
		t.Errorf("%d requests", proxy.Calls(""))
	}
}

func TestABatchThatIsTooLargeIsSentInParts(t *testing.T) {
	n := newNode().set("eth_getBalance", func(p []json.RawMessage) any { return p[0] })
	n.batch = 10
	proxy := proxied(t, n)
	p := pool(t, nil, proxy)
	for range 2 {
		calls := make([]rpcpool.Call, 70)
		got := make([]hexutil.Uint64, 70)
		for i := range calls {
			calls[i] = rpcpool.Call{Method: "eth_getBalance", Params: []any{hexutil.Uint64(i)}, Result: &got[i]}
		}
		if err := p.Batch(t.Context(), calls); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if int(v) != i {
				t.Fatalf("call %d got %d", i, v)
			}
		}
	}
	if h := p.Health()[0]; h.State != rpcpool.Up || h.Faults != 0 {
		t.Errorf("%+v", h)
	}
}

func TestOneOfThreeLiesAboutAReceiptTwoHangOrLimit(t *testing.T) {
	receipt := map[string]any{"status": "0x0", "blockHash": common.Hash{1},
		"logs": []any{map[string]any{"data": "0x01"}}}
	const method = "eth_getTransactionReceipt"
	lie, hang := on(method, faultproxy.Lie("status", "0x1")), on(method, faultproxy.Hang())
	limit := faultproxy.Status(429, "60", "")
	for _, tc := range []struct {
		name  string
		rules [3]script
		right bool
	}{
		{"one lies", [3]script{{lie}, nil, nil}, true},
		{"one lies in a log", [3]script{nil, {on(method, faultproxy.Lie("logs.0.data", "0x02"))}, nil}, true},
		{"one lies, two hang", [3]script{{lie}, {hang}, {hang}}, false},
		{"one lies, one hangs", [3]script{{lie}, {always(faultproxy.Hang())}, nil}, false},
		{"one lies, one limits", [3]script{nil, {on(method, limit)}, {lie}}, false},
		{"one hangs, one limits", [3]script{{always(faultproxy.Hang())}, {always(limit)}, nil}, false},
		{"one hangs", [3]script{{always(faultproxy.Hang())}, nil, nil}, true},
		{"one fails for a moment", [3]script{{{On: method, Times: 1, Fault: faultproxy.Drop()}}, {lie}, nil}, true},
		{"two tell different lies", [3]script{{lie}, {on(method, faultproxy.Lie("status", "0x2"))}, nil}, false},
		{"one says there is none", [3]script{{on(method, faultproxy.Lie("", nil))}, nil, nil}, true},
		{"one says it is an error", [3]script{{on(method, faultproxy.Refuse(-32000, "no", nil))}, nil, nil}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var proxies []*faultproxy.Proxy
			for _, rules := range tc.rules {
				proxies = append(proxies, proxied(t, newNode().set(method, receipt), rules...))
			}
			p := pool(t, quorum(2), proxies...)
			var got *struct{ Status hexutil.Uint64 }
			within(t, func() {
				err := p.Agreed(t.Context(), &got, method, common.Hash{})
				var none *rpcpool.NoQuorumError
				switch {
				case err == nil && (!tc.right || got == nil || got.Status != 0):
					t.Fatalf("a wrong answer: %v", got)
				case err != nil && (tc.right || !errors.As(err, &none)):
					t.Fatal(err)
				}
			})
		})
	}
}

func TestABroadcastReachesAllAndJudgesTheAnswers(t *testing.T) {
	key, _ := crypto.GenerateKey()
	tx := types.MustSignNewTx(key, types.LatestSignerForChainID(common.Big1), &types.LegacyTx{Gas: 21000})
	raw, _ := tx.MarshalBinary()
	const method = "eth_sendRawTransaction"
	refuse := func(text string) script {
		return script{on(method, faultproxy.Refuse(-32000, text, nil))}
	}
	for _, tc := range []struct {
		name  string
		rules [2]script
		fault rpcpool.SendFault // "" is success
	}{
		{"both take it", [2]script{}, ""},
		{"one hangs", [2]script{{always(faultproxy.Hang())}, nil}, ""},
		{"it is known", [2]script{refuse("already known"), refuse("Known transaction")}, ""},
		{"one refuses", [2]script{refuse("nonce too low: next nonce 5, tx nonce 4"), nil}, ""},
		{"both refuse", [2]script{refuse("transaction underpriced"), refuse("nonce too low")}, rpcpool.NonceTooLow},
		{"no funds", [2]script{refuse("Upfront cost exceeds account balance"), {always(faultproxy.Drop())}},
			rpcpool.NoFunds},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := newNode().set(method, tx.Hash()).set("eth_getTransactionByHash", nil)
			p := pool(t, nil, proxied(t, n, tc.rules[0]...), proxied(t, n, tc.rules[1]...))
			hash, err := p.Broadcast(t.Context(), raw)
			if hash != tx.Hash() {
				t.Errorf("hash %s", hash)
			}
			var e *rpcpool.Error
			switch {
			case tc.fault == "" && err != nil:
				t.Error(err)
			case tc.fault != "" && (!errors.As(err, &e) || e.SendFault() != tc.fault):
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("a used nonce of a transaction that is there", func(t *testing.T) {
		n := newNode().set("eth_getTransactionByHash", map[string]any{"hash": tx.Hash()})
		p := pool(t, nil, proxied(t, n, refuse("nonce too low")...))
		if _, err := p.Broadcast(t.Context(), raw); err != nil {
			t.Error(err)
		}
	})
	t.Run("a hash of something else", func(t *testing.T) {
		n := newNode().set(method, common.Hash{1})
		var gone *rpcpool.UnavailableError
		if _, err := pool(t, nil, proxied(t, n)).Broadcast(t.Context(), raw); !errors.As(err, &gone) || !gone.Sent {
			t.Error(err)
		}
	})
}

func TestAnEndpointRestsAndComesBack(t *testing.T) {
	n := newNode().set("eth_gasPrice", "0x7")
	bad := proxied(t, n, faultproxy.Rule{On: "eth_gasPrice", Times: 1, Fault: faultproxy.Status(503, "", "")})
	good := proxied(t, n)
	p := pool(t, nil, bad, good)
	var price hexutil.Uint64
	ask := func() {
		t.Helper()
		if err := p.Call(t.Context(), &price, "eth_gasPrice"); err != nil || price != 7 {
			t.Fatal(price, err)
		}
	}
	ask()
	if h := p.Health()[0]; h.State != rpcpool.Resting || !strings.Contains(h.Fault, "503") {
		t.Fatalf("%+v", h)
	}
	before := bad.Calls("")
	ask()
	if bad.Calls("") != before {
		t.Error("an endpoint that rests was asked")
	}
	deadline := time.Now().Add(5 * time.Second)
	for p.Health()[0].State != rpcpool.Up {
		if time.Now().After(deadline) {
			t.Fatalf("%+v", p.Health()[0])
		}
		time.Sleep(20 * time.Millisecond)
		ask()
	}
	if bad.Calls("eth_gasPrice") > 2 {
		t.Error("a caller tried the endpoint that had rested")
	}
}

func TestAnotherChainIsNotAsked(t *testing.T) {
	p := pool(t, nil, proxied(t, newNode().set("eth_chainId", "0x1").set("eth_gasPrice", "0x7")))
	for range 2 { // the second time it rests
		err := p.Call(t.Context(), nil, "eth_gasPrice")
		if !errors.Is(err, rpcpool.ErrOtherChain) || !strings.Contains(err.Error(), "it serves chain 1, not 8453") {
			t.Error(err)
		}
		if err := p.Agreed(t.Context(), nil, "eth_gasPrice"); !errors.Is(err, rpcpool.ErrOtherChain) {
			t.Error(err)
		}
	}
}

func TestNothingOfAnAddressIsShown(t *testing.T) {
	const key = "s3cretKey0123456789"
	for name, fault := range map[string]faultproxy.Fault{
		"status": faultproxy.Status(401, "",
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"bad key `+key+`"}}`),
		"error": faultproxy.Refuse(-32000, "key "+key+" has no access", nil), "drop": faultproxy.Drop(),
		"hang": faultproxy.Hang(), "page": faultproxy.HTML(), "away": faultproxy.Redirect("http://127.0.0.1/" + key),
	} {
		t.Run(name, func(t *testing.T) {
			proxy := proxied(t, newNode(), always(fault))
			var log strings.Builder
			p := pool(t, func(o *rpcpool.Options) {
				o.URLs = []rpcpool.Endpoint{{URL: proxy.URL + "/v3/" + key + "?apikey=" + key,
					Header: http.Header{"Authorization": {"Bearer " + key}}}}
				o.Log = slog.New(slog.NewTextHandler(&log, nil))
				u := o.URLs[0]
				if s := fmt.Sprintf("%v %+v %s %#v", o.URLs, u, u, u); strings.Contains(s, key) {
					t.Error(s)
				}
			})
			err := p.Call(t.Context(), nil, "eth_gasPrice")
			p.Close()
			all := fmt.Sprintf("%v %+v %#v %s %+v", err, err, err, log.String(), p.Health())
			if err == nil || strings.Contains(all, key) || strings.Contains(all, "/v3") {
				t.Error(all)
			}
			if !strings.Contains(all, proxy.URL) {
				t.Errorf("the host is missing: %s", all)
			}
		})
	}
}

func TestHeadersReachTheEndpoint(t *testing.T) {
	proxy := proxied(t, newNode())
	p := pool(t, func(o *rpcpool.Options) { o.URLs[0].Header = http.Header{"X-Key": {"abcdefgh"}} }, proxy)
	if err := p.Call(t.Context(), nil, "eth_blockNumber"); err != nil {
		t.Fatal(err)
	}
	if h := proxy.Header(); h.Get("X-Key") != "abcdefgh" || h.Get("Accept-Encoding") != "gzip" {
		t.Errorf("%v", h)
	}
}

// TestAUserOfAnAddressIsAHeader: networks.toml may name one, and the endpoint repeats it in vain.
func TestAUserOfAnAddressIsAHeader(t *testing.T) {
	proxy := proxied(t, newNode())
	p := pool(t, func(o *rpcpool.Options) {
		o.URLs[0].URL = strings.Replace(proxy.URL, "://", "://a-user:pass%2Fword%40@", 1)
	}, proxy)
	if err := p.Call(t.Context(), nil, "eth_blockNumber"); err != nil {
		t.Fatal(err)
	}
	user, password, ok := (&http.Request{Header: proxy.Header()}).BasicAuth()
	if !ok || user != "a-user" || password != "pass/word@" {
		t.Errorf("%q %q, %t", user, password, ok)
	}
	for _, said := range []string{"a-user", "pass/word@", "pass%2Fword%40", "YS11c2VyOnBhc3Mvd29yZEA="} {
		proxy := proxied(t, newNode(), always(faultproxy.Refuse(-32000, "no "+said+" here", nil)))
		p := pool(t, func(o *rpcpool.Options) {
			o.URLs[0].URL = strings.Replace(proxy.URL, "://", "://a-user:pass%2Fword%40@", 1)
		}, proxy)
		if err := p.Call(t.Context(), nil, "eth_blockNumber"); err == nil || strings.Contains(err.Error(), said) {
			t.Error(err)
		}
	}
}

func TestAddressesThatAreRefused(t *testing.T) {
	for _, u := range []string{"", "http://example.com", "ftp://127.0.0.1", "http://user:pw@example.com", "https://",
		"https://example.com/#x", "http://127.0.0.1.example.com", "ws://127.0.0.1", "https:example.com", "://"} {
		_, err := rpcpool.New(rpcpool.Options{ChainID: 1, URLs: []rpcpool.Endpoint{{URL: u}}})
		if !errors.Is(err, rpcpool.ErrURL) || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: %v", u, err)
		}
	}
	for _, o := range []rpcpool.Options{
		{ChainID: 1},
		{ChainID: 1, URLs: []rpcpool.Endpoint{{URL: "https://a.example/x"}, {URL: "https://a.example/x"}}},
		{ChainID: 1, URLs: []rpcpool.Endpoint{{URL: "https://a.example/x"}, {URL: "https://a.example/y"}}, Quorum: 2},
	} {
		if p, err := rpcpool.New(o); err == nil {
			p.Close()
			t.Errorf("%v was taken", o)
		}
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	p := pool(t, func(o *rpcpool.Options) { o.Timeout = time.Minute }, proxied(t, newNode(), always(faultproxy.Hang())))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	within(t, func() {
		if err := p.Call(ctx, nil, "eth_gasPrice"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
