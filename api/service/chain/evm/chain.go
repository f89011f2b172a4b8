package evm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/chain"
	"coffer/api/service/store"
)

// Chain is one embedded chain. Only one Chain per chain id may be open on a
// store; closing the store ends it.
type Chain struct {
	id      uint64
	spec    func() (Spec, error) // what it began with
	env     *env
	store   store.Store
	layout  layout
	sealing sync.Mutex
	// latest is what Head shows. The truth is the highest block in the store:
	// everything else reads it from its own snapshot.
	latest  atomic.Pointer[head]
	reverts uint64               // how often it was taken back; guarded by sealing
	node    atomic.Pointer[Node] // keeps what blocks replace; nil without an endpoint
}

var _ chain.Chain = (*Chain)(nil)

// ErrConflict is returned by Seal when the next block already exists because
// somebody else seals on the same store.
var ErrConflict = errors.New("another writer has sealed the next block")

// ID returns the chain id of EIP-155.
func (c *Chain) ID() uint64 { return c.id }

// Head returns the latest sealed block.
func (c *Chain) Head() chain.Header { return toHeader(*c.latest.Load()) }

// tip reads the head of one version of the store; false when it has no block.
func (c *Chain) tip(tx store.Tx) (h head, found bool, err error) {
	tx.Bucket(c.layout.blocks).Descend(nil, func(_, v []byte) bool {
		found = true
		if known := c.latest.Load(); known != nil {
			var hash common.Hash
			if hash, err = recordHash(v); err != nil || hash == known.hash {
				h = *known
				return false
			}
		}
		var r *record
		if r, h.hash, err = decodeRecord(v); err == nil {
			h.header = r.Header
		}
		return false
	})
	if err == nil {
		err = tx.Err() // a damaged block was passed over: the one that was found is not the highest
	}
	return h, found, err
}

// open returns a snapshot, its head and a reader of it. The caller releases
// the snapshot.
func (c *Chain) open(ctx context.Context) (store.Snapshot, head, *reader, error) {
	snap, err := c.store.Snapshot(ctx)
	if err != nil {
		return nil, head{}, nil, err
	}
	h, found, err := c.tip(snap)
	if err == nil && !found {
		err = damaged("chain", errors.New("no genesis"))
	}
	if err != nil {
		snap.Release()
		return nil, head{}, nil, err
	}
	return snap, h, newReader(snap, c.layout, c.env.cache), nil
}

// Seal makes one block; see chain.Chain. Block time is the later of the
// request's clock and the parent's time.
func (c *Chain) Seal(ctx context.Context, req chain.SealRequest) (chain.Block, error) {
	c.sealing.Lock()
	defer c.sealing.Unlock()
	s, err := c.accepted(ctx, req, nil)
	if err != nil {
		return chain.Block{}, err
	}
	block := s.block()
	err = c.store.Update(func(tx store.Tx) error { return c.write(tx, s, req, block) })
	if err != nil {
		c.catchUp()
		return chain.Block{}, err
	}
	c.publish(&s.head)
	return block, nil
}

// catchUp makes Head show the highest block in the store: a commit that was reported as failed may have happened.
func (c *Chain) catchUp() {
	_ = c.store.View(func(tx store.Tx) error { // a store that cannot be read either leaves Head as it is
		if h, found, err := c.tip(tx); err == nil && found {
			c.publish(&h)
		}
		return nil
	})
}

// build executes the request.
func (c *Chain) build(ctx context.Context, req chain.SealRequest, place []Account) (*sealed, error) {
	return c.execute(ctx, req.Time, func(b *builder, snap store.Snapshot) error {
		var all []placed
		for _, a := range place {
			p := placed{Address: a.Address, Code: a.Code}
			for _, k := range slices.SortedFunc(maps.Keys(a.Storage), common.Hash.Cmp) {
				p.Slots = append(p.Slots, slot{k, a.Storage[k]})
			}
			all = append(all, p)
		}
		if err := b.place(all); err != nil {
			return err
		}
		for i, t := range req.Txs {
			err := b.addUnsigned(ctx, t)
			var unsigned *signingError
			if errors.As(err, &unsigned) {
				return err
			}
			if err != nil {
				if damage := snap.Err(); damage != nil {
					return damage
				}
				return &chain.TxError{Index: i, Err: err}
			}
		}
		return nil
	})
}

// execute makes the next block of what add adds, on a snapshot of its own, which is released before anything is
// written.
func (c *Chain) execute(ctx context.Context, time uint64, add func(*builder, store.Snapshot) error) (*sealed, error) {
	snap, parent, r, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	b, err := c.env.begin(r, parent, time)
	if err != nil {
		return nil, err
	}
	defer b.evm.Release()
	if err := add(b, snap); err != nil {
		return nil, err
	}
	done, err := b.finish()
	return done, errors.Join(err, snap.Err())
}

// signingError says that a signer failed, which is no fault of its transaction.
type signingError struct{ error }

func (e *signingError) Unwrap() error { return e.error }

func (b *builder) addUnsigned(ctx context.Context, t chain.Tx) error {
	if t.From == nil {
		return errNoKey
	}
	from := t.From.Address()
	tx, err := b.env.unsigned(t, b.state.GetNonce(from), b.header.BaseFee)
	if err != nil {
		return err
	}
	signed, err := t.From.SignTx(ctx, tx, b.env.cfg.ChainID)
	if err != nil {
		return &signingError{fmt.Errorf("sign for %s: %w", from, err)}
	}
	return b.add(signed, signedBy{b.env.signer, from})
}

// Receipt finds the receipt of a sealed transaction; false when unknown.
func (c *Chain) Receipt(_ context.Context, hash common.Hash) (rc chain.Receipt, found bool, err error) {
	err = c.store.View(func(tx store.Tx) error {
		v := tx.Bucket(c.layout.txs).Get(hash[:])
		if v == nil {
			return nil
		}
		at, err := decodeLookup(v)
		if err != nil {
			return err
		}
		r, blockHash, err := c.record(tx, at.block)
		if err != nil {
			return err
		}
		if r == nil || int(at.index) >= len(r.Txs) {
			return damaged("transaction index", errors.New("no such transaction"))
		}
		rc, found = toReceipt(r, blockHash, int(at.index)), true
		return nil
	})
	return rc, found, err
}

// Block finds a sealed block by number; false when there is none yet.
func (c *Chain) Block(_ context.Context, n uint64) (b chain.Block, found bool, err error) {
	err = c.store.View(func(tx store.Tx) error {
		r, hash, err := c.record(tx, n)
		if err != nil || r == nil {
			return err
		}
		b, found = toBlock(r, hash), true
		return nil
	})
	return b, found, err
}

// record reads a stored block, nil when there is none.
func (c *Chain) record(tx store.Tx, n uint64) (*record, common.Hash, error) {
	v := tx.Bucket(c.layout.blocks).Get(numberKey(n))
	if v == nil {
		return nil, common.Hash{}, nil
	}
	return decodeRecord(v)
}
