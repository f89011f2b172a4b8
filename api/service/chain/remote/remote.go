// Package remote is a chain behind JSON-RPC nodes: its reads, and simulations in this process on the state of a block.
//
// Promises:
//   - A State is of one block, by its hash: all that it reads is of that block, or Err says why it is unknown. When the
//     block left the chain or the nodes dropped its state, that is chain.ErrGone, and a fresh State may be opened.
//   - What is executed here gives the gas, logs and answers that a node gives in the same block. Contracts that only
//     the chain's own nodes have are never guessed: chain.ErrUnchecked.
//   - Head answers at once with what was seen last.
//   - Nothing here sends. The last word before a signature has Gate, which asks the node itself.
//
// What differs from a node on some chains: the events that Polygon adds for each transfer of its coin, and slots that
// the protocol itself writes before the first transaction of a block (EIP-2935, EIP-4788).
package remote

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/networks"
	"coffer/api/rpcpool"
	"coffer/api/rpcpool/reads"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm/exec"
)

var (
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("the chain is closed")
	// ErrNoSeal is what Seal returns.
	ErrNoSeal = errors.New("blocks of this chain are made by others")
)

// Options describe a chain. All but Node and ChainID may be left out.
type Options struct {
	Node    reads.Node
	ChainID uint64
	// Final says when a block counts as final; the zero value asks the nodes.
	Final networks.Finality
	// Poll is how often the head is asked for while Head is in use.
	Poll  time.Duration
	Clock func() time.Time
}

const (
	defaultPoll = 4 * time.Second
	// idleAfter is how long Head stays fresh when it is not used.
	idleAfter = time.Minute
	// rulesFor is how long the rules of a chain are believed.
	rulesFor = 10 * time.Minute
	// believedAfter is how long the nodes must name an older head than before.
	believedAfter = 15 * time.Second
)

// Chain is one chain. It is safe for concurrent use.
type Chain struct {
	o     Options
	life  context.Context
	end   context.CancelFunc
	work  sync.WaitGroup
	exec  exec.Chain // without the rules
	nodes *reads.Reader
	// noLists: the nodes have no eth_createAccessList
	noLists atomic.Bool

	mu      sync.Mutex // nothing waits while it is held
	closed  bool
	latest  *head
	seen    time.Time // when it was seen
	older   time.Time // since when the nodes name an older head; zero when they do not
	rules   rules
	used    time.Time
	polling bool
}

var _ chain.Chain = (*Chain)(nil)

// New makes a chain. It asks nothing yet.
func New(o Options) (*Chain, error) {
	if o.Node == nil || o.ChainID == 0 {
		return nil, errors.New("a chain needs a node and an id")
	}
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	c := &Chain{o: o, nodes: &reads.Reader{Node: o.Node}, exec: exec.Chain{ID: o.ChainID, Jumps: exec.NewJumps()}}
	c.life, c.end = context.WithCancel(context.Background())
	return c, nil
}

// Close ends what is under way, States among it, and waits for the poller.
func (c *Chain) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end()
	c.work.Wait()
}

// bound is a context that ends with the chain, too.
func (c *Chain) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.life, func() { cancel(ErrClosed) })
	return ctx, func() { stop(); cancel(context.Canceled) }
}

// ID is the chain id of EIP-155.
func (c *Chain) ID() uint64 { return c.o.ChainID }

// Head is the head that was seen last, with number 0 and no hash before the first. It does not wait: using it makes a
// poller ask for a while.
func (c *Chain) Head() chain.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = c.o.Clock()
	if !c.polling && !c.closed {
		c.polling = true
		c.work.Go(c.poll)
	}
	if c.latest == nil {
		return chain.Header{BaseFee: new(big.Int)}
	}
	return c.latest.header()
}

// NextBaseFee is the base fee of the block after the head that was seen last, and when that was; nil before the first.
// It asks nothing.
func (c *Chain) NextBaseFee() (wei *big.Int, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.latest == nil {
		return nil, time.Time{}
	}
	return new(big.Int).Set(c.latest.nextBaseFee), c.seen
}

// poll keeps the head fresh as long as it is used.
func (c *Chain) poll() {
	tick := time.NewTicker(c.o.Poll)
	defer tick.Stop()
	for {
		_, _ = c.look(c.life) // who needs the head itself opens a State, and is told
		select {
		case <-c.life.Done():
		case <-tick.C:
		}
		c.mu.Lock()
		c.polling = !c.closed && c.o.Clock().Sub(c.used) < idleAfter
		goOn := c.polling
		c.mu.Unlock()
		if !goOn {
			return
		}
	}
}

// Seal is not for a chain that is not ours.
func (c *Chain) Seal(context.Context, chain.SealRequest) (chain.Block, error) {
	return chain.Block{}, fmt.Errorf("eip155:%d: %w", c.o.ChainID, ErrNoSeal)
}

// State opens a view of the newest block. The context bounds all that it reads.
func (c *Chain) State(ctx context.Context, at uint64) (chain.State, error) {
	s := c.session(ctx)
	ctx, cancel := c.bound(ctx)
	h, err := s.look(ctx, c)
	if err != nil {
		cancel()
		return nil, err
	}
	v := &view{chain: c, head: h, ctx: ctx, cancel: cancel, session: s}
	on := c.exec
	on.Fork, on.Foreign = h.rules.fork, h.rules.foreign
	v.Fork, err = exec.NewFork(on, h.next(at), v.fetch)
	if err != nil {
		cancel()
		return nil, err
	}
	return v, s.preload(v.Fork)
}

// Prime fetches for a State of this chain what messages are going to read, all in two round trips. A State has the same
// method, for those who do not know its chain.
func (c *Chain) Prime(st chain.State, next ...chain.Message) {
	if v, ok := st.(*view); ok {
		v.Prime(next...)
	}
}

// Balances reads what an account has of tokens, the zero address being the chain's coin, at one block. An amount is nil
// when the token does not say it.
func (c *Chain) Balances(ctx context.Context, account common.Address, tokens []common.Address) ([]*big.Int, error) {
	s := c.session(ctx)
	ctx, cancel := c.bound(ctx)
	defer cancel()
	h, err := s.look(ctx, c)
	if err != nil {
		return nil, err
	}
	return c.told(ctx, h, account, tokens)
}

// Told is Balances in the block of a State.
func (c *Chain) Told(st chain.State, account common.Address, tokens []common.Address) ([]*big.Int, error) {
	v, ok := st.(*view)
	if !ok {
		return nil, errors.New("the view is of another chain")
	}
	return c.told(v.ctx, v.head, account, tokens)
}

// Met implements chain.Primer.
func (c *Chain) Met(st chain.State, a common.Address) bool {
	v, ok := st.(*view)
	return !ok || v.Has(a)
}

func (c *Chain) told(ctx context.Context, h *head, account common.Address, tokens []common.Address) ([]*big.Int,
	error) {
	out, err := c.nodes.Balances(ctx, h.block(), account, tokens)
	if err = c.goneBy(h, err); errors.Is(err, chain.ErrGone) {
		chain.SightOf(ctx).Broke(err)
	}
	return out, err
}

// Gate has the node run a message as it will be sent, at its newest block. Nil means that it succeeds there.
func (c *Chain) Gate(ctx context.Context, m chain.Message) error {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	err := c.one(ctx, nil, "eth_call", args(m), "latest")
	var refused *rpcpool.Error
	if errors.As(err, &refused) && refused.Reverted() {
		return &chain.RevertedError{Data: refused.Data, Node: err}
	}
	return err
}
