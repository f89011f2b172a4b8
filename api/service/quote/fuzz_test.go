package quote_test

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"coffer/api"
	. "coffer/api/service/settle/settletest"
)

// FuzzRequests: whatever is posted to an endpoint of quotes, the answer is a document or an error of the interface,
// never a fault or a panic.
func FuzzRequests(f *testing.F) {
	w := New(f, Options{})
	w.User = NewUserOf(w.Installation.Pins, api.AccountKernelV33+WithSolana, 4)
	w.Fund(w.User.Address, w.Asset("usdc", Base), 500*usdcPlain)
	w.FundSolana(w.User.Wallet, w.Asset("usdc", Solana), 500*usdcPlain)
	call := w.Request(w.Asset("usdc", Arbitrum), 20*usdcPlain,
		Transfer(w.Asset("usdc", Arbitrum), payee(), 20*usdcPlain))
	swap := Exchange{From: "ob:usdc", Amount: big.NewInt(20 * usdcPlain), Get: "ob:eth"}
	prepared, err := w.Prepare(call)
	Must(f, err)
	old, err := w.PrepareV1(call)
	Must(f, err)
	endpoints := []func(context.Context, *api.Document) (*api.Document, error){
		w.Quoter.Prepare, w.Quoter.PrepareV1, w.Quoter.CallQuote, w.Quoter.CallQuoteV1, w.Quoter.Quote,
		w.Quoter.QuoteV1,
	}
	for i, body := range []*api.Document{
		w.Encode(call), w.Encode(v1(call)), w.SignOperationAs(w.User, prepared, "/chainOperation"),
		bodyV1(w, old, "ob:usdc"), w.SwapBody(swap),
		w.Encode(api.QuoteRequestV1{
			From: api.QuoteFromV1{Account: w.User.Account, Asset: api.AssetRef{AssetID: swap.From}, Amount: "20000000"},
			To:   api.QuoteTo{Asset: api.AssetRef{AssetID: "ob:usdc"}, Account: onChain(Polygon, payee())},
		}),
	} {
		if _, err := endpoints[i](context.Background(), body); err != nil {
			f.Fatalf("endpoint %d refuses the body that the fuzzer begins with: %v", i, err)
		}
		f.Add(uint8(i), body.Raw())
	}
	f.Add(uint8(4),
		[]byte(
			`{"from":{"accounts":[{"type":"solana","accountAddress":"11111111111111111111111111111111"}],`+
				`"asset":{"assetId":"ob:sol"},"amount":"1"},"to":{"asset":{"assetId":"ob:sol"},`+
				`"account":"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:11111111111111111111111111111111"}}`))
	f.Fuzz(func(t *testing.T, endpoint uint8, body []byte) {
		doc, err := api.ParseDocument(body, api.DefaultLimits())
		if err != nil {
			return
		}
		answer, err := endpoints[int(endpoint)%len(endpoints)](context.Background(), doc)
		var refused *api.Error
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("a fault: %v", err)
		}
		if (err == nil) != (answer != nil) {
			t.Fatal("neither an answer nor an error")
		}
	})
}

func TestHostileValuesInEveryPlaceAreNeverAFault(t *testing.T) {
	w := New(t, Options{})
	w.User = NewUserOf(w.Installation.Pins, api.AccountRoleBased+WithSolana, 4)
	w.Fund(w.User.Address, w.Asset("usdc", Base), 500*usdcPlain)
	w.FundSolana(w.User.Wallet, w.Asset("usdc", Solana), 500*usdcPlain)
	call := w.Request(w.Asset("usdc", Arbitrum), 20*usdcPlain,
		Transfer(w.Asset("usdc", Arbitrum), payee(), 20*usdcPlain))
	call.FromAssetID, call.SlippageTolerance, call.ValidUntil = "ob:usdc", 50, "1760000300"
	call.Overrides = []api.StateOverride{{Address: payee().Hex(), Balance: "0x1", Code: "0x",
		StateDiff: map[string]string{}}}
	swap := w.SwapBody(Exchange{From: "ob:usdc", Amount: big.NewInt(20 * usdcPlain), Get: "ob:usdc",
		To: onChain(Polygon, payee()), Slippage: 50})
	hostile := []string{
		`null`, `""`, `0`, `-1`, `1e400`, `true`, `[]`, `{}`, `"0x"`, `"ob:"`, `"ob:single"`, `"ob:sol"`, `"eip155:0"`,
		`"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"`,
		`"0x0000000000000000000000000000000000000000"`, `"11111111111111111111111111111111"`,
		`"eip155:137:0x0000000000000000000000000000000000000000"`,
		`"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:11111111111111111111111111111111"`,
		`"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/slip44:501"`,
		`"115792089237316195423570985008687907853269984665640564039457584007913129639935"`, `"18446744073709551616"`,
		`"solana"`, `"kernel-v3.3-ecdsa"`, `"999999999999"`,
	}
	for name, c := range map[string]struct {
		body *api.Document
		call func(context.Context, *api.Document) (*api.Document, error)
	}{
		"prepare": {w.Encode(call), w.Quoter.Prepare}, "prepare v1": {w.Encode(v1(call)), w.Quoter.PrepareV1},
		"swap": {swap, w.Quoter.Quote},
	} {
		c.body.Leaves(func(pointer string, _ []byte) {
			for _, value := range hostile {
				other, err := c.body.Splice(api.Edit{Pointer: pointer, Value: []byte(value)})
				Must(t, err)
				_, err = c.call(context.Background(), other)
				var refused *api.Error
				if err != nil && !errors.As(err, &refused) {
					t.Errorf("%s with %s at %s is a fault: %v", name, value, pointer, err)
				}
			}
		})
	}
}
