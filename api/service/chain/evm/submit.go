package evm

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/txpool"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"

	"coffer/api/service/store"
)

// Bounds of what others send.
const (
	maxTxBytes   = 128 << 10             // go-ethereum's
	submitFor    = 20 * time.Millisecond // of execution for one block of others' transactions
	maxFeeEther  = 1                     // go-ethereum's default
	feedCapacity = 4096
)

var (
	errUnprotected = errors.New("only replay-protected (EIP-155) transactions allowed over RPC")
	errNothing     = errors.New("no transaction for a block")
)

// submission is a transaction that waits for its block.
type submission struct {
	tx     *types.Transaction
	from   common.Address
	done   chan struct{}
	sealed bool
	err    error
}

func (s *submission) resolve(sealed bool, err error) {
	s.sealed, s.err = sealed, err
	close(s.done)
}

// Submit checks a transaction that somebody has signed as go-ethereum's pool does, with its errors, and seals it. When
// it returns nil and true, the block is stored.
//
// What arrives while another block is being made is sealed together, in the order of arrival, so that however many
// others send, settlement waits for one block of theirs.
func (n *Node) Submit(ctx context.Context, tx *types.Transaction) (sealed bool, err error) {
	s, err := n.check(tx)
	if err != nil {
		return false, err
	}
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return false, ErrClosed
	}
	n.queue = append(n.queue, s)
	n.mu.Unlock()
	for {
		select {
		case <-s.done:
			return s.sealed, s.err
		case <-ctx.Done():
			if n.withdraw(s) {
				return false, ctx.Err()
			}
			<-s.done // its block is being made
			return s.sealed, s.err
		case n.turn <- struct{}{}:
			n.sealQueue()
			<-n.turn
		}
	}
}

// withdraw takes a submission out of the queue, false when it is no longer there.
func (n *Node) withdraw(s *submission) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, q := range n.queue {
		if q == s {
			n.queue = append(n.queue[:i], n.queue[i+1:]...)
			return true
		}
	}
	return false
}

// check is what can be said of a transaction without the state, in go-ethereum's order.
func (n *Node) check(tx *types.Transaction) (*submission, error) {
	if tx.Type() == types.BlobTxType {
		return nil, fmt.Errorf("%w: this chain carries no blobs", core.ErrTxTypeNotSupported)
	}
	fee := new(big.Int).Mul(tx.GasPrice(), new(big.Int).SetUint64(tx.Gas()))
	if fee.Cmp(new(big.Int).Mul(big.NewInt(maxFeeEther), big.NewInt(params.Ether))) > 0 {
		ether, _ := new(big.Float).Quo(new(big.Float).SetInt(fee), big.NewFloat(params.Ether)).Float64()
		return nil, fmt.Errorf("tx fee (%.2f ether) exceeds the configured cap (%.2f ether)", ether,
			float64(maxFeeEther))
	}
	if !tx.Protected() {
		return nil, errUnprotected
	}
	env := n.chain.env
	err := txpool.ValidateTransaction(tx, n.chain.latest.Load().header, env.signer, &txpool.ValidationOptions{
		Config: env.cfg, MaxSize: maxTxBytes, MinTip: new(big.Int),
		Accept: 1<<types.LegacyTxType | 1<<types.AccessListTxType | 1<<types.DynamicFeeTxType | 1<<types.SetCodeTxType,
	})
	if err != nil {
		return nil, err
	}
	from, err := types.Sender(env.signer, tx)
	return &submission{tx: tx, from: from, done: make(chan struct{})}, err
}

// sealQueue makes a block of what is queued.
func (n *Node) sealQueue() {
	c := n.chain
	c.sealing.Lock()
	defer c.sealing.Unlock()
	n.mu.Lock()
	batch := n.queue
	n.queue = nil
	n.mu.Unlock()
	if len(batch) == 0 {
		return
	}
	taken, rest := batch, len(batch) // unless the block is begun, all share its fault
	s, err := c.execute(uint64(n.clock().Unix()), func(b *builder, snap store.Snapshot) error {
		taken = nil
		end := time.Now().Add(submitFor)
		for i, q := range batch {
			if len(taken) > 0 && time.Now().After(end) {
				rest = i
				break
			}
			err := n.take(b, q)
			if damage := snap.Err(); damage != nil {
				taken = append(taken, batch[i:]...)
				return damage
			}
			if errors.Is(err, core.ErrGasLimitReached) {
				rest = i
				break
			}
			if err != nil {
				q.resolve(false, err)
				continue
			}
			taken = append(taken, q)
		}
		if len(taken) == 0 {
			return errNothing
		}
		return nil
	})
	n.mu.Lock()
	if n.closed {
		for _, q := range batch[rest:] {
			q.resolve(false, ErrClosed)
		}
	} else {
		n.queue = append(batch[rest:len(batch):len(batch)], n.queue...)
	}
	n.mu.Unlock()
	if errors.Is(err, errNothing) {
		return
	}
	if err == nil {
		err = c.store.Update(func(tx store.Tx) error { return c.put(tx, s) })
		if err != nil {
			c.catchUp()
		}
	}
	if err != nil {
		for _, q := range taken {
			q.resolve(false, err)
		}
		return
	}
	for _, q := range taken {
		n.accepted(q.tx)
	}
	c.publish(&s.head)
	for _, q := range taken {
		q.resolve(true, nil)
	}
}

// take adds a transaction to the block, or says why not and leaves the block as it was.
func (n *Node) take(b *builder, q *submission) error {
	err := txpool.ValidateTransactionWithState(q.tx, b.env.signer, &txpool.ValidationOptionsWithState{
		State:               b.state,
		FirstNonceGap:       b.state.GetNonce,
		ExistingExpenditure: func(common.Address) *big.Int { return new(big.Int) },
		ExistingCost:        func(common.Address, uint64) *big.Int { return nil },
	})
	if err != nil {
		return err
	}
	before, gas := b.state.Snapshot(), *b.gas
	if err := b.add(q.tx, b.env.signer); err != nil {
		b.state.RevertToSnapshot(before)
		*b.gas = gas
		return err
	}
	return nil
}

// Accepted is a feed of transactions that were accepted, each before the head that has it is published. It ends with
// the context, with the Node, or when its reader is thousands behind.
func (n *Node) Accepted(ctx context.Context) <-chan *types.Transaction {
	feed := make(chan *types.Transaction, feedCapacity)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		close(feed)
		return feed
	}
	stop := func() bool { return true }
	n.feeds[feed] = func() { // under mu, once
		delete(n.feeds, feed)
		close(feed)
		stop()
	}
	stop = context.AfterFunc(ctx, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if end := n.feeds[feed]; end != nil {
			end()
		}
	})
	return feed
}

// accepted tells the feeds.
func (n *Node) accepted(tx *types.Transaction) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for feed, end := range n.feeds {
		select {
		case feed <- tx:
		default:
			end()
		}
	}
}

// PendingNonce is the nonce of the next transaction of an account.
func (n *Node) PendingNonce(a common.Address) (uint64, error) {
	v, err := n.View(n.chain.latest.Load().number())
	if err != nil {
		return 0, err
	}
	defer v.Close()
	return v.State.GetNonce(a), v.Err()
}
