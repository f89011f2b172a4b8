package faucet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op/erc20"
	"coffer/api/service/chain"
	"coffer/api/service/devnet"
	"coffer/api/service/devnet/faucet"
	"coffer/api/service/store"
)

const base = 8453

func baseUSDC(t testing.TB) caip.Asset {
	t.Helper()
	a, err := caip.ParseAsset("eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// openWeak opens an installation on a store that can be cut.
func openWeak(t testing.TB) (*devnet.Installation, *dying) {
	t.Helper()
	weak := &dying{Store: store.NewMemory(), left: -1}
	in, err := devnet.Open(weak, devnet.Options{Clock: now, Seed: []byte("an installation seed of 32 bytes"),
		Kind: network.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	return in, weak
}

// telling is a faucet that logs into text.
func telling(t testing.TB, in *devnet.Installation, text *bytes.Buffer) *faucet.Faucet {
	t.Helper()
	f, err := faucet.New(faucet.Options{Installation: in, Clock: now,
		Log: slog.New(slog.NewJSONHandler(text, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// warning is one line of the log.
type warning struct{ Level, Account, Chain, Asset, Error string }

func warnings(t testing.TB, text *bytes.Buffer) []warning {
	t.Helper()
	var out []warning
	for line := range bytes.Lines(text.Bytes()) {
		var w warning
		if err := json.Unmarshal(line, &w); err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

// lend moves an amount of an asset between two keys of the service: from the faucet to the treasury unless back.
func lend(t testing.TB, in *devnet.Installation, asset caip.Asset, v *big.Int, back bool) {
	t.Helper()
	from, to := in.Faucet, in.Treasury
	if back {
		from, to = to, from
	}
	tx := chain.Tx{From: from, To: to.Address(), Value: v, Gas: 21_000}
	if token, ok := asset.Token(); ok {
		tx = chain.Tx{From: from, To: token, Data: erc20.Transfer(tx.To, v), Gas: 100_000}
	}
	id, _ := asset.Chain.EVMID()
	if _, err := in.Chains[id].Seal(context.Background(),
		chain.SealRequest{Time: uint64(now().Unix()), Txs: []chain.Tx{tx},
			Accept: chain.AllSucceed}); err != nil {
		t.Fatal(err)
	}
}

// drain leaves the faucet with so much of an asset, of a coin less the gas that this takes, and returns what is gone.
func drain(t testing.TB, in *devnet.Installation, asset caip.Asset, left int64) *big.Int {
	t.Helper()
	v, err := in.Balance(context.Background(), in.Faucet.Address(), asset)
	if err != nil {
		t.Fatal(err)
	}
	v.Sub(v, big.NewInt(left))
	if id, _ := asset.Chain.EVMID(); asset.IsNative() {
		fee := new(big.Int).Mul(in.Chains[id].Head().BaseFee, big.NewInt(2*21_000))
		v.Sub(v, fee)
	}
	lend(t, in, asset, v, false)
	return v
}

// grantOf is what an address gets of a faucet that has everything.
func grantOf(t testing.TB, a common.Address) map[caip.Asset]*big.Int {
	t.Helper()
	in := open(t, store.NewMemory())
	if err := newFaucet(t, in).Consider(context.Background(), a); err != nil {
		t.Fatal(err)
	}
	return balances(t, in, a)
}

func without(all map[caip.Asset]*big.Int, c caip.Chain) map[caip.Asset]*big.Int {
	rest := maps.Clone(all)
	maps.DeleteFunc(rest, func(a caip.Asset, _ *big.Int) bool { return a.Chain == c })
	return rest
}

func chainsOf(all map[caip.Asset]*big.Int) map[caip.Chain]bool {
	out := map[caip.Chain]bool{}
	for a := range all {
		out[a.Chain] = true
	}
	return out
}

func expectHoldings(t testing.TB, in *devnet.Installation, want map[caip.Asset]*big.Int) {
	t.Helper()
	if got := balances(t, in, someone); !maps.EqualFunc(got, want, func(a, b *big.Int) bool { return a.Cmp(b) == 0 }) {
		t.Errorf("the account holds %v, expected %v", got, want)
	}
}

// coinGiven is a coin of a grant, always the same one.
func coinGiven(t testing.TB, grant map[caip.Asset]*big.Int) (found caip.Asset) {
	t.Helper()
	for c := range chainsOf(grant) {
		n, _ := c.EVMID()
		if coin := caip.Native(n); grant[coin] != nil && (found == (caip.Asset{}) || coin.String() < found.String()) {
			found = coin
		}
	}
	if found == (caip.Asset{}) {
		t.Fatal("no coin is given")
	}
	return found
}

func expectDecision(t testing.TB, in *devnet.Installation, a common.Address, want byte) {
	t.Helper()
	err := in.Store.View(func(tx store.Tx) error {
		if got := tx.Bucket("faucet").Get(a[:]); string(got) != string(want) {
			t.Errorf("the decision about %s is %q, expected %q", a.Hex(), got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
