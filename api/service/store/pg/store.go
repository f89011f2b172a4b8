// Package pg keeps the records of a service in a database of PostgreSQL, with the promise of package store.
//
//   - Update runs one at a time in every process that knows the database: it holds an advisory lock that ends with its
//     transaction. Each commit compares the claim of this process with the one that is stored; who was replaced by
//     another process writes nothing more (ErrTaken).
//   - What a transaction writes stays in memory until it commits, and is sent as one statement. Updates that wait for
//     each other share a transaction: each runs behind the one before, and all are committed at once.
//   - A commit whose answer was lost is looked up by its number, before anything else is written. While the server does
//     not tell, Update fails with store.ErrNotWritten.
//   - With Options.Shared several processes write in turn (store.Shared). Each has a row, which its commits demand, and
//     holds a lock on its session; a row without its lock is removed by the others.
//   - A View, and a Snapshot, is a transaction of isolation repeatable read on a connection of its own. Snapshots are
//     bounded in number and time.
//   - A server that is away makes calls fail with store.ErrAway. Nothing has to be restarted when it is back, unless
//     another process took the database over meanwhile, or the server that is back is another: a promoted standby or
//     a restored backup may lack commits that this process has seen (ErrOlder).
//
// A value is sealed as in a file (store.Seal), so a record that something else has changed is found damaged. A key that
// cannot be packed into 2 700 bytes is refused by the server.
//
// Session locks and frozen views belong to one connection, so a pooler in front of the server is refused.
package pg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"coffer/api/service/store"
)

// Bounds of connections.
const (
	maxConnections = 24
	maxSnapshots   = 8               // of work that holds none
	maxFurther     = 12              // of work that holds one; the rest are for an Update and for Views, which end soon
	snapshotWithin = 5 * time.Second // how long one is waited for
	snapshotLasts  = time.Minute     // how long one may be held
	tellWithin     = 10 * time.Second
	tellPause      = 100 * time.Millisecond
)

// Options say how a database is opened. The zero value is usable.
type Options struct {
	// Holder describes this process to others, such as "coffer serve". It must not contain anything secret.
	Holder string
	// Address is where other processes reach this one, "" when they cannot. They read it in a BusyError.
	Address string
	// Wait bounds the wait for another process that holds the database; 0 tries once.
	Wait time.Duration
	// Shared lets other processes, which open it so as well, have the database at the same time and write
	// (store.Shared).
	Shared bool
	// Money says that the records are about more than play money: a standby of the server must have a commit before it
	// is confirmed. Open demands it, and it is looked at again after each Look, 0 means every minute.
	Money bool
	Look  time.Duration
	Clock func() time.Time // nil means time.Now
	Log   *slog.Logger
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	pool      *pgxpool.Pool
	claim     *claim
	log       *slog.Logger
	snapshots chan struct{} // held first by their work
	further   chan struct{} // held beside one of those
	locks     chan struct{} // held for each Lock
	life      context.Context
	end       context.CancelFunc
	closing   sync.Once

	waiting atomic.Int32 // for writing
	writing sync.Mutex   // held while an Update runs its function, and while a transaction commits
	open    *shared      // the transaction of those who write now, nil for none; guarded by writing
	commits int64        // were tried; guarded by writing
	unknown bool         // the outcome of the last one; guarded by writing
	trouble atomic.Pointer[trouble]
}

// trouble is a commit that failed, or a server that was away.
type trouble struct {
	err error
	at  time.Time
}

var (
	_ store.Store    = (*Store)(nil)
	_ store.Snapshot = (*snapshot)(nil)
)

// Trouble returns when and why the last transaction failed; nil when it succeeded.
func (s *Store) Trouble() (at time.Time, err error) {
	if t := s.trouble.Load(); t != nil {
		return t.at, t.err
	}
	return at, nil
}

// note remembers what is wrong with the server, for Trouble.
func (s *Store) note(err error) error {
	if errors.Is(err, store.ErrAway) || errors.Is(err, store.ErrNotWritten) || errors.Is(err, ErrTaken) ||
		errors.Is(err, ErrOlder) {
		s.trouble.Store(&trouble{err, time.Now()})
	}
	return err
}

// Lost is a context that ends with ErrTaken when another process has taken the database over, and with ErrOlder when
// the address leads to other records.
func (s *Store) Lost() context.Context { return s.claim.lost }

// acquire takes a connection for a transaction.
func (s *Store) acquire() (*pgxpool.Conn, error) {
	if s.life.Err() != nil {
		return nil, store.ErrClosed
	}
	ctx, cancel := context.WithTimeout(s.life, snapshotWithin)
	defer cancel()
	c, err := s.pool.Acquire(ctx)
	if err != nil && s.life.Err() != nil {
		return nil, store.ErrClosed
	}
	return c, s.note(explain(err))
}

// View implements store.Store.
func (s *Store) View(fn func(store.Tx) error) error {
	c, err := s.acquire()
	if err != nil {
		return err
	}
	t := s.reading(c)
	defer t.end()
	err = fn(t)
	if t.err != nil {
		return s.note(t.err)
	}
	return err
}

const beginRead = "begin isolation level repeatable read read only"

// reading makes a transaction that sees one frozen version. It begins with its first read.
func (s *Store) reading(c *pgxpool.Conn) *tx {
	return &tx{conn: c, life: context.Background(), begin: []string{beginRead}}
}

// commit sends what was written. When the answer to the commit is lost, the server is asked for its outcome.
func (s *Store) commit(t *tx) error {
	ctx, cancel := context.WithTimeout(t.life, statementWithin)
	defer cancel()
	s.commits++
	table, err := t.flush(ctx, s.claim, s.commits)
	if err != nil {
		return explain(err)
	}
	if !strings.HasSuffix(s.claim.lineage, "/"+table) { // a backup was restored, and its connections stayed
		s.claim.give(ErrOlder)
		return ErrOlder
	}
	tag, err := t.conn.Exec(ctx, "commit")
	switch {
	case err == nil && tag.String() == "ROLLBACK":
		return errors.New("the server rolled the transaction back")
	case err == nil:
		return nil
	case !t.conn.Conn().IsClosed() && t.conn.Conn().PgConn().TxStatus() == 'I':
		return explain(err) // it answered: nothing was written
	}
	t.end()
	s.unknown = true
	s.log.Warn("the answer to a commit was lost; the server is asked for its outcome", "error", err)
	committed, err := s.ask()
	if err == nil && !committed {
		err = fmt.Errorf("%w: the commit was lost with the connection", store.ErrAway)
	}
	return err
}

// ask finds out what became of a commit whose answer was lost; nothing is written before that is known.
func (s *Store) ask() (committed bool, err error) {
	for end := time.Now().Add(tellWithin); s.unknown; {
		if committed, err = s.outcome(); err == nil {
			s.unknown = false
			s.log.Warn("the outcome of the commit is known", "committed", committed)
			return committed, nil
		}
		if time.Now().After(end) || s.life.Err() != nil || s.claim.lost.Err() != nil {
			return false, fmt.Errorf("%w: the outcome of a commit is not known yet: %w", store.ErrAway, err)
		}
		time.Sleep(tellPause)
	}
	return false, nil
}

// outcome reports whether the last commit is there, once it has ended. The number of its transaction tells nothing: a
// server that crashed may have forgotten it with what was not on its disk, and then gives it to another. So each commit
// has one that the process gives it.
func (s *Store) outcome() (committed bool, err error) {
	ctx, cancel := context.WithTimeout(s.life, connectWithin)
	defer cancel()
	var last int64
	err = s.pool.QueryRow(ctx, s.claim.marked(), s.claim.number).Scan(&last)
	if errors.Is(err, pgx.ErrNoRows) {
		err = s.claim.taken()
	}
	if lost := context.Cause(s.claim.lost); lost != nil {
		return false, lost
	}
	return err == nil && last == s.commits, explain(err)
}

// Snapshot implements store.Store. Work that holds none waits behind at most maxSnapshots others, and what these open
// further has places of its own: so each of them can go on.
func (s *Store) Snapshot(ctx context.Context) (store.Snapshot, error) {
	if s.life.Err() != nil {
		return nil, store.ErrClosed
	}
	turn, done := s.snapshots, func() {}
	if held := store.Held(ctx); held != nil {
		if held.Add(1) > 1 {
			turn = s.further
		}
		done = func() { held.Add(-1) }
	}
	wait := time.NewTimer(snapshotWithin)
	defer wait.Stop()
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		done()
		return nil, context.Cause(ctx)
	case <-wait.C:
		done()
		return nil, store.ErrBusy
	}
	leave := func() { <-turn; done() }
	c, err := s.acquire()
	if err != nil {
		leave()
		return nil, err
	}
	v := &snapshot{tx: s.reading(c), done: leave}
	// the first statement freezes it
	if err := v.ask(func(rows pgx.Rows) error { rows.Close(); return rows.Err() }, "select 1"); err != nil {
		v.Release()
		return nil, s.note(err)
	}
	return v, nil
}

// snapshot is a view that outlives the call that made it. The server ends one that is idle for too long.
type snapshot struct {
	*tx
	release sync.Once
	done    func()
}

// Release implements store.Snapshot.
func (v *snapshot) Release() {
	v.release.Do(func() {
		v.end()
		v.done()
	})
}

// YieldToWriter has nothing to wait for: readers hold no writer up.
func (s *Store) YieldToWriter() {}

// Close implements store.Store.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.end()
		s.writing.Lock() // after the Update under way
		defer s.writing.Unlock()
		if s.open != nil {
			s.finish(s.open)
		}
		s.claim.close()
		s.pool.Close()
	})
	return nil
}
