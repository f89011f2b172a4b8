package flow_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/wallet/flow"
	"coffer/wallet/internal/golden"
	"coffer/wallet/journal"
)

// TestRefundsAreMadeFromWhatWasSigned: quote, depositor, escrow and time are those of the signed deposits, also when
// the service is gone; without the quote's text they are those of the network.
func TestRefundsAreMadeFromWhatWasSigned(t *testing.T) {
	b := newBench(t)
	b.f.execute = func([]byte) (api.ExecuteResponse, error) {
		return api.ExecuteResponse{},
			api.NewError("Gone", "gone")
	}
	b.f.status = func(int, string) (api.ExecutionStatus, error) { return api.ExecutionStatus{}, nil }
	o := b.review2()
	if n := len(flow.Refunds(b.w.Network, b.j.Operations()[0])); n != 0 {
		t.Fatalf("%d payments of a quote that nobody signed", n)
	}
	_, _ = o.Execute(t.Context(), consent2(o), nil)
	rec := b.j.Operations()[0]
	other := b.w.Network
	other.Pins.Escrow = common.HexToAddress(stranger)
	then := common.Address{0xde}
	other.Deployments = []network.Deployment{{Escrow: then}, {Escrow: other.Pins.Escrow,
		From: rec.QuotedAt.Unix() + 1}} // the service has other contracts by now
	check := func(at common.Address) {
		t.Helper()
		list := flow.Refunds(other, rec)
		if len(list) != 2 {
			t.Fatalf("%d refunds: %+v", len(list), rec)
		}
		for i, chain := range []string{"eip155:42161", "eip155:10"} {
			r := list[i]
			want := escrow.RefundCalldata([32]byte(common.FromHex(golden.QuoteID)), b.w.Account)
			if r.Chain != chain || r.Escrow != at || r.Depositor != b.w.Account || !bytes.Equal(r.Data, want) ||
				r.QuoteID != golden.QuoteID || !r.After.Equal(golden.Clock().Add(time.Hour)) || len(r.Pays) != 1 {
				t.Errorf("%+v", r)
			}
		}
	}
	check(b.w.Network.Pins.Escrow)
	text := rec.Quote
	rec.Quote = nil
	check(then)
	other.Deployments = nil
	check(other.Pins.Escrow)

	var q map[string]any
	if err := json.Unmarshal(text, &q); err != nil {
		t.Fatal(err)
	}
	first := q["originChainsOperations"].([]any)[0].(map[string]any)["userOp"].(map[string]any)
	first["callData"] = b.w.PrepareResponse().ChainOperation.UserOp.CallData // not a deposit
	rec.Quote, _ = json.Marshal(q)
	if list := flow.Refunds(other, rec); len(list) != 1 || list[0].Chain != "eip155:10" {
		t.Errorf("%+v", list)
	}
	// Of a network of version 1.
	at := common.HexToAddress(golden.Vault)
	data, err := op.EncodeExecute([]op.Call{{To: at, Value: new(big.Int), Data: golden.EarlierDeposit(escrow.Deposit{
		Amount: big.NewInt(1), RefundDeadline: 77})}})
	if err != nil {
		t.Fatal(err)
	}
	first["callData"] = golden.HexOf(data)
	rec.Quote, _ = json.Marshal(q)
	if list := flow.Refunds(other, rec); len(list) != 2 || list[0].Escrow != at || list[0].After.Unix() != 77 {
		t.Errorf("%+v", list)
	}
	for i := range rec.Signatures {
		rec.Signatures[i].Sent = false
	}
	if list := flow.Refunds(other, rec); len(list) != 0 {
		t.Errorf("payments that never left: %+v", list)
	}
	if list := flow.Refunds(other, journal.Operation{Signatures: []journal.Signature{{QuoteID: "0x01",
		Sent: true}}}); len(list) != 0 {
		t.Errorf("a payment on Solana: %+v", list)
	}
}
