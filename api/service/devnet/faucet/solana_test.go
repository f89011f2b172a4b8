package faucet_test

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"sync"
	"testing"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/devnet"
	"coffer/api/service/devnet/faucet"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

const solanaAddress = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"

func solanaKey(t testing.TB) solmsg.Key {
	t.Helper()
	k, err := solmsg.ParseKey(solanaAddress)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// onSolana is what an account has, in base units.
func onSolana(t testing.TB, in *devnet.Installation, k solmsg.Key) (sol, usdc string) {
	t.Helper()
	agg, _ := in.Catalog.Aggregate("ob:usdc")
	for _, e := range agg.Entities {
		if e.Asset.Chain != caip.SolanaMainnet() {
			continue
		}
		v, err := in.SolanaBalance(context.Background(), k, e.Asset)
		if err != nil {
			t.Fatal(err)
		}
		usdc = v.String()
	}
	v, err := in.SolanaBalance(context.Background(), k, caip.SOL())
	if err != nil {
		t.Fatal(err)
	}
	return v.String(), usdc
}

func consider(t testing.TB, f *faucet.Faucet, keys ...solmsg.Key) {
	t.Helper()
	for _, k := range keys {
		if err := f.ConsiderSolana(context.Background(), k); err != nil {
			t.Fatal(err)
		}
	}
}

func TestASolanaAccountGetsItsTestFundsOnceByASignedTransaction(t *testing.T) {
	s := store.NewMemory()
	in := open(t, s)
	before, count := sums(t, in), in.Ledger.Transactions()
	f := newFaucet(t, in)
	consider(t, f, solanaKey(t))
	if sol, usdc := onSolana(t, in, solanaKey(t)); sol != "5000000000" || usdc != "250000000" {
		t.Errorf("%s lamports and %s of USDC", sol, usdc)
	}
	consider(t, f, solanaKey(t), solanaKey(t))
	consider(t, newFaucet(t, open(t, s)), solanaKey(t)) // after a restart
	if got := in.Ledger.Transactions() - count; got != 1 {
		t.Errorf("%d transactions, expected 1", got)
	}
	if after := sums(t, in); after.Lamports != before.Lamports || len(after.Tokens) != 1 {
		t.Errorf("sums %+v, were %+v", after, before)
	} else {
		for mint, n := range after.Tokens {
			if before.Tokens[mint] != n {
				t.Errorf("the sum of %s changed from %d to %d", mint, before.Tokens[mint], n)
			}
		}
	}
	if sol, usdc := onSolana(t, in, solanaKey(t)); sol != "5000000000" || usdc != "250000000" {
		t.Errorf("topped up to %s lamports and %s of USDC", sol, usdc)
	}
}

func sums(t testing.TB, in *devnet.Installation) solana.Sums {
	t.Helper()
	out, err := in.Ledger.Sums()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestASolanaAccountIsFundedOnceUnderConcurrency(t *testing.T) {
	in := open(t, store.NewMemory())
	f, before := newFaucet(t, in), in.Ledger.Transactions()
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if err := f.ConsiderSolana(context.Background(), solanaKey(t)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := in.Ledger.Transactions() - before; got != 1 {
		t.Errorf("%d transactions, expected 1", got)
	}
}

// wallet is an account that somebody has the key of.
func wallet(n byte) solmsg.Key {
	return signers.LocalSolana(ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), n))).Key()
}

func TestSolanaAccountsThatWereUsedGetNothing(t *testing.T) {
	in := open(t, store.NewMemory())
	usdc, known, paid := wallet(1), wallet(2), wallet(3)
	f, err := faucet.New(faucet.Options{Installation: in, Clock: now,
		Known: func(_ context.Context, k string) (bool, error) { return k == known.String(), nil }})
	if err != nil {
		t.Fatal(err)
	}
	// Somebody paid `paid`, and opened a token account for `usdc`.
	faucet, at := in.SolanaSolver.Key(), uint64(now().Unix())
	hash, _, _ := in.Solana.Blockhash(context.Background(), at)
	mint, _ := solmsg.ParseKey("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
	m, err := solmsg.Compose(faucet, hash, solmsg.SystemTransfer(faucet, paid, 1e9),
		solmsg.CreateATAIdempotent(faucet, usdc, mint))
	if err != nil {
		t.Fatal(err)
	}
	tx, err := solana.Sign(t.Context(), m, in.SolanaSolver)
	if err != nil {
		t.Fatal(err)
	}
	_, err = in.Solana.Seal(context.Background(), solana.SealRequest{Time: at, Txs: []solana.Tx{tx},
		Accept: solana.AllSucceed})
	if err != nil {
		t.Fatal(err)
	}
	tokenAccount, err := solmsg.AssociatedTokenAccount(wallet(4), mint, solmsg.TokenProgram())
	if err != nil {
		t.Fatal(err)
	}
	before := in.Ledger.Transactions()
	for name, k := range map[string]solmsg.Key{
		"was paid": paid, "has a token account": usdc, "is in the history": known,
		"is a program": solmsg.TokenProgram(), "is a mint": mint,
		"is the service's": in.Vault.Key(), "nobody can sign for": tokenAccount,
	} {
		consider(t, f, k)
		if in.Ledger.Transactions() != before {
			t.Errorf("an account that %s was funded", name)
		}
	}
	consider(t, newFaucet(t, in), known) // the decision stays though this faucet has no history
	if in.Ledger.Transactions() != before {
		t.Error("a decision was taken back")
	}
}

func TestTheDecisionAndTheSolanaFundsAreOneCommit(t *testing.T) {
	weak := &dying{Store: store.NewMemory(), left: -1}
	in, err := devnet.Open(weak, devnet.Options{Clock: now, Seed: []byte("an installation seed of 32 bytes"),
		Kind: network.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	weak.left = 0
	if err := newFaucet(t, in).ConsiderSolana(context.Background(), solanaKey(t)); !errors.Is(err, errCut) {
		t.Fatalf("%v, expected the cut", err)
	}
	if sol, usdc := onSolana(t, in, solanaKey(t)); sol != "0" || usdc != "0" {
		t.Errorf("%s lamports and %s of USDC arrived", sol, usdc)
	}
	weak.left = 1
	consider(t, newFaucet(t, in), solanaKey(t))
	if sol, usdc := onSolana(t, in, solanaKey(t)); sol != "5000000000" || usdc != "250000000" {
		t.Errorf("%s lamports and %s of USDC", sol, usdc)
	}
}

func BenchmarkFundSolanaMemory(b *testing.B) {
	in := open(b, store.NewMemory())
	f := newFaucet(b, in)
	n := 0
	for b.Loop() {
		n++
		consider(b, f, signers.LocalSolana(ed25519.NewKeyFromSeed(
			binary.BigEndian.AppendUint64(make([]byte, ed25519.SeedSize-8), uint64(n)))).Key())
	}
}
