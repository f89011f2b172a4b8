package devnet

import (
	"sync"

	"coffer/api/service/store"
)

// stage is a store in memory that remembers which buckets were written, so that everything can be moved into another
// store in one commit.
type stage struct {
	store.Store
	mu      sync.Mutex
	buckets map[string]bool
}

func newStage() *stage { return &stage{Store: store.NewMemory(), buckets: map[string]bool{}} }

// Update runs fn as the store in memory does and notes the buckets it names.
func (s *stage) Update(fn func(store.Tx) error) error {
	return s.Store.Update(func(tx store.Tx) error { return fn(&stageTx{tx, s}) })
}

type stageTx struct {
	store.Tx
	stage *stage
}

func (t *stageTx) Bucket(name string) store.Bucket {
	t.stage.mu.Lock()
	t.stage.buckets[name] = true
	t.stage.mu.Unlock()
	return t.Tx.Bucket(name)
}

// copyTo writes everything into tx.
func (s *stage) copyTo(tx store.Tx) error {
	return s.View(func(from store.Tx) error {
		for name := range s.buckets {
			into := tx.Bucket(name)
			var failed error
			from.Bucket(name).Ascend(nil, func(k, v []byte) bool {
				failed = into.Put(k, v)
				return failed == nil
			})
			if failed != nil {
				return failed
			}
		}
		return nil
	})
}
