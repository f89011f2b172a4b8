package integrity_test

import (
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/service/quote/integrity"
	"coffer/api/service/signers"
)

func doc(tb testing.TB, s string) *api.Document {
	tb.Helper()
	d, err := api.ParseDocument([]byte(s), api.DefaultLimits())
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

const quote = `{"id":"0x01","originChainsOperations":[{"userOp":{"sender":"0xaa","signature":"0x"},"amount":"1"},` +
	`{"type":"solana","signature":"","amount":"2"}],"decimals":6}`

func TestQuoteDigestIsTheTaggedCanonicalForm(t *testing.T) {
	got, err := integrity.Quote(doc(t, quote))
	if err != nil {
		t.Fatal(err)
	}
	canonical :=
		`{"decimals":6,"id":"0x01","originChainsOperations":[{"amount":"1","userOp":{"sender":"0xaa"}},{"amount":"2",` +
			`"type":"solana"}]}`
	if want := crypto.Keccak256Hash([]byte("coffer/quote/1" + canonical)); got != want {
		t.Errorf("digest %s, expected %s", got, want)
	}
}

func TestPrepareDigestIsTheTaggedCanonicalForm(t *testing.T) {
	body :=
		`{"tamperProofSignature":"0x12","fromAssetId":"ob:usdc","accounts":[{"type":"kernel-v3.1-ecdsa",` +
			`"accountAddress":"0xAA","signerAddress":"0xBB"}],
	 "chainOperation":{"userOp":{"sender":"0xaa","signature":"0x99"},"amount":"1"}}`
	got, err := integrity.Prepare(doc(t, body))
	if err != nil {
		t.Fatal(err)
	}
	canonical :=
		`{"accounts":[{"accountAddress":"0xaa","deploymentType":"ERC4337","signerAddress":"0xbb",` +
			`"type":"kernel-v3.1-ecdsa"}],` +
			`"chainOperation":{"amount":"1","userOp":{"sender":"0xaa"}}}`
	if want := crypto.Keccak256Hash([]byte("coffer/prepare/1" + canonical)); got != want {
		t.Errorf("digest %s, expected %s", got, want)
	}
}

func TestOnlyTheSignaturesOfTheClientAreLeftOut(t *testing.T) {
	base, err := integrity.Quote(doc(t, quote))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pointer string
		same    bool
	}{
		{"/tamperProofSignature", true},
		{"/originChainsOperations/0/userOp/signature", true},
		{"/originChainsOperations/1/signature", true},
		{"/originChainsOperations/0/signature", false}, // not of type solana
		{"/originChainsOperations/1/note", false},
		{"/signature", false},
		{"/originChainsOperations/0/amount", false},
	} {
		d, err := doc(t, quote).Splice(api.Edit{Pointer: c.pointer, Value: []byte(`"0x77"`)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := integrity.Quote(d)
		if err != nil || (got == base) != c.same {
			t.Errorf("%s: same digest %t (%v)", c.pointer, got == base, err)
		}
	}
	delegated := strings.Replace(quote, `"amount":"1"`, `"amount":"1","delegation":{"nonce":0}`, 1)
	signed := strings.Replace(quote, `"amount":"1"`, `"amount":"1","delegation":{"nonce":0,"signature":{"r":"0x1"}}`, 1)
	a, errA := integrity.Quote(doc(t, delegated))
	b, errB := integrity.Quote(doc(t, signed))
	if errA != nil || errB != nil || a != b || a == base {
		t.Error("a signed delegation must not change the digest, the delegation itself must")
	}
}

func TestSignatureHas65BytesAndItsSigner(t *testing.T) {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("tamper")))
	if err != nil {
		t.Fatal(err)
	}
	signer := crypto.PubkeyToAddress(key.PublicKey)
	d := crypto.Keccak256Hash([]byte("x"))
	sig, err := integrity.Sign(t.Context(), d, signers.Local(key))
	if err != nil || len(sig) != 132 {
		t.Fatalf("%q, %v", sig, err)
	}
	if err := integrity.Check(d, sig, signer); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "0x", "0xzz", sig[:130], sig + "00", sig[:131] + "0"} {
		if integrity.Check(d, bad, signer) == nil {
			t.Errorf("%q passed", bad)
		}
	}
	if integrity.Check(crypto.Keccak256Hash([]byte("y")), sig, signer) == nil {
		t.Error("another digest passed")
	}
}

// FuzzQuote: no document makes the digest panic, and spacing never changes it.
func FuzzQuote(f *testing.F) {
	f.Add(quote)
	f.Add(`{"originChainsOperations":{"0":{"type":"solana","signature":1}}}`)
	f.Add(`[1,2]`)
	f.Fuzz(func(t *testing.T, s string) {
		d, err := api.ParseDocument([]byte(s), api.DefaultLimits())
		if err != nil {
			return
		}
		a, errA := integrity.Quote(d)
		spaced, err := api.ParseDocument([]byte(" "+s+"\n"), api.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		b, errB := integrity.Quote(spaced)
		if a != b || (errA == nil) != (errB == nil) {
			t.Error("spacing changed the digest")
		}
	})
}
