package quotestore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/store"
)

// sweepAtOnce bounds the work of one commit; what remains waits for the next.
const sweepAtOnce = 64

// Sweep removes what has ended by the clock: contexts with their signed operations, offers that nobody accepted, and
// index entries that no live cursor can need. Contexts of executing quotes stay, as settlement ends them. Keep and
// Offer sweep a little each; who keeps a service running calls Sweep now and then, so that signed operations do not
// outlive their window on a service that nobody uses.
func (b *Book) Sweep(ctx context.Context) error {
	for more := true; more; {
		due := false
		err := b.view(ctx, func(tx store.Tx) error {
			due = b.due(tx)
			return nil
		})
		if err != nil || !due {
			return err
		}
		err = b.update(ctx, func(w *writer) (err error) {
			more, err = b.sweep(w)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// due reports whether Sweep would find anything.
func (b *Book) due(tx store.Tx) bool {
	return len(before(tx, bucketEnds, uint64(b.clock().Unix()), 1))+
		len(before(tx, bucketReplaced, b.replacedBefore(), 1)) > 0
}

// before lists the first keys of a bucket that begin with a moment before another one, at most n.
func before(tx store.Tx, bucket string, moment uint64, n int) (keys [][]byte) {
	sound(tx.Bucket(bucket)).Ascend(nil, func(k, _ []byte) bool {
		if binary.BigEndian.Uint64(k) >= moment || len(keys) == n {
			return false
		}
		keys = append(keys, bytes.Clone(k))
		return true
	})
	return keys
}

// replacedBefore is the stamp below which no live cursor needs a replaced entry. A cursor knows whole seconds only and
// lives to the end of its last; another process may have made it, or the stamp, by another clock.
func (b *Book) replacedBefore() uint64 {
	margin := time.Second
	if b.process != 0 {
		margin += 2 * store.ClocksWithin
	}
	return uint64(b.clock().Add(-b.lifetime - margin).UnixNano())
}

// sweep reports whether it stopped at its bound.
func (b *Book) sweep(w *writer) (more bool, err error) {
	due := before(w, bucketEnds, uint64(b.clock().Unix()), sweepAtOnce)
	for _, k := range due {
		// what cannot be read stays
		if err := w.sweepOne(k[8], k[9:]); err != nil && !errors.Is(err, store.ErrDamaged) {
			return false, err
		}
		w.delete(bucketEnds, k)
	}
	// replaced entries of the index by update go once every cursor that could show them has expired
	replaced := before(w, bucketReplaced, b.replacedBefore(), sweepAtOnce)
	for _, k := range replaced {
		w.delete(bucketUpdated, k[8:])
		w.delete(bucketReplaced, k)
	}
	return max(len(due), len(replaced)) == sweepAtOnce, nil
}

func (w *writer) sweepOne(kind byte, key []byte) error {
	if kind == endContext {
		c, found, err := contextOf(w, common.BytesToHash(key))
		if err == nil && found && c.UsedBy == "" {
			w.delete(bucketContext, key)
		}
		return err
	}
	q, err := quoteOf(w, string(key))
	if errors.Is(err, ErrUnknownQuote) {
		return nil // gone already; one entry too many must not stop the sweep for ever
	}
	if err == nil && q.Status == "" {
		w.delete(bucketDocument, key)
		w.delete(bucketQuote, key)
	}
	return err
}
