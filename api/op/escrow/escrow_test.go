package escrow_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"coffer/api/op/escrow"
	"coffer/assets"
)

func contract(t testing.TB, name string) abi.ABI {
	t.Helper()
	a, err := assets.Contract(name)
	if err != nil {
		t.Fatal(err)
	}
	var parsed abi.ABI
	if err := json.Unmarshal(a.ABI, &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestCallsAreThoseOfTheEscrowContract(t *testing.T) {
	c := contract(t, "Escrow")
	for name, want := range map[string]string{"deposit": escrow.DepositSignature, "release": escrow.ReleaseSignature,
		"refund": escrow.RefundSignature} {
		if got := c.Methods[name].Sig; got != want {
			t.Errorf("the contract has %s, we call %s", got, want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(label string) common.Address {
			return common.Address(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(rt, label))
		}
		d := escrow.Deposit{
			QuoteID: [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(rt, "id")), Token: draw("token"),
			Amount:         new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(rt, "amount")),
			RefundDeadline: rapid.Uint64().Draw(rt, "deadline"),
		}
		data := escrow.DepositCalldata(d.QuoteID, d.Token, d.Amount, d.RefundDeadline)
		want, err := c.Pack("deposit", d.QuoteID, d.Token, d.Amount, d.RefundDeadline)
		if err != nil || !bytes.Equal(data, want) {
			rt.Fatalf("deposit %x, want %x, %v", data, want, err)
		}
		got, ok := escrow.DecodeDeposit(data)
		if !ok || got.QuoteID != d.QuoteID || got.Token != d.Token || got.Amount.Cmp(d.Amount) != 0 ||
			got.RefundDeadline != d.RefundDeadline {
			rt.Fatalf("%+v became %+v", d, got)
		}
		who, to := draw("depositor"), draw("to")
		if want, err := c.Pack("release", d.QuoteID, who, to); err != nil ||
			!bytes.Equal(escrow.ReleaseCalldata(d.QuoteID, who, to), want) {
			rt.Fatalf("release differs, %v", err)
		}
		if want, err := c.Pack("refund", d.QuoteID, who); err != nil ||
			!bytes.Equal(escrow.RefundCalldata(d.QuoteID, who), want) {
			rt.Fatalf("refund differs, %v", err)
		}
	})
}

func TestDecodeDepositRefusesAnythingElse(t *testing.T) {
	data := escrow.DepositCalldata([32]byte{1}, common.Address{2}, big.NewInt(3), 4)
	for i := range data {
		if _, ok := escrow.DecodeDeposit(data[:i]); ok {
			t.Fatalf("%d bytes were accepted", i)
		}
	}
	spoil := func(i int) []byte { b := bytes.Clone(data); b[i] ^= 1; return b }
	for name, d := range map[string][]byte{
		"selector": spoil(0), "dirty token": spoil(4 + 32), "wide deadline": spoil(4 + 96),
		"long":   append(bytes.Clone(data), 0),
		"refund": escrow.RefundCalldata([32]byte{1}, common.Address{2}),
	} {
		if got, ok := escrow.DecodeDeposit(d); ok {
			t.Errorf("%s was read as %+v", name, got)
		}
	}
	if escrow.DepositCalldata([32]byte{}, common.Address{}, nil, 0) != nil ||
		escrow.DepositCalldata([32]byte{}, common.Address{}, big.NewInt(-1), 0) != nil {
		t.Error("an impossible amount was encoded")
	}
}

func FuzzDecodeDeposit(f *testing.F) {
	f.Add(escrow.DepositCalldata([32]byte{1}, common.Address{2}, big.NewInt(3), 4))
	f.Add(escrow.RefundCalldata([32]byte{1}, common.Address{2}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, ok := escrow.DecodeDeposit(data); ok &&
			!bytes.Equal(escrow.DepositCalldata(d.QuoteID, d.Token, d.Amount, d.RefundDeadline), data) {
			t.Fatalf("%x did not encode back", data)
		}
	})
}
