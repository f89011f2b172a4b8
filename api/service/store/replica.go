package store

import "context"

// Shared is a Store that several processes have open at once, each of which writes. Files and memory belong to one
// process, and are none.
type Shared interface {
	Store
	// Process is the number of this process. No other one of the database had it, or will.
	Process() uint64
	// Lock waits until no other process holds the lock of a name. It ends with the connection to the database, so what
	// is done under it is also compared in its commit.
	Lock(ctx context.Context, name string) (unlock func(), err error)
	// Leads reports whether a task is this process's. At any moment it is that of one process or of none; some seconds
	// after a process has ended, its tasks are another one's.
	Leads(task string) bool
	// Watch calls fn after another process has committed what it wrote into a bucket of one of these names, at once or,
	// where word of it was lost, some seconds later. Fn must not wait.
	Watch(buckets []string, fn func()) (stop func())
}

// Processes is the bucket to Watch for processes that come and go.
const Processes = "processes"

// Living is a Tx that knows which processes have its store open.
type Living interface {
	// Living are the numbers of the processes that are there, this one among them.
	Living() (map[uint64]bool, error)
}

// Beside reports whether a process other than this one has a store open, as a transaction of it sees it.
func Beside(tx Tx, s Store) (bool, error) {
	living, is := tx.(Living)
	if !is || Process(s) == 0 {
		return false, nil
	}
	all, err := living.Living()
	delete(all, Process(s))
	return len(all) > 0, err
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

// Watch is Shared.Watch; nobody else writes into a store of one process.
func Watch(s Store, buckets []string, fn func()) (stop func()) {
	if shared, is := s.(Shared); is && shared.Process() != 0 {
		return shared.Watch(buckets, fn)
	}
	return func() {}
}
