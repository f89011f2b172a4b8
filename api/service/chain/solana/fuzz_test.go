package solana_test

import (
	"crypto/ed25519"
	"errors"
	"testing"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/store"
)

// FuzzSeal gives foreign bytes to the ledger, once as they are and once with the block
// hash replaced and every signature that the test can make: no panic, no fault, and the
// sums stay.
func FuzzSeal(f *testing.F) {
	w := newWorld(f, store.NewMemory())
	a, b := keyOf(w.alice), keyOf(w.bob)
	from, to := ata(f, a, w.mint), ata(f, b, w.mint)
	for _, builds := range [][]solmsg.Build{
		{solmsg.SystemTransfer(a, b, 1e9)},
		{solmsg.CreateATAIdempotent(a, b, w.mint), w.usdc(f, w.alice, b, 5e6), solmsg.Memo("quote")},
		{solmsg.CreateATAIdempotent(a, b, w.mint), closing(to, a, b)},
		{tokenBuild(13, append(u64(10), decimals), from, w.mint, b, a), tokenTransfer(from, from, b, 4),
			tokenBuild(5, nil, from, a)},
		{budget(2, 100_000, 4), budget(3, 20_000, 8), tokenBuild(4, u64(1), from, b, a)},
		{createAccount(a, keyOf(secret(5)), 2e9, 165, solmsg.TokenProgram()), allocate(b, 100)},
		{tokenBuild(17, nil, from, a), tokenBuild(7, u64(5), w.mint, from, a)},
	} {
		f.Add(w.tx(f, w.alice, none(), builds...).Message)
	}
	f.Add([]byte{})
	keys := []ed25519.PrivateKey{w.alice, w.bob, w.treasury, secret(5)}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := newWorld(t, store.NewMemory())
		try := func(tx solana.Tx, unsigned bool) {
			t.Helper()
			simulated, err := w.Simulate(w.at, unsigned, tx)
			var refusal *solana.TxError
			if err != nil && !errors.As(err, &refusal) {
				t.Fatalf("a fault: %v", err)
			}
			if unsigned {
				return
			}
			sealed, sealErr := w.seal(tx)
			if (err == nil) != (sealErr == nil) || err == nil && sealed[0].Error != simulated[0].Error {
				t.Fatalf("simulated %v %v, sealed %v %v", simulated, err, sealed, sealErr)
			}
			w.checkSums(t)
		}
		try(solana.Tx{Message: data}, true)
		try(solana.Tx{Message: data, Signatures: make([][64]byte, 1)}, false)
		m, err := solmsg.Parse(data)
		if err != nil || len(m.Lookups) > 0 {
			return
		}
		var builds []solmsg.Build
		for _, ix := range m.Instructions {
			b := solmsg.Build{Program: ix.Program, Data: ix.Data}
			for _, a := range ix.Accounts {
				b.Accounts = append(b.Accounts, solmsg.Meta{Key: a.Key, Signer: a.Signer, Writable: a.Writable})
			}
			builds = append(builds, b)
		}
		hash, _ := w.Blockhash(w.at)
		if m, err = solmsg.Compose(m.FeePayer(), hash, builds...); err != nil {
			return
		}
		try(solana.Tx{Message: m.Bytes()}, true)
		try(signed(m, keys...), false)
	})
}
