package faucet_test

import (
	"context"
	"errors"
	"math/big"
	"runtime"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
	"coffer/api/service/chain"
	"coffer/api/service/devnet"
	"coffer/api/service/devnet/faucet"
	"coffer/api/service/store"
)

// commits counts updates and calls before ahead of each.
type commits struct {
	store.Store
	n      int
	before func(n int)
}

func (c *commits) Update(fn func(store.Tx) error) error {
	if c.before != nil {
		c.before(c.n)
	}
	c.n++
	return c.Store.Update(fn)
}

func onStore(t *testing.T, s store.Store) *devnet.Installation {
	t.Helper()
	in, err := devnet.Open(s, devnet.Options{Clock: now, Seed: []byte("an installation seed of 32 bytes"),
		Kind: network.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// All chains of a grant are one commit, and those who wait meanwhile are the next one together; each gets what it would
// have got alone.
func TestR6_WhoWaitsIsPaidInOneCommit(t *testing.T) {
	const clients = 40
	counted := &commits{Store: store.NewMemory()}
	in, alone := onStore(t, counted), open(t, store.NewMemory())
	f, single := newFaucet(t, in), newFaucet(t, alone)
	before, began := counted.n, make(chan struct{})
	counted.before = func(n int) {
		if n > before {
			return
		}
		close(began)
		for faucet.Waiting(f) < clients-1 {
			runtime.Gosched() // the first commit takes until all others wait
		}
	}
	address := func(i int) common.Address { return common.BigToAddress(big.NewInt(int64(5_000_000 + i))) }
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			if err := f.Consider(context.Background(), address(i)); err != nil {
				t.Error(err)
			}
		})
		if i == 0 {
			<-began
		}
	}
	all.Wait()
	if made := counted.n - before; made != 2 {
		t.Errorf("%d commits for %d accounts", made, clients)
	}
	for i := range clients {
		if err := single.Consider(context.Background(), address(i)); err != nil {
			t.Fatal(err)
		}
		got, want := balances(t, in, address(i)), balances(t, alone, address(i))
		if len(got) != len(want) || len(got) == 0 {
			t.Errorf("%s has %d assets, alone %d", address(i), len(got), len(want))
		}
		for asset, v := range want {
			if got[asset] == nil || got[asset].Cmp(v) != 0 {
				t.Errorf("%s of %s: %v, alone %s", asset, address(i), got[asset], v)
			}
		}
	}
	made := counted.n
	if err := f.Consider(context.Background(), address(3)); err != nil || counted.n != made {
		t.Errorf("an account that was paid: %d more commits, %v", counted.n-made, err)
	}
}

// One address named by many at once is paid once.
func TestR6_OneAddressOfManyClientsIsPaidOnce(t *testing.T) {
	in, alone := open(t, store.NewMemory()), open(t, store.NewMemory())
	f := newFaucet(t, in)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if err := f.Consider(context.Background(), someone); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := newFaucet(t, alone).Consider(context.Background(), someone); err != nil {
		t.Fatal(err)
	}
	for asset, v := range balances(t, alone, someone) {
		if got := balances(t, in, someone)[asset]; got == nil || got.Cmp(v) != 0 {
			t.Errorf("%s: %v, expected %s", asset, got, v)
		}
	}
}

// A commit that fails pays nobody on any chain; the next request pays all.
func TestR6_ACutOffCommitPaysNothing(t *testing.T) {
	weak := &dying{Store: store.NewMemory(), left: -1}
	in := onStore(t, weak)
	weak.left = 0
	f := newFaucet(t, in)
	if err := f.Consider(context.Background(), someone); !errors.Is(err, errCut) {
		t.Fatalf("%v, expected the cut", err)
	}
	if got := len(balances(t, in, someone)); got != 0 {
		t.Errorf("%d assets arrived", got)
	}
	weak.left = -1
	if err := f.Consider(context.Background(), someone); err != nil || len(balances(t, in, someone)) == 0 {
		t.Errorf("afterwards: %v", err)
	}
}

// apart is a chain that is not sealed together with others.
type apart struct{ chain.Chain }

// Of many who name one address at once, one with a budget is enough, whoever comes first.
func TestR6_ABudgetThatIsUsedUpHoldsNobodyElseBack(t *testing.T) {
	for _, order := range [][]bool{{false, true}, {true, false}} {
		in := open(t, store.NewMemory())
		f := newFaucet(t, in)
		if err := faucet.ServeTogether(f, someone, order...); err != nil || len(balances(t, in, someone)) == 0 {
			t.Errorf("%v: %v, nothing arrived", order, err)
		}
	}
}

// Who waits for a turn that panics is told so, and the next turn is served.
func TestR6_ATurnThatBreaksDownHoldsNobodyBack(t *testing.T) {
	in := open(t, store.NewMemory())
	f := newFaucet(t, in)
	if err := faucet.ServeBroken(f, someone); err == nil {
		t.Error("no error")
	}
	if err := f.Consider(context.Background(), someone); err != nil || len(balances(t, in, someone)) == 0 {
		t.Errorf("afterwards: %v", err)
	}
}
