package verify_test

import (
	"testing"

	"coffer/api"
	"coffer/wallet/verify"
)

func FuzzPrepared(f *testing.F) {
	w := newWorld(f)
	w.freeze()
	f.Add(w.document(w.prepareResponse()).Raw())
	w.deploy = true
	f.Add(w.document(w.prepareResponse()).Raw())
	f.Add([]byte(`{"chainOperation":{"userOp":{"callData":"0xe9ae5c53"}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := api.ParseDocument(raw, api.DefaultLimits())
		if err != nil {
			return
		}
		p, r := verify.Prepared(w.intent(), w.policy, verify.NoHistory{}, clock(), doc)
		if (p == nil) != r.Refused() {
			t.Fatal("a value and a refusal, or neither")
		}
		if p == nil {
			return
		}
		// Whatever is accepted calls what the user asked for, for the user's account and chain, with the user's key.
		v := p.View()
		if v.Sender != w.account.Hex() || p.UserOp().Signer() != w.signer || p.UserOp().ChainID() != 8453 || len(v.Lines) != len(w.draft.Calls) {
			t.Fatalf("accepted %+v", v)
		}
	})
}

func FuzzQuote(f *testing.F) {
	w := newWorld(f)
	w.freeze()
	s := w.signed()
	f.Add(w.document(w.crossChain()).Raw())
	f.Add(w.document(w.sameChain()).Raw())
	f.Add([]byte(`{"originChainsOperations":[{"userOp":{}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := api.ParseDocument(raw, api.DefaultLimits())
		if err != nil {
			return
		}
		q, r := verify.Quote(w.intent(), w.policy, verify.NoHistory{}, clock(), s, doc)
		if (q == nil) != r.Refused() {
			t.Fatal("a value and a refusal, or neither")
		}
		if q == nil {
			return
		}
		limit := w.intent().Draft().TokensRequired[0].Amount
		if v := q.View(); v.Delivered.Amount.String() != limit || v.Recipient != w.account.Hex() {
			t.Fatalf("accepted %+v", v)
		}
	})
}
