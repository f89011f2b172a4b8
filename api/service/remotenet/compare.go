package remotenet

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"golang.org/x/sync/errgroup"

	"coffer/api/caip"
	"coffer/api/rpcpool"
	"coffer/api/service/chain"
	"coffer/api/service/pinned"
)

// compareWithin bounds how long a start waits for a chain that is silent.
const compareWithin = 4 * time.Second

// ErrUncompared says that a chain cannot be used yet, because it could not be compared with the network.
var ErrUncompared = errors.New("it could not be compared with the network yet")

// gate lets nothing at a chain before it was found to be that of the network. A difference that is found later closes
// the gates of all chains.
type gate struct {
	genesis string
	wanted  []pinned.Contract
	turn    chan struct{} // held while a comparison is under way
	open    atomic.Bool
	shared  *atomic.Pointer[error]
}

// compare demands that every chain begins as the descriptor says and has the pinned code. One that cannot be asked is
// left for its first use.
func (n *Network) compare(ctx context.Context, wanted []pinned.Contract) error {
	shared := new(atomic.Pointer[error])
	group, ctx := errgroup.WithContext(ctx)
	for _, node := range n.nodes {
		node.gate = gate{genesis: n.Genesis[caip.EVM(node.ID()).String()], wanted: wanted, turn: make(chan struct{}, 1),
			shared: shared}
		group.Go(func() error { return n.compareOne(ctx, node.ID(), node.ready) })
	}
	if l := n.ledger; l != nil {
		l.gate = gate{genesis: n.Genesis[caip.SolanaMainnet().String()], turn: make(chan struct{}, 1), shared: shared}
		group.Go(func() error { return n.compareOne(ctx, l.name, l.ready) })
	}
	return group.Wait()
}

func (n *Network) compareOne(ctx context.Context, chain any, ready func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, compareWithin)
	defer cancel()
	err := ready(within)
	if errors.Is(err, ErrUncompared) && ctx.Err() == nil {
		n.log.Warn("a chain cannot be asked: it is compared before its first use", "chain", chain, "error", err)
		return nil
	}
	return err
}

// ready is nil when the chain was compared, which it does if need be.
func (n *node) ready(ctx context.Context) error { return n.gate.pass(ctx, n.name, n.differs) }

// pass is nil when a chain does not differ from that of the network, which is found out once.
func (g *gate) pass(ctx context.Context, name string, differs func(context.Context) error) error {
	if err := g.shared.Load(); err != nil {
		return *err
	}
	if g.open.Load() {
		return nil
	}
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-ctx.Done():
		return fmt.Errorf("%s: %w: %w", name, ErrUncompared, context.Cause(ctx))
	}
	if g.open.Load() {
		return nil
	}
	err := differs(ctx)
	switch {
	case err == nil:
		g.open.Store(true)
		return nil
	case silent(err):
		return fmt.Errorf("%s: %w: %w", name, ErrUncompared, err)
	}
	err = fmt.Errorf("%s: %w", name, err)
	g.shared.CompareAndSwap(nil, &err)
	return err
}

// silent tells a chain that cannot be asked from one that is another one.
func silent(err error) bool {
	_, unavailable := errors.AsType[*rpcpool.UnavailableError](err)
	_, apart := errors.AsType[*rpcpool.NoQuorumError](err)
	_, answered := errors.AsType[*rpcpool.Error](err)
	return (unavailable || apart || answered || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)) && !errors.Is(err, rpcpool.ErrOtherChain)
}

// differs asks for the first block, which also tells a wrong address, and then for all pinned code at once.
func (n *node) differs(ctx context.Context) error {
	all := n.gate.wanted
	var first struct {
		Hash common.Hash `json:"hash"`
	}
	if err := n.pool.Agreed(ctx, &first, "eth_getBlockByNumber", hexutil.Uint64(0), false); err != nil {
		return err
	}
	if first.Hash.Hex() != n.gate.genesis {
		return fmt.Errorf("the first block is %s, the descriptor has %s", first.Hash, n.gate.genesis)
	}
	codes := make([]hexutil.Bytes, len(all))
	group, ctx := errgroup.WithContext(ctx)
	for i, c := range all {
		group.Go(func() error { return n.pool.Agreed(ctx, &codes[i], "eth_getCode", c.At, "latest") })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, c := range all {
		there, err := c.Check(n.ID(), codes[i])
		if err == nil && !there {
			err = fmt.Errorf("there is no %s at %s: %w", c.Name, c.At.Hex(), ErrMissing)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// What the program uses of a chain waits at its gate.

// State implements chain.Chain.
func (n *node) State(ctx context.Context, at uint64) (chain.State, error) {
	if err := n.ready(ctx); err != nil {
		return nil, err
	}
	return n.Chain.State(ctx, at)
}

// Balances implements deployment.Reader.
func (n *node) Balances(ctx context.Context, account common.Address, tokens []common.Address) ([]*big.Int, error) {
	if err := n.ready(ctx); err != nil {
		return nil, err
	}
	return n.Chain.Balances(ctx, account, tokens)
}

// Gate is the last question before a signature.
func (n *node) Gate(ctx context.Context, m chain.Message) error {
	if err := n.ready(ctx); err != nil {
		return err
	}
	return n.Chain.Gate(ctx, m)
}
