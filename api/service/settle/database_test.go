package settle_test

import (
	"context"
	"errors"
	"sync/atomic"

	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// process is the store of one of several processes, with what can go wrong with its connections.
type process struct {
	*storetest.Replica
	before   func() error  // comes before each Update, which fails with what it returns
	cut      atomic.Bool   // the answer to its next commit is lost, and the database away then
	away     atomic.Bool   // the database cannot be reached
	writing  atomic.Bool   // a commit is under way
	unlocked bool          // its locks exclude nobody, as after a broken connection
	awaited  chan struct{} // has word when it waits for a lock
}

func join(db *storetest.Database) *process {
	return &process{Replica: db.Open(), awaited: make(chan struct{}, 1)}
}

// there is an error once the process has ended.
func (p *process) there() error {
	return p.Replica.View(func(tx store.Tx) error {
		living, err := tx.(store.Living).Living() //nolint:forcetypeassert // one of several processes
		if err == nil && !living[p.Process()] {
			err = errors.New("this process has ended")
		}
		return err
	})
}

// View implements store.Store.
func (p *process) View(fn func(store.Tx) error) error {
	if p.away.Load() {
		return store.ErrAway
	}
	return p.Replica.View(fn)
}

// Update implements store.Store.
func (p *process) Update(fn func(store.Tx) error) error {
	if p.away.Load() {
		return store.ErrAway
	}
	if p.before != nil {
		if err := p.before(); err != nil {
			return err
		}
	}
	err := p.Replica.Update(func(tx store.Tx) error {
		p.writing.Store(true)
		defer p.writing.Store(false)
		return fn(tx)
	})
	if err == nil && p.cut.CompareAndSwap(true, false) {
		p.away.Store(true)
		err = store.ErrNotWritten
	}
	return err
}

// Lock implements store.Shared.
func (p *process) Lock(ctx context.Context, name string) (unlock func(), err error) {
	if p.unlocked {
		return func() {}, nil
	}
	now, cancel := context.WithCancel(ctx)
	cancel()
	if unlock, err = p.Replica.Lock(now, name); err == nil {
		return unlock, nil
	}
	select {
	case p.awaited <- struct{}{}:
	default:
	}
	return p.Replica.Lock(ctx, name)
}
