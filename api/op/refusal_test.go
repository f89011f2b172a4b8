package op_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
)

// strictTypedData decodes as package api demands it: no unknown members.
func strictTypedData(raw []byte) (api.TypedData, error) {
	var td api.TypedData
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return td, d.Decode(&td)
}

func sampleWire() api.UserOp {
	return api.UserOp{
		Sender: "0xdb69a4ded06aad92c69c42232b691cfd8bf347e8", Nonce: "1",
		Factory: "0xd703aaE79538628d27099B8c4f621bE4CCd142d5", FactoryData: "0x01",
		CallData: "0x", CallGasLimit: "1", VerificationGasLimit: "2", PreVerificationGas: "0", MaxFeePerGas: "0",
		MaxPriorityFeePerGas: "0",
		Paymaster:            "0xa784e6482bd5edbfe5991b18cbd545ebd46e1cc4", PaymasterVerificationGasLimit: "3",
		PaymasterPostOpGasLimit: "0", PaymasterData: "0x", Signature: "0x",
	}
}

func TestFromWireRefusesEveryOtherNumberForm(t *testing.T) {
	fields := map[string]func(*api.UserOp, string){
		"nonce":                         func(w *api.UserOp, s string) { w.Nonce = s },
		"callGasLimit":                  func(w *api.UserOp, s string) { w.CallGasLimit = s },
		"verificationGasLimit":          func(w *api.UserOp, s string) { w.VerificationGasLimit = s },
		"preVerificationGas":            func(w *api.UserOp, s string) { w.PreVerificationGas = s },
		"maxFeePerGas":                  func(w *api.UserOp, s string) { w.MaxFeePerGas = s },
		"maxPriorityFeePerGas":          func(w *api.UserOp, s string) { w.MaxPriorityFeePerGas = s },
		"paymasterVerificationGasLimit": func(w *api.UserOp, s string) { w.PaymasterVerificationGasLimit = s },
		"paymasterPostOpGasLimit":       func(w *api.UserOp, s string) { w.PaymasterPostOpGasLimit = s },
	}
	tooWide := new(big.Int).Lsh(big.NewInt(1), 256).String()
	forms := []string{"1e9", "0x10", "-1", " 1", "1 ", "01", "00", "1.0", "+1", "1_0", "１", tooWide, "NaN", "1\x00"}
	for field, set := range fields {
		for _, form := range forms {
			w := sampleWire()
			set(&w, form)
			_, err := op.FromWire(w)
			wantCode(t, field+" "+form, err, "L3")
			var refused *op.Error
			if errors.As(err, &refused) && refused.Field != "userOp."+field {
				t.Errorf("%s: blames %s", field, refused.Field)
			}
		}
		if field == "nonce" || field == "preVerificationGas" {
			continue
		}
		w := sampleWire()
		set(&w, new(big.Int).Lsh(big.NewInt(1), 128).String())
		_, err := op.FromWire(w)
		wantCode(t, field+" 2^128", err, "U11")
	}
}

func TestFromWireRefusesBadAddressesHexAndPartialGroups(t *testing.T) {
	if _, err := op.FromWire(sampleWire()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, code string
		spoil      func(*api.UserOp)
	}{
		{"checksum", "L5", func(w *api.UserOp) { w.Factory = "0xD703aaE79538628d27099B8c4f621bE4CCd142d5" }},
		{"upper case", "L5", func(w *api.UserOp) { w.Sender = "0x" + strings.ToUpper(w.Sender[2:]) }},
		{"short sender", "L5", func(w *api.UserOp) { w.Sender = "0xdb" }},
		{"no sender", "L5", func(w *api.UserOp) { w.Sender = "" }},
		{"paymaster", "L5", func(w *api.UserOp) { w.Paymaster = "0x" }},
		{"odd hex", "L3", func(w *api.UserOp) { w.CallData = "0x1" }},
		{"no prefix", "L3", func(w *api.UserOp) { w.CallData = "12" }},
		{"upper prefix", "L3", func(w *api.UserOp) { w.CallData = "0X12" }},
		{"not hex", "L3", func(w *api.UserOp) { w.Signature = "0xzz" }},
		{"empty call data", "L3", func(w *api.UserOp) { w.CallData = "" }},
		{"long call data", "L1", func(w *api.UserOp) { w.CallData = "0x" + strings.Repeat("00", op.MaxCallData+1) }},
		{"long paymaster data", "L1", func(w *api.UserOp) {
			w.PaymasterData = "0x" +
				strings.Repeat("00", op.MaxPaymasterData+1)
		}},
		{"factory without data", "U4", func(w *api.UserOp) { w.FactoryData = "" }},
		{"data without factory", "U4", func(w *api.UserOp) { w.Factory = "" }},
		{"paymaster alone", "U12", func(w *api.UserOp) { w.PaymasterData = "" }},
		{"gas without paymaster", "U12", func(w *api.UserOp) { w.Paymaster = "" }},
	} {
		w := sampleWire()
		c.spoil(&w)
		_, err := op.FromWire(w)
		wantCode(t, c.name, err, c.code)
	}
}

func TestPackRefusesMissingAndOverwideNumbers(t *testing.T) {
	fresh := func() op.UserOp {
		u, err := op.FromWire(sampleWire())
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	for _, c := range []struct {
		name, code string
		spoil      func(*op.UserOp)
	}{
		{"no nonce", "L3", func(u *op.UserOp) { u.Nonce = nil }},
		{"negative nonce", "L3", func(u *op.UserOp) { u.Nonce = big.NewInt(-1) }},
		{"no gas", "U11", func(u *op.UserOp) { u.CallGasLimit = nil }},
		{"wide gas", "U11", func(u *op.UserOp) { u.MaxFeePerGas = new(big.Int).Lsh(big.NewInt(1), 128) }},
		{"no pre-verification gas", "U11", func(u *op.UserOp) { u.PreVerificationGas = nil }},
		{"factory data alone", "U4", func(u *op.UserOp) { u.Factory = nil }},
		{"paymaster gas alone", "U12", func(u *op.UserOp) { u.Paymaster = nil }},
		{"paymaster data alone", "U12", func(u *op.UserOp) {
			u.Paymaster, u.PaymasterVerificationGasLimit, u.PaymasterPostOpGasLimit, u.PaymasterData = nil, nil, nil,
				[]byte{1}
		}},
	} {
		u := fresh()
		c.spoil(&u)
		_, err := u.Pack()
		wantCode(t, c.name, err, c.code)
	}
	_, err := fresh().Hash(common.Address{}, nil)
	wantCode(t, "no chain", err, "U14")
	_, err = fresh().Hash(common.Address{}, new(big.Int))
	wantCode(t, "chain 0", err, "U14")
	p, err := fresh().Pack()
	if err != nil {
		t.Fatal(err)
	}
	short := p
	short.InitCode = p.InitCode[:19]
	_, err = op.Unpack(short)
	wantCode(t, "short initCode", err, "U4")
	short = p
	short.PaymasterAndData = p.PaymasterAndData[:51]
	_, err = op.Unpack(short)
	wantCode(t, "short paymasterAndData", err, "U12")
}

func sampleExecute(t testing.TB) []byte {
	t.Helper()
	data, err := op.EncodeExecute([]op.Call{
		{To: common.Address{1}, Value: big.NewInt(5), Data: []byte{1, 2, 3}},
		{To: common.Address{2}, Value: new(big.Int), Data: bytes.Repeat([]byte{7}, 68)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDecodeExecuteRefusesEveryModeButOne(t *testing.T) {
	data := sampleExecute(t)
	accepted := 0
	for mode := range 1 << 16 {
		data[4], data[5] = byte(mode>>8), byte(mode)
		_, err := op.DecodeExecute(data)
		if err == nil {
			accepted++
			continue
		}
		var refused *op.Error
		// Mode 0x0000 reads a batch as one call: any bytes of 52 or more are a call then.
		if !errors.As(err, &refused) || refused.Code != "U5" {
			t.Fatalf("mode %04x: %v", mode, err)
		}
	}
	if accepted != 2 {
		t.Errorf("%d modes accepted, want 0000 and 0100", accepted)
	}
	for i := 6; i < 36; i++ {
		spoiled := sampleExecute(t)
		spoiled[i] = 1
		_, err := op.DecodeExecute(spoiled)
		wantCode(t, "rest of the mode", err, "U5")
	}
	withHook := append([]byte{0x8d, 0xd7, 0x71, 0x2f}, sampleExecute(t)...)
	_, err := op.DecodeExecute(withHook)
	wantCode(t, "executeUserOp prefix", err, "U5")
	for _, short := range [][]byte{nil, {0xe9}, {0xe9, 0xae, 0x5c}} {
		_, err := op.DecodeExecute(short)
		wantCode(t, "short", err, "U5")
	}
}

func TestDecodeExecuteRefusesEveryNonCanonicalByte(t *testing.T) {
	data := sampleExecute(t)
	original, err := op.DecodeExecute(data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		for _, delta := range []byte{1, 0x20, 0x80} {
			spoiled := bytes.Clone(data)
			spoiled[i] ^= delta
			got, err := op.DecodeExecute(spoiled)
			if err == nil && sameCalls(got, original) {
				t.Fatalf("byte %d changed and the calls stayed the same", i)
			}
			if err == nil {
				if again, err := op.EncodeExecute(got); spoiled[4] == 1 &&
					(err != nil || !bytes.Equal(again, spoiled)) {
					t.Fatalf("byte %d: accepted bytes do not encode back", i)
				}
			}
		}
		if _, err := op.DecodeExecute(data[:i]); err == nil {
			t.Fatalf("accepted the first %d bytes", i)
		}
	}
	_, err = op.DecodeExecute(append(bytes.Clone(data), make([]byte, 32)...))
	wantCode(t, "a word after the end", err, "U6")
	_, err = op.DecodeExecute(make([]byte, op.MaxCallData+1))
	wantCode(t, "too long", err, "L1")
}

func TestEncodeExecuteRefusesEmptyAndUnknownValues(t *testing.T) {
	_, err := op.EncodeExecute(nil)
	wantCode(t, "no calls", err, "U7")
	_, err = op.EncodeExecute(make([]op.Call, op.MaxCalls+1))
	wantCode(t, "too many", err, "U7")
	_, err = op.EncodeExecute([]op.Call{{To: common.Address{1}}})
	wantCode(t, "no value", err, "L3")
	_, err = op.EncodeExecute([]op.Call{{Value: new(big.Int), Data: make([]byte, op.MaxCallData)}})
	wantCode(t, "too long", err, "L1")
	empty := append(sampleExecute(t)[:36], make([]byte, 128)...)
	empty[4+32+31], empty[4+64+31], empty[4+96+31] = 64, 64, 32
	_, err = op.DecodeExecute(empty)
	wantCode(t, "empty batch", err, "U7")
}
