package service_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op/erc20"
	"coffer/api/service"
	"coffer/api/service/store/storetest"
)

var update = flag.Bool("update", false, "write the golden documents of the wallet instead of comparing them")

// goldenCase is one intent for which the service's own answers are kept for the wallet's tests. Members that are empty
// are left out of the request.
type goldenCase struct {
	name     string
	chain    string
	calls    []api.Call
	required []api.TokenRequirement
	allow    []api.AllowanceRequirement
	fund     string
	slippage int
}

func goldenCases() []goldenCase {
	const usdc = "eip155:8453/erc20:" + baseUSDC
	pay := func(amount int64) []api.Call {
		return []api.Call{{To: baseUSDC, Data: "0x" +
			hex.EncodeToString(erc20.Transfer(common.HexToAddress(recipient), big.NewInt(amount))), Value: "0"}}
	}
	need := func(amount int64) []api.TokenRequirement {
		return []api.TokenRequirement{{AssetType: usdc, Amount: fmt.Sprint(amount)}}
	}
	return []goldenCase{
		{name: "covered", chain: "eip155:8453", calls: pay(5_000_000), required: need(5_000_000), fund: "ob:usdc",
			slippage: 200},
		{name: "cross-chain", chain: "eip155:8453", calls: pay(250_500_000), required: need(250_500_000),
			fund: "ob:usdc", slippage: 50},
		{name: "several-chains", chain: "eip155:8453", calls: pay(2_000_000_000), required: need(2_000_000_000),
			fund: "ob:usdc", slippage: 50},
		{name: "paid-in-eth", chain: "eip155:8453", calls: pay(50_000_000), required: need(50_000_000), fund: "ob:eth",
			slippage: 50},
		{name: "paid-in-dai", chain: "eip155:8453", calls: pay(30_000_000), required: need(30_000_000), fund: "ob:dai",
			slippage: 100},
		{name: "one-asset", chain: "eip155:8453", calls: pay(60_000_000), required: need(60_000_000),
			fund: "eip155:42161/erc20:0xaf88d065e77c8cC2239327C5EDb3A432268e5831", slippage: 50},
		{
			name: "allowances", chain: "eip155:8453", calls: pay(10_000_000), required: need(10_000_000),
			fund: "ob:usdc", slippage: 200,
			allow: []api.AllowanceRequirement{{AssetType: usdc, Amount: "777", Spender: recipient},
				{AssetType: usdc, Amount: "0", Spender: "0x1111111111111111111111111111111111111111"}},
		},
		{name: "nothing-required", chain: "eip155:10", calls: []api.Call{{To: recipient, Data: "0x", Value: "0"}},
			slippage: 200},
	}
}

// TestGoldenDocumentsOfTheWallet keeps what the service answers, byte for byte, where the wallet's verifier reads it:
// the wallet may not import the service. Clock, seed and randomness are fixed, so every run gives the same bytes. The
// last cases run after the account was deployed.
func TestGoldenDocumentsOfTheWallet(t *testing.T) {
	o := options(storetest.New(t))
	o.Random = rand.New(rand.NewSource(1))
	s := open(t, o)
	w := newWallet(t, s)
	raw, err := s.Network().Encode()
	if err != nil {
		t.Fatal(err)
	}
	keep(t, "network.json", raw)
	for _, c := range goldenCases() {
		w.golden(s, c)
	}
	signed, _, _ := w.quote(5_000_000)
	w.post("/v3/quote/execute-quote", signed.Raw(), 200)
	if err := s.Idle(context.Background()); err != nil {
		t.Fatal(err)
	}
	again := goldenCases()[1]
	again.name = "deployed"
	w.golden(s, again)
	again.name, again.fund = "unlisted-token", ""
	again.required = append([]api.TokenRequirement{{AssetType: "eip155:8453/erc20:" + recipient, Amount: "0"}},
		again.required...)
	w.golden(s, again)
	again = goldenCases()[1]
	again.name = "coin-there"
	again.calls = append(again.calls, api.Call{To: recipient, Data: "0x", Value: "1000000000000000"})
	again.required = append(again.required, api.TokenRequirement{AssetType: "eip155:8453/slip44:60",
		Amount: "1000000000000000"})
	w.golden(s, again)
}

// golden runs a case up to its quote and keeps the intent and both answers. The intent is written as the wallet writes
// it.
func (w *wallet) golden(s *service.Service, c goldenCase) {
	w.t.Helper()
	request := api.PrepareRequest{
		Accounts: []api.Account{w.account}, TargetChain: c.chain, Calls: c.calls, TokensRequired: c.required,
		AllowanceRequirements: c.allow,
		FromAssetID:           c.fund, SlippageTolerance: c.slippage,
	}
	body, err := json.Marshal(request)
	if err != nil {
		w.t.Fatal(err)
	}
	intent := map[string]any{
		"version": 1, "network": s.Network().ID, "accounts": request.Accounts, "targetChain": c.chain, "calls": c.calls,
		"slippageBps": c.slippage,
	}
	for name, v := range map[string]any{"tokensRequired": c.required, "allowances": c.allow} {
		if fmt.Sprint(v) != "[]" {
			intent[name] = v
		}
	}
	if c.fund != "" {
		intent["fundWith"] = c.fund
	}
	text, err := json.MarshalIndent(intent, "", "  ")
	if err != nil {
		w.t.Fatal(err)
	}
	prepared := w.post("/v3/quote/prepare-call-quote", body, 200)
	part := func(d *api.Document, at string) string { raw, _ := d.At(at); return string(raw) }
	signed := w.sign(prepared, "/chainOperation")
	ask := fmt.Sprintf(`{"accounts":%s,"chainOperation":%s,"tamperProofSignature":%s`, part(signed, "/accounts"),
		part(signed, "/chainOperation"), part(signed, "/tamperProofSignature"))
	switch {
	case c.fund == "":
	case c.fund[:3] == "ob:":
		ask += fmt.Sprintf(`,"fromAggregatedAssetId":%q`, c.fund)
	default:
		ask += fmt.Sprintf(`,"fromAssetId":%q`, c.fund)
	}
	quote := w.post("/v3/quote/call-quote", fmt.Appendf(nil, `%s,"slippageTolerance":%d}`, ask, c.slippage), 200)
	keep(w.t, c.name+".intent.json", text)
	keep(w.t, c.name+".prepared.json", prepared.Raw())
	keep(w.t, c.name+".quote.json", quote.Raw())
}

// keep writes a golden file under -update, and otherwise demands that it holds exactly these bytes.
func keep(t *testing.T, name string, b []byte) {
	t.Helper()
	path := filepath.Join("..", "..", "wallet", "verify", "testdata", "service", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, b) {
		t.Errorf("%s is not what the service answers now; look at the difference, then run this test with -update",
			name)
	}
}
