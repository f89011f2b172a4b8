package op_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
)

// wantTyped fails when a refusal is not an *op.Error.
func wantTyped(t *testing.T, err error) {
	t.Helper()
	var refused *op.Error
	if err != nil && (!errors.As(err, &refused) || refused.Code == "") {
		t.Fatalf("untyped refusal: %v", err)
	}
}

// Whatever is accepted must encode back to the same bytes (TH-U6).
func FuzzDecodeExecute(f *testing.F) {
	var vectors struct{ Cases []struct{ CallData string } }
	load(f, "erc7579-execute.json", &vectors)
	for _, c := range vectors.Cases {
		f.Add(unhex(f, c.CallData))
	}
	f.Add(sampleExecute(f))
	f.Add([]byte{0xe9, 0xae, 0x5c, 0x53})
	f.Fuzz(func(t *testing.T, data []byte) {
		calls, err := op.DecodeExecute(data)
		wantTyped(t, err)
		if err != nil {
			return
		}
		again, err := op.EncodeExecute(calls)
		if err != nil {
			t.Fatalf("decoded calls do not encode: %v", err)
		}
		if data[4] == 1 && !bytes.Equal(again, data) {
			t.Fatalf("%x encodes back to %x", data, again)
		}
		if got, err := op.DecodeExecute(again); err != nil || !sameCalls(got, calls) {
			t.Fatalf("%v became %v, %v", calls, got, err)
		}
	})
}

func FuzzFromWire(f *testing.F) {
	var vectors struct {
		Cases []struct{ UserOp json.RawMessage }
	}
	load(f, "userop-v07.json", &vectors)
	for _, c := range vectors.Cases {
		f.Add([]byte(c.UserOp))
	}
	f.Add([]byte(`{"sender":"0x"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var w api.UserOp
		if json.Unmarshal(raw, &w) != nil {
			return
		}
		u, err := op.FromWire(w)
		wantTyped(t, err)
		if err != nil {
			return
		}
		if _, err := u.Hash(common.Address{1}, big.NewInt(1)); err != nil {
			t.Fatalf("accepted but not hashable: %v", err)
		}
		again, err := op.FromWire(u.Wire())
		if err != nil || again.Wire() != u.Wire() {
			t.Fatalf("%+v became %+v, %v", u.Wire(), again.Wire(), err)
		}
		p, err := u.Pack()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := op.Unpack(p); err != nil || back.Wire() != u.Wire() {
			t.Fatalf("packing lost something: %v", err)
		}
	})
}

func FuzzCheckTypedData(f *testing.F) {
	for _, name := range []string{"eip712-approve.json", "eip712-general.json"} {
		var vectors struct {
			Cases []struct{ TypedData json.RawMessage }
		}
		load(f, name, &vectors)
		for _, c := range vectors.Cases[:4] {
			f.Add([]byte(c.TypedData))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		td, err := strictTypedData(raw)
		if err != nil {
			return
		}
		d, hash, err := op.CheckTypedData(td)
		wantTyped(t, err)
		if err != nil {
			return
		}
		back, backHash, err := op.CheckTypedData(d.ApproveWire(hash))
		if err != nil || back != d || backHash != hash {
			t.Fatalf("%+v became %+v, %v", d, back, err)
		}
	})
}

func FuzzRecover(f *testing.F) {
	var vectors struct {
		Cases []struct{ Hash, Signature string }
	}
	load(f, "eip191.json", &vectors)
	for _, c := range vectors.Cases {
		f.Add(unhex(f, c.Hash), unhex(f, c.Signature))
	}
	f.Fuzz(func(t *testing.T, digest, sig []byte) {
		_, err := op.Recover(common.BytesToHash(digest), sig)
		wantTyped(t, err)
		if err == nil && (len(sig) != 65 || sig[64] != 27 && sig[64] != 28 || sig[32] > 0x7f) {
			t.Fatalf("accepted %x", sig)
		}
	})
}

func FuzzDecodePaymasterData(f *testing.F) {
	f.Add(op.EncodePaymasterData(op.PaymasterWindow{ValidUntil: 2, ValidAfter: 1}, make([]byte, 65)))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, data []byte) {
		w, sig, err := op.DecodePaymasterData(data)
		wantTyped(t, err)
		if err == nil && !bytes.Equal(op.EncodePaymasterData(w, sig), data) {
			t.Fatalf("%x did not encode back", data)
		}
	})
}

func FuzzAuthorizationFromWire(f *testing.F) {
	f.Add([]byte(
		`{"chainId":1,"contractAddress":"0xd6CEDDe84be40893d153Be9d467CD6aD37875b28","nonce":1,` +
			`"r":"0x910a19954674ef3db7a9849703b120b50b3b2fba7839910c0d79b2e509232b8b",` +
			`"s":"0x2de640cf619fcb2fca9e63188f1ebfcfa64e894c5e812f6a10785833042ef1a8","v":"0x1b","yParity":0,` +
			`"type":"Signed"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var w api.DelegationSignature
		if json.Unmarshal(raw, &w) != nil {
			return
		}
		s, err := op.AuthorizationFromWire(w)
		wantTyped(t, err)
		if err != nil {
			return
		}
		_, err = s.Authority()
		wantTyped(t, err)
		if back, err := op.AuthorizationFromWire(s.Wire()); err != nil || back.Hash() != s.Hash() || back.R != s.R ||
			back.S != s.S || back.YParity != s.YParity {
			t.Fatalf("%+v became %+v, %v", s, back, err)
		}
	})
}
