package evm

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/txpool"
	"github.com/ethereum/go-ethereum/core/types"
)

// Bounds of what is held for an earlier nonce.
const (
	heldPerSender = 16
	heldInAll     = 1024
	heldFor       = 5 * time.Minute
	priceBump     = 10 // percent, go-ethereum's default
)

var errPoolFull = errors.New("txpool is full")

// pool holds transactions whose nonce is not next yet. It is guarded by its Node.
type pool struct {
	held  map[common.Address]map[uint64]*submission
	count int
	now   func() time.Time
}

func newPool() pool { return pool{held: map[common.Address]map[uint64]*submission{}, now: time.Now} }

func (p *pool) has(q *submission) bool { return p.held[q.from][q.tx.Nonce()] == q }

// add holds a transaction with an earlier nonce missing.
func (p *pool) add(q *submission) error {
	p.expire()
	of, nonce := p.held[q.from], q.tx.Nonce()
	if old := of[nonce]; old != nil {
		if old.tx.Hash() == q.tx.Hash() {
			return txpool.ErrAlreadyKnown
		}
		if !dearer(q.tx.GasFeeCap(), old.tx.GasFeeCap()) || !dearer(q.tx.GasTipCap(), old.tx.GasTipCap()) {
			return txpool.ErrReplaceUnderpriced
		}
		p.remove(old)
	}
	if len(of) >= heldPerSender {
		return fmt.Errorf("%w: pooled %d txs", txpool.ErrAccountLimitExceeded, len(of))
	}
	if p.count >= heldInAll {
		return errPoolFull
	}
	if p.held[q.from] == nil {
		p.held[q.from] = map[uint64]*submission{}
	}
	q.since = p.now()
	p.held[q.from][nonce] = q
	p.count++
	return nil
}

// dearer reports whether a price is so much above another that it may take its place.
func dearer(price, than *big.Int) bool {
	least := new(big.Int).Mul(than, big.NewInt(100+priceBump))
	return price.Cmp(than) > 0 && new(big.Int).Mul(price, big.NewInt(100)).Cmp(least) >= 0
}

func (p *pool) remove(q *submission) {
	if !p.has(q) {
		return
	}
	delete(p.held[q.from], q.tx.Nonce())
	p.count--
	if len(p.held[q.from]) == 0 {
		delete(p.held, q.from)
	}
}

// expire drops what has waited too long.
func (p *pool) expire() {
	for _, of := range p.held {
		for _, q := range of {
			if p.now().Sub(q.since) > heldFor {
				p.remove(q)
			}
		}
	}
}

// below drops what an account has spent the nonce of.
func (p *pool) below(a common.Address, nonce uint64) {
	for at, q := range p.held[a] {
		if at < nonce {
			p.remove(q)
		}
	}
}

// senders lists whom something is held of, in a fixed order.
func (p *pool) senders() []common.Address {
	return slices.SortedFunc(maps.Keys(p.held), func(a, b common.Address) int { return bytes.Compare(a[:], b[:]) })
}

// Held returns the transactions that wait for one with an earlier nonce, by sender and in the order of their nonces.
func (n *Node) Held() map[common.Address]types.Transactions {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pool.expire()
	out := make(map[common.Address]types.Transactions, len(n.pool.held))
	for a, of := range n.pool.held {
		for _, nonce := range slices.Sorted(maps.Keys(of)) {
			out[a] = append(out[a], of[nonce].tx)
		}
	}
	return out
}

// PendingNonce is the nonce of the next transaction of an account, after those that are sealed, on their way or held
// without a gap.
func (n *Node) PendingNonce(a common.Address) (uint64, error) {
	v, err := n.View(n.chain.latest.Load().number())
	if err != nil {
		return 0, err
	}
	defer v.Close()
	next := v.State.GetNonce(a)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pool.expire()
	for n.waits(a, next) {
		next++
	}
	return next, v.Err()
}

// waits reports whether a transaction of that nonce is on its way or held.
func (n *Node) waits(a common.Address, nonce uint64) bool {
	return n.pool.held[a][nonce] != nil || slices.ContainsFunc(n.queue, func(q *submission) bool {
		return q.from == a && q.tx.Nonce() == nonce
	})
}
