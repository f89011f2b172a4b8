package escrow_test

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"coffer/api/op/escrow"
)

// The getter and the errors are the contract's, and only its answers are read.
func TestWhatTheContractKeepsIsRead(t *testing.T) {
	c := contract(t, "Escrow")
	getter := c.Methods["deposits"]
	if getter.Sig != escrow.DepositsSignature || c.Errors["NotHeld"].Sig != escrow.NotHeldSignature ||
		c.Errors["NotYetRefundable"].Sig != escrow.NotYetSignature {
		t.Fatal("other signatures")
	}
	for name, is := range map[string]func([]byte) bool{"NotHeld": escrow.IsNotHeld,
		"NotYetRefundable": escrow.IsNotYet} {
		id := c.Errors[name].ID
		if !is(id[:4]) || is(id[1:5]) || is(nil) {
			t.Error(name)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		id, who := drawWord(rt, "quote"), drawAddress(rt, "depositor")
		call, err := c.Pack("deposits", id, who)
		if err != nil || !bytes.Equal(call, escrow.DepositsCalldata(id, who)) {
			rt.Fatalf("%v", err)
		}
		want := escrow.Kept{Token: drawAddress(rt, "token"), RefundDeadline: rapid.Uint64().Draw(rt, "deadline"),
			State: escrow.State(rapid.Uint64Range(0, 3).Draw(rt, "state")), Amount: drawNumber(rt, "amount"),
			Terms: drawWord(rt, "terms")}
		answer, err := getter.Outputs.Pack(want.Token, want.RefundDeadline, uint8(want.State), want.Amount, want.Terms)
		if err != nil {
			rt.Fatal(err)
		}
		got, ok := escrow.DecodeKept(answer)
		if !ok || got.Token != want.Token || got.RefundDeadline != want.RefundDeadline || got.State != want.State ||
			got.Terms != want.Terms || got.Amount.Cmp(want.Amount) != 0 {
			rt.Fatalf("%+v, expected %+v", got, want)
		}
	})
	state := make([]byte, 160)
	state[95] = 4
	for name, answer := range map[string][]byte{"nothing": nil, "an earlier contract's": make([]byte, 128),
		"an unknown state": state, "no address": append(common.LeftPadBytes([]byte{1}, 12), make([]byte, 148)...),
		"no time": append(append(make([]byte, 32), new(big.Int).Lsh(big.NewInt(1), 255).Bytes()...),
			make([]byte, 96)...)} {
		if _, ok := escrow.DecodeKept(answer); ok {
			t.Errorf("%s is read", name)
		}
	}
}
