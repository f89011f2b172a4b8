package solana_test

import (
	"encoding/hex"
	"slices"
	"testing"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/store"
)

func TestAReceiptHasTheBalancesOfAccountsThatDidNotChange(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, b := keyOf(w.alice), keyOf(w.bob)
	from, to := ata(t, a, w.mint), ata(t, b, w.mint)
	balances := func(m solmsg.Message) (out []uint64) {
		for _, k := range m.Keys {
			v, err := w.Lamports(k)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, v)
		}
		return out
	}
	number := w.Transactions()
	for _, c := range []struct {
		name  string
		build []solmsg.Build
	}{
		{"succeeds", []solmsg.Build{solmsg.CreateATAIdempotent(a, b, w.mint), w.usdc(t, w.alice, b, 5)}},
		{"fails", []solmsg.Build{w.usdc(t, w.alice, b, 5), solmsg.SystemTransfer(a, b, 1<<63)}},
	} {
		name := c.name
		hash, _ := w.Blockhash(w.at)
		m, err := solmsg.Compose(a, hash, c.build...)
		if err != nil {
			t.Fatal(err)
		}
		before := balances(m)
		out, err := w.Seal(solana.SealRequest{Time: w.at, Txs: []solana.Tx{signed(m, w.alice)}})
		if err != nil {
			t.Fatal(err)
		}
		r := out[0]
		number++
		if !slices.Equal(r.Pre, before) || !slices.Equal(r.Post, balances(m)) || r.Number != number {
			t.Errorf("%s: number %d, %d before, %d after; want %d, %d, %d", name, r.Number, r.Pre, r.Post, number,
				before, balances(m))
		}
		if again, found, err := w.Receipt(r.Signature); err != nil || !found || !slices.Equal(again.Pre, r.Pre) ||
			len(again.Tokens) != len(r.Tokens) {
			t.Errorf("%s: read back as %+v, %v", name, again, err)
		}
		held := map[solmsg.Key]solana.TokenBalance{}
		for _, v := range r.Tokens {
			held[m.Keys[v.Account]] = v
		}
		if v := held[from]; v.Mint != w.mint.String() || v.Owner != a.String() || v.Decimals != decimals ||
			v.Pre == nil {
			t.Errorf("%s: alice's tokens are %+v", name, v)
		}
		if v := held[to]; v.Post == nil || v.Owner != b.String() {
			t.Errorf("%s: bob's tokens are %+v", name, v)
		}
	}
}

// The instructions that the associated token account program calls are those of the real one (litesvm 1.5.0).
func TestAReceiptHasTheInstructionsThatProgramsCalled(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, b := keyOf(w.alice), keyOf(w.bob)
	r := w.must(t, w.alice, solmsg.Memo("first"), solmsg.CreateATAIdempotent(a, b, w.mint))
	m, err := solmsg.Parse(r.Message)
	if err != nil {
		t.Fatal(err)
	}
	at := ata(t, b, w.mint)
	token, system := solmsg.TokenProgram(), solmsg.SystemProgram()
	want := []struct {
		program  solmsg.Key
		accounts []solmsg.Key
		data     string
	}{
		{token, []solmsg.Key{w.mint}, "150700"},
		{system, []solmsg.Key{a, at}, "00000000f01d1f0000000000a500000000000000" + hex.EncodeToString(token[:])},
		{token, []solmsg.Key{at}, "16"},
		{token, []solmsg.Key{at, w.mint}, "12" + hex.EncodeToString(b[:])},
	}
	if len(r.Inner) != len(want) {
		t.Fatalf("%+v", r.Inner)
	}
	for i, in := range r.Inner {
		var accounts []solmsg.Key
		for _, place := range in.Accounts {
			accounts = append(accounts, m.Keys[place])
		}
		if in.Instruction != 1 || m.Keys[in.Program] != want[i].program || !slices.Equal(accounts, want[i].accounts) ||
			hex.EncodeToString(in.Data) != want[i].data {
			t.Errorf("%d: %+v", i, in)
		}
	}
}
