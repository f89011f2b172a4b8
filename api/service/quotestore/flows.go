package quotestore

import (
	"context"
	"encoding/binary"
	"math/big"
	"time"

	"coffer/api"
	"coffer/api/service/store"
)

// Flow is what an operator delivered of an asset on its chain, and what came in by deposits that were released to it,
// in base units.
type Flow struct{ Delivered, Deposited *big.Int }

// Flows are those of the quotes that were made since a moment, by CAIP-19 id.
func (b *Book) Flows(ctx context.Context, since time.Time) (map[string]Flow, error) {
	out := map[string]Flow{}
	of := func(asset string) Flow {
		if _, known := out[asset]; !known {
			out[asset] = Flow{new(big.Int), new(big.Int)}
		}
		return out[asset]
	}
	err := b.view(ctx, func(tx store.Tx) error {
		return madeSince(tx, since, func(q *Quote) {
			if q.Status == api.StatusExecuted || q.Status == api.StatusCompleted {
				for _, f := range q.Fills {
					sum := of(f.Delivers.Asset).Delivered
					sum.Add(sum, f.Delivers.Value)
				}
			}
			for _, l := range q.Legs {
				if l.State == LegReleased {
					sum := of(l.Pays.Asset).Deposited
					sum.Add(sum, l.Pays.Value)
				}
			}
		})
	})
	return out, err
}

// madeSince calls fn for each quote that was made since a moment, once.
func madeSince(tx store.Tx, since time.Time, fn func(*Quote)) error {
	first, seen := uint64(since.UnixNano()), map[string]bool{}
	index := sound(tx.Bucket(bucketCreated))
	for at := make([]byte, ownerSize+8); at != nil; { // from owner to owner, without what is older
		from := at
		at = nil
		var failed error
		index.Ascend(from, func(k, id []byte) bool {
			if binary.BigEndian.Uint64(k[ownerSize:]) < first {
				at = indexKey(k[:ownerSize], first)
				return false
			}
			if seen[string(id)] {
				return true
			}
			seen[string(id)] = true
			var q *Quote
			if q, failed = quoteOf(tx, string(id)); failed != nil {
				return false
			}
			fn(q)
			return true
		})
		if failed != nil {
			return failed
		}
	}
	return nil
}
