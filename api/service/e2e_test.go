package service_test

import (
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/service"
	"coffer/api/service/store/storetest"
)

// wallet is a foreign client of a kernel account: it knows the interface and nothing else.
type wallet struct {
	t       *testing.T
	rt      http.RoundTripper
	key     *ecdsa.PrivateKey
	account api.Account
	entry   common.Address
}

func (w *wallet) post(path string, body []byte, want int) *api.Document {
	w.t.Helper()
	r := request(w.t, context.Background(), http.MethodPost, "https://x/api"+path, string(body))
	r.Header.Set("x-api-key", key)
	r.Header.Set("Content-Type", "application/json")
	res, err := checked{w.t, w.rt}.RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != want {
		w.t.Fatalf("%s: %v %d %s", path, err, res.StatusCode, raw)
	}
	doc, err := api.ParseDocument(raw, api.DefaultLimits())
	if err != nil {
		w.t.Fatal(err)
	}
	return doc
}

func newWallet(t *testing.T, s *service.Service) *wallet {
	t.Helper()
	k, err := crypto.ToECDSA(crypto.Keccak256([]byte("a key of this test")))
	if err != nil {
		t.Fatal(err)
	}
	w := &wallet{t: t, rt: service.RoundTripper(s.Handler()), key: k, entry: s.Network().Pins.EntryPoint}
	w.account = api.Account{Type: api.AccountKernelV31, SignerAddress: crypto.PubkeyToAddress(k.PublicKey).Hex()}
	body, err := json.Marshal(api.PredictRequest{Type: w.account.Type, SignerAddress: w.account.SignerAddress})
	if err != nil {
		t.Fatal(err)
	}
	var predicted api.PredictResponse
	if err := w.post("/account/predict-address", body, http.StatusCreated).Decode(&predicted); err != nil {
		t.Fatal(err)
	}
	w.account.AccountAddress = predicted.PredictedAddress
	return w
}

// sign splices the signature of the user operation at a pointer into a document.
func (w *wallet) sign(doc *api.Document, pointer string) *api.Document {
	w.t.Helper()
	raw, ok := doc.At(pointer)
	var o api.ChainOperation
	if !ok || json.Unmarshal(raw, &o) != nil {
		w.t.Fatalf("no operation at %s", pointer)
	}
	decoded, err := op.FromWire(*o.UserOp)
	if err != nil {
		w.t.Fatal(err)
	}
	hash, err := decoded.Hash(w.entry, new(big.Int).SetUint64(o.TypedDataToSign.Domain.ChainID))
	if err != nil {
		w.t.Fatal(err)
	}
	sig, err := op.Sign(op.EIP191(hash), w.key)
	if err != nil {
		w.t.Fatal(err)
	}
	edit, err := api.StringEdit(pointer+"/userOp/signature", "0x"+hex.EncodeToString(sig))
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := doc.Splice(edit)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

const (
	baseUSDC  = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	recipient = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
)

// quote asks for a transfer of USDC on Base and returns the signed quote with its id.
func (w *wallet) quote(amount int64) (*api.Document, string, string) {
	w.t.Helper()
	body, err := json.Marshal(api.PrepareRequest{
		Accounts: []api.Account{w.account}, TargetChain: "eip155:8453",
		Calls: []api.Call{{To: baseUSDC, Data: "0x" +
			hex.EncodeToString(erc20.Transfer(common.HexToAddress(recipient), big.NewInt(amount)))}},
		TokensRequired: []api.TokenRequirement{{AssetType: "eip155:8453/erc20:" + baseUSDC,
			Amount: fmt.Sprint(amount)}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	prepared := w.sign(w.post("/v3/quote/prepare-call-quote", body, 200), "/chainOperation")
	var p api.PrepareResponse
	if err := prepared.Decode(&p); err != nil {
		w.t.Fatal(err)
	}
	part := func(at string) string { raw, _ := prepared.At(at); return string(raw) }
	ask := fmt.Sprintf(
		`{"accounts":%s,"chainOperation":%s,"tamperProofSignature":%s,"fromAggregatedAssetId":"ob:usdc"}`,
		part("/accounts"), part("/chainOperation"), part("/tamperProofSignature"))
	offer := w.post("/v3/quote/call-quote", []byte(ask), 200)
	var q api.Quote
	if err := offer.Decode(&q); err != nil {
		w.t.Fatal(err)
	}
	for i := range q.OriginChainsOperations {
		offer = w.sign(offer, fmt.Sprintf("/originChainsOperations/%d", i))
	}
	return offer, q.ID, p.CallType
}

// sums adds up each asset over all accounts that could hold it.
func sums(t *testing.T, s *service.Service, w *wallet, more ...common.Address) map[string]string {
	t.Helper()
	pins := s.Network().Pins
	out := map[string]*big.Int{}
	holders := append([]common.Address{common.HexToAddress(w.account.AccountAddress), common.HexToAddress(recipient),
		pins.Escrow, pins.Operator, pins.Paymaster},
		service.Stock(s)...)
	holders = append(holders, more...)
	for _, h := range holders {
		status, body := get(t, w.rt, "https://x/api/v3/balances/aggregated-balance?account=eip155:1:"+h.Hex()+
			"&aggregatedAssetId="+everyAsset(t, w), key)
		var b api.AggregatedBalance
		if err := json.Unmarshal([]byte(body), &b); err != nil || status != 200 {
			t.Fatal(status, body)
		}
		for _, agg := range b.BalanceByAggregatedAsset {
			for _, one := range agg.IndividualAssetBalances {
				if a, err := caip.ParseAsset(one.AssetType); err != nil || a.IsNative() {
					continue // native coins are burned as fees
				}
				v, _ := new(big.Int).SetString(one.Balance, 10)
				if out[one.AssetType] == nil {
					out[one.AssetType] = new(big.Int)
				}
				out[one.AssetType].Add(out[one.AssetType], v)
			}
		}
	}
	text := map[string]string{}
	for a, v := range out {
		text[a] = v.String()
	}
	return text
}

func everyAsset(t *testing.T, w *wallet) string {
	t.Helper()
	_, body := get(t, w.rt, "https://x/api/assets/list", key)
	var list []api.AggregatedAsset
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, a := range list {
		ids = append(ids, url.QueryEscape(a.AggregatedAssetID))
	}
	return strings.Join(ids, ",")
}

func (w *wallet) status(id string) api.ExecutionStatus {
	w.t.Helper()
	code, body := get(w.t, w.rt, "https://x/api/v3/status/get-execution-status?quoteId="+id, key)
	var s api.ExecutionStatus
	if err := json.Unmarshal([]byte(body), &s); err != nil || code != 200 {
		w.t.Fatal(code, body)
	}
	return s
}

// A call goes from prediction to history through the interface alone, on one chain and across chains, and no token is
// made or lost.
func TestACallTravelsThroughTheInterface(t *testing.T) {
	for name, c := range map[string]struct {
		amount   int64
		callType string
	}{
		"covered on the target chain": {10_000_000, api.CallSameChainExcludeSolver},
		"funded from other chains":    {300_000_000, api.CallCrossChain},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, options(storetest.New(t)))
			w := newWallet(t, s)
			before := sums(t, s, w)
			signed, id, callType := w.quote(c.amount)
			if callType != c.callType {
				t.Errorf("callType %s, expected %s", callType, c.callType)
			}
			if got := w.status(id); got.Status != "" {
				t.Errorf("status before execute: %+v", got)
			}
			w.post("/v3/quote/execute-quote", signed.Raw(), 200)
			if err := s.Idle(context.Background()); err != nil {
				t.Fatal(err)
			}
			got := w.status(id)
			if got.Status != api.StatusCompleted || len(got.OriginChainOperations) == 0 {
				t.Fatalf("%+v", got)
			}
			explorer := strings.Replace(got.OriginChainOperations[0].ExplorerURL, "https://coffer.internal",
				"https://x", 1)
			if code, page := get(t, w.rt, explorer, ""); code != 200 || !strings.Contains(page, "UserOperationEvent") {
				t.Errorf("%s: %d", explorer, code)
			}
			for _, user := range []string{w.account.AccountAddress, strings.ToLower(w.account.AccountAddress)} {
				if _, history := get(t, w.rt, "https://x/api/v3/status/get-tx-history?user="+user,
					key); !strings.Contains(history, id) {
					t.Errorf("the record is not in the history of %s: %s", user, history)
				}
			}
			after := sums(t, s, w)
			for a, v := range before {
				if after[a] != v {
					t.Errorf("%s: the sum was %s and is %s", a, v, after[a])
				}
			}
			w.post("/v3/quote/execute-quote", signed.Raw(), 409)
		})
	}
}

// A process that ends in the middle of settlement leaves a quote that the next one brings to its end.
func TestOpenResumesSettlement(t *testing.T) {
	db := storetest.New(t)
	o := options(db)
	stuck := make(chan bool, 1)
	o.Faults.BeforeFill = func(ctx context.Context, _ string) error {
		stuck <- true
		<-ctx.Done()
		return ctx.Err()
	}
	first, err := service.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	w := newWallet(t, first)
	signed, id, _ := w.quote(300_000_000)
	w.post("/v3/quote/execute-quote", signed.Raw(), 200)
	<-stuck
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	o.Faults = service.Faults{}
	second := open(t, o)
	if err := second.Idle(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.rt = service.RoundTripper(second.Handler())
	if got := w.status(id); got.Status != api.StatusCompleted {
		t.Errorf("%+v", got)
	}
}
