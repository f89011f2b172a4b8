package escrow_test

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"coffer/api/op/escrow"
)

// earlierDeposit is the call as go-ethereum packs it.
func earlierDeposit(t testing.TB, d escrow.Deposit) []byte {
	t.Helper()
	c, err := abi.JSON(strings.NewReader(`[{"type":"function","name":"deposit","inputs":[{"type":"bytes32"},
		{"type":"address"},{"type":"uint256"},{"type":"uint64"}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	data, err := c.Pack("deposit", d.QuoteID, d.Token, d.Amount, d.RefundDeadline)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAnEarlierDepositIsRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := escrow.Deposit{QuoteID: drawWord(rt, "id"), Token: drawAddress(rt, "token"),
			Amount: drawNumber(rt, "amount"), RefundDeadline: rapid.Uint64().Draw(rt, "deadline")}
		got, ok := escrow.DecodeEarlierDeposit(earlierDeposit(t, d))
		if !ok || got.QuoteID != d.QuoteID || got.Token != d.Token || got.Amount.Cmp(d.Amount) != 0 ||
			got.RefundDeadline != d.RefundDeadline {
			rt.Fatalf("%+v became %+v", d, got)
		}
	})
}

func TestDecodeEarlierDepositRefusesAnythingElse(t *testing.T) {
	data := earlierDeposit(t, someDeposit())
	for i := range data {
		if _, ok := escrow.DecodeEarlierDeposit(data[:i]); ok {
			t.Fatalf("%d bytes were accepted", i)
		}
	}
	spoil := func(i int) []byte { b := bytes.Clone(data); b[i] ^= 1; return b }
	for name, d := range map[string][]byte{
		"selector": spoil(0), "dirty token": spoil(4 + 32), "wide deadline": spoil(4 + 96),
		"long":   append(bytes.Clone(data), 0),
		"terms":  escrow.DepositCalldata(someDeposit(), someTerms()),
		"refund": escrow.RefundCalldata([32]byte{1}, common.Address{2}),
	} {
		if got, ok := escrow.DecodeEarlierDeposit(d); ok {
			t.Errorf("%s was read as %+v", name, got)
		}
	}
}

func FuzzDecodeEarlierDeposit(f *testing.F) {
	f.Add(earlierDeposit(f, escrow.Deposit{QuoteID: [32]byte{1}, Token: common.Address{2}, Amount: big.NewInt(3),
		RefundDeadline: 4}))
	f.Add(escrow.RefundCalldata([32]byte{1}, common.Address{2}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, ok := escrow.DecodeEarlierDeposit(data); ok && !bytes.Equal(earlierDeposit(t, d), data) {
			t.Fatalf("%x did not encode back", data)
		}
	})
}
