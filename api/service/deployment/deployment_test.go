package deployment_test

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/deployment"
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

// unreachable is a Solana that cannot be asked.
type unreachable struct{ solana.Chain }

func (unreachable) State(context.Context) (solana.State, error) { return nil, errUnreachable }

var errUnreachable = errors.New("the endpoint does not answer")

// What cannot be read is no balance of zero and no account that is missing.
func TestAFaultOfSolanaIsAnError(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	n := &deployment.Network{Catalog: cat, Solana: unreachable{}}
	ctx, owner := context.Background(), solmsg.Key{1}
	agg, _ := cat.Aggregate("ob:usdc")
	for _, e := range agg.Entities {
		if !e.Asset.Chain.IsSolana() {
			continue
		}
		_, balance := n.SolanaBalance(ctx, owner, e.Asset)
		_, exists := n.SolanaExists(ctx, owner, e.Asset)
		_, transfer := n.SolanaTransfer(ctx, owner, owner, owner, e.Asset, big.NewInt(1))
		for _, err := range []error{balance, exists, transfer} {
			if !errors.Is(err, errUnreachable) {
				t.Error(err)
			}
		}
		return
	}
	t.Fatal("no USDC on Solana")
}
