package settletest

import (
	"context"
	"math/big"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/deployment"
	"coffer/api/service/devnet"
	"coffer/api/service/signers"
	"coffer/assets"
)

// unknown is a price source that knows no price.
type unknown struct{}

func (unknown) Price(caip.AggregateID, time.Time) (*big.Int, bool) { return nil, false }

func (unknown) GasCostMicroUSD(uint64, uint64, time.Time) (*big.Int, bool) { return nil, false }

// ownNodes is the network of an installation as one person's nodes are: the Window paymaster is deployed on every
// chain, no solver and no escrow is pinned, where tokens keep their balances is unknown, and there is no Solana.
func ownNodes(tb testing.TB, in *devnet.Installation, now uint64) *deployment.Network {
	tb.Helper()
	art, err := assets.Contract("Window")
	Must(tb, err)
	deployer := evm.DeterministicDeployer()
	n := *in.Network
	n.Kind, n.Pins.Paymaster = network.Lab, network.Window()
	n.Pins.Escrow, n.Pins.Solver, n.Deployments = common.Address{}, common.Address{}, nil
	n.Pins.SolanaSponsor, n.Pins.SolanaVault, n.Solana = "", "", nil
	n.BalanceSlots = nil
	n.Chains = map[uint64]chain.Chain{}
	for id, c := range in.Chains {
		if !deployedAt(tb, c, n.Pins.Paymaster) {
			_, err := c.Seal(context.Background(), chain.SealRequest{Time: now, Accept: chain.AllSucceed,
				Txs: []chain.Tx{{From: in.Faucet, To: deployer, Data: append(make([]byte, 32), art.Bytecode...)}}})
			Must(tb, err)
		}
		n.Chains[id] = finder{c, new(atomic.Bool)}
	}
	return &n
}

// Empty takes the coins of a key of the service away, so that it can pay for no operation.
func (w *World) Empty(from signers.EVM, chainID uint64) {
	w.TB.Helper()
	c := w.Installation.Chains[chainID]
	st, err := c.State(context.Background(), c.Head().Time)
	Must(w.TB, err)
	has := st.Balance(from.Address())
	st.Close()
	has.Sub(has, new(big.Int).Mul(c.Head().BaseFee, big.NewInt(60_000)))
	w.seal(chainID, chain.Tx{From: from, To: common.Address{0xee}, Value: has, Gas: 50_000}, chain.AllSucceed)
}

func deployedAt(tb testing.TB, c chain.Chain, at common.Address) bool {
	tb.Helper()
	st, err := c.State(context.Background(), c.Head().Time)
	Must(tb, err)
	defer st.Close()
	return len(st.Code(at)) > 0
}

// Blind makes the chains of own nodes find no logs, as nodes that are behind.
func (w *World) Blind(blind bool) {
	for _, c := range w.Installation.Chains {
		c.(finder).blind.Store(blind)
	}
}

// finder finds logs by reading every block.
type finder struct {
	chain.Chain
	blind *atomic.Bool
}

func (f finder) Find(ctx context.Context, from, to uint64, at common.Address, topics ...common.Hash) (chain.Receipt,
	bool, bool, error) {
	for n := f.Head().Number; !f.blind.Load(); n-- {
		b, found, err := f.Block(ctx, n)
		if err != nil || !found || b.Time < from {
			return chain.Receipt{}, false, err == nil && f.Head().Time > to, err
		}
		if b.Time > to {
			continue
		}
		for _, r := range b.Receipts {
			if slices.ContainsFunc(r.Logs, func(l chain.Log) bool {
				return l.Address == at && len(l.Topics) >= len(topics) &&
					slices.Equal(l.Topics[:len(topics)], topics)
			}) {
				return r, true, true, nil
			}
		}
	}
	return chain.Receipt{}, false, false, nil
}
