package solmsg_test

import (
	"crypto/ed25519"
	"encoding/binary"
	"testing"

	"coffer/api/op/solmsg"
)

func TestNobodySignsForAnyWellKnownAddress(t *testing.T) {
	seen := map[solmsg.Key]bool{}
	for _, k := range solmsg.WellKnown() {
		if seen[k] || !solmsg.IsReservedKey(k) {
			t.Errorf("%s: twice %t", k, seen[k])
		}
		seen[k] = true
	}
	for _, k := range []solmsg.Key{
		solmsg.SystemProgram(), solmsg.TokenProgram(), solmsg.Token2022Program(), solmsg.ATAProgram(),
		solmsg.MemoProgram(), solmsg.ComputeBudgetProgram(),
	} {
		if !seen[k] {
			t.Errorf("%s is missing", k)
		}
	}
	// Addresses that no table names: sixteen '1's in a row, at the end, at the beginning and in the middle.
	for _, text := range []string{
		"SomethingNew1111111111111111111111111111111", "11111111111111111111111111111112",
		"So11111111111111111111111111111111111111113",
	} {
		k, err := solmsg.ParseKey(text)
		if err != nil {
			t.Fatal(err)
		}
		if seen[k] || !solmsg.IsReservedKey(k) {
			t.Errorf("%s passes as a key", text)
		}
	}
}

func TestOrdinaryKeysAreSomebodys(t *testing.T) {
	for i := range uint64(2_000) {
		var seed [ed25519.SeedSize]byte
		binary.LittleEndian.PutUint64(seed[:], i)
		k := solmsg.Key(ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey))
		if solmsg.IsReservedKey(k) {
			t.Fatalf("%s has a private key", k)
		}
	}
}
