package service_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op/erc20"
	"coffer/api/service"
	"coffer/api/service/store/storetest"
)

// answer posts a body and returns the status and the body of the answer.
func (w *wallet) answer(path, body string) (int, []byte) {
	w.t.Helper()
	r := request(w.t, context.Background(), http.MethodPost, "https://x/api"+path, body)
	r.Header.Set("x-api-key", key)
	r.Header.Set("Content-Type", "application/json")
	res, err := checked{w.t, w.rt}.RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res.StatusCode, raw
}

const (
	preparePath = "/v3/quote/prepare-call-quote"
	quotePath   = "/v3/quote/call-quote"
	executePath = "/v3/quote/execute-quote"
)

// transferBody is a prepare request for a transfer of USDC on Base; change alters it.
func (w *wallet) transferBody(amount int64, change func(*api.PrepareRequest)) string {
	w.t.Helper()
	r := api.PrepareRequest{
		Accounts: []api.Account{w.account}, TargetChain: "eip155:8453",
		Calls: []api.Call{{To: baseUSDC, Data: "0x" +
			hex.EncodeToString(erc20.Transfer(common.HexToAddress(recipient), big.NewInt(amount)))}},
		TokensRequired: []api.TokenRequirement{{AssetType: "eip155:8453/erc20:" + baseUSDC,
			Amount: fmt.Sprint(amount)}},
	}
	if change != nil {
		change(&r)
	}
	b, err := json.Marshal(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// quoteBody turns a signed prepare answer into a call-quote request.
func quoteBody(t *testing.T, signed *api.Document) string {
	t.Helper()
	part := func(at string) string {
		raw, ok := signed.At(at)
		if !ok {
			t.Fatalf("nothing at %s", at)
		}
		return string(raw)
	}
	return fmt.Sprintf(
		`{"accounts":%s,"chainOperation":%s,"tamperProofSignature":%s,"fromAggregatedAssetId":"ob:usdc"}`,
		part("/accounts"), part("/chainOperation"), part("/tamperProofSignature"))
}

// TestEachRefusalHasItsDocumentedBodyAndWritesNothing sends what must be refused through the whole HTTP layer. The body
// has the documented name and status, no chain gets a block, no token moves, and the quote (where there is one) is
// still usable or unknown.
func TestEachRefusalHasItsDocumentedBodyAndWritesNothing(t *testing.T) {
	type sent struct{ path, body string }
	cases := map[string]struct {
		make   func(t *testing.T, w *wallet, now *time.Time) sent
		name   string
		status int
		says   string
	}{
		"wrong signer of the prepared operation": {func(t *testing.T, w *wallet, _ *time.Time) sent {
			doc := w.post(preparePath, []byte(w.transferBody(300_000_000, nil)), 200)
			thief := *w
			thief.key, _ = crypto.ToECDSA(crypto.Keccak256([]byte("another key")))
			return sent{quotePath, quoteBody(t, thief.sign(doc, "/chainOperation"))}
		}, api.ErrInvalidSignature, 400, ""},
		"wrong signer of a funding operation": {func(t *testing.T, w *wallet, _ *time.Time) sent {
			doc, _, _ := w.quote(300_000_000)
			thief := *w
			thief.key, _ = crypto.ToECDSA(crypto.Keccak256([]byte("another key")))
			return sent{executePath, string(thief.sign(doc, "/originChainsOperations/0").Raw())}
		}, api.ErrInvalidSignature, 400, ""},
		"too little balance": {func(_ *testing.T, w *wallet, _ *time.Time) sent {
			return sent{preparePath, w.transferBody(900_000_000_000, nil)}
		}, api.ErrInsufficientBalance, 400, "needed 900"},
		"unknown token": {func(_ *testing.T, w *wallet, _ *time.Time) sent {
			return sent{preparePath, w.transferBody(1, func(r *api.PrepareRequest) {
				r.TokensRequired[0].AssetType = "eip155:8453/erc20:" + recipient
			})}
		}, api.ErrValidation, 400, "tokensRequired[0].assetType"},
		"bad hex": {func(_ *testing.T, w *wallet, _ *time.Time) sent {
			return sent{preparePath, w.transferBody(1, func(r *api.PrepareRequest) { r.Calls[0].Data = "a9059cbb" })}
		}, api.ErrValidation, 400, "calls[0].data"},
		"an approve passed as a call": {func(_ *testing.T, w *wallet, _ *time.Time) sent {
			return sent{preparePath, w.transferBody(1, func(r *api.PrepareRequest) {
				r.Calls[0].Data = "0x" + hex.EncodeToString(erc20.Approve(common.HexToAddress(recipient),
					big.NewInt(1)))
			})}
		}, api.ErrValidation, 400, "allowanceRequirements"},
		"a call that reverts": {func(_ *testing.T, w *wallet, _ *time.Time) sent {
			return sent{preparePath, w.transferBody(1_000_000, func(r *api.PrepareRequest) {
				r.Calls[0].Data = "0x" + hex.EncodeToString(erc20.Transfer(common.HexToAddress(recipient),
					big.NewInt(1_000_000_000_000)))
			})}
		}, api.ErrSimulationFailed, 422, "ERC20InsufficientBalance"},
		"an expired quote": {func(_ *testing.T, w *wallet, now *time.Time) sent {
			doc, _, _ := w.quote(300_000_000)
			*now = now.Add(service.DefaultLifetime + time.Second)
			return sent{executePath, string(doc.Raw())}
		}, api.ErrQuoteExpired, 400, ""},
		"a changed quote": {func(t *testing.T, w *wallet, _ *time.Time) sent {
			doc, _, _ := w.quote(300_000_000)
			out, err := doc.Splice(api.Edit{Pointer: "/originToken/amount", Value: []byte(`"1"`)})
			if err != nil {
				t.Fatal(err)
			}
			return sent{executePath, string(out.Raw())}
		}, api.ErrTamperProof, 400, "Incorrect tamper proof signature"},
		"a prepare window that is over": {func(t *testing.T, w *wallet, now *time.Time) sent {
			doc := w.sign(w.post(preparePath, []byte(w.transferBody(300_000_000, nil)), 200), "/chainOperation")
			*now = now.Add(11 * time.Minute)
			return sent{quotePath, quoteBody(t, doc)}
		}, api.ErrPrepareAgain, 400, ""},
		"another document type": {func(_ *testing.T, _ *wallet, _ *time.Time) sent {
			return sent{preparePath, `[]`}
		}, api.ErrValidation, 400, "object"},
		"a name twice": {func(_ *testing.T, _ *wallet, _ *time.Time) sent {
			return sent{preparePath, `{"accounts":[],"accounts":[]}`}
		}, api.ErrValidation, 400, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1_760_000_000, 0)
			o := options(storetest.New(t))
			o.Clock = func() time.Time { return now }
			s := open(t, o)
			w := newWallet(t, s)
			request := c.make(t, w, &now)
			before := sums(t, s, w) // the first look at an address gives it test funds
			heads := service.Heads(s)
			status, raw := w.answer(request.path, request.body)
			checkBody(t, status, raw, c.status, c.name, c.says)
			if err := s.Idle(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(heads, service.Heads(s)) {
				t.Error("a block was sealed")
			}
			if !maps.Equal(before, sums(t, s, w)) {
				t.Error("tokens moved")
			}
			if _, history := get(t, w.rt, "https://x/api/v3/status/get-tx-history?user="+w.account.AccountAddress,
				key); history != `{"transactions":[]}` {
				t.Errorf("the history has a record: %s", history)
			}
		})
	}
}

func checkBody(t *testing.T, status int, raw []byte, wantStatus int, wantName, says string) {
	t.Helper()
	var body struct {
		Error      string        `json:"error"`
		Message    string        `json:"message"`
		StatusCode int           `json:"statusCode"`
		Details    []api.Failure `json:"details"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	if status != wantStatus || body.StatusCode != wantStatus || body.Error != wantName || body.Message == "" {
		t.Errorf("%d %s, expected %d %s", status, raw, wantStatus, wantName)
	}
	if !strings.Contains(string(raw), says) {
		t.Errorf("%s does not say %q", raw, says)
	}
	for _, d := range body.Details {
		if d.Expected == "" || d.Got == "" {
			t.Errorf("a failure without expected or got: %+v", d)
		}
	}
}

// TestAReplayedOperationIsRefused: the signed prepared operation has run; quoting it again is refused, and a second
// execute of its quote as well.
func TestAReplayedOperationIsRefused(t *testing.T) {
	s := open(t, options(storetest.New(t)))
	w := newWallet(t, s)
	prepared := w.sign(w.post(preparePath, []byte(w.transferBody(300_000_000, nil)), 200), "/chainOperation")
	offer := w.post(quotePath, []byte(quoteBody(t, prepared)), 200)
	var q api.Quote
	if err := offer.Decode(&q); err != nil {
		t.Fatal(err)
	}
	for i := range q.OriginChainsOperations {
		offer = w.sign(offer, fmt.Sprintf("/originChainsOperations/%d", i))
	}
	w.post(executePath, offer.Raw(), 200)
	if err := s.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	heads := service.Heads(s)
	status, raw := w.answer(executePath, string(offer.Raw()))
	checkBody(t, status, raw, 409, api.ErrAlreadyExecuted, "")
	status, raw = w.answer(quotePath, quoteBody(t, prepared))
	checkBody(t, status, raw, 400, api.ErrPrepareAgain, "")
	if !maps.Equal(heads, service.Heads(s)) {
		t.Error("a block was sealed")
	}
	if got := w.status(q.ID); got.Status != api.StatusCompleted {
		t.Errorf("status %+v", got)
	}
}
