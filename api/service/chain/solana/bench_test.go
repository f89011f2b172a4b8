package solana_test

import (
	"path/filepath"
	"testing"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/store"
)

func benchmarkTransfer(b *testing.B, s store.Store) {
	w := newWorld(b, s)
	w.must(b, w.alice, solmsg.CreateATAIdempotent(keyOf(w.alice), keyOf(w.bob), w.mint))
	for b.Loop() {
		w.at++
		hash, _ := w.Blockhash(w.at)
		m, err := solmsg.Compose(keyOf(w.alice), hash, w.usdc(b, w.alice, keyOf(w.bob), 1), solmsg.Memo("quote"))
		if err != nil {
			b.Fatal(err)
		}
		out, err := w.Seal(solana.SealRequest{Time: w.at, Txs: []solana.Tx{signed(m, w.alice)}})
		if err != nil || !out[0].Success {
			b.Fatal(out, err)
		}
	}
}

func BenchmarkTokenTransferMemory(b *testing.B) { benchmarkTransfer(b, store.NewMemory()) }

func BenchmarkTokenTransferBolt(b *testing.B) {
	s, err := store.OpenBolt(filepath.Join(b.TempDir(), "ledger.db"), store.BoltOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	benchmarkTransfer(b, s)
}

func BenchmarkOpen(b *testing.B) {
	s := store.NewMemory()
	newWorld(b, s)
	sp := mustSpec(b)
	for b.Loop() {
		if _, err := solana.Open(s, sp); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBlockhashValidOldest(b *testing.B) {
	w := newWorld(b, store.NewMemory())
	hash, lastValid := w.Blockhash(w.at)
	for b.Loop() {
		if !w.BlockhashValid(hash, lastValid) {
			b.Fatal("the hash is not valid")
		}
	}
}
