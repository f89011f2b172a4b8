package solmsg_test

import (
	"testing"

	"coffer/api/op/solmsg"
)

func TestSIMD0170SetsAside3000UnitsForProgramsOfTheRuntimeOnly(t *testing.T) {
	for _, c := range []struct {
		programs []string
		want     uint64
	}{
		{nil, 0},
		{[]string{"11111111111111111111111111111111", "ComputeBudget111111111111111111111111111111"}, 6_000},
		{[]string{"BPFLoader1111111111111111111111111111111111", "BPFLoader2111111111111111111111111111111111",
			"BPFLoaderUpgradeab1e11111111111111111111111", "LoaderV411111111111111111111111111111111111",
			"KeccakSecp256k11111111111111111111111111111", "Ed25519SigVerify111111111111111111111111111"}, 18_000},
		{[]string{"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", "11111111111111111111111111111111"}, 203_000},
		// Some of them were part of the runtime once; the secp256r1 program came too late.
		{[]string{"Vote111111111111111111111111111111111111111", "Stake11111111111111111111111111111111111111",
			"Config1111111111111111111111111111111111111", "AddressLookupTab1e1111111111111111111111111",
			"Secp256r1SigVerify1111111111111111111111111"}, 1_000_000},
		{[]string{"MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr", "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
			"MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr", "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
			"MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr", "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
			"MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr", "11111111111111111111111111111111"}, 1_400_000},
	} {
		var instructions []solmsg.Instruction
		for _, p := range c.programs {
			k, err := solmsg.ParseKey(p)
			if err != nil {
				t.Fatal(err)
			}
			instructions = append(instructions, solmsg.Instruction{Program: k})
		}
		if got := solmsg.Units(instructions); got != c.want {
			t.Errorf("%v: %d units, want %d", c.programs, got, c.want)
		}
	}
}
