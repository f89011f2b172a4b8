package evm

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
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
	maxTxBytes   = 128 << 10 // go-ethereum's
	sliceOfOrder = 20 * time.Millisecond
	maxFeeEther  = 1 // go-ethereum's default
	feedCapacity = 4096
)

var (
	errUnprotected = errors.New("only replay-protected (EIP-155) transactions allowed over RPC")
	errNothing     = errors.New("no transaction for a block")
	errGap         = errors.New("an earlier nonce is missing")
)

// submission is a transaction that waits: for its block, or in the pool for an earlier nonce.
type submission struct {
	tx     *types.Transaction
	from   common.Address
	signer types.Signer
	since  time.Time // when it began to be held
	done   chan struct{}
	sealed bool
	err    error
}

// resolve answers; only the first answer counts.
func (s *submission) resolve(sealed bool, err error) {
	select {
	case <-s.done:
	default:
		s.sealed, s.err = sealed, err
		close(s.done)
	}
}

// DecodeTx reads a signed transaction as eth_sendRawTransaction takes it.
func DecodeTx(raw []byte) (*types.Transaction, error) {
	tx := new(types.Transaction)
	if err := tx.UnmarshalBinary(raw); err != nil {
		return nil, err
	}
	return tx, nil
}

// Submit checks a signed transaction as go-ethereum's pool does, with its errors, and seals it, whatever becomes of the
// caller meanwhile. When it returns true, the block is stored. False without an error says that the transaction is held
// because one with an earlier nonce is missing; it is sealed with that one.
//
// What arrives while another block is being made is sealed together, in the order of arrival, so that however many
// others send, settlement waits for one block of theirs.
func (n *Node) Submit(_ context.Context, tx *types.Transaction) (sealed bool, err error) {
	return n.submit(tx, n.chain.env.signer)
}

func (n *Node) submit(tx *types.Transaction, signer types.Signer) (sealed bool, err error) {
	s, err := n.check(tx, signer)
	if err != nil {
		return false, err
	}
	if err := n.enqueue(s); err != nil {
		return false, err
	}
	for {
		select {
		case <-s.done:
			return s.sealed, s.err
		default:
		}
		select {
		case <-s.done:
		case n.turn <- struct{}{}:
			n.sealQueue()
			<-n.turn
		}
	}
}

func (n *Node) enqueue(s *submission) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return ErrClosed
	}
	hash := s.tx.Hash()
	same := func(q *submission) bool { return q.tx.Hash() == hash }
	if q := n.pool.held[s.from][s.tx.Nonce()]; q != nil && same(q) || slices.ContainsFunc(n.queue, same) {
		return txpool.ErrAlreadyKnown
	}
	n.queue = append(n.queue, s)
	return nil
}

// check is what can be said of a transaction without the state, in go-ethereum's order.
func (n *Node) check(tx *types.Transaction, signer types.Signer) (*submission, error) {
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
	err := txpool.ValidateTransaction(tx, n.chain.latest.Load().header, signer, &txpool.ValidationOptions{
		Config: env.cfg, MaxSize: maxTxBytes, MinTip: new(big.Int),
		Accept: 1<<types.LegacyTxType | 1<<types.AccessListTxType | 1<<types.DynamicFeeTxType | 1<<types.SetCodeTxType,
	})
	if err != nil {
		return nil, err
	}
	from, err := types.Sender(signer, tx) // it was recovered a moment ago and is remembered
	return &submission{tx: tx, from: from, signer: signer, done: make(chan struct{})}, err
}

// sealQueue makes a block of what is queued, and of what was held for it. The caller has the turn.
func (n *Node) sealQueue() {
	c := n.chain
	c.sealing.Lock()
	defer c.sealing.Unlock()
	n.mu.Lock()
	r := &round{pool: &n.pool, mu: &n.mu, batch: n.queue, slice: n.slice,
		next: map[common.Address]uint64{}}
	n.queue = nil
	n.mu.Unlock()
	s, err := c.execute(context.Background(), uint64(n.clock().Unix()), r.fill)
	if err == nil {
		err = c.commit(s)
	}
	if errors.Is(err, errNothing) {
		err = nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	sealed := map[*submission]bool{}
	for _, q := range r.taken {
		sealed[q] = err == nil
	}
	for _, q := range r.batch[:r.judged] {
		if sealed[q] || n.pool.has(q) {
			n.accepted(q.tx)
		}
	}
	if s != nil && err == nil {
		c.latest.Store(&s.head)
		n.tell()
	}
	n.end(r, err)
}

// end answers everyone of the round, and queues again what found no room.
func (n *Node) end(r *round, err error) {
	if err == nil {
		for _, q := range r.taken {
			n.pool.remove(q)
			q.resolve(true, nil)
		}
		for a, nonce := range r.next {
			n.pool.below(a, nonce)
		}
		if left := r.batch[r.judged:]; n.closed {
			err = ErrClosed
		} else {
			n.queue, r.batch = slices.Concat(left, n.queue), r.batch[:r.judged]
		}
	}
	for _, q := range r.batch {
		if n.pool.has(q) {
			q.resolve(false, nil)
		} else {
			q.resolve(false, err)
		}
	}
	if r.full && err == nil {
		n.wake()
	}
}

// wake seals what is held and has become next, if there is such.
func (n *Node) wake() {
	if n.pool.count == 0 || n.waking || n.closed {
		return
	}
	n.waking = true
	n.work.Go(func() {
		n.turn <- struct{}{}
		n.mu.Lock()
		n.waking = false
		n.mu.Unlock()
		n.sealQueue()
		<-n.turn
	})
}

// round is one block of others' transactions while it is made.
type round struct {
	mu      *sync.Mutex // of the pool
	pool    *pool
	batch   []*submission
	judged  int           // how many of the batch were taken, held or refused
	taken   []*submission // of the batch and of the pool, in the order of the block
	full    bool
	slice   time.Duration
	senders []common.Address          // of the pool, those not looked at yet
	next    map[common.Address]uint64 // nonces after the block
}

// fill puts the batch into the block, and what is held and has become next.
func (r *round) fill(b *builder, snap store.Snapshot) error {
	until := time.Now().Add(r.slice)
	for q := r.pick(b); q != nil; q = r.pick(b) {
		if r.full = len(r.taken) > 0 && time.Now().After(until); r.full {
			break
		}
		err := b.try(q)
		if damage := snap.Err(); damage != nil {
			return damage
		}
		if r.full = errors.Is(err, core.ErrGasLimitReached); r.full {
			break
		}
		r.judge(q, err)
	}
	if len(r.taken) == 0 {
		return errNothing
	}
	return nil
}

// pick returns what is to be tried next, nil when that is all.
func (r *round) pick(b *builder) *submission {
	if r.judged < len(r.batch) {
		return r.batch[r.judged]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.senders == nil {
		r.senders = r.pool.senders()
	}
	for ; len(r.senders) > 0; r.senders = r.senders[1:] {
		a := r.senders[0]
		r.next[a] = b.state.GetNonce(a)
		if q := r.pool.held[a][r.next[a]]; q != nil {
			return q
		}
	}
	return nil
}

// judge notes what became of a submission that was tried.
func (r *round) judge(q *submission, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.judged < len(r.batch) {
		r.judged++
	}
	if errors.Is(err, errGap) {
		err = r.pool.add(q)
	} else if err == nil {
		r.taken = append(r.taken, q)
	} else {
		r.pool.remove(q)
	}
	if err != nil {
		q.resolve(false, err)
	}
}

// try adds a transaction to the block, or says why not and leaves the block as it was.
func (b *builder) try(q *submission) error {
	err := txpool.ValidateTransactionWithState(q.tx, q.signer, &txpool.ValidationOptionsWithState{
		State:               b.state,
		ExistingExpenditure: func(common.Address) *big.Int { return new(big.Int) },
		ExistingCost:        func(common.Address, uint64) *big.Int { return nil },
	})
	if err != nil {
		return err
	}
	if q.tx.Nonce() > b.state.GetNonce(q.from) {
		return errGap
	}
	before, gas := b.state.Snapshot(), *b.gas
	if err := b.add(q.tx, q.signer); err != nil {
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
	for feed, end := range n.feeds {
		select {
		case feed <- tx:
		default:
			end()
		}
	}
}
