package deployment_test

import (
	"context"
	"maps"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/service/devnet"
	"coffer/api/service/store"
)

// Two tokens of a network may keep their balances at different places: each is read and credited at its own.
func TestEachTokenHasItsOwnBalanceSlot(t *testing.T) {
	in, err := devnet.Open(store.NewMemory(), devnet.Options{Clock: func() time.Time { return time.Unix(1.8e9, 0) },
		Seed: []byte("deployment tests: 32 bytes long."), Kind: network.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	usdc := caip.ERC20(8453, common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"))
	weth := caip.ERC20(8453, common.HexToAddress("0x4200000000000000000000000000000000000006"))
	n := *in.Network
	n.BalanceSlots = maps.Clone(n.BalanceSlots)
	n.BalanceSlots[usdc] += 1_000
	solver := in.Pins.Solver
	for asset, stocked := range map[caip.Asset]bool{usdc: false, weth: true} {
		st, err := n.Chains[8453].State(context.Background(), n.Chains[8453].Head().Time)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		if v, err := n.BalanceAt(st, solver, asset); err != nil || v.Sign() > 0 != stocked {
			t.Errorf("%s: %s of the solver (%v)", asset, v, err)
		}
		st.Apply(n.CreditOverlay(asset, solver, big.NewInt(7)))
		if v, err := n.BalanceAt(st, solver, asset); err != nil || v.Int64() != 7 {
			t.Errorf("%s: %s after a credit of 7 (%v)", asset, v, err)
		}
		if v, err := in.BalanceAt(st, solver, usdc); err != nil || v.Int64() == 7 {
			t.Errorf("%s: the place of another token changed: %s (%v)", asset, v, err)
		}
	}
}
