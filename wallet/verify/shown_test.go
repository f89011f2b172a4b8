package verify_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// received reads an operation from the bytes of an answer without the verifier, and hashes it for the pinned entry
// point.
func received(t testing.TB, w *world, d *api.Document, pointer string, chainID uint64) (op.UserOp, common.Hash,
	[]op.Call) {
	t.Helper()
	raw, _ := d.At(pointer)
	part, err := api.ParseDocument(raw, api.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var wire api.UserOp
	if err := part.Decode(&wire); err != nil {
		t.Fatal(err)
	}
	u, err := op.FromWire(wire)
	if err != nil {
		t.Fatal(err)
	}
	h, err := u.Hash(w.Network.Pins.EntryPoint, new(big.Int).SetUint64(chainID))
	if err != nil {
		t.Fatal(err)
	}
	calls, err := op.DecodeExecute(u.CallData)
	if err != nil {
		t.Fatal(err)
	}
	return u, h, calls
}

// digestOf is what the account's key signs for an operation.
func digestOf(w *world, u op.UserOp, hash common.Hash, chainID uint64) common.Hash {
	if w.Kind == api.AccountRoleBased {
		return w.Domain(chainID).ApproveDigest(op.CallDataAndNonceHash(u.Sender, u.CallData, u.Nonce))
	}
	return op.EIP191(hash)
}

// preparedViewIsWhatGetsSigned compares everything that review 1 shows with the bytes that the key signs (TH-V1, U14).
// It is asked about every answer that the mutator gets accepted; nil is a refused one.
func preparedViewIsWhatGetsSigned(t testing.TB, w *world, p *verify.PreparedOp, d *api.Document) {
	t.Helper()
	if p == nil {
		return
	}
	v, signed := p.View(), p.Signing()
	u, hash, calls := received(t, w, d, "/chainOperation/userOp", v.Chain.ID)
	if signed.Hash() != hash.Hex() || v.OpHash != hash.Hex() || v.Digest != signed.Digest() ||
		signed.Digest() != digestOf(w, u, hash, v.Chain.ID).Hex() {
		t.Fatalf("what is signed is not what was received: %s, %s, shown %s", signed.Hash(), hash, v.OpHash)
	}
	window, _, err := op.DecodePaymasterData(u.PaymasterData)
	end := int64(window.ValidUntil)
	if w.Kind == api.AccountRoleBased {
		end = verify.NoEnd
	}
	if err != nil || v.Window.From.Unix() != int64(window.ValidAfter) ||
		v.Window.Until.Unix() != int64(window.ValidUntil) || signed.Summary().ValidUntil != end {
		t.Fatalf("the window shown is %v, signed %+v", v.Window, window)
	}
	if v.Sender != u.Sender.Hex() || v.Nonce != u.Nonce.String() || signed.Summary().Nonce != v.Nonce ||
		v.Deploys != (u.Factory != nil) || signed.Summary().Chain != v.Chain.CAIP {
		t.Fatalf("shown %+v, signed %+v", v, u)
	}
	if len(v.Lines) != len(calls) {
		t.Fatalf("%d calls shown, %d signed", len(v.Lines), len(calls))
	}
	native := new(big.Int)
	for i, l := range v.Lines {
		c := calls[i]
		native.Add(native, c.Value)
		if l.To != c.To.Hex() || l.Value.Cmp(c.Value) != 0 || l.Data != golden.HexOf(c.Data) {
			t.Fatalf("call %d: shown %+v, signed %+v", i, l, c)
		}
	}
	for _, o := range v.Outflow {
		if o.Asset.IsNative() && o.Amount.Cmp(native) != 0 {
			t.Fatalf("outflow %s, the values are %s", o.Amount, native)
		}
	}
}

// quoteViewIsWhatGetsSigned does the same for review 2: every payment, its amount, its deadline and its window are read
// again from the received bytes.
func quoteViewIsWhatGetsSigned(t testing.TB, w *world, q *verify.VerifiedQuote, d *api.Document) {
	t.Helper()
	if q == nil {
		return
	}
	v := q.View()
	if q.SameChainOnly() {
		if len(q.Operations()) != 0 || len(v.Legs) != 0 || len(v.Pay) != 0 {
			t.Fatalf("a call without payments has %+v", v)
		}
		return
	}
	if len(v.Legs) != len(q.Operations()) {
		t.Fatalf("%d payments shown, %d signed", len(v.Legs), len(q.Operations()))
	}
	sum := map[string]*big.Int{}
	for i, leg := range v.Legs {
		signed := q.Operations()[i]
		u, hash, calls := received(t, w, d, "/originChainsOperations/"+string(rune('0'+i))+"/userOp", leg.Chain.ID)
		deposit, terms, ok := escrow.DecodeDeposit(calls[len(calls)-1].Data)
		if !ok || signed.Hash() != hash.Hex() || leg.OpHash != hash.Hex() ||
			signed.Digest() != digestOf(w, u, hash, leg.Chain.ID).Hex() || signed.Summary().Chain != leg.Chain.CAIP {
			t.Fatalf("payment %d: shown %+v, signed %s", i, leg, signed.Hash())
		}
		at := calls[len(calls)-1].To
		if leg.Pays.Amount.Cmp(deposit.Amount) != 0 || leg.Escrow != at.Hex() || at != w.Network.Pins.Escrow ||
			leg.RefundAfter.Unix() != int64(deposit.RefundDeadline) {
			t.Fatalf("payment %d: shown %+v, signed %+v", i, leg, deposit)
		}
		if !strings.EqualFold(golden.HexOf(deposit.QuoteID[:]), v.ID) || leg.Nonce != u.Nonce.String() ||
			leg.Deploys != (u.Factory != nil) {
			t.Fatalf("payment %d: shown %+v, signed %+v", i, leg, u)
		}
		promiseIsWhatGetsSigned(t, v.Promise, terms)
		key := leg.Pays.Asset.String()
		if sum[key] == nil {
			sum[key] = new(big.Int)
		}
		sum[key].Add(sum[key], deposit.Amount)
	}
	for _, p := range v.Pay {
		if sum[p.Asset.String()].Cmp(p.Amount) != 0 {
			t.Fatalf("shown %s of %s, signed %s", p.Amount, p.Asset, sum[p.Asset.String()])
		}
	}
}

// promiseIsWhatGetsSigned compares what review 2 says of the release of the payments with the bytes of a deposit.
func promiseIsWhatGetsSigned(t testing.TB, v *verify.PromiseView, terms escrow.Terms) {
	t.Helper()
	if v == nil || v.FillBy.Unix() != int64(terms.FillDeadline) || len(v.Minimums) != len(terms.Minimums) {
		t.Fatalf("shown %+v, signed %+v", v, terms)
	}
	for i, m := range terms.Minimums {
		if x := v.Minimums[i]; x.Asset.Word() != m.Token || x.Amount.Cmp(m.Amount) != 0 || x.Symbol == "" {
			t.Fatalf("shown %+v, signed %+v", x, m)
		}
	}
}
