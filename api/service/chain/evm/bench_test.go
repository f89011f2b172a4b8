package evm

import (
	"context"
	"fmt"
	"math/big"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/chain"
	"coffer/api/service/store"
)

func sevenSpecs(tb testing.TB) []Spec {
	tb.Helper()
	all := alloc(tb)
	var specs []Spec
	for _, id := range chainIDs() {
		specs = append(specs, Spec{ChainID: id, Alloc: all, Time: genesisTime})
	}
	return specs
}

func BenchmarkOpenSevenChainsInMemory(b *testing.B) {
	specs := sevenSpecs(b)
	for b.Loop() {
		if _, err := OpenAll(store.NewMemory(), specs); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCreateSevenChainsInFile(b *testing.B) {
	specs, dir := sevenSpecs(b), b.TempDir()
	n := 0
	for b.Loop() {
		n++
		s := boltStore(b, filepath.Join(dir, fmt.Sprint(n)))
		if _, err := OpenAll(s, specs); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func BenchmarkReopenSevenChainsInFile(b *testing.B) {
	specs, path := sevenSpecs(b), filepath.Join(b.TempDir(), "chain.db")
	for b.Loop() {
		s := boltStore(b, path)
		if _, err := OpenAll(s, specs); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func benchSeal(b *testing.B, c *Chain) {
	to := addr(key(1))
	tx := pay(treasury(), to, 1)
	for b.Loop() {
		seal(b, c, tx)
	}
}

func BenchmarkSealTransferInMemory(b *testing.B) { benchSeal(b, memoryChain(b)) }
func BenchmarkSealTransferInFile(b *testing.B)   { benchSeal(b, boltChain(b)) }

func benchBalanceOf(b *testing.B, c *Chain) {
	data := pack(b, "Token", "balanceOf", addr(treasury()))
	for b.Loop() {
		st, err := c.State(context.Background(), 0)
		if err != nil {
			b.Fatal(err)
		}
		if res := st.Call(chain.Message{From: common.Address{1}, To: tokenAt(0), Data: data}); res.Err != nil {
			b.Fatal(res.Err)
		}
		st.Close()
	}
}

func BenchmarkStateAndBalanceOfInMemory(b *testing.B) { benchBalanceOf(b, memoryChain(b)) }
func BenchmarkStateAndBalanceOfInFile(b *testing.B)   { benchBalanceOf(b, boltChain(b)) }

func BenchmarkPredeployToken(b *testing.B) {
	code := initCode(b, "Token", "USD Coin", "USDC", uint8(6), addr(treasury()), big.NewInt(supply))
	for b.Loop() {
		if _, err := Predeploy(code, tokenAt(0), 1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDeployEntryPoint(b *testing.B) {
	code := initCode(b, "EntryPoint")
	for b.Loop() {
		if _, err := DeployDeterministic(code, entryPointSalt()); err != nil {
			b.Fatal(err)
		}
	}
}
