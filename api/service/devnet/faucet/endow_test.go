package faucet_test

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/devnet"
	"coffer/api/service/devnet/faucet"
	"coffer/api/service/store"
)

func TestAnEndowmentIsEveryAssetOnce(t *testing.T) {
	s := store.NewMemory()
	in := open(t, s)
	if err := newFaucet(t, in).Endow(t.Context(), []common.Address{someone, someone}, false); err != nil {
		t.Fatal(err)
	}
	got, before := balances(t, in, someone), heads(in)
	for _, id := range in.ChainIDs {
		for _, e := range in.Catalog.On(caip.EVM(id)) {
			unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(e.Decimals)), nil)
			if want := unit.Mul(unit, big.NewInt(10_000)); got[e.Asset] == nil || got[e.Asset].Cmp(want) != 0 {
				t.Errorf("%s: %v, expected %s", e.Asset, got[e.Asset], want)
			}
		}
	}
	again := open(t, s)
	if err := newFaucet(t, again).Endow(t.Context(), []common.Address{someone}, true); err != nil {
		t.Fatal(err)
	}
	if n := heads(again) - before; n != 0 {
		t.Errorf("%d blocks for an account that has its endowment", n)
	}
}

func TestASmallEndowmentIsCoinAndWhatTestFundsHave(t *testing.T) {
	in := open(t, store.NewMemory())
	other := common.HexToAddress("0x00000000000000000000000000000000000a11ce")
	before := heads(in)
	if err := newFaucet(t, in).Endow(t.Context(), []common.Address{someone, other}, true); err != nil {
		t.Fatal(err)
	}
	got := balances(t, in, other)
	if got[baseUSDC(t)].Cmp(big.NewInt(10_000_000_000)) != 0 || got[caip.Native(base)].Sign() == 0 || len(got) > 60 ||
		len(chainsOf(got)) != len(in.ChainIDs) {
		t.Errorf("%d assets: %v", len(got), got)
	}
	if n := heads(in) - before; n != uint64(len(in.ChainIDs)) {
		t.Errorf("%d blocks on %d chains", n, len(in.ChainIDs))
	}
}

func TestWhoGenesisEndowedIsNotEndowedAgain(t *testing.T) {
	in := open(t, store.NewMemory())
	in.Endowed = []common.Address{someone}
	before := heads(in)
	if err := newFaucet(t, in).Endow(t.Context(), []common.Address{someone}, false); err != nil {
		t.Fatal(err)
	}
	if n := heads(in) - before; n != 0 {
		t.Errorf("%d blocks", n)
	}
}

// Genesis endows with the assets of test funds.
func TestTheAssetsOfTestFundsAreThoseOfAnEndowment(t *testing.T) {
	if got := faucet.ShareAssets(); !slices.Equal(got, devnet.FundAssets()) {
		t.Errorf("%v, endowed with %v", got, devnet.FundAssets())
	}
}

func TestAnEndowmentOnSolanaIsEveryAssetOnce(t *testing.T) {
	in := open(t, store.NewMemory())
	f, k := newFaucet(t, in), solanaKey(t)
	for range 2 {
		if err := f.EndowSolana(t.Context(), []solmsg.Key{k}); err != nil {
			t.Fatal(err)
		}
	}
	st, err := in.Ledger.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if coin, err := st.Lamports(k); err != nil || coin != 10_000_000_000_000 {
		t.Errorf("%d lamports, %v", coin, err)
	}
	for _, e := range in.Catalog.On(caip.SolanaMainnet()) {
		if mint, token := e.Asset.Mint(); token {
			v, _, err := st.Tokens(k, mint)
			want := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(e.Decimals)+4), nil)
			if err != nil || !want.IsUint64() || v != want.Uint64() {
				t.Errorf("%s: %d, expected %s, %v", e.Symbol, v, want, err)
			}
		}
	}
}

// BenchmarkEndow is what the ten keys of a devnet cost.
func BenchmarkEndow(b *testing.B) {
	var ten []common.Address
	for i := range 10 {
		ten = append(ten, common.HexToAddress(fmt.Sprintf("0x%040x", 0xabc000+i)))
	}
	for b.Loop() {
		b.StopTimer()
		in := open(b, store.NewMemory())
		f := newFaucet(b, in)
		b.StartTimer()
		start := time.Now()
		if err := f.Endow(context.Background(), ten, true); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/last")
	}
}
