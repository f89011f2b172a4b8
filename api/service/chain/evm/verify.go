package evm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/store"
)

// Verify replays the chain: it builds genesis from the specification in
// memory, executes every stored transaction again in its block, and compares
// each block with the stored one and in the end every account, slot, code and
// trie node. Signatures are checked too. It returns the number of the last block that
// was compared; an error wraps ErrDamaged when the stored chain differs, or is
// the context's. Blocks sealed meanwhile are verified as well.
func (c *Chain) Verify(ctx context.Context) (uint64, error) {
	spec, err := c.spec()
	if err != nil {
		return 0, err
	}
	for {
		before := c.timesReverted()
		n, err := c.verify(ctx, spec)
		if err == nil || ctx.Err() != nil || c.timesReverted() == before {
			return n, err
		}
	}
}

// timesReverted counts how often the chain was taken back, while it is not being taken back.
func (c *Chain) timesReverted() uint64 {
	c.sealing.Lock()
	defer c.sealing.Unlock()
	return c.reverts
}

// verify replays a chain that only grows meanwhile.
func (c *Chain) verify(ctx context.Context, spec Spec) (uint64, error) {
	copied, err := Open(store.NewMemory(), spec)
	if err != nil {
		return 0, err
	}
	for {
		snap, tip, _, err := c.open(ctx)
		if err != nil {
			return 0, err
		}
		if copied.latest.Load().number() > tip.number() {
			snap.Release()
			return tip.number(), damaged("chain", errors.New("blocks are gone"))
		}
		if at := copied.latest.Load(); at.number() == tip.number() {
			err := c.compareState(snap, copied)
			snap.Release()
			return at.number(), err
		}
		snap.Release()
		for n := copied.latest.Load().number() + 1; n <= tip.number(); n++ {
			if err := ctx.Err(); err != nil {
				return n - 1, err
			}
			if err := c.replay(copied, n); err != nil {
				return n - 1, fmt.Errorf("block %d: %w", n, err)
			}
		}
	}
}

// replay executes the stored block n on the copy.
func (c *Chain) replay(copied *Chain, n uint64) error {
	var want *record
	err := c.store.View(func(tx store.Tx) (err error) {
		if want, _, err = c.record(tx, n); err != nil {
			return err
		}
		if want == nil {
			return damaged("block", errors.New("it is missing"))
		}
		return c.checkLookups(tx, want)
	})
	if err != nil {
		return err
	}
	got, err := copied.reexecute(want)
	if err != nil {
		return err
	}
	if got.head.hash != want.Header.Hash() {
		return damaged("block", fmt.Errorf("replayed hash %s, stored %s", got.head.hash, want.Header.Hash()))
	}
	for i, o := range got.record.Outcomes {
		if w := want.Outcomes[i]; o.From != w.From || o.Success != w.Success || o.GasUsed != w.GasUsed ||
			!sameLogs(o.Logs, w.Logs) {
			return damaged("receipt", fmt.Errorf("transaction %d differs", i))
		}
	}
	if err := copied.store.Update(func(tx store.Tx) error { return got.write(tx, copied.layout, nil) }); err != nil {
		return err
	}
	copied.latest.Store(&got.head)
	return nil
}

// checkLookups checks that every transaction of a block is found there.
func (c *Chain) checkLookups(tx store.Tx, r *record) error {
	txs := tx.Bucket(c.layout.txs)
	for i, t := range r.Txs {
		h := t.Hash()
		want := lookup{block: r.Header.Number.Uint64(), index: uint32(i)}
		if !bytes.Equal(txs.Get(h[:]), want.encode()) {
			return damaged("transaction index", fmt.Errorf("%s is not where it should be", h))
		}
	}
	return nil
}

// reexecute builds the block again from its transactions and its time.
func (c *Chain) reexecute(want *record) (*sealed, error) {
	return c.execute(context.Background(), want.Header.Time, func(b *builder, _ store.Snapshot) error {
		if err := b.place(want.Placed); err != nil {
			return damaged("block", err)
		}
		for i, tx := range want.Txs {
			signer := c.env.signer
			if from := want.Outcomes[i].From; slices.Contains(want.Unsigned, uint64(i)) && isImpersonated(tx, from) {
				signer = asIf{signedBy{signer, from}}
			}
			if err := b.add(tx, signer); err != nil {
				return damaged("transaction", fmt.Errorf("%d is refused: %w", i, err))
			}
		}
		if !slices.Equal(b.unsigned, want.Unsigned) {
			return damaged("block", errors.New("other transactions are unsigned than it says"))
		}
		return nil
	})
}

func sameLogs(a, b []*types.Log) bool {
	return slices.EqualFunc(a, b, func(x, y *types.Log) bool {
		return x.Address == y.Address && bytes.Equal(x.Data, y.Data) && slices.Equal(x.Topics, y.Topics)
	})
}

// compareState compares the whole stored state with that of the copy, and
// finds every code that an account of the copy needs.
func (c *Chain) compareState(tx store.Tx, copied *Chain) error {
	return copied.store.View(func(other store.Tx) error {
		if err := sameBucket(tx.Bucket(c.layout.state), other.Bucket(c.layout.state)); err != nil {
			return err
		}
		stored := tx.Bucket(codeBucket)
		var err error
		other.Bucket(codeBucket).Ascend(nil, func(hash, code []byte) bool {
			if !bytes.Equal(stored.Get(hash), code) {
				err = damaged("code", fmt.Errorf("%x differs", hash))
			}
			return err == nil
		})
		return err
	})
}

// sameBucket compares two buckets entry by entry.
func sameBucket(a, b store.Bucket) error {
	var keys, values [][]byte
	b.Ascend(nil, func(k, v []byte) bool {
		keys, values = append(keys, bytes.Clone(k)), append(values, bytes.Clone(v))
		return true
	})
	i, same := 0, true
	a.Ascend(nil, func(k, v []byte) bool {
		same = i < len(keys) && bytes.Equal(k, keys[i]) && bytes.Equal(v, values[i])
		i++
		return same
	})
	if !same || i != len(keys) {
		return damaged("state", fmt.Errorf("entry %d of %d differs", i, len(keys)))
	}
	return nil
}
