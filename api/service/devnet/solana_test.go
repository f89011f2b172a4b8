package devnet_test

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/deployment"
	"coffer/api/service/devnet"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// splUSDC is USDC on Solana.
func splUSDC(t testing.TB) caip.Asset {
	t.Helper()
	a, err := caip.ParseAsset(
		"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func balance(t testing.TB, in *devnet.Installation, owner solmsg.Key, asset caip.Asset) uint64 {
	t.Helper()
	v, err := in.SolanaBalance(context.Background(), owner, asset)
	if err != nil {
		t.Fatal(err)
	}
	return v.Uint64()
}

func TestTheTreasuryStocksTheSolanaAccountsByASignedTransaction(t *testing.T) {
	in := open(t, store.NewMemory())
	usdc := splUSDC(t)
	const sol, dollars = 1_000_000_000_000_000_000, 1_000_000_000_000_000
	for name, c := range map[string]struct {
		owner       solmsg.Key
		sol, tokens uint64
		hasAccount  bool
	}{
		"solver":  {in.SolanaSolver.Key(), sol / 100 * 40, dollars / 100 * 40, true},
		"faucet":  {in.SolanaFaucet.Key(), sol / 100 * 20, dollars / 100 * 20, true},
		"sponsor": {in.Sponsor.Key(), sol / 100, 0, false},
		"vault":   {in.Vault.Key(), solana.RentMinimum(0), 0, true},
	} {
		exists, err := in.SolanaExists(context.Background(), c.owner, usdc)
		if err != nil {
			t.Fatal(err)
		}
		if balance(t, in, c.owner, caip.SOL()) != c.sol || balance(t, in, c.owner, usdc) != c.tokens ||
			exists != c.hasAccount {
			t.Errorf("%s: %d lamports, %d units, account %t", name, balance(t, in, c.owner, caip.SOL()),
				balance(t, in, c.owner, usdc), exists)
		}
	}
	sums, err := in.Ledger.Sums()
	if err != nil {
		t.Fatal(err)
	}
	mint, _ := deployment.SolanaMint(usdc)
	if sums.Lamports != sol || sums.Burned != 10_000 || len(sums.Tokens) != 1 || sums.Tokens[mint] != dollars ||
		in.Ledger.Transactions() != 2 {
		t.Errorf("%+v after %d transactions", sums, in.Ledger.Transactions())
	}
	if in.Pins.SolanaSponsor != in.Sponsor.Key().String() ||
		in.Pins.SolanaVault != in.Vault.Key().String() {
		t.Errorf("pins %+v", in.Pins)
	}
}

func TestEachSolanaKeyIsAnotherOneAndTheLedgerIsOfThisSeed(t *testing.T) {
	in := open(t, store.NewMemory())
	seen := map[solmsg.Key]bool{}
	for _, k := range []solmsg.Key{
		in.Sponsor.Key(), in.Vault.Key(), in.SolanaTreasury.Key(),
		in.SolanaSolver.Key(), in.SolanaFaucet.Key(),
	} {
		seen[k] = true
	}
	if len(seen) != 5 {
		t.Errorf("%d different keys, expected 5", len(seen))
	}
	if again := open(t, store.NewMemory()); again.Ledger.Genesis() != in.Ledger.Genesis() {
		t.Error("the same seed gave another ledger")
	}
	o := options()
	o.Seed = make([]byte, signers.SeedSize)
	other, err := devnet.Open(store.NewMemory(), o)
	if err != nil {
		t.Fatal(err)
	}
	if other.Ledger.Genesis() == in.Ledger.Genesis() {
		t.Error("another seed gave the same ledger: its messages could be replayed")
	}
}

// withoutSolana takes away what an installation of an earlier version did not have.
func withoutSolana(t *testing.T, s store.Store) {
	t.Helper()
	err := s.Update(func(tx store.Tx) error {
		for _, name := range solana.Buckets() {
			var keys [][]byte
			tx.Bucket(name).Ascend(nil, func(k, _ []byte) bool {
				keys = append(keys, append([]byte(nil), k...))
				return true
			})
			for _, k := range keys {
				if err := tx.Bucket(name).Delete(k); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := solana.Exists(s); found || err != nil {
		t.Fatal(found, err)
	}
}

// counting counts commits.
type counting struct {
	store.Store
	n int
}

func (c *counting) Update(fn func(store.Tx) error) error {
	c.n++
	return c.Store.Update(fn)
}

func TestALedgerOfAnotherVersionIsRefused(t *testing.T) {
	s := store.NewMemory()
	open(t, s)
	withoutSolana(t, s)
	if _, err := solana.Open(s, solana.Spec{Time: 1,
		Accounts: []solana.Allocation{{Key: solmsg.Key{1}, Account: solana.SystemAccount(1e9)}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := devnet.Open(s, options()); !errors.Is(err, devnet.ErrVersion) {
		t.Errorf("%v, expected ErrVersion", err)
	}
}

func TestTheServicesOwnAccountsOnSolanaKeepTheRentMinimum(t *testing.T) {
	in := open(t, store.NewMemory())
	usdc := splUSDC(t)
	solver, vault, nobody := in.SolanaSolver.Key(), in.Vault.Key(), solmsg.Key{1, 2, 3}
	for name, c := range map[string]struct {
		owner solmsg.Key
		asset caip.Asset
		want  uint64
	}{
		"SOL":             {solver, caip.SOL(), balance(t, in, solver, caip.SOL()) - solana.RentMinimum(0)},
		"USDC":            {solver, usdc, balance(t, in, solver, usdc)},
		"only the rent":   {vault, caip.SOL(), 0},
		"nobody's SOL":    {nobody, caip.SOL(), 0},
		"nobody's tokens": {nobody, usdc, 0},
	} {
		if got, err := in.SolanaSpendable(context.Background(), c.owner, c.asset); err != nil ||
			got.Uint64() != c.want {
			t.Errorf("%s: %v, %v; expected %d", name, got, err, c.want)
		}
	}
	for _, asset := range []caip.Asset{caip.SOL(), usdc} {
		if exists, err := in.SolanaExists(context.Background(), nobody, asset); exists || err != nil {
			t.Errorf("%s: %t, %v", asset, exists, err)
		}
		if exists, err := in.SolanaExists(context.Background(), solver, asset); !exists || err != nil {
			t.Errorf("%s: %t, %v", asset, exists, err)
		}
	}
}

func TestSolanaTransfersCreateTheAccountOnceAndArrive(t *testing.T) {
	in := open(t, store.NewMemory())
	usdc := splUSDC(t)
	solver, sponsor, to := in.SolanaSolver.Key(), in.Sponsor.Key(), solmsg.Key{9, 9}
	now := uint64(1_760_000_000)
	send := func(asset caip.Asset, amount int64, instructions int) {
		t.Helper()
		builds, err := in.SolanaTransfer(context.Background(), solver, to, sponsor, asset, big.NewInt(amount))
		if err != nil {
			t.Fatal(err)
		}
		if len(builds) != instructions {
			t.Errorf("%s: %d instructions, expected %d", asset, len(builds), instructions)
		}
		now++
		hash, _, _ := in.Solana.Blockhash(context.Background(), now)
		m, err := solmsg.Compose(sponsor, hash, builds...)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := solana.Sign(t.Context(), m, in.SolanaSolver, in.Sponsor)
		if err != nil {
			t.Fatal(err)
		}
		_, err = in.Solana.Seal(context.Background(), solana.SealRequest{Time: now, Txs: []solana.Tx{tx},
			Accept: solana.AllSucceed})
		if err != nil {
			t.Fatal(err)
		}
	}
	before := balance(t, in, solver, caip.SOL())
	send(usdc, 250_000_000, 2)
	send(usdc, 1, 1)
	if balance(t, in, solver, caip.SOL()) != before {
		t.Error("the solver paid a fee or rent that is the sponsor's")
	}
	send(caip.SOL(), 5_000_000_000, 1)
	if all, err := in.SolanaSpendable(context.Background(), to, caip.SOL()); err != nil ||
		all.Uint64() != 5_000_000_000 {
		t.Errorf("a user can spend %v of his 5 SOL, %v", all, err)
	}
	if balance(t, in, to, usdc) != 250_000_001 || balance(t, in, to, caip.SOL()) != 5_000_000_000 {
		t.Errorf("%d units and %d lamports arrived", balance(t, in, to, usdc), balance(t, in, to, caip.SOL()))
	}
	for _, amount := range []*big.Int{nil, big.NewInt(-1), new(big.Int).Lsh(big.NewInt(1), 64)} {
		if _, err := in.SolanaTransfer(context.Background(), solver, to, sponsor, caip.SOL(), amount); err == nil {
			t.Errorf("an amount of %v was taken", amount)
		}
	}
}

func TestUnknownSolanaAssetsAreAnErrorAndNotZero(t *testing.T) {
	in := open(t, store.NewMemory())
	for asset, want := range map[caip.Asset]error{
		caip.SPL([32]byte{1}): deployment.ErrAsset, caip.Native(1): deployment.ErrChain,
		caip.ERC20(1, common.Address{1}): deployment.ErrChain, {}: deployment.ErrChain,
	} {
		_, balanceErr := in.SolanaBalance(context.Background(), solmsg.Key{1}, asset)
		_, spendableErr := in.SolanaSpendable(context.Background(), solmsg.Key{1}, asset)
		_, existsErr := in.SolanaExists(context.Background(), solmsg.Key{1}, asset)
		_, transferErr := in.SolanaTransfer(context.Background(), solmsg.Key{1}, solmsg.Key{2}, solmsg.Key{1}, asset,
			big.NewInt(1))
		for _, err := range []error{balanceErr, spendableErr, existsErr, transferErr} {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, expected %v", asset, err, want)
			}
		}
	}
	if _, ok := deployment.SolanaMint(caip.SOL()); ok {
		t.Error("SOL has a mint")
	}
}

func BenchmarkCreateSolana(b *testing.B) {
	in := open(b, store.NewMemory())
	for b.Loop() {
		if err := devnet.CreateSolana(in, store.NewMemory(), 1_760_000_000); err != nil {
			b.Fatal(err)
		}
	}
}
