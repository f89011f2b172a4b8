package faucet_test

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"sync"
	"testing"

	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/devnet"
	"coffer/api/service/store"
)

func solanaUSDC(t testing.TB) caip.Asset {
	t.Helper()
	a, err := caip.ParseAsset(
		"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// lendSolana moves an amount from the faucet to the treasury, or back. The treasury pays for it.
func lendSolana(t testing.TB, in *devnet.Installation, asset caip.Asset, v *big.Int, back bool) {
	t.Helper()
	treasury := in.SolanaTreasury.Key()
	from, to := in.SolanaFaucet.Key(), treasury
	if back {
		from, to = to, from
	}
	builds, err := in.SolanaTransfer(context.Background(), from, to, treasury, asset, v)
	if err != nil {
		t.Fatal(err)
	}
	at := uint64(now().Unix())
	hash, _, _ := in.Solana.Blockhash(context.Background(), at)
	m, err := solmsg.Compose(treasury, hash, builds...)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := solana.Sign(t.Context(), m, in.SolanaTreasury, in.SolanaFaucet)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Solana.Seal(context.Background(), solana.SealRequest{Time: at, Txs: []solana.Tx{tx},
		Accept: solana.AllSucceed}); err !=
		nil {
		t.Fatal(err)
	}
}

// drainSolana leaves the faucet with so many base units and returns what is gone.
func drainSolana(t testing.TB, in *devnet.Installation, asset caip.Asset, left uint64) *big.Int {
	t.Helper()
	v, err := in.SolanaBalance(context.Background(), in.SolanaFaucet.Key(), asset)
	if err != nil {
		t.Fatal(err)
	}
	v.Sub(v, new(big.Int).SetUint64(left))
	lendSolana(t, in, asset, v, false)
	return v
}

func emptySolana(t testing.TB, in *devnet.Installation, lamports uint64) {
	t.Helper()
	drainSolana(t, in, caip.SOL(), lamports)
}

func TestAGrantThatTheSolanaLedgerRefusesIsDeclined(t *testing.T) {
	const gift, fee, tokenRent = 5_000_000_000, 5_000, 2_039_280
	for name, empty := range map[string]struct {
		asset caip.Asset
		left  uint64
	}{
		"no USDC": {solanaUSDC(t), 0}, "not enough USDC": {solanaUSDC(t), 249_999_999}, "no SOL": {caip.SOL(), 0},
		"SOL for the fee and not for the gift":            {caip.SOL(), 1_000_000_000},
		"SOL for the gift and not for the token account":  {caip.SOL(), gift + fee + 1},
		"SOL for all of it and not for the faucet's rent": {caip.SOL(), gift + fee + tokenRent + 1},
	} {
		t.Run(name, func(t *testing.T) {
			s, text := store.NewMemory(), new(bytes.Buffer)
			in := open(t, s)
			gone := drainSolana(t, in, empty.asset, empty.left)
			count := in.Ledger.Transactions()
			f := telling(t, in, text)
			consider(t, f, solanaKey(t))
			told := warnings(t, text)
			if len(told) != 1 || told[0].Level != "WARN" || told[0].Chain != caip.SolanaMainnet().String() ||
				told[0].Asset != empty.asset.String() ||
				told[0].Account != solanaAddress || told[0].Error == "" {
				t.Errorf("the log says %+v, expected one warning about %s", told, empty.asset)
			}
			if got := in.Ledger.Transactions() - count; got != 0 {
				t.Errorf("%d transactions of a grant that was declined", got)
			}

			lendSolana(t, in, empty.asset, gone, true) // a decline stays though the ledger could pay by now
			count = in.Ledger.Transactions()
			consider(t, f, solanaKey(t))
			again := open(t, s)
			consider(t, telling(t, again, text), solanaKey(t))
			if got := again.Ledger.Transactions() - count; got != 0 || len(warnings(t, text)) != 1 {
				t.Errorf("later requests made %d transactions and %d warnings more", got, len(warnings(t, text))-1)
			}
			if sol, usdc := onSolana(t, again, solanaKey(t)); sol != "0" || usdc != "0" {
				t.Errorf("%s lamports and %s of USDC", sol, usdc)
			}
		})
	}
}

func TestARefusedSolanaGrantIsDeclinedOnceUnderConcurrency(t *testing.T) {
	in, text := open(t, store.NewMemory()), new(bytes.Buffer)
	drainSolana(t, in, solanaUSDC(t), 0)
	f, count := telling(t, in, text), in.Ledger.Transactions()
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if err := f.ConsiderSolana(context.Background(), solanaKey(t)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := in.Ledger.Transactions() - count; got != 0 || len(warnings(t, text)) != 1 {
		t.Errorf("%d transactions and %d warnings", got, len(warnings(t, text)))
	}
}

// The process dies before or right after the commit of the decline.
func TestACutOffDeclineOnSolanaIsFinished(t *testing.T) {
	for _, late := range []bool{false, true} {
		in, weak := openWeak(t)
		gone := drainSolana(t, in, solanaUSDC(t), 0)
		weak.left, weak.late = 0, late
		if err := newFaucet(t, in).ConsiderSolana(context.Background(), solanaKey(t)); !errors.Is(err, errCut) {
			t.Fatalf("%v, expected the cut", err)
		}
		again := open(t, weak.Store)
		lendSolana(t, again, solanaUSDC(t), gone, true)
		consider(t, newFaucet(t, again), solanaKey(t), solanaKey(t))
		wantSOL, wantUSDC := "5000000000", "250000000"
		if late {
			wantSOL, wantUSDC = "0", "0"
		}
		if sol, usdc := onSolana(t, again, solanaKey(t)); sol != wantSOL || usdc != wantUSDC {
			t.Errorf("decline written %t: %s lamports and %s of USDC", late, sol, usdc)
		}
	}
}
