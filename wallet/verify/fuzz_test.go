package verify_test

import (
	"testing"

	"coffer/api"
	"coffer/wallet/verify"
)

func FuzzPrepared(f *testing.F) {
	w := newWorld(f)
	w.Freeze()
	f.Add(w.Document(w.PrepareResponse()).Raw())
	w.Deploy = true
	f.Add(w.Document(w.PrepareResponse()).Raw())
	f.Add([]byte(`{"chainOperation":{"userOp":{"callData":"0xe9ae5c53"}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := api.ParseDocument(raw, api.DefaultLimits())
		if err != nil {
			return
		}
		p, r := verify.Prepared(w.Intent(), w.Policy, verify.NoHistory{}, clock(), doc)
		if (p == nil) != r.Refused() {
			t.Fatal("a value and a refusal, or neither")
		}
		if p == nil {
			return
		}
		// Whatever is accepted calls what the user asked for, for the user's account and chain, with the user's key.
		v := p.View()
		if v.Sender != w.Account.Hex() || p.UserOp().Signer() != w.Signer || p.UserOp().ChainID() != 8453 || len(v.Lines) != len(w.Draft.Calls) {
			t.Fatalf("accepted %+v", v)
		}
	})
}

func FuzzQuote(f *testing.F) {
	w := newWorld(f)
	w.Freeze()
	s := w.signed()
	f.Add(w.Document(w.CrossChain()).Raw())
	f.Add(w.Document(w.SameChain()).Raw())
	f.Add([]byte(`{"originChainsOperations":[{"userOp":{}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := api.ParseDocument(raw, api.DefaultLimits())
		if err != nil {
			return
		}
		q, r := verify.Quote(w.Intent(), w.Policy, verify.NoHistory{}, clock(), s, doc)
		if (q == nil) != r.Refused() {
			t.Fatal("a value and a refusal, or neither")
		}
		if q == nil {
			return
		}
		limit := w.Intent().Draft().TokensRequired[0].Amount
		if v := q.View(); v.Delivered.Amount.String() != limit || v.Recipient != w.Account.Hex() {
			t.Fatalf("accepted %+v", v)
		}
	})
}
