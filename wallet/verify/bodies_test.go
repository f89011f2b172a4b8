package verify_test

import (
	"bytes"
	"errors"
	"math/rand"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

func TestX1_TheQuoteRequestIsTheAnswerWithOneSignature(t *testing.T) {
	each(t, theQuoteRequestIsTheAnswerWithOneSignature)
}

func theQuoteRequestIsTheAnswerWithOneSignature(t *testing.T, w *world) {
	accounts, check := "accounts", (api.Rules{Catalog: w.Catalog}).CallQuote
	if w.Draft.Interface != "" {
		accounts, check = "account", (api.Rules{Catalog: w.Catalog}).CallQuoteV1
	}
	base := w.Document(w.PrepareResponse())
	p, _ := w.prepared(base)
	s := signedBy(t, p, w.Key)
	raw, err := s.CallQuoteBody()
	if err != nil {
		t.Fatal(err)
	}
	body, err := api.ParseDocument(raw, api.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	names, _ := body.Members("")
	if strings.Join(names, " ") != accounts+
		" chainOperation tamperProofSignature fromAggregatedAssetId slippageTolerance" {
		t.Fatalf("members %v", names)
	}
	back, err := body.Splice(api.Edit{Pointer: "/chainOperation/userOp/signature", Value: []byte(`"0x"`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{accounts, "chainOperation", "tamperProofSignature"} {
		got, _ := back.At("/" + name)
		want, _ := base.At("/" + name)
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from what was received", name)
		}
	}
	if fs := check(body); len(fs) > 0 {
		t.Errorf("the interface's rules refuse the body: %v", fs)
	}
}

func TestX1_TheExecuteBodyIsTheQuoteWithSignaturesOnly(t *testing.T) {
	each(t, theExecuteBodyIsTheQuoteWithSignaturesOnly)
}

func theExecuteBodyIsTheQuoteWithSignaturesOnly(t *testing.T, w *world) {
	w.Freeze()
	q, _ := w.quote(w.signed(), w.Document(w.CrossChain()))
	var sigs []verify.Signatures
	for _, f := range q.Operations() {
		sigs = append(sigs, signatures(t, f, w.Key))
	}
	body, err := q.ExecuteBody(sigs)
	if err != nil {
		t.Fatal(err)
	}
	if _, delegates := q.Operations()[1].Delegation(); !delegates && len(body.Raw()) != len(q.Document().Raw())+2*130 {
		t.Errorf("the body grew by %d bytes", len(body.Raw())-len(q.Document().Raw()))
	}
	for pointer, value := range map[string]string{
		"/destinationToken/recipientAccount":            `"eip155:8453:0x0"`,
		"/originChainsOperations/0/userOp/callGasLimit": `"1"`, "/expirationTimestamp": `"1"`, "/extra": `1`,
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
	if _, err := q.ExecuteBody([]verify.Signatures{sigs[1], sigs[0]}); err == nil {
		t.Error("swapped signatures go unnoticed")
	}
}

func TestU15_ASignatureOfAnotherKeyIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Freeze()
		p, _ := w.prepared(w.Document(w.PrepareResponse()))
		good := signatures(t, p.Signing(), w.Key)
		other := signatures(t, p.Signing(), "another key")
		if _, err := p.WithSignatures(other); err == nil {
			t.Error("accepted the signature of another key")
		}
		for _, n := range []int{0, 64, 66} {
			if _, err := p.WithSignatures(verify.Signatures{Operation: append(good.Operation, 0)[:n]}); err == nil {
				t.Errorf("accepted %d bytes", n)
			}
		}
		// the key is right, but what was signed is the other form: the typed data of a kernel account, the operation of
		// a role-based one
		u, err := op.FromWire(*w.PrepareResponse().ChainOperation.UserOp)
		if err != nil {
			t.Fatal(err)
		}
		digest := w.Domain(8453).ApproveDigest(op.CallDataAndNonceHash(u.Sender, u.CallData, u.Nonce))
		if w.Kind == api.AccountRoleBased {
			digest = op.EIP191(common.HexToHash(p.Signing().Hash()))
		}
		wrong, err := op.Sign(digest, golden.KeyOf(w.Key))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.WithSignatures(verify.Signatures{Operation: wrong}); err == nil {
			t.Error("accepted a signature of the other form")
		}
		q, _ := w.quote(signedBy(t, p, w.Key), w.Document(w.CrossChain()))
		sigs := signAll(t, w, q)
		sigs[1].Operation = good.Operation
		if _, err := q.ExecuteBody(sigs); err == nil {
			t.Error("accepted the signature of another operation")
		}
	})
}

func TestSameChainBodyReusesTheOneSignature(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.CallType = api.CallSameChainExcludeSolver
		s := w.signed()
		q, r := w.quote(s, w.Document(w.SameChain()))
		if q == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		body, err := q.ExecuteBody(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := body.At("/originChainsOperations/0/userOp/signature")
		if string(got) != `"`+golden.HexOf(s.Signatures().Operation)+`"` ||
			len(body.Raw()) != len(q.Document().Raw())+130 {
			t.Fatalf("signature %s", got)
		}
	})
}

// respaced writes a document with other spaces between its tokens, and with members that this wallet does not know.
func respaced(raw []byte, rng *rand.Rand) []byte {
	spaces := []string{"", "", " ", "\n", "\t\t", "\r\n  "}
	extra := []string{`"x":1e400,`, `"deep":{"a":[[],{"b":null}]},`, `"big":123456789012345678901234567890.10,`,
		`"text":"\u00e9\/\ud83d\ude00",`, ``}
	var out []byte
	inside, escaped, first := false, false, true
	for _, c := range raw {
		out = append(out, c)
		switch {
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		case !inside && strings.IndexByte("{}[]:,", c) >= 0:
			if first {
				out, first = append(out, extra[rng.Intn(len(extra))]...), false
			}
			out = append(out, spaces[rng.Intn(len(spaces))]...)
		}
	}
	return out
}

// TestL6_OnlySignaturesAreInsertedIntoWhatWasReceived compares 1 000 documents of odd spacing and unknown members with
// what is sent back, byte for byte.
func TestL6_OnlySignaturesAreInsertedIntoWhatWasReceived(t *testing.T) {
	rng := rand.New(rand.NewSource(6))
	for i := range 1_000 / thinning() {
		v := variants()[i%len(variants())]
		w := v.world(t)
		w.Deploy = i%12 < 6
		w.Freeze()
		answer := parseText(t, string(respaced(w.Document(w.PrepareResponse()).Raw(), rng)))
		p, r := w.prepared(answer)
		if p == nil {
			t.Fatalf("%s: %+v in %s", v.name, r.Reasons, answer.Raw())
		}
		s := signedBy(t, p, w.Key)
		raw, err := s.CallQuoteBody()
		if err != nil {
			t.Fatal(err)
		}
		sent, _ := parseText(t, string(raw)).At("/chainOperation")
		received, _ := answer.At("/chainOperation")
		onlySignatures(t, string(received), string(sent), s.Signatures())

		doc := parseText(t, string(respaced(w.Document(w.CrossChain()).Raw(), rng)))
		if again, shown := doc.At("/destinationChainOperation"); shown { // has to be as it was prepared, spaces and all
			doc = parseText(t, strings.Replace(string(doc.Raw()), string(again), string(received), 1))
		}
		q, r := w.quote(s, doc)
		if q == nil {
			t.Fatalf("%s: %+v", v.name, r.Reasons)
		}
		sigs := signAll(t, w, q)
		body, err := q.ExecuteBody(sigs)
		if err != nil {
			t.Fatal(err)
		}
		onlySignatures(t, string(doc.Raw()), string(body.Raw()), sigs...)
	}
}

// onlySignatures takes the signatures out of a text again and demands what was received.
func onlySignatures(t *testing.T, received, sent string, sigs ...verify.Signatures) {
	t.Helper()
	for _, s := range sigs {
		sent = strings.Replace(sent, golden.HexOf(s.Operation), "0x", 1)
		if s.Delegation == nil {
			continue
		}
		at := strings.Index(sent, `,"signature":{`)
		if at < 0 {
			t.Fatal("no signed delegation")
		}
		end := strings.IndexByte(sent[at:], '}')
		sent = sent[:at] + sent[at+end+1:]
	}
	if sent != received {
		t.Fatalf("sent %s\nreceived %s", sent, received)
	}
}

func TestZeroVerifiedValuesAreEmpty(t *testing.T) {
	if !(verify.VerifiedUserOp{}).IsZero() || !(verify.VerifiedApprove{}).IsZero() ||
		!(verify.VerifiedDelegation{}).IsZero() || !(verify.VerifiedMessage{}).IsZero() {
		t.Fatal("a zero value passes for a verified one")
	}
}
