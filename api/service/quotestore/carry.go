package quotestore

import (
	"encoding/binary"
	"fmt"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/service/store"
)

// keyCarried holds the last stamp of an earlier network.
const keyCarried = "carried"

// Carry copies what a book has of ended quotes into the empty book of the network that takes its place: records and
// documents as they are, both indexes, the stamp that later records begin above, and the key of its cursors, so that a
// continuation which was given out goes on. Offers and prepared operations are left behind: they were for the earlier
// network. report is told of what stays behind, too: each damaged entry, and each quote that is open.
func Carry(from, to store.Store, report func(error)) error {
	ended := map[string]bool{}
	steps := []struct {
		bucket string
		keep   func(key, value []byte) bool
	}{
		{bucketQuote, func(id, raw []byte) bool {
			var q struct {
				Status string `json:"status"`
			}
			if err := json.Unmarshal(raw, &q); err != nil {
				report(fmt.Errorf("%w: the quote %s cannot be read: %w", store.ErrDamaged, id, err))
				return false
			}
			if ended[string(id)] = api.Terminal(q.Status); !ended[string(id)] && q.Status != "" {
				report(fmt.Errorf("the quote %s is %s and did not end", id, q.Status))
			}
			return ended[string(id)]
		}},
		{bucketDocument, func(id, _ []byte) bool { return ended[string(id)] }},
		{bucketCreated, func(_, id []byte) bool { return ended[string(id)] }},
		{bucketUpdated, func(_, v []byte) bool { return len(v) > 8 && ended[string(v[8:])] }},
		{bucketReplaced, func(_, _ []byte) bool { return true }}, // a sweep passes over what is not there
		{bucketMeta, func(_, _ []byte) bool { return true }},
	}
	for _, s := range steps {
		if err := store.CopyBucket(from, to, s.bucket, s.keep, report); err != nil {
			return fmt.Errorf("carry the book over: %w", err)
		}
	}
	return to.Update(func(tx store.Tx) error {
		meta := tx.Bucket(bucketMeta)
		if last := meta.Get([]byte("stamp")); last != nil {
			return meta.Put([]byte(keyCarried), last)
		}
		return nil
	})
}

// carried is the stamp up to which records are those of an earlier network; 0 when there are none.
func carried(tx store.Tx) uint64 {
	if v := tx.Bucket(bucketMeta).Get([]byte(keyCarried)); len(v) == 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}
