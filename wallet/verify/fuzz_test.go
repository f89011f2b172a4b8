package verify_test

import (
	"testing"

	"coffer/api"
	"coffer/wallet/verify"
)

// fuzzWorlds are frozen worlds of every account type and interface, each with a signed prepared operation.
func fuzzWorlds(f *testing.F) ([]*world, []*verify.SignedPrepared) {
	var worlds []*world
	var signed []*verify.SignedPrepared
	for _, v := range variants() {
		w := v.world(f)
		w.Freeze()
		worlds, signed = append(worlds, w), append(signed, w.signed())
	}
	return worlds, signed
}

func FuzzPrepared(f *testing.F) {
	worlds, _ := fuzzWorlds(f)
	for i, w := range worlds {
		f.Add(byte(i), w.Document(w.PrepareResponse()).Raw())
		w.Deploy = true
		f.Add(byte(i), w.Document(w.PrepareResponse()).Raw())
		foreign := w.PrepareResponse()
		foreignSponsor(&foreign.ChainOperation, []byte{1})
		f.Add(byte(i), w.Document(foreign).Raw())
	}
	f.Add(byte(0), []byte(`{"chainOperation":{"userOp":{"callData":"0xe9ae5c53"}}}`))
	f.Fuzz(func(t *testing.T, n byte, raw []byte) {
		doc, err := api.ParseDocument(raw, api.DefaultLimits())
		if err != nil {
			return
		}
		w := worlds[int(n)%len(worlds)]
		p, r := verify.Prepared(w.Intent(), w.Policy, verify.NoHistory{}, clock(), doc)
		if (p == nil) != r.Refused() {
			t.Fatal("a value and a refusal, or neither")
		}
		if p == nil {
			return
		}
		// Whatever is accepted calls what the user asked for, for the user's account and chain, with the user's key.
		v, s := p.View(), p.Signing().Summary()
		if v.Sender != w.Account.Hex() || v.Signer != w.Signer.Hex() || v.Chain.ID != 8453 ||
			s.Chain != "eip155:8453" || len(v.Lines) != len(w.Draft.Calls) || r.Phrase() != "" {
			t.Fatalf("accepted %+v", v)
		}
		if _, err := signedBy(t, p, w.Key).CallQuoteBody(); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzQuote(f *testing.F) {
	worlds, signed := fuzzWorlds(f)
	for i, w := range worlds {
		f.Add(byte(i), w.Document(w.CrossChain()).Raw())
		f.Add(byte(i), w.Document(toStranger(w, approveTo(stranger, paid), callTo(stranger, 0, "0xdeadbeef"))).Raw())
		f.Add(byte(i), w.Document(w.SameChain()).Raw())
		w.Policy.Limits.Gates = allGates()
	}
	f.Add(byte(0), []byte(`{"originChainsOperations":[{"userOp":{}}]}`))
	f.Fuzz(func(t *testing.T, n byte, raw []byte) {
		doc, err := api.ParseDocument(raw, api.DefaultLimits())
		if err != nil {
			return
		}
		i := int(n) % len(worlds)
		w := worlds[i]
		q, r := verify.Quote(w.Intent(), w.Policy, verify.NoHistory{}, clock(), signed[i], doc)
		if (q == nil) != r.Refused() {
			t.Fatal("a value and a refusal, or neither")
		}
		if q == nil {
			return
		}
		limit := w.Intent().Draft().TokensRequired[0].Amount
		v := q.View()
		if v.Delivered.Amount.String() != limit || v.Recipient != w.Account.Hex() || r.Phrase() != v.Phrase {
			t.Fatalf("accepted %+v", v)
		}
		var sigs []verify.Signatures
		for _, o := range q.Operations() {
			sigs = append(sigs, signatures(t, o, w.Key))
		}
		if _, err := q.ExecuteBody(sigs); err != nil {
			t.Fatal(err)
		}
	})
}
