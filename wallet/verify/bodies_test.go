package verify_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/op"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

func TestX1_TheQuoteRequestIsTheAnswerWithOneSignature(t *testing.T) {
	w := newWorld(t)
	base := w.Document(w.PrepareResponse())
	p, _ := w.prepared(base)
	sig, err := op.Sign(p.UserOp().Digest(), golden.KeyOf(w.Key))
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.WithSignature(sig)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := s.CallQuoteBody()
	if err != nil {
		t.Fatal(err)
	}
	body, err := api.ParseDocument(raw, api.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	names, _ := body.Members("")
	if strings.Join(names, " ") != "accounts chainOperation tamperProofSignature fromAggregatedAssetId slippageTolerance" {
		t.Fatalf("members %v", names)
	}
	back, err := body.Splice(api.Edit{Pointer: "/chainOperation/userOp/signature", Value: []byte(`"0x"`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"accounts", "chainOperation", "tamperProofSignature"} {
		got, _ := back.At("/" + name)
		want, _ := base.At("/" + name)
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from what was received", name)
		}
	}
	var r api.Rules
	r.Catalog = w.Catalog
	if fs := r.CallQuote(body); len(fs) > 0 {
		t.Errorf("the interface's rules refuse the body: %v", fs)
	}
}

func TestX1_TheExecuteBodyIsTheQuoteWithSignaturesOnly(t *testing.T) {
	w := newWorld(t)
	q, _ := w.quote(w.signed(), w.Document(w.CrossChain()))
	var sigs [][]byte
	for _, f := range q.Funding() {
		sig, err := op.Sign(f.Digest(), golden.KeyOf(w.Key))
		if err != nil {
			t.Fatal(err)
		}
		sigs = append(sigs, sig)
	}
	body, err := q.ExecuteBody(sigs)
	if err != nil {
		t.Fatal(err)
	}
	if len(body.Raw()) != len(q.Document().Raw())+2*130 {
		t.Errorf("the body grew by %d bytes", len(body.Raw())-len(q.Document().Raw()))
	}
	for pointer, value := range map[string]string{
		"/destinationToken/recipientAccount": `"eip155:8453:0x0"`, "/originChainsOperations/0/userOp/callGasLimit": `"1"`, "/expirationTimestamp": `"1"`, "/extra": `1`,
	} {
		changed, err := body.Splice(api.Edit{Pointer: pointer, Value: []byte(value)})
		if err != nil {
			t.Fatal(err)
		}
		if err := q.CheckBody(changed); !errors.Is(err, verify.ErrBody) {
			t.Errorf("a change at %s goes unnoticed: %v", pointer, err)
		}
	}
	if _, err := q.ExecuteBody(sigs[:1]); err == nil {
		t.Error("a missing signature goes unnoticed")
	}
	if _, err := q.ExecuteBody([][]byte{sigs[1], sigs[0]}); err == nil {
		t.Error("swapped signatures go unnoticed")
	}
}

func TestU15_ASignatureOfAnotherKeyIsRefused(t *testing.T) {
	w := newWorld(t)
	p, _ := w.prepared(w.Document(w.PrepareResponse()))
	sig, err := op.Sign(p.UserOp().Digest(), golden.KeyOf("another key"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.WithSignature(sig); err == nil {
		t.Error("accepted the signature of another key")
	}
	if _, err := p.WithSignature(sig[:64]); err == nil {
		t.Error("accepted 64 bytes")
	}
}

func TestSameChainBodyReusesTheOneSignature(t *testing.T) {
	w := newWorld(t)
	w.CallType = api.CallSameChainExcludeSolver
	s := w.signed()
	q, _ := w.quote(s, w.Document(w.SameChain()))
	body, err := q.ExecuteBody(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := body.At("/originChainsOperations/0/userOp/signature")
	if string(got) != `"`+golden.HexOf(s.Signature())+`"` {
		t.Fatalf("signature %s", got)
	}
}

func TestZeroVerifiedValuesAreEmpty(t *testing.T) {
	if !(verify.VerifiedUserOp{}).IsZero() || !(verify.VerifiedApprove{}).IsZero() || !(verify.VerifiedDelegation{}).IsZero() || !(verify.VerifiedMessage{}).IsZero() {
		t.Fatal("a zero value passes for a verified one")
	}
}
