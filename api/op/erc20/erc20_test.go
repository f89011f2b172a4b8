package erc20_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"coffer/api/amount"
	"coffer/api/op/erc20"
	"coffer/assets"
)

func token(t *testing.T) abi.ABI {
	t.Helper()
	a, err := assets.Contract("Token")
	if err != nil {
		t.Fatal(err)
	}
	var parsed abi.ABI
	if err := json.Unmarshal(a.ABI, &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestCallsAreThoseOfTheTokenContract(t *testing.T) {
	contract := token(t)
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(label string) common.Address {
			return common.Address(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(rt, label))
		}
		a, b := draw("a"), draw("b")
		v := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(rt, "v"))
		for name, c := range map[string]struct {
			got  []byte
			args []any
		}{
			"approve":      {erc20.Approve(a, v), []any{a, v}},
			"transfer":     {erc20.Transfer(a, v), []any{a, v}},
			"transferFrom": {erc20.TransferFrom(a, b, v), []any{a, b, v}},
			"balanceOf":    {erc20.BalanceOf(a), []any{a}},
			"allowance":    {erc20.Allowance(a, b), []any{a, b}},
		} {
			want, err := contract.Pack(name, c.args...)
			if err != nil || !bytes.Equal(c.got, want) {
				rt.Fatalf("%s: %x, want %x, %v", name, c.got, want, err)
			}
		}
		if s, x, ok := erc20.DecodeApprove(erc20.Approve(a, v)); !ok || s != a || x.Cmp(v) != 0 {
			rt.Fatal("approve lost")
		}
		if to, x, ok := erc20.DecodeTransfer(erc20.Transfer(a, v)); !ok || to != a || x.Cmp(v) != 0 {
			rt.Fatal("transfer lost")
		}
		if from, to, x, ok := erc20.DecodeTransferFrom(erc20.TransferFrom(a, b, v)); !ok || from != a || to != b ||
			x.Cmp(v) != 0 {
			rt.Fatal("transferFrom lost")
		}
	})
}

func TestDecodersRefuseOtherCallsAndLengths(t *testing.T) {
	data := erc20.Approve(common.Address{1}, big.NewInt(5))
	dirty := bytes.Clone(data)
	dirty[4] = 1
	other := erc20.Transfer(common.Address{1}, big.NewInt(5))
	for name, d := range map[string][]byte{
		"short": data[:67], "long": append(bytes.Clone(data), 0), "dirty address": dirty, "transfer": other,
		"empty": nil, "selector": data[:4],
	} {
		if spender, v, ok := erc20.DecodeApprove(d); ok || v != nil || spender != (common.Address{}) {
			t.Errorf("%s was read as approve(%s, %v)", name, spender, v)
		}
	}
	if _, _, ok := erc20.DecodeTransfer(data); ok {
		t.Error("approve was read as transfer")
	}
	if _, _, _, ok := erc20.DecodeTransferFrom(data); ok {
		t.Error("approve was read as transferFrom")
	}
	if v, ok := erc20.DecodeUint(make([]byte, 31)); ok || v != nil {
		t.Error("31 bytes were read as a word")
	}
	if v, ok := erc20.DecodeUint(append(make([]byte, 31), 7)); !ok || v.Int64() != 7 {
		t.Error("a word was lost")
	}
}

func TestAmountsOutsideAWordHaveNoEncoding(t *testing.T) {
	for _, v := range []*big.Int{nil, big.NewInt(-1), new(big.Int).Lsh(big.NewInt(1), 256)} {
		if erc20.Approve(common.Address{1}, v) != nil || erc20.Transfer(common.Address{1}, v) != nil ||
			erc20.TransferFrom(common.Address{1}, common.Address{2}, v) != nil {
			t.Errorf("%v was encoded", v)
		}
	}
}

func TestUnlimitedIsOnlyTheLargestNumber(t *testing.T) {
	limit := amount.MaxUint256()
	if !erc20.Unlimited(limit) {
		t.Error("2^256-1 is unlimited")
	}
	for _, v := range []*big.Int{nil, new(big.Int), big.NewInt(1), new(big.Int).Sub(limit, big.NewInt(1)),
		new(big.Int).Neg(limit)} {
		if erc20.Unlimited(v) {
			t.Errorf("%v is not unlimited", v)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(erc20.Approve(common.Address{1}, big.NewInt(5)))
	f.Add(erc20.Transfer(common.Address{2}, big.NewInt(6)))
	f.Add(erc20.TransferFrom(common.Address{3}, common.Address{4}, big.NewInt(7)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, v, ok := erc20.DecodeApprove(data); ok && !bytes.Equal(erc20.Approve(s, v), data) {
			t.Fatalf("approve %x", data)
		}
		if to, v, ok := erc20.DecodeTransfer(data); ok && !bytes.Equal(erc20.Transfer(to, v), data) {
			t.Fatalf("transfer %x", data)
		}
		if from, to, v, ok := erc20.DecodeTransferFrom(data); ok &&
			!bytes.Equal(erc20.TransferFrom(from, to, v), data) {
			t.Fatalf("transferFrom %x", data)
		}
	})
}
