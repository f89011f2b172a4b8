package filler_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/assets"
)

func contract(t testing.TB) abi.ABI {
	t.Helper()
	a, err := assets.Contract("Filler")
	if err != nil {
		t.Fatal(err)
	}
	var parsed abi.ABI
	if err := json.Unmarshal(a.ABI, &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

func draw32(rt *rapid.T, label string) [32]byte {
	return [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(rt, label))
}

func drawAddress(rt *rapid.T, label string) common.Address {
	return common.Address(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(rt, label))
}

func drawNumber(rt *rapid.T, label string, size int) *big.Int {
	return new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, size).Draw(rt, label))
}

func drawOps(rt *rapid.T) (ops []op.UserOp, packed []op.PackedUserOp) {
	packed = []op.PackedUserOp{}
	for range rapid.IntRange(0, 3).Draw(rt, "operations") {
		some := func(label string) []byte { return rapid.SliceOfN(rapid.Byte(), 0, 80).Draw(rt, label) }
		at := drawAddress(rt, "paymaster")
		o := op.UserOp{Sender: drawAddress(rt, "sender"), Nonce: drawNumber(rt, "nonce", 32),
			CallData:     some("call data"),
			CallGasLimit: drawNumber(rt, "call gas", 16), VerificationGasLimit: drawNumber(rt, "verification gas", 16),
			PreVerificationGas: drawNumber(rt, "pre gas", 32), MaxFeePerGas: drawNumber(rt, "fee", 16),
			MaxPriorityFeePerGas: drawNumber(rt, "tip", 16), Paymaster: &at,
			PaymasterVerificationGasLimit: drawNumber(rt, "paymaster gas", 16),
			PaymasterPostOpGasLimit:       big.NewInt(filler.PostOpGas), PaymasterData: some("data"),
			Signature: some("signature")}
		p, err := o.Pack()
		if err != nil {
			rt.Fatal(err)
		}
		ops, packed = append(ops, o), append(packed, p)
	}
	return ops, packed
}

func TestCallsAreThoseOfTheFillerContract(t *testing.T) {
	c := contract(t)
	for name, want := range map[string]string{"fill": filler.FillSignature, "run": filler.RunSignature,
		"void": filler.VoidSignature, "refund": filler.RefundSignature} {
		if got := c.Methods[name].Sig; got != want {
			t.Errorf("the contract has %s, we call %s", got, want)
		}
	}
	type abiTerms struct {
		TargetChain  *big.Int
		FillDeadline uint64
		Minimums     []escrow.Minimum
		Operations   [][32]byte
	}
	rapid.Check(t, func(rt *rapid.T) {
		ops, packed := drawOps(rt)
		terms := escrow.Terms{TargetChain: rapid.Uint64().Draw(rt, "chain"),
			FillDeadline: rapid.Uint64().Draw(rt, "deadline"), Operations: [][32]byte{draw32(rt, "operation")}}
		for range rapid.IntRange(0, 3).Draw(rt, "minimums") {
			terms.Minimums = append(terms.Minimums, escrow.Minimum{Token: escrow.Padded(drawAddress(rt, "token")),
				To: escrow.Padded(drawAddress(rt, "to")), Amount: drawNumber(rt, "amount", 32)})
		}
		pays, ok := filler.Pays(terms.Minimums)
		if !ok {
			rt.Fatalf("no payments of %+v", terms.Minimums)
		}
		quote, who, at := draw32(rt, "quote"), drawAddress(rt, "depositor"), drawAddress(rt, "escrow")
		is := func(got []byte, method string, args ...any) {
			rt.Helper()
			if want, err := c.Pack(method, args...); err != nil || !bytes.Equal(got, want) {
				rt.Fatalf("%s %x, want %x, %v", method, got, want, err)
			}
		}
		fill, err := filler.FillCalldata(quote, who, terms, pays, ops...)
		if err != nil {
			rt.Fatal(err)
		}
		is(fill, "fill", quote, who, abiTerms{new(big.Int).SetUint64(terms.TargetChain), terms.FillDeadline,
			terms.Minimums,
			terms.Operations}, pays, packed)
		run, err := filler.RunCalldata(terms.FillDeadline, ops...)
		if err != nil {
			rt.Fatal(err)
		}
		is(run, "run", terms.FillDeadline, packed)
		is(filler.VoidCalldata(quote), "void", quote)
		is(filler.RefundCalldata(at, quote, who), "refund", at, quote, who)
	})
}

func TestPaysAreTheMinimums(t *testing.T) {
	m := escrow.Minimum{Token: escrow.Padded(common.Address{1}), To: escrow.Padded(common.Address{2}),
		Amount: big.NewInt(3)}
	got, ok := filler.Pays([]escrow.Minimum{m})
	if !ok || len(got) != 1 || got[0].Token != (common.Address{1}) || got[0].To != (common.Address{2}) ||
		got[0].Amount.Int64() != 3 {
		t.Errorf("%+v", got)
	}
	token, to := m, m
	token.Token[11], to.To[0] = 1, 1 // Solana's keys fill the word
	for _, bad := range []escrow.Minimum{token, to} {
		if got, ok := filler.Pays([]escrow.Minimum{m, bad}); ok {
			t.Errorf("%+v is paid to %+v", bad, got)
		}
	}
}

func TestImpossibleCallsAreNotEncoded(t *testing.T) {
	if _, err := filler.FillCalldata([32]byte{}, common.Address{}, escrow.Terms{}, []filler.Pay{{}}); !errors.Is(err,
		filler.ErrAmount) {
		t.Error("a payment without an amount", err)
	}
	terms := escrow.Terms{Minimums: []escrow.Minimum{{}}}
	if _, err := filler.FillCalldata([32]byte{}, common.Address{}, terms, nil); !errors.Is(err, filler.ErrAmount) {
		t.Error("a minimum without an amount", err)
	}
	var refused *op.Error
	if _, err := filler.FillCalldata([32]byte{}, common.Address{}, escrow.Terms{}, nil, op.UserOp{}); !errors.As(err,
		&refused) {
		t.Error("an operation without a nonce", err)
	}
	if _, err := filler.RunCalldata(0, op.UserOp{}); !errors.As(err, &refused) {
		t.Error("an operation without a nonce", err)
	}
}

func TestLogsAreThoseOfTheFillerContract(t *testing.T) {
	c := contract(t)
	if c.Events["Filled"].ID != filler.FilledTopic() || c.Events["Voided"].ID != filler.VoidedTopic() ||
		c.Events["Filled"].Sig != filler.FilledSignature || c.Events["Voided"].Sig != filler.VoidedSignature {
		t.Errorf("%v %v", c.Events["Filled"], c.Events["Voided"])
	}
	quote, terms := common.Hash{1}, common.Hash{2}
	filled, voided := []common.Hash{filler.FilledTopic(), quote}, []common.Hash{filler.VoidedTopic(), quote}
	if q, got, ok := filler.DecodeFilled(filled, terms[:]); !ok || q != quote || got != terms {
		t.Errorf("%x %s %t", q, got, ok)
	}
	if q, ok := filler.DecodeVoided(voided, nil); !ok || q != quote {
		t.Errorf("%x %t", q, ok)
	}
	for name, l := range map[string]struct {
		topics []common.Hash
		data   []byte
	}{
		"nothing": {}, "one topic": {filled[:1], terms[:]}, "three topics": {append(filled[:2:2], quote), terms[:]},
		"short data": {filled, terms[:31]}, "long data": {filled, make([]byte, 64)}, "no data": {filled, nil},
		"void with data": {voided, terms[:]}, "void without id": {voided[:1], nil},
		"void with two": {append(voided[:2:2], quote), nil}, "another event": {[]common.Hash{quote, quote}, nil},
	} {
		if q, _, ok := filler.DecodeFilled(l.topics, l.data); ok {
			t.Errorf("%s is a fill of %x", name, q)
		}
		if q, ok := filler.DecodeVoided(l.topics, l.data); ok {
			t.Errorf("%s is a void of %x", name, q)
		}
	}
}

func FuzzLogs(f *testing.F) {
	filled, voided := filler.FilledTopic(), filler.VoidedTopic()
	f.Add(append(filled[:], make([]byte, 32)...), make([]byte, 32))
	f.Add(append(voided[:], make([]byte, 32)...), []byte{})
	f.Fuzz(func(t *testing.T, raw, data []byte) {
		var topics []common.Hash
		for ; len(raw) >= 32; raw = raw[32:] {
			topics = append(topics, common.Hash(raw[:32]))
		}
		quote, terms, isFill := filler.DecodeFilled(topics, data)
		voidedQuote, isVoid := filler.DecodeVoided(topics, data)
		if isFill && (isVoid || topics[1] != quote || common.Hash(data) != terms) ||
			isVoid && topics[1] != voidedQuote {
			t.Fatalf("%v %x: %x %s %x", topics, data, quote, terms, voidedQuote)
		}
	})
}
