package deployment_test

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain"
	"coffer/api/service/chain/solana"
	"coffer/api/service/deployment"
	"coffer/api/service/devnet"
	"coffer/api/service/store"
)

func opened(t *testing.T) *devnet.Installation {
	t.Helper()
	in, err := devnet.Open(store.NewMemory(), devnet.Options{Clock: func() time.Time { return time.Unix(1.8e9, 0) },
		Seed: []byte("deployment tests: 32 bytes long."), Kind: network.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func usdc() caip.Asset {
	return caip.ERC20(8453, common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"))
}

func weth() caip.Asset {
	return caip.ERC20(8453, common.HexToAddress("0x4200000000000000000000000000000000000006"))
}

// Two tokens of a network may keep their balances at different places: each is read and credited at its own.
func TestEachTokenHasItsOwnBalanceSlot(t *testing.T) {
	in, usdc, weth := opened(t), usdc(), weth()
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

// batching is a chain that tells many balances at once.
type batching struct {
	chain.Chain
	asked [][]common.Address
}

func (b *batching) Balances(_ context.Context, _ common.Address, tokens []common.Address) ([]*big.Int, error) {
	b.asked = append(b.asked, tokens)
	out := make([]*big.Int, len(tokens))
	for i := range tokens {
		out[i] = big.NewInt(int64(i))
	}
	return out, nil
}

// A token that keeps its balances at an unknown place is asked, and a chain that answers many questions at once gets
// one.
func TestBalancesAreReadWhereTheirPlaceIsUnknown(t *testing.T) {
	in, ctx := opened(t), context.Background()
	n := *in.Network
	n.BalanceSlots = nil
	assets := []caip.Asset{weth(), caip.Native(8453), usdc()}
	want, err := in.Balances(ctx, in.Pins.Solver, assets)
	if err != nil || want[0].Sign() == 0 || want[1].Sign() == 0 {
		t.Fatal(want, err)
	}
	got, err := n.Balances(ctx, in.Pins.Solver, assets)
	if err != nil || slices.CompareFunc(got, want, (*big.Int).Cmp) != 0 {
		t.Errorf("asked they have %s, read %s (%v)", got, want, err)
	}
	many := &batching{Chain: n.Chains[8453]}
	n.Chains = map[uint64]chain.Chain{8453: many}
	got, err = n.Balances(ctx, in.Pins.Solver, assets)
	weth, _ := assets[0].Token()
	usdc, _ := assets[2].Token()
	if err != nil || len(many.asked) != 1 || !slices.Equal(many.asked[0], []common.Address{weth, {}, usdc}) ||
		got[2].Int64() != 2 {
		t.Errorf("asked %v, got %s (%v)", many.asked, got, err)
	}
	for _, bad := range [][]caip.Asset{{caip.ERC20(8453, common.Address{9})}, {caip.Native(8453), caip.Native(1)}} {
		if v, err := n.Balances(ctx, in.Pins.Solver, bad); !errors.Is(err, deployment.ErrAsset) {
			t.Errorf("%v: %s, %v", bad, v, err)
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
