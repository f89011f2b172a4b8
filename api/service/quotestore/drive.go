package quotestore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"time"

	"coffer/api/service/store"
)

// Where several processes share the records, each accepted quote is settled by one of them: the one that accepted it,
// or, when that is gone, one that took it over. Every step compares that in its commit.

// keyAccepted is where bucketMeta has the stamp of the last acceptance.
const keyAccepted = "accepted"

// drive enters a quote among the open ones. One that another process settles stays that process's.
func (b *Book) drive(w *writer, q *Quote) {
	w.put(bucketMeta, []byte(keyAccepted), be64(max(q.Created, q.Updated)))
	if w.Bucket(bucketOpen).Get([]byte(q.ID)) == nil {
		w.put(bucketOpen, []byte(q.ID), b.own())
	}
}

// own is the value of entries in bucketOpen that are this process's.
func (b *Book) own() []byte {
	if b.process == 0 {
		return []byte{}
	}
	return be64(b.process)
}

// drives reports whether this process settles a quote. The only process settles all, whose ever they were.
func (b *Book) drives(tx store.Tx, id string) bool {
	return b.process == 0 || bytes.Equal(tx.Bucket(bucketOpen).Get([]byte(id)), b.own())
}

// Drives reports whether this process settles an accepted quote that is not done.
func (b *Book) Drives(ctx context.Context, id string) (mine bool, err error) {
	err = b.view(ctx, func(tx store.Tx) error {
		mine = b.drives(tx, id)
		return nil
	})
	return mine, err
}

// TakeOver makes this process the one that settles quotes whose process is gone, and returns the ids of all that it
// settles: what it took over in a commit that was reported as failed is among them. Where it is the only process these
// are all that are not done; with ErrDamaged those that can be named.
func (b *Book) TakeOver(ctx context.Context) (ids []string, err error) {
	if b.process == 0 {
		return b.Open(ctx)
	}
	var left []string
	var damage error
	look := func(tx store.Tx) error {
		ids, left, damage = nil, nil, nil
		living, err := tx.(store.Living).Living() //nolint:forcetypeassert // what several processes share knows them
		if err != nil {
			return err
		}
		index := tx.Bucket(bucketOpen).Reporting(func(err error) { damage = err })
		index.Ascend(nil, func(k, v []byte) bool {
			if b.others(string(k)) {
				return true
			}
			switch gone := len(v) != len(b.own()) || !living[binary.BigEndian.Uint64(v)]; {
			case gone:
				left = append(left, string(k))
			case !bytes.Equal(v, b.own()):
				return true
			}
			ids = append(ids, string(k))
			return true
		})
		return nil
	}
	if err := b.view(ctx, look); err != nil || len(left) == 0 {
		return ids, cmp.Or(err, damage)
	}
	err = b.update(ctx, func(w *writer) error {
		err := look(w.Tx)
		for _, id := range left {
			w.put(bucketOpen, []byte(id), b.own())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return ids, damage
}

// leftFor is how long a quote that a process has left is other ones'.
const leftFor = time.Minute

// Leave gives a quote to other processes, as if this one were gone; false where there are none, or it is not this
// one's.
func (b *Book) Leave(ctx context.Context, id string) (left bool, err error) {
	err = b.update(ctx, func(w *writer) error {
		others, err := store.Others(w.Tx, b.store)
		if left = err == nil && len(others) > 0 && b.drives(w, id); left {
			w.put(bucketOpen, []byte(id), be64(0))
			w.delete(bucketLeft, []byte(id))
			b.mu.Lock()
			b.leaves[id] = b.clock().Add(leftFor)
			b.mu.Unlock()
		}
		return err
	})
	return left, err
}

// others reports whether a quote is other processes' because this one has left it a moment ago.
func (b *Book) others(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	until, left := b.leaves[id]
	if left && !b.clock().Before(until) {
		delete(b.leaves, id)
		left = false
	}
	return left
}

// WatchProcesses calls fn when a process has gone or left a quote, and now and then.
func (b *Book) WatchProcesses(fn func()) (stop func()) {
	return store.Watch(b.store, []string{store.Processes, bucketLeft}, fn)
}

// Leads reports whether a task that one process does for all is this process's.
func (b *Book) Leads(task string) bool { return store.Leads(b.store, task) }
