package evm

import (
	"errors"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"

	"coffer/api/service/store"
)

// NodeOptions are what a Node needs beside its chain.
type NodeOptions struct {
	// Clock gives the time of blocks that Submit makes; nil is the time of day.
	Clock func() time.Time
	// Dev makes it a Node of a development network.
	Dev bool
	// Reverted is called in the commit of Revert, with the number of the block that is the head again.
	Reverted func(tx store.Tx, to uint64) error
}

// Node is what a public node knows of one chain: every block, the state after each of the last Window blocks, and
// transactions that others have signed. It sees blocks of settlement and its own alike.
//
// A View holds a snapshot of the store: a goroutine closes its views before it calls Submit, and store.YieldToWriter is
// called before one is opened, as for every reader.
type Node struct {
	chain    *Chain
	clock    func() time.Time
	dev      bool
	reverted func(store.Tx, uint64) error

	mu      sync.Mutex
	closed  bool
	changed chan struct{}
	undos   []*undo                            // of consecutive blocks, the last possibly never committed
	feeds   map[chan *types.Transaction]func() // of accepted transactions
	queue   []*submission                      // waiting for their block

	index    *index
	pool     pool
	waking   bool
	marks    []mark // in the order of their blocks
	lastMark uint64
	slice    time.Duration // of execution for one block of others
	work     sync.WaitGroup

	turn chan struct{} // held by the goroutine that seals what is queued
}

// ErrClosed is returned by a Node that was closed.
var ErrClosed = errors.New("the endpoint of this chain is closed")

// NewNode attaches a Node to a chain, which from now on keeps what its blocks replace. A chain has one Node at a time.
func NewNode(c *Chain, o NodeOptions) *Node {
	n := &Node{
		chain: c, clock: o.Clock, dev: o.Dev, reverted: o.Reverted,
		changed: make(chan struct{}), feeds: map[chan *types.Transaction]func(){},
		index: newIndex(), pool: newPool(), slice: sliceOfOrder, turn: make(chan struct{}, 1),
	}
	if n.clock == nil {
		n.clock = time.Now
	}
	c.sealing.Lock()
	defer c.sealing.Unlock()
	c.node.Store(n)
	return n
}

// Close detaches the Node. What waits for a block is refused, what is held is forgotten, feeds end.
func (n *Node) Close() {
	n.chain.node.CompareAndSwap(n, nil)
	n.shut()
	n.work.Wait()
}

func (n *Node) shut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed, n.undos, n.pool = true, nil, newPool()
	for _, s := range n.queue {
		s.resolve(false, ErrClosed)
	}
	n.queue = nil
	for _, end := range n.feeds {
		end()
	}
}

// ChainID is the chain id of EIP-155.
func (n *Node) ChainID() uint64 { return n.chain.id }

// Config is the rules of the chain; it must not be changed.
func (n *Node) Config() *params.ChainConfig { return n.chain.env.cfg }

// Head is the header of the latest block.
func (n *Node) Head() *types.Header { return types.CopyHeader(n.chain.latest.Load().header) }

// Height is the number of the latest block.
func (n *Node) Height() uint64 { return n.chain.latest.Load().number() }

// HeadHash is the hash of the latest block.
func (n *Node) HeadHash() common.Hash { return n.chain.latest.Load().hash }

// Changed returns a channel that is closed when the head changes. Taken before the head is read, it misses nothing.
func (n *Node) Changed() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.changed
}

// publish makes h the head that everybody sees.
func (c *Chain) publish(h *head) {
	c.latest.Store(h)
	n := c.node.Load()
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tell()
	n.wake()
}

// tell closes what Changed returned. The lock is held.
func (n *Node) tell() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// Block is a block with everything that follows from it.
type Block struct {
	Header   *types.Header
	Hash     common.Hash
	Txs      types.Transactions
	Senders  []common.Address
	Receipts types.Receipts // complete: block fields, effective gas price, logs with their places
	Size     uint64         // in the encoding of the protocol
}

// Block reads a block, nil when it is above the head.
func (n *Node) Block(number uint64) (b *Block, err error) {
	err = n.chain.store.View(func(tx store.Tx) error {
		r, hash, err := n.chain.record(tx, number)
		if err == nil && r != nil {
			b = newBlock(r, hash)
		}
		return err
	})
	return b, err
}

// BlockByHash reads a block, nil when there is none of that hash.
func (n *Node) BlockByHash(hash common.Hash) (*Block, error) {
	number, found, err := n.NumberOf(hash)
	if err != nil || !found {
		return nil, err
	}
	b, err := n.Block(number)
	if err != nil || b == nil || b.Hash != hash {
		return nil, err
	}
	return b, nil
}

// Lookup finds a transaction: its block and its place there.
func (n *Node) Lookup(hash common.Hash) (block uint64, index int, found bool, err error) {
	err = n.chain.store.View(func(tx store.Tx) error {
		v := tx.Bucket(n.chain.layout.txs).Get(hash[:])
		if v == nil {
			return nil
		}
		at, err := decodeLookup(v)
		if err == nil {
			block, index, found = at.block, int(at.index), true
		}
		return err
	})
	return block, index, found, err
}
