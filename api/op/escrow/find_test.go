package escrow_test

import (
	"bytes"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"coffer/api/op/escrow"
)

func TestADepositIsFoundInsideOtherData(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		terms := drawTerms(rt)
		d := escrow.Deposit{QuoteID: drawWord(rt, "id"), Token: drawAddress(rt, "token"),
			Amount: drawNumber(rt, "amount"), RefundDeadline: rapid.Uint64().Draw(rt, "deadline")}
		noise := rapid.SliceOfN(rapid.Byte(), 0, 80)
		decoy := someDeposit()
		decoy.QuoteID = d.QuoteID
		decoy.QuoteID[0] ^= 1
		data := noise.Draw(rt, "before")
		if rapid.Bool().Draw(rt, "decoy") {
			data = append(data, escrow.DepositCalldata(decoy, someTerms())...)
		}
		data = append(append(data, escrow.DepositCalldata(d, terms)...), noise.Draw(rt, "after")...)
		got, at, ok := escrow.FindDeposit(data, func(f escrow.Deposit, _ escrow.Terms) bool {
			return f.QuoteID == d.QuoteID
		})
		if !ok || got.Amount.Cmp(d.Amount) != 0 || got.Token != d.Token ||
			!bytes.Equal(at.Encode(), terms.Encode()) {
			rt.Fatalf("%v, %+v instead of %+v", ok, got, d)
		}
		if _, _, ok := escrow.FindDeposit(data, func(escrow.Deposit, escrow.Terms) bool { return false }); ok {
			rt.Fatal("one that is not wanted was found")
		}
	})
}

func FuzzFindDeposit(f *testing.F) {
	f.Add(escrow.DepositCalldata(someDeposit(), someTerms()))
	f.Add(append([]byte("before"), escrow.DepositCalldata(someDeposit(), someTerms())...))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, terms, ok := escrow.FindDeposit(data, func(escrow.Deposit, escrow.Terms) bool { return true })
		if !ok {
			return
		}
		call := escrow.DepositCalldata(d, terms)
		if again, at, ok := escrow.DecodeDeposit(call); !bytes.Contains(data, call) || !ok ||
			!reflect.DeepEqual(again, d) || !reflect.DeepEqual(at, terms) {
			t.Fatalf("%x was read from %x", call, data)
		}
	})
}
