package rpcpool

import (
	stdjson "encoding/json"
	"errors"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/go-json-experiment/json/jsontext"
)

func asked(n int) []request {
	var calls []request
	for i := range n {
		calls = append(calls, newRequest(uint64(i+7), "eth_call", nil))
	}
	return calls
}

func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":7,"result":"0x1"}`, `[{"id":8,"result":null},{"id":7,"error":{"code":3,"data":"0x12"}}]`,
		`{"id":null,"error":{"code":-32005,"message":"x","data":{"rate":{"backoff_seconds":1e300}}}}`, `<html>`, ``,
		`{"id":7,"error":"no"}`, `{"id":7,"result":{"a":1,"a":2}}`, `[{"id":7}]`, `{"id":"7","result":1}`,
		`{"id":7,"error":{"code":"-32000","message":null,"data":"Reverted 0x00"}}`, "{\"id\":7,\"result\":\"\xff\"}",
		`{"id":7,"result":[{"b":1.50,"a":9007199254740993}]}`, `[{"id":7,"result":1},{"id":7,"result":2}]`,
	} {
		f.Add([]byte(body), 1)
		f.Add([]byte(body), 2)
	}
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		calls := asked(1 + n&3)
		answers, whole, err := decode(body, calls)
		if err != nil && (answers != nil || whole != nil || !errors.Is(err, errAnswer)) {
			t.Fatalf("an answer beside an error: %v", err)
		}
		if err == nil && whole != nil && (whole.err == nil || len(answers) > 0) {
			t.Fatal("an error for all that is none")
		}
		for id, r := range answers {
			if id < 7 || id >= 7+uint64(len(calls)) || (r.err == nil) == (r.result == nil) {
				t.Fatalf("answer %d: %+v", id, r)
			}
			if r.backoff < 0 || r.backoff > maxPause {
				t.Fatal(r.backoff)
			}
			if r.err != nil {
				_, _, _, _ = r.err.SendFault(), r.err.limited(), r.err.lacks(), r.err.Error()
				continue
			}
			one, err := canonical(r.result)
			if err != nil {
				t.Fatalf("%s was taken and has no canonical form", r.result)
			}
			if two, err := canonical(jsontext.Value(one)); err != nil || one != two {
				t.Fatalf("%s, %s", one, two)
			}
			for _, into := range []any{new(hexutil.Uint64), new(*types.Receipt), new(hexutil.Bytes), new(any),
				new(*types.Header), new(stdjson.RawMessage), new(jsontext.Value), new(hexutil.Big), nil} {
				_ = store(r.result, into)
			}
		}
	})
}

func TestAnswersThatAreNone(t *testing.T) {
	for _, body := range []string{``, ` `, `{`, `[]x`, `null`, `7`, `"x"`, `<p>`, `{"id":7}`, `{"id":6,"result":1}`,
		`{"id":7,"result":1,"result":2}`, `{"id":7,"result":{"a":1,"a":2}}`, "{\"id\":7,\"result\":\"\xff\"}", `[]`,
		`{"id":7,"result":1} {"id":7,"result":1}`, `{"id":"7","result":1}`, `{"result":1}`} {
		if answers, whole, err := decode([]byte(body), asked(1)); err == nil {
			t.Errorf("%s: %v %v", body, answers, whole)
		}
	}
	if _, _, err := decode([]byte(`[{"id":7,"result":1},{"id":7,"result":2}]`), asked(2)); err == nil {
		t.Error("one call has two answers")
	}
}

func TestNullIsNoValue(t *testing.T) {
	null := jsontext.Value("null")
	for _, into := range []any{new(hexutil.Uint64), new(string), new(hexutil.Bytes), new(big.Int), new(types.Receipt)} {
		if err := store(null, into); !errors.Is(err, ErrNotFound) {
			t.Errorf("%T: %v", into, err)
		}
	}
	receipt, list, some := &types.Receipt{}, []int{1}, any(1)
	for _, into := range []any{&receipt, &list, &some} {
		if err := store(null, into); err != nil {
			t.Errorf("%T: %v", into, err)
		}
	}
	if receipt != nil || list != nil || some != nil {
		t.Error("an earlier value stayed")
	}
}

func TestAnAnswerLeavesNothingOfAnEarlierOne(t *testing.T) {
	got := map[string]int{"old": 1}
	if err := store(jsontext.Value(`{"new":2}`), &got); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if err := store(jsontext.Value(`{"bad":"x"}`), &got); err == nil || got["new"] != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestEqualAnswersHaveOneForm(t *testing.T) {
	same := func(a, b string) bool {
		x, err1 := canonical(jsontext.Value(a))
		y, err2 := canonical(jsontext.Value(b))
		return err1 == nil && err2 == nil && x == y
	}
	if !same(`{"a":1, "b":[true, "A"]}`, `{"b":[true,"\u0041"],"a":1}`) {
		t.Error("order, blanks and escapes made a difference")
	}
	for _, different := range [][2]string{{`[1,2]`, `[2,1]`}, {`9007199254740992`, `9007199254740993`},
		{`{"a":null}`, `{}`}, {`"0x1"`, `"0x01"`}, {`1`, `"1"`}} {
		if same(different[0], different[1]) {
			t.Errorf("%s is %s", different[0], different[1])
		}
	}
}

// The texts are those of the clients.
func TestErrorsOfSending(t *testing.T) {
	for text, want := range map[string]SendFault{
		"already known": Known, "Known transaction": Known, "AlreadyKnown": Known,
		"INTERNAL_ERROR: existing tx with same hash":           Known,
		"nonce too low: next nonce 5, tx nonce 4":              NonceTooLow,
		"OldNonce, Current nonce: 5, nonce of rejected tx: 4":  NonceTooLow,
		"NonceGap, Future nonce. Expected nonce: 5":            NonceTooHigh,
		"nonce too high: address 0x01, tx: 9 state: 5":         NonceTooHigh,
		"replacement transaction underpriced":                  ReplacementTooLow,
		"ReplacementNotAllowed":                                ReplacementTooLow,
		"transaction underpriced":                              FeeTooLow,
		"max fee per gas less than block base fee: address 0x": FeeTooLow,
		"Gas price below current base fee":                     FeeTooLow,
		"FeeTooLowToCompete":                                   PoolFull,
		"txpool is full":                                       PoolFull,
		"insufficient funds for gas * price + value":           NoFunds,
		"Upfront cost exceeds account balance":                 NoFunds,
		"exceeds block gas limit":                              GasLimit,
		"intrinsic gas too low":                                GasLimit,
		"something else":                                       Unclear,
	} {
		if got := (&Error{Code: -32000, Message: text}).SendFault(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestALimitDiffersFromAnAnswer(t *testing.T) {
	for _, e := range []Error{{Code: 429}, {Code: -32005, Message: "project ID request rate exceeded"},
		{Code: -32007, Message: "50/second request limit reached"}, {Code: -32016, Message: "over rate limit"},
		{Code: -32000, Message: "Too Many Requests"}, {Code: -32012, Message: "credits limited to 6000/sec"}} {
		if !e.limited() {
			t.Errorf("%v is no limit", &e)
		}
	}
	for _, e := range []Error{{Code: 3, Message: "execution reverted: rate limit exceeded"},
		{Code: -32000, Message: "execution reverted: too many requests"},
		{Code: -32005, Message: "query returned more than 10000 results"},
		{Code: -32005, Message: "Requested range exceeds maximum RPC range limit"},
		{Code: -32005, Message: "Batched requests are not supported by this server"}, {Code: -32000, Message: "x"}} {
		if e.limited() {
			t.Errorf("%v is a limit", &e)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for v, want := range map[string]time.Duration{"": 0, "x": 0, "-5": 0, "7": 7 * time.Second, "99999999": maxPause,
		"Fri, 02 Jan 2026 03:04:35 GMT": 30 * time.Second, "Fri, 02 Jan 2026 03:00:00 GMT": 0,
		"99999999999999999999": 0} {
		if got := retryAfter(http.Header{"Retry-After": {v}}, now); got != want {
			t.Errorf("%q: %v, want %v", v, got, want)
		}
	}
	served := http.Header{"Date": {"Fri, 02 Jan 2026 03:04:30 GMT"}, "Retry-After": {"Fri, 02 Jan 2026 03:04:35 GMT"}}
	if got := retryAfter(served, now.Add(time.Hour)); got != 5*time.Second {
		t.Errorf("by the endpoint's clock: %v", got)
	}
}

func TestOneHostIsOneWitness(t *testing.T) {
	for _, pair := range [][2]string{{"https://a.example/x", "https://A.example.:443/y"},
		{"http://localhost:8545", "http://127.0.0.1:8545"}, {"http://[::1]", "http://127.0.0.1:80"}} {
		_, err := New(Options{ChainID: 1, Quorum: 2, URLs: []Endpoint{{URL: pair[0]}, {URL: pair[1]}}})
		if err == nil || !strings.Contains(err.Error(), "1 different hosts") {
			t.Errorf("%v: %v", pair, err)
		}
	}
}
