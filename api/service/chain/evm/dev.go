package evm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"coffer/api/service/chain"
	"coffer/api/service/chain/evm/exec"
	"coffer/api/service/store"
)

// What a Node of a development network may do beside taking signed transactions. The records of the blocks say so, and
// Verify does the same again.

// Bounds of a development network.
const (
	keptForSnapshots = 4096 // blocks that a snapshot can be behind the head
	maxMined         = 10_000
)

var (
	// ErrNotDev refuses what only a development network does.
	ErrNotDev = errors.New("this chain changes by signed transactions only: it is no development network")
	// ErrNoStorage refuses slots of what is no account, which the protocol would remove (EIP-161).
	ErrNoStorage = errors.New("an account without balance, nonce and code keeps no storage: give it one of them first")
)

// setting is what a development network has put into an account: each list has one value, or none to leave it.
type setting struct {
	Balance []*uint256.Int
	Nonce   []uint64
	Code    [][]byte
}

// one is the list of a value that may be missing.
func one[T any](v *T) []T {
	if v == nil {
		return nil
	}
	return []T{*v}
}

// Change sets balances, nonces, codes and slots, in a block of its own with the time of the head.
func (n *Node) Change(o chain.Overlay) error {
	if !n.dev {
		return ErrNotDev
	}
	var all []placed
	for _, a := range slices.SortedFunc(maps.Keys(o), common.Address.Cmp) {
		as := o[a]
		p := placed{Address: a, Set: &setting{Nonce: one(as.Nonce)}}
		if as.Balance != nil {
			balance, err := exec.Uint256(as.Balance)
			if err != nil {
				return fmt.Errorf("balance of %s: %w", a, err)
			}
			p.Set.Balance = append(p.Set.Balance, balance)
		}
		if as.Code != nil {
			p.Set.Code = append(p.Set.Code, bytes.Clone(as.Code))
		}
		for _, k := range slices.SortedFunc(maps.Keys(as.Storage), common.Hash.Cmp) {
			p.Slots = append(p.Slots, slot{k, as.Storage[k]})
		}
		all = append(all, p)
	}
	return n.mine(0, all)
}

// Mine makes empty blocks, the first at the time of the clock and each later one by so many seconds after it.
func (n *Node) Mine(ctx context.Context, blocks, interval uint64) error {
	if !n.dev {
		return ErrNotDev
	}
	if blocks > maxMined {
		return fmt.Errorf("at most %d blocks at once", maxMined)
	}
	for at := uint64(n.clock().Unix()); blocks > 0; blocks, at = blocks-1, at+interval {
		if err := errors.Join(ctx.Err(), n.mine(at, nil)); err != nil {
			return err
		}
	}
	return nil
}

// mine makes a block without transactions.
func (n *Node) mine(time uint64, place []placed) error {
	c := n.chain
	c.sealing.Lock()
	defer c.sealing.Unlock()
	s, err := c.execute(context.Background(), time, func(b *builder, _ store.Snapshot) error { return b.place(place) })
	if err == nil {
		err = c.commit(s)
	}
	if err == nil {
		c.publish(&s.head)
	}
	return err
}

// asIf is the signer of an unsigned transaction.
type asIf struct{ signedBy }

// impersonated gives a transaction the signature that says who is impersonated: r is the sender and s is one. No key
// has it.
func (n *Node) impersonated(tx *types.Transaction, from common.Address) (*types.Transaction, error) {
	var sig [65]byte
	copy(sig[12:], from[:])
	sig[63] = 1
	return tx.WithSignature(n.chain.env.signer, sig[:])
}

// isImpersonated reports whether a transaction carries the signature that impersonates a sender.
func isImpersonated(tx *types.Transaction, from common.Address) bool {
	_, r, s := tx.RawSignatureValues()
	return r.Cmp(new(big.Int).SetBytes(from[:])) == 0 && s.Cmp(common.Big1) == 0
}

// SendAs seals a transaction as if from had signed it; contracts may be senders too. The hash is that of the
// transaction as it is stored. Otherwise it is Submit.
func (n *Node) SendAs(_ context.Context, from common.Address, tx *types.Transaction) (hash common.Hash, sealed bool,
	err error) {
	if !n.dev {
		return common.Hash{}, false, ErrNotDev
	}
	if tx.Type() != types.BlobTxType {
		if tx, err = n.impersonated(tx, from); err != nil {
			return common.Hash{}, false, err
		}
	}
	sealed, err = n.submit(tx, asIf{signedBy{n.chain.env.signer, from}})
	return tx.Hash(), sealed, err
}

// mark is a block that the chain can be taken back to.
type mark struct{ id, number uint64 }

// Snapshot remembers the head, for Revert. What is further than some thousand blocks behind the head is forgotten.
func (n *Node) Snapshot() (id uint64, err error) {
	if !n.dev {
		return 0, ErrNotDev
	}
	n.chain.sealing.Lock()
	defer n.chain.sealing.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lastMark++
	n.marks = append(n.marks, mark{n.lastMark, n.chain.latest.Load().number()})
	return n.lastMark, nil
}

// Revert takes the chain back to a snapshot: later blocks and their transactions are gone, and so is what is held. It
// forgets the snapshot and those after it, and reports false for one that is not known.
func (n *Node) Revert(id uint64) (bool, error) {
	if !n.dev {
		return false, ErrNotDev
	}
	c := n.chain
	c.sealing.Lock()
	defer c.sealing.Unlock()
	tip := c.latest.Load()
	n.mu.Lock()
	for len(n.undos) > 0 && n.undos[len(n.undos)-1].number > tip.number() { // never committed
		n.undos = n.undos[:len(n.undos)-1]
	}
	i := slices.IndexFunc(n.marks, func(m mark) bool { return m.id == id })
	var to uint64
	var undos []*undo
	if i >= 0 {
		to = n.marks[i].number
		undos = slices.Clone(n.undos[len(n.undos)-min(len(n.undos), int(tip.number()-to)):])
	}
	n.mu.Unlock()
	if i < 0 {
		return false, nil
	}
	var h head
	err := c.store.Update(func(tx store.Tx) (err error) {
		for _, u := range slices.Backward(undos) {
			if err := c.remove(tx, u); err != nil {
				return err
			}
		}
		if h, _, err = c.tip(tx); err == nil && h.number() != to {
			err = ErrConflict
		}
		if err == nil && n.reverted != nil {
			err = n.reverted(tx, to)
		}
		return err
	})
	if err != nil {
		c.catchUp()
		return false, err
	}
	n.index.cut(to)
	c.reverts++
	n.mu.Lock()
	n.undos = n.undos[:len(n.undos)-len(undos)]
	n.marks = n.marks[:i]
	for _, a := range n.pool.senders() {
		n.pool.below(a, 1<<64-1)
	}
	n.mu.Unlock()
	c.publish(&h)
	return true, nil
}

// remove takes the last block out of the store.
func (c *Chain) remove(tx store.Tx, u *undo) error {
	r, hash, err := c.record(tx, u.number)
	if err != nil {
		return err
	}
	if r == nil || hash != u.hash {
		return ErrConflict
	}
	for _, t := range r.Txs {
		h := t.Hash()
		if err := tx.Bucket(c.layout.txs).Delete(h[:]); err != nil {
			return err
		}
	}
	b := replacing{tx.Bucket(c.layout.state), nil}
	for k, v := range u.old {
		if err := b.putOrDelete([]byte(k), v != nil, func() []byte { return v }); err != nil {
			return err
		}
	}
	return tx.Bucket(c.layout.blocks).Delete(numberKey(u.number))
}
