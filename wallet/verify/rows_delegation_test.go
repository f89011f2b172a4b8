package verify_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// eoa runs a test for an EOA that is asked for its first delegation, with both interfaces.
func eoa(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	for _, v := range variants() {
		if v.kind == api.AccountKernelV33 {
			t.Run(v.name, func(t *testing.T) {
				w := v.world(t)
				w.Deploy = true
				test(t, w)
			})
		}
	}
}

// known is a history that has seen an account nonce of the EOA.
func known(nonce uint64) memory { return memory{auth: &nonce} }

func TestD1_OnlyAnEOAThatActsAsAnAccountIsAskedForADelegation(t *testing.T) {
	ask := func(w *world) map[string]any {
		return map[string]any{"contractAddress": w.Network.Pins.KernelV33.Hex(), "nonce": 0}
	}
	each(t, func(t *testing.T, w *world) {
		s := w.signed()
		p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/chainOperation/delegation", ask(w)))
		q, rq := w.quote(s, replace(t, w.Document(w.CrossChain()), "/originChainsOperations/0/delegation", ask(w)))
		if w.Kind == api.AccountKernelV33 {
			if p == nil || q == nil {
				t.Fatalf("%+v %+v", r.Reasons, rq.Reasons)
			}
			return
		}
		refused(t, p != nil, r, "D1")
		refused(t, q != nil, rq, "D1")
	})
}

func TestADelegationIsShownSignedAndSent(t *testing.T) {
	eoa(t, func(t *testing.T, w *world) {
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		if p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		v, pins := p.View(), w.Network.Pins
		d, ok := p.Signing().Delegation()
		if !ok || p.Signing().Count() != 2 || v.Signatures != 2 || v.AccountType != api.AccountKernelV33 ||
			v.Delegation == nil || v.Deploys {
			t.Fatalf("%+v", v)
		}
		want := op.Authorization{ChainID: big.NewInt(8453), Address: pins.KernelV33, Nonce: 0}
		if d.Authorization().Hash() != want.Hash() || d.Signer() != w.Signer || d.Network() != w.Network.ID {
			t.Fatalf("signs %+v", d.Authorization())
		}
		if s := v.Delegation; s.Chain.ID != 8453 || s.Authority != w.Signer.Hex() ||
			s.Contract != pins.KernelV33.Hex() || s.ContractName != "Kernel v3.3 account" || s.Nonce != 0 {
			t.Fatalf("shown %+v", v.Delegation)
		}
		w.Deploy = false
		bare, _ := w.prepared(w.Document(w.PrepareResponse()))
		if bare.View().Delegation != nil || bare.Signing().Count() != 1 || bare.View().Signatures != 1 {
			t.Fatalf("%+v", bare.View())
		}
	})
}

func TestD2_TheDelegateIsThePinnedCode(t *testing.T) {
	eoa(t, func(t *testing.T, w *world) {
		base := w.Document(w.PrepareResponse())
		pinned := strings.ToLower(w.Network.Pins.KernelV33.Hex())
		with := func(a string) (*verify.PreparedOp, verify.Report) {
			return w.prepared(replace(t, base, "/chainOperation/delegation/contractAddress", a))
		}
		if p, r := with(pinned); p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		for i := 2; i < len(pinned); i++ {
			forged := []byte(pinned)
			if forged[i] = '0'; pinned[i] == '0' {
				forged[i] = '1'
			}
			p, r := with(string(forged))
			refused(t, p != nil, r, "D2")
		}
		for _, a := range []string{"0x0000000000000000000000000000000000000000", stranger,
			w.Network.Pins.KernelV31.Hex(), w.Account.Hex()} {
			p, r := with(a)
			refused(t, p != nil, r, "D2")
		}
		upper := "0x" + strings.ToUpper(pinned[2:])
		for _, a := range []string{upper, "0x12", "vitalik.eth"} {
			p, r := with(a)
			refused(t, p != nil, r, "L5")
		}
		s := w.signed()
		q, r := w.quote(s, replace(t, w.Document(w.CrossChain()),
			"/originChainsOperations/1/delegation/contractAddress", stranger))
		refused(t, q != nil, r, "D2")
	})
}

func TestD2_ADelegateOfTheUsersPolicyIsPinnedAsWell(t *testing.T) {
	eoa(t, func(t *testing.T, w *world) {
		w.Policy.Limits.Delegates = []common.Address{common.HexToAddress(stranger), {}}
		base := w.Document(w.PrepareResponse())
		p, r := w.prepared(replace(t, base, "/chainOperation/delegation/contractAddress", stranger))
		if p == nil || p.View().Delegation.Contract != stranger ||
			p.View().Delegation.ContractName != "an account contract of your policy" {
			t.Fatalf("%+v", r.Reasons)
		}
		p, r = w.prepared(replace(t, base, "/chainOperation/delegation/contractAddress",
			"0x0000000000000000000000000000000000000000"))
		refused(t, p != nil, r, "D2")
	})
}

func TestD3_ADelegationIsForTheChainOfItsOperation(t *testing.T) {
	eoa(t, func(t *testing.T, w *world) {
		for _, member := range []string{"chainId", "chain_id"} { // nothing in an answer can name another chain
			p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/chainOperation/delegation/"+member, 0))
			refused(t, p != nil, r, "L4")
		}
		w.Delegates = map[uint64]uint64{8453: 0, 42161: 0, 10: 0}
		q, r := w.quote(w.signed(), w.Document(w.CrossChain()))
		if q == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		for i, chain := range []int64{42161, 10} {
			if d, ok := q.Operations()[i].Delegation(); !ok || d.Authorization().ChainID.Int64() != chain ||
				q.View().Legs[i].Delegation.Chain.ID != uint64(chain) {
				t.Fatalf("operation %d delegates on %v", i, d.Authorization().ChainID)
			}
		}
	})
}

func TestD4_TheNonceIsTheNextOneAsFarAsAnybodyKnows(t *testing.T) {
	for name, c := range map[string]struct {
		nonce   uint64
		history memory
		level   verify.Level // "" passes in silence
	}{
		"next":                         {7, known(7), ""},
		"one transaction nobody saw":   {8, known(7), ""},
		"used":                         {6, known(7), verify.Refuse},
		"later":                        {9, known(7), verify.Gate},
		"much later":                   {1 << 40, known(7), verify.Gate},
		"first of an unknown EOA":      {0, memory{}, ""},
		"plausible, of an unknown EOA": {57, memory{}, verify.Unknown},
		"implausible":                  {1 << 32, memory{}, verify.Refuse},
		"beyond JSON":                  {1 << 53, known(7), verify.Refuse},
	} {
		t.Run(name, func(t *testing.T) {
			eoa(t, func(t *testing.T, w *world) {
				w.Delegates = map[uint64]uint64{8453: c.nonce}
				doc := w.Document(w.PrepareResponse())
				p, r := verify.Prepared(w.Intent(), w.Policy, c.history, clock(), doc)
				switch c.level {
				case verify.Refuse:
					refused(t, p != nil, r, "D4")
				case verify.Gate:
					w.Policy.Limits.Gates = others(verify.GateDelegationNonce)
					p, r := verify.Prepared(w.Intent(), w.Policy, c.history, clock(), doc)
					gated(t, p != nil, r, "D4", verify.GateDelegationNonce)
					w.Policy.Limits.Gates = []string{verify.GateDelegationNonce}
					if p, r = verify.Prepared(w.Intent(), w.Policy, c.history, clock(), doc); p == nil {
						t.Fatalf("%+v", r.Reasons)
					}
					opened(t, r, verify.GateDelegationNonce, p.View().Fingerprint, p.View().Phrase, p.Confirmation())
					if p.View().Delegation.Nonce != c.nonce {
						t.Fatalf("%+v", p.View().Delegation)
					}
				default:
					if p == nil || r.Has("D4", verify.Unknown) != (c.level == verify.Unknown) {
						t.Fatalf("%+v", r.Reasons)
					}
				}
			})
		})
	}
}

func TestD5_ADelegationArrivesUnsigned(t *testing.T) {
	eoa(t, func(t *testing.T, w *world) {
		a, err := op.Authorization{ChainID: big.NewInt(8453),
			Address: w.Network.Pins.KernelV33}.Sign(golden.KeyOf("another key"))
		if err != nil {
			t.Fatal(err)
		}
		for _, sig := range []any{a.Wire(), nil, map[string]any{}, "0x", "", []any{}} {
			p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/chainOperation/delegation/signature", sig))
			refused(t, p != nil, r, "D5")
			q, r := w.quote(w.signed(), replace(t, w.Document(w.CrossChain()),
				"/originChainsOperations/1/delegation/signature", sig))
			refused(t, q != nil, r, "D5")
		}
	})
}

// onBase is a quote that pays on the target chain, where the EOA is delegated with the given nonce.
func onBase(w *world, nonce uint64) api.Quote {
	w.Delegates = map[uint64]uint64{8453: nonce}
	q := w.QuoteResponse("225980000", map[string]string{baseUSDC: "480000"},
		golden.Payment{Asset: baseUSDC, Amount: 225_980_000})
	w.Delegates = nil
	return q
}

func TestD6_OneAuthorizationForEachChain(t *testing.T) {
	eoa(t, func(t *testing.T, w *world) {
		w.Freeze()
		s := w.signed() // delegates with nonce 0
		q, r := w.quote(s, w.Document(onBase(w, 0)))
		if q == nil {
			t.Fatalf("the same delegation is refused: %+v", r.Reasons)
		}
		first, _ := s.Prepared().Signing().Delegation()
		if d, ok := q.Operations()[0].Delegation(); !ok || d.Authorization().Hash() != first.Authorization().Hash() {
			t.Fatal("another authorization")
		}
		q, r = w.quote(s, w.Document(onBase(w, 1)))
		refused(t, q != nil, r, "D6")
		w.Policy.Limits.Delegates = []common.Address{common.HexToAddress(stranger)}
		elsewhere := func() *api.Document {
			return replace(t, w.Document(onBase(w, 0)), "/originChainsOperations/0/delegation/contractAddress",
				stranger)
		}
		q, r = w.quote(s, elsewhere())
		refused(t, q != nil, r, "D6")
		w.Deploy = false // without one in the prepared operation there is nothing to compare with
		if q, r = w.quote(w.signed(), elsewhere()); q == nil {
			t.Fatalf("%+v", r.Reasons)
		}
	})
}

// signAll signs every operation of a quote.
func signAll(t *testing.T, w *world, q *verify.VerifiedQuote) []verify.Signatures {
	t.Helper()
	var out []verify.Signatures
	for _, s := range q.Operations() {
		out = append(out, signatures(t, s, w.Key))
	}
	return out
}

func TestX1_BodiesCarryTheSignedDelegation(t *testing.T) {
	eoa(t, func(t *testing.T, w *world) {
		w.Freeze()
		answer := w.Document(w.PrepareResponse())
		p, _ := w.prepared(answer)
		s := signedBy(t, p, w.Key)
		raw, err := s.CallQuoteBody()
		if err != nil {
			t.Fatal(err)
		}
		body := parseText(t, string(raw))
		delegationIsOurs(t, w, body, "/chainOperation", 8453)
		for _, name := range []string{"chainOperation", "tamperProofSignature"} {
			withoutSignatures(t, answer, body, "/"+name)
		}
		rules := api.Rules{Catalog: w.Catalog}
		check := rules.CallQuote
		if w.Draft.Interface != "" {
			check = rules.CallQuoteV1
		}
		if fs := check(body); len(fs) > 0 {
			t.Fatalf("the interface's rules refuse the body: %v", fs)
		}

		q, r := w.quote(s, w.Document(w.CrossChain()))
		if q == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		sigs := signAll(t, w, q)
		sent, err := q.ExecuteBody(sigs)
		if err != nil {
			t.Fatal(err)
		}
		delegationIsOurs(t, w, sent, "/originChainsOperations/1", 10)
		if _, ok := sent.At("/originChainsOperations/0/delegation"); ok {
			t.Fatal("a delegation that nobody asked for")
		}
		for _, change := range []api.Edit{
			{Pointer: "/originChainsOperations/1/delegation/contractAddress", Value: []byte(`"` + stranger + `"`)},
			{Pointer: "/originChainsOperations/1/delegation/nonce", Value: []byte(`1`)},
			{Pointer: "/originChainsOperations/0/delegation", Value: []byte(`{}`)},
		} {
			changed, err := sent.Splice(change)
			if err != nil {
				t.Fatal(err)
			}
			if err := q.CheckBody(changed); !errors.Is(err, verify.ErrBody) {
				t.Errorf("a change at %s goes unnoticed: %v", change.Pointer, err)
			}
		}
		if err := q.CheckBody(drop(t, sent, "/originChainsOperations/1/delegation/signature")); !errors.Is(err,
			verify.ErrBody) {
			t.Errorf("a missing delegation goes unnoticed: %v", err)
		}
	})
}

// TestX1_ASameChainBodyCarriesBothSignatures: the quote brings the prepared operation back unsigned, delegation and
// all; what was signed once is put in again.
func TestX1_ASameChainBodyCarriesBothSignatures(t *testing.T) {
	eoa(t, func(t *testing.T, w *world) {
		w.CallType = api.CallSameChainExcludeSolver
		s := w.signed()
		q, r := w.quote(s, w.Document(w.SameChain()))
		if q == nil || !q.SameChainOnly() || len(q.Operations()) != 0 {
			t.Fatalf("%+v", r.Reasons)
		}
		body, err := q.ExecuteBody(nil)
		if err != nil {
			t.Fatal(err)
		}
		delegationIsOurs(t, w, body, "/originChainsOperations/0", 8453)
		got, _ := body.At("/originChainsOperations/0/userOp/signature")
		if string(got) != `"`+golden.HexOf(s.Signatures().Operation)+`"` {
			t.Fatalf("signature %s", got)
		}
		if _, err := q.ExecuteBody([]verify.Signatures{s.Signatures()}); err == nil {
			t.Error("a signature too many")
		}
		for pointer, value := range map[string]string{
			"/originChainsOperations/0/delegation/nonce":           "1",
			"/originChainsOperations/0/delegation/contractAddress": `"` + stranger + `"`,
		} {
			doc, err := w.Document(w.SameChain()).Splice(api.Edit{Pointer: pointer, Value: []byte(value)})
			if err != nil {
				t.Fatal(err)
			}
			q, r := w.quote(s, doc)
			refused(t, q != nil, r, "Q14")
		}
		q, r = w.quote(s, drop(t, w.Document(w.SameChain()), "/originChainsOperations/0/delegation"))
		refused(t, q != nil, r, "Q14")
	})
}

// delegationIsOurs demands a delegation in a body that the account's key signed for the pinned code on a chain.
func delegationIsOurs(t *testing.T, w *world, body *api.Document, path string, chainID int64) {
	t.Helper()
	raw, ok := body.At(path + "/delegation/signature")
	if !ok {
		t.Fatalf("no signed delegation at %s", path)
	}
	var wire api.DelegationSignature
	if err := json.Unmarshal(raw, &wire); err != nil {
		t.Fatal(err)
	}
	a, err := op.AuthorizationFromWire(wire)
	if err != nil {
		t.Fatal(err)
	}
	who, err := a.Authority()
	if err != nil || who != w.Signer || a.ChainID.Int64() != chainID || a.Address != w.Network.Pins.KernelV33 ||
		wire.Type != "Signed" {
		t.Fatalf("signed by %s: %+v (%v)", who, wire, err)
	}
}

// withoutSignatures demands that two documents have the same bytes at a pointer once the signatures are taken out
// again.
func withoutSignatures(t *testing.T, want, signed *api.Document, pointer string) {
	t.Helper()
	back := signed
	for _, place := range []string{"/chainOperation/userOp/signature"} {
		var err error
		if back, err = back.Splice(api.Edit{Pointer: place, Value: []byte(`"0x"`)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := back.At("/chainOperation/delegation/signature"); ok {
		back = drop(t, back, "/chainOperation/delegation/signature")
	}
	a, _ := want.At(pointer)
	b, _ := back.At(pointer)
	if !bytes.Equal(a, b) {
		t.Errorf("%s differs from what was received", pointer)
	}
}

func TestU15_ADelegationIsTheVerifiedOneSignedByTheAccount(t *testing.T) {
	eoa(t, func(t *testing.T, w *world) {
		p, _ := w.prepared(w.Document(w.PrepareResponse()))
		good := signatures(t, p.Signing(), w.Key)
		sign := func(a op.Authorization, key string) *op.SignedAuthorization {
			s, err := a.Sign(golden.KeyOf(key))
			if err != nil {
				t.Fatal(err)
			}
			return &s
		}
		d, _ := p.Signing().Delegation()
		a := d.Authorization()
		highS := *good.Delegation
		n, _ := new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)
		n.Sub(n, new(big.Int).SetBytes(highS.S[:])).FillBytes(highS.S[:])
		highS.YParity ^= 1
		for name, bad := range map[string]*op.SignedAuthorization{
			"none":          nil,
			"another key":   sign(a, "another key"),
			"another chain": sign(op.Authorization{ChainID: big.NewInt(1), Address: a.Address, Nonce: a.Nonce}, w.Key),
			"another code": sign(op.Authorization{ChainID: a.ChainID, Address: common.HexToAddress(stranger),
				Nonce: a.Nonce}, w.Key),
			"another nonce": sign(op.Authorization{ChainID: a.ChainID, Address: a.Address, Nonce: a.Nonce + 1}, w.Key),
			"high s":        &highS,
			"no chain": {Authorization: op.Authorization{Address: a.Address, Nonce: a.Nonce},
				R: good.Delegation.R, S: good.Delegation.S, YParity: good.Delegation.YParity},
			"no signature":   {Authorization: a},
			"of another one": sign(op.Authorization{ChainID: big.NewInt(10), Address: a.Address, Nonce: 5}, w.Key),
		} {
			if _, err := p.WithSignatures(verify.Signatures{Operation: good.Operation, Delegation: bad}); err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
		s, err := p.WithSignatures(good)
		if err != nil {
			t.Fatal(err)
		}
		good.Operation[5] ^= 1
		good.Delegation.R[0] ^= 1
		lent := s.Signatures()
		lent.Operation[6] ^= 1
		lent.Delegation.R[1] ^= 1
		if _, err := p.WithSignatures(s.Signatures()); err != nil {
			t.Error("what was signed can be changed from outside")
		}
	})
	w := newWorld(t)
	p, _ := w.prepared(w.Document(w.PrepareResponse()))
	sigs := signatures(t, p.Signing(), w.Key)
	a, err := op.Authorization{ChainID: big.NewInt(8453), Address: w.Network.Pins.KernelV33}.Sign(golden.KeyOf(w.Key))
	if err != nil {
		t.Fatal(err)
	}
	sigs.Delegation = &a
	if _, err := p.WithSignatures(sigs); err == nil {
		t.Error("a delegation that nobody asked for is accepted")
	}
}

func TestY7_NeverDelegateMeansNever(t *testing.T) {
	eoa(t, func(t *testing.T, w *world) {
		s := w.signed()
		w.Policy.Limits.NeverDelegate = true
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		refused(t, p != nil, r, "Y7")
		q, r := w.quote(s, w.Document(w.CrossChain()))
		refused(t, q != nil, r, "Y7")
		w.Deploy = false
		if p, r := w.prepared(w.Document(w.PrepareResponse())); p == nil {
			t.Fatalf("an account that is delegated already: %+v", r.Reasons)
		}
	})
}

func TestFingerprintsCoverTheDelegation(t *testing.T) {
	eoa(t, func(t *testing.T, w *world) {
		seen := map[string]string{}
		for _, nonce := range []uint64{0, 1, 2} {
			w.Delegates = map[uint64]uint64{8453: nonce}
			p, r := w.prepared(w.Document(w.PrepareResponse()))
			if p == nil {
				t.Fatalf("%+v", r.Reasons)
			}
			if at, again := seen[p.View().Fingerprint]; again {
				t.Fatalf("nonce %d has the fingerprint of %s", nonce, at)
			}
			seen[p.View().Fingerprint] = fmt.Sprint(nonce)
		}
	})
}
