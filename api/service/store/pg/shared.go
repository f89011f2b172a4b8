package pg

import (
	"context"
	"fmt"
	"time"

	"coffer/api/service/store"
)

// Bounds of what shares a transaction: who has written waits for the others.
const (
	mostParts = 32
	sharesFor = 25 * time.Millisecond
)

// shared is a transaction of several Updates. One after the other they run in it, each on what those before have
// written; the last, behind which nobody waits, commits for all. So the server's disk is waited for once for many. Its
// fields are guarded by Store.writing.
type shared struct {
	tx    *tx // its writes are those of the parts that succeeded
	began time.Time
	parts int
	err   error         // what became of it
	ended chan struct{} // closed then
}

// part is what one Update does in a shared transaction.
type part struct {
	*tx
	behind bool // others have written before it
	whole  bool // its function succeeded
}

// Update implements store.Store. An Update that ran behind others has the outcome of the transaction, whatever its
// function returned: what that saw is true only if the others were committed.
func (s *Store) Update(fn func(store.Tx) error) (err error) {
	b, err := s.join()
	if err != nil {
		return err
	}
	p := b.part()
	defer func() { // of a panic as well
		p.done = true
		if p.whole {
			b.tx.writes = p.writes
		}
		if outcome := s.leave(b, p); outcome != nil {
			err = outcome
		}
	}()
	if err = fn(p.tx); p.err != nil {
		err = s.note(p.err)
	}
	p.whole = err == nil
	return err
}

// join takes the lock of writers and returns the transaction that is open, or begins one.
func (s *Store) join() (b *shared, err error) {
	s.waiting.Add(1)
	s.writing.Lock()
	s.waiting.Add(-1)
	defer func() {
		if err != nil {
			s.writing.Unlock()
		}
	}()
	if s.open != nil {
		return s.open, nil
	}
	if _, err := s.ask(); err != nil {
		return nil, err
	}
	c, err := s.acquire()
	if err != nil {
		return nil, err
	}
	t := &tx{conn: c, life: context.Background(), begin: []string{"begin", s.claim.writeLock()},
		writes: map[string]*writes{}}
	if s.claim.shared != nil { // a hung process would block the writers of all others
		t.begin = append(t.begin, "set local idle_in_transaction_session_timeout = "+millis(idleWithin))
	}
	if err := s.claim.check(t); err != nil {
		t.end()
		return nil, s.note(err)
	}
	s.open = &shared{tx: t, began: time.Now(), ended: make(chan struct{})}
	return s.open, nil
}

// part begins the next part. It writes into copies, which cost nothing until they are written to.
func (b *shared) part() *part {
	b.parts++
	mine := make(map[string]*writes, len(b.tx.writes))
	for name, m := range b.tx.writes {
		mine[name] = m.Copy()
	}
	return &part{tx: &tx{conn: b.tx.conn, life: b.tx.life, opened: true, writes: mine}, behind: len(mine) > 0}
}

// leave gives the lock of writers to who waits for it, or commits, and returns what became of the transaction where
// that matters to the part.
func (s *Store) leave(b *shared, p *part) error {
	matters := p.behind || p.whole && len(p.writes) > 0
	if s.waiting.Load() > 0 && b.parts < mostParts && time.Since(b.began) < sharesFor && b.tx.sound() {
		s.writing.Unlock()
		if !matters {
			return nil
		}
		<-b.ended
		return b.err
	}
	defer s.writing.Unlock()
	if s.finish(b); !matters {
		return nil
	}
	return b.err
}

// finish commits a shared transaction. The lock of writers is held.
func (s *Store) finish(b *shared) {
	s.open = nil
	defer close(b.ended)
	defer b.tx.end()
	if len(b.tx.writes) == 0 {
		return
	}
	if err := s.commit(b.tx); err != nil {
		b.err = s.note(fmt.Errorf("%w: %w", store.ErrNotWritten, err))
		return
	}
	s.trouble.Store(nil)
}
