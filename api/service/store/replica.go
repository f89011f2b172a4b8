package store

import (
	"context"
	"time"
)

// Shared is a Store that several processes have open at once, each of which writes. Files and memory belong to one
// process, and are none.
type Shared interface {
	Store
	// Process is the number of this process. No other one of the database had it, or will.
	Process() uint64
	// Lock waits until no other process holds the lock of a name. It ends with the connection to the database, so what
	// is done under it is also compared in its commit.
	Lock(ctx context.Context, name string) (unlock func(), err error)
	// Leads reports whether a task is this process's. It is that of one process or of none, but for the seconds until a
	// process notices that it was cut off; some seconds after one has ended, its tasks are another one's.
	Leads(task string) bool
	// Yield leaves a task that this process cannot do to others for a minute.
	Yield(task string)
	// Watch calls fn after another process has committed what it wrote into a bucket of one of these names, at once or,
	// where word of it was lost, some seconds later. Fn must not wait.
	Watch(buckets []string, fn func()) (stop func())
}

// ClocksWithin is how far the clock of a process may be from that of the database.
const ClocksWithin = 30 * time.Second

// Processes is the bucket to Watch for processes that come and go.
const Processes = "processes"

// Living is a Tx that knows which processes have its store open.
type Living interface {
	// Living are the numbers of the processes that are there, this one among them.
	Living() (map[uint64]bool, error)
}

// Others are the processes beside this one that have a store open, as a transaction of it sees them.
func Others(tx Tx, s Store) (map[uint64]bool, error) {
	living, is := tx.(Living)
	if !is || Process(s) == 0 {
		return nil, nil
	}
	all, err := living.Living()
	delete(all, Process(s))
	return all, err
}

// Process is the number of this process among those that share a store, 0 where none do.
func Process(s Store) uint64 {
	if shared, is := s.(Shared); is {
		return shared.Process()
	}
	return 0
}

// Lock is Shared.Lock, which a store of one process needs not: there the caller's own mutex is enough.
func Lock(ctx context.Context, s Store, name string) (unlock func(), err error) {
	if shared, is := s.(Shared); is && shared.Process() != 0 {
		return shared.Lock(ctx, name)
	}
	return func() {}, nil
}

// Leads is Shared.Leads; in a store of one process everything is its task.
func Leads(s Store, task string) bool {
	shared, is := s.(Shared)
	return !is || shared.Process() == 0 || shared.Leads(task)
}

// Yield is Shared.Yield; the only process has nobody to leave a task to.
func Yield(s Store, task string) {
	if shared, is := s.(Shared); is && shared.Process() != 0 {
		shared.Yield(task)
	}
}

// Watch is Shared.Watch; nobody else writes into a store of one process.
func Watch(s Store, buckets []string, fn func()) (stop func()) {
	if shared, is := s.(Shared); is && shared.Process() != 0 {
		return shared.Watch(buckets, fn)
	}
	return func() {}
}
