package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"coffer/api/service/store"
)

// Database is a store in memory that several processes have open at once: it stands for one of PostgreSQL.
type Database struct {
	store store.Store

	mu      sync.Mutex
	last    uint64
	living  map[uint64]*Replica
	locks   map[string]*Replica
	leaders map[string]*Replica
	left    map[string]*Replica // who yielded a task
	freed   chan struct{}       // closed and replaced when a lock is free
}

// NewDatabase is an empty one that no process has open.
func NewDatabase() *Database {
	return &Database{store: store.NewMemory(), living: map[uint64]*Replica{}, locks: map[string]*Replica{},
		leaders: map[string]*Replica{}, left: map[string]*Replica{}, freed: make(chan struct{})}
}

// Replica is the store of one process. What it watches is called before the commit of another one returns.
type Replica struct {
	store.Store
	db       *Database
	number   uint64
	watchers map[*watcher]bool
}

var _ store.Shared = (*Replica)(nil)

type watcher struct {
	buckets []string
	fn      func()
}

var errGone = errors.New("this process has ended")

// Open is another process.
func (d *Database) Open() *Replica {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	r := &Replica{Store: d.store, db: d, number: d.last, watchers: map[*watcher]bool{}}
	d.living[d.last] = r
	return r
}

// End is what becomes of a process that was killed, or is not reached any more: its locks and tasks are free, and what
// it commits from now on is refused. No commit of it is under way afterwards. It still reads. The others are told.
func (r *Replica) End() {
	d := r.db
	_ = d.store.Update(func(store.Tx) error { // it waits for the commit that is under way
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.living, r.number)
		maps.DeleteFunc(d.leaders, func(_ string, by *Replica) bool { return by == r })
		maps.DeleteFunc(d.locks, func(_ string, by *Replica) bool { return by == r })
		d.free()
		return nil
	})
	r.notify(map[string]bool{store.Processes: true})
}

// free wakes those that wait for a lock. The mutex is held.
func (d *Database) free() {
	close(d.freed)
	d.freed = make(chan struct{})
}

// Close implements store.Store: the process ends.
func (r *Replica) Close() error {
	r.End()
	return nil
}

// gone reports whether the process has ended. The mutex is held.
func (r *Replica) gone() bool { return r.db.living[r.number] == nil }

// Process implements store.Shared.
func (r *Replica) Process() uint64 { return r.number }

// Lock implements store.Shared. Within a process it excludes, too.
func (r *Replica) Lock(ctx context.Context, name string) (unlock func(), err error) {
	d := r.db
	for {
		d.mu.Lock()
		if r.gone() {
			d.mu.Unlock()
			return nil, errGone
		}
		freed, by := d.freed, d.locks[name]
		if by == nil {
			d.locks[name] = r
		}
		d.mu.Unlock()
		if by == nil {
			return func() { r.unlock(name) }, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (r *Replica) unlock(name string) {
	d := r.db
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locks[name] == r {
		delete(d.locks, name)
		d.free()
	}
}

// Leads implements store.Shared. A task is that of the first process that asks.
func (r *Replica) Leads(task string) bool {
	d := r.db
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.leaders[task] == nil && d.left[task] != r && !r.gone() {
		d.leaders[task] = r
	}
	return d.leaders[task] == r
}

// Yield implements store.Shared; the task comes back when another process has yielded it.
func (r *Replica) Yield(task string) {
	d := r.db
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.leaders[task] == r {
		delete(d.leaders, task)
		d.left[task] = r
	}
}

// Watch implements store.Shared.
func (r *Replica) Watch(buckets []string, fn func()) (stop func()) {
	w := &watcher{buckets, fn}
	r.db.mu.Lock()
	defer r.db.mu.Unlock()
	r.watchers[w] = true
	return func() {
		r.db.mu.Lock()
		defer r.db.mu.Unlock()
		delete(r.watchers, w)
	}
}

// notify calls what the others watch of some buckets.
func (r *Replica) notify(written map[string]bool) {
	var call []func()
	r.db.mu.Lock()
	for _, other := range r.db.living {
		for w := range other.watchers {
			if other != r && slices.ContainsFunc(w.buckets, func(b string) bool { return written[b] }) {
				call = append(call, w.fn)
			}
		}
	}
	r.db.mu.Unlock()
	for _, fn := range call {
		fn()
	}
}

// View implements store.Store.
func (r *Replica) View(fn func(store.Tx) error) error {
	return r.Store.View(func(tx store.Tx) error { return fn(replicaTx{Tx: tx, db: r.db}) })
}

// Update implements store.Store.
func (r *Replica) Update(fn func(store.Tx) error) error {
	written := map[string]bool{}
	err := r.Store.Update(func(tx store.Tx) error {
		if err := fn(replicaTx{tx, r.db, written}); err != nil {
			return err
		}
		r.db.mu.Lock()
		defer r.db.mu.Unlock()
		if r.gone() && len(written) > 0 {
			return fmt.Errorf("%w: %w", store.ErrNotWritten, errGone)
		}
		return nil
	})
	if err == nil && len(written) > 0 {
		r.notify(written)
	}
	return err
}

// replicaTx notes what is written.
type replicaTx struct {
	store.Tx
	db      *Database
	written map[string]bool
}

var _ store.Living = replicaTx{}

// Living implements store.Living.
func (t replicaTx) Living() (map[uint64]bool, error) {
	t.db.mu.Lock()
	defer t.db.mu.Unlock()
	out := map[uint64]bool{}
	for n := range t.db.living {
		out[n] = true
	}
	return out, nil
}

// Bucket implements store.Tx.
func (t replicaTx) Bucket(name string) store.Bucket {
	return replicaBucket{t.Tx.Bucket(name), func() { t.written[name] = true }}
}

type replicaBucket struct {
	store.Bucket
	note func()
}

// Put implements store.Bucket.
func (b replicaBucket) Put(key, value []byte) error {
	err := b.Bucket.Put(key, value)
	if err == nil {
		b.note()
	}
	return err
}

// Delete implements store.Bucket.
func (b replicaBucket) Delete(key []byte) error {
	err := b.Bucket.Delete(key)
	if err == nil {
		b.note()
	}
	return err
}

// Reporting implements store.Bucket.
func (b replicaBucket) Reporting(report func(error)) store.Bucket {
	return replicaBucket{b.Bucket.Reporting(report), b.note}
}
