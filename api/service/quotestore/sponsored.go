package quotestore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/store"
)

// NoteSponsored notes, in a commit of its caller, that gas was paid for an account beside its quotes: Accepted counts
// it. What is older than a day before is forgotten.
func (b *Book) NoteSponsored(owner string, at time.Time, what string) func(store.Tx) error {
	return writing(func(w *writer) error {
		key := hashOf(UserKey(owner))
		var old [][]byte
		w.Bucket(bucketSponsored).Ascend(key, func(k, _ []byte) bool {
			own := bytes.HasPrefix(k, key)
			if own && binary.BigEndian.Uint64(k[len(key):]) < uint64(at.Add(-24*time.Hour).UnixNano()) {
				old = append(old, bytes.Clone(k))
				return true
			}
			return false
		})
		for _, k := range old {
			w.delete(bucketSponsored, k)
		}
		w.put(bucketSponsored, indexKey(key, uint64(at.UnixNano())), []byte(what))
		return nil
	})
}

// counted counts the entries of an account in an index since a moment, up to most.
func counted(tx store.Tx, bucket string, key []byte, first uint64, most int) (n int) {
	sound(tx.Bucket(bucket)).Descend(indexKey(key, math.MaxUint64), func(k, _ []byte) bool {
		counts := n < most && bytes.HasPrefix(k, key) && binary.BigEndian.Uint64(k[len(key):]) >= first
		if counts {
			n++
		}
		return counts
	})
	return n
}

// Gas is what gas has cost an operator since a moment that no one paid for, as Sponsored counts it: in sum, of the
// account that cost most, and how many accounts there were, in micro-USD.
func (b *Book) Gas(ctx context.Context, since time.Time) (sum, most *big.Int, accounts int, err error) {
	of := map[common.Address]*big.Int{}
	sum, most = new(big.Int), new(big.Int)
	err = b.view(ctx, func(tx store.Tx) error {
		return madeSince(tx, since, func(q *Quote) {
			if q.Gas != nil && (q.Whole() || q.FailReason != "") {
				if of[q.Owner] == nil {
					of[q.Owner] = new(big.Int)
				}
				of[q.Owner].Add(of[q.Owner], q.Gas)
			}
		})
	})
	for _, spent := range of {
		if sum.Add(sum, spent); spent.Cmp(most) > 0 {
			most = spent
		}
	}
	return sum, most, len(of), err
}

// ownerSize is the size of an owner in the indexes.
const ownerSize = sha256.Size
