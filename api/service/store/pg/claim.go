package pg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"coffer/api/service/store"
)

// Classes of advisory locks. The second number is the schema that has the tables.
const (
	lockWrite = 0x636f6601 // by an Update, until its transaction ends
	lockServe = 0x636f6602 // by who serves, on a session of its own; several that serve share it
)

// How often the session of a claim is tried, and how often a lost one is made anew.
const (
	lookEvery  = 3 * time.Second
	againEvery = 500 * time.Millisecond
)

// claim is the right of this process to write. Its session holds a lock, by which others see that it is alive; its
// number is compared by every commit. That is the number of this turn, or where several processes serve (shared), that
// of this process.
type claim struct {
	config *pgx.ConnConfig
	schema uint32
	number int64
	shared *sharing // nil where this process serves alone
	// lineage is that of the database that was opened.
	lineage string
	log     *slog.Logger
	money   bool          // Options.Money
	look    time.Duration // Options.Look
	tell    func(error)   // of a server that is away, and with nil of one that is back

	stop    context.CancelFunc
	stopped sync.WaitGroup
	lost    context.Context
	lose    context.CancelCauseFunc // with ErrTaken or ErrOlder
}

func (c *claim) writeLock() string {
	return fmt.Sprintf("select pg_advisory_xact_lock(%d, %d)", int32(lockWrite), int32(c.schema))
}

// stands asks whether a claim is still good.
func (c *claim) stands() string {
	if c.shared != nil {
		return `select exists (select from coffer_process where number = $1)`
	}
	return `select claim = $1 from coffer_holder`
}

// mark is a part of each commit: its number, beside the claim. It is of no row where the claim is not good any more.
func (c *claim) mark() string {
	if c.shared != nil {
		return `update coffer_process set last = $2 where number = $1`
	}
	return `update coffer_holder set last = $2 where claim = $1`
}

// marked asks for the number of the last commit under the claim, once one that is under way, which has the row, has
// ended.
func (c *claim) marked() string {
	if c.shared != nil {
		return `select last from coffer_process where number = $1 for update`
	}
	return `select last from coffer_holder where claim = $1 for update`
}

// check compares the claim with the stored one, in a transaction that holds the lock of writers.
func (c *claim) check(t *tx) error {
	if c.lost.Err() != nil {
		return context.Cause(c.lost)
	}
	var good bool
	err := t.ask(func(rows pgx.Rows) (err error) {
		good, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
		return err
	}, c.stands(), c.number)
	if err == nil && !good {
		err = c.taken()
	}
	return err
}

// taken notes that another process has what this one had.
func (c *claim) taken() error {
	c.give(ErrTaken)
	return ErrTaken
}

// give notes that this process writes nothing more, and why.
func (c *claim) give(why error) {
	if c.lost.Err() == nil {
		c.log.Error(why.Error())
	}
	c.lose(why)
}

// wait takes the lock of who serves, waiting at most so long for the process that has it.
func (c *claim) wait(ctx context.Context, session *pgx.Conn, wait time.Duration,
	lock func(context.Context, *pgx.Conn) (mine bool, err error)) error {
	for end := time.Now().Add(wait); ; {
		mine, err := lock(ctx, session)
		if mine || err != nil {
			return err
		}
		if !time.Now().Before(end) {
			busy := &BusyError{}
			err := session.QueryRow(ctx, holderQuery).Scan(&busy.Holder, &busy.Since, &busy.Address)
			if e, is := errors.AsType[*pgconn.PgError](err); is && e.Code == undefinedTable {
				return &BusyError{Holder: "another process, which makes its tables"}
			}
			return cmp.Or(explain(err), error(busy))
		}
		time.Sleep(min(wait, againEvery))
	}
}

// holderQuery reads who serves. In the tables of an earlier version no address is kept.
const holderQuery = `select name, since, coalesce(to_jsonb(h) ->> 'address', '') from coffer_holder h`

// take makes a claim on a session that has the lock.
func (c *claim) take(ctx context.Context, session *pgx.Conn, o Options) error {
	err := pgx.BeginFunc(ctx, session, func(t pgx.Tx) error {
		if _, err := t.Exec(ctx, c.writeLock()); err != nil { // a commit that is under way ends first
			return err
		}
		err := t.QueryRow(ctx, `update coffer_holder set claim = claim + 1, name = $1, address = $2, since = now(), `+
			`last = 0 returning claim`, o.Holder, o.Address).Scan(&c.number)
		if err != nil {
			return err
		}
		if c.shared != nil { // who served alone writes nothing more from now on
			return c.enter(ctx, t, o)
		}
		_, err = t.Exec(ctx, `delete from coffer_process`)
		return err
	})
	return explain(err)
}

// lock tries to become the one process that serves. Where several did, a server that has just started cut all of them
// off, and they are given time to come back.
func (c *claim) lock(ctx context.Context, session *pgx.Conn) (mine bool, err error) {
	var waits bool
	err = session.QueryRow(ctx, `select to_regclass('coffer_process') is not null
		and clock_timestamp() - pg_postmaster_start_time() < make_interval(secs => $1)`, returns.Seconds()).Scan(&waits)
	if err == nil && waits {
		err = session.QueryRow(ctx, `select exists (select from coffer_process)`).Scan(&waits)
	}
	if err != nil || waits {
		return false, explain(err)
	}
	err = session.QueryRow(ctx, `select pg_try_advisory_lock($1::int, $2::int)`, int32(lockServe), int32(c.schema)).
		Scan(&mine)
	return mine, explain(err)
}

// hold keeps the session, and makes a new one when it has broken, until close.
func (c *claim) hold(session *pgx.Conn) {
	var ctx context.Context
	ctx, c.stop = context.WithCancel(context.Background())
	c.stopped.Go(func() {
		work := context.WithoutCancel(ctx) // a query that is cut off would take the session with it
		safe, failing := safety{c: c, at: time.Now()}, false
		for ctx.Err() == nil && c.lost.Err() == nil {
			if session == nil {
				var err error
				session, err = c.again(ctx)
				if err != nil && !failing && ctx.Err() == nil {
					c.log.Warn("there is no session with the database; it is tried again", "error", err)
				}
				failing = err != nil
				c.tell(err)
			}
			c.shared.tellAll(time.Now())
			pause := lookEvery
			if session == nil {
				pause = againEvery
			} else if !c.alive(work, session) {
				c.log.Warn("the session with the database broke; a new one is made")
				_ = session.Close(ctx)
				c.shared.broke()
				c.tell(fmt.Errorf("%w: its session broke", store.ErrAway))
				session = nil
				continue
			} else {
				safe.look(work, session)
			}
			if session != nil && c.shared != nil {
				c.hear(ctx, session)
				continue
			}
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
		c.shared.broke()
		if session != nil {
			end, cancel := context.WithTimeout(work, waitsFor)
			defer cancel()
			if c.shared != nil && c.lost.Err() == nil {
				c.leave(end, session)
			}
			// the server may take a moment to notice that a session has ended
			_, _ = session.Exec(end, "select pg_advisory_unlock_all()")
			_ = session.Close(end)
		}
	})
}

// CodeUnsafe is that of the alert that a fail-over would lose commits.
const CodeUnsafe = "COMMITS_UNSAFE"

// safety looks now and then whether a fail-over loses nothing, and tells when that begins and ends to be so.
type safety struct {
	c      *claim
	at     time.Time // of the last look
	unsafe bool
}

func (s *safety) look(ctx context.Context, session *pgx.Conn) {
	if !s.c.money || time.Since(s.at) < s.c.look {
		return
	}
	s.at = time.Now()
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	err := checkStandbys(ctx, session)
	switch unsafe := errors.Is(err, ErrServer); {
	case err != nil && !unsafe: // it is not known
	case unsafe && !s.unsafe:
		s.unsafe = true
		s.c.log.Error(err.Error(), "code", CodeUnsafe)
	case !unsafe && s.unsafe:
		s.unsafe = false
		s.c.log.Info("a fail-over of the database loses nothing again", "code", CodeUnsafe, "over", true)
	}
}

// alive reports whether the session answers. It looks at the claim, and at the others that serve.
func (c *claim) alive(ctx context.Context, session *pgx.Conn) bool {
	if !c.answers(ctx, session) {
		return false
	}
	return c.lost.Err() != nil || c.shared == nil || c.others(ctx, session) == nil
}

// answers asks the session for the stored claim, and reports whether it told.
func (c *claim) answers(ctx context.Context, session *pgx.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	var good bool
	err := session.QueryRow(ctx, c.stands(), c.number).Scan(&good)
	if err == nil && !good {
		_ = c.taken()
	}
	return err == nil
}

// again makes a session that holds the lock, nil when that is not possible now: the server may not have noticed yet
// that the last one is gone.
func (c *claim) again(ctx context.Context) (*pgx.Conn, error) {
	servers := time.Duration(1 + len(c.config.Fallbacks)) // each may be gone without a word
	connecting, cancel := context.WithTimeout(ctx, servers*connectWithin)
	defer cancel()
	session, err := pgx.ConnectConfig(connecting, c.config.Copy())
	if err != nil {
		return nil, explain(err)
	}
	locking, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	mine := false
	lock := c.lock
	if c.shared != nil {
		lock = c.back
	}
	if err = c.follows(locking, session); err == nil {
		mine, err = lock(locking, session)
	}
	switch {
	case err != nil:
	case !mine:
		c.answers(ctx, session)
	case c.alive(ctx, session) && c.lost.Err() == nil:
		c.log.Warn("the session with the database is back")
		return session, nil
	}
	_ = session.Close(ctx)
	c.shared.broke() // a task that it took ends with it
	return nil, err
}

func (c *claim) close() {
	c.stop()
	c.stopped.Wait()
}

// BusyError says which process has a database, and since when, zero where that is not known. Address is its
// Options.Address. It wraps store.ErrInUse.
type BusyError struct {
	Holder  string
	Since   time.Time
	Address string
}

// Error tells it in one line.
func (e *BusyError) Error() string {
	if e.Since.IsZero() {
		return "the database is in use: " + e.Holder + " has it"
	}
	return "the database is in use: " + e.Holder + " has it since " + e.Since.UTC().Format(time.DateTime) + " UTC"
}

// Unwrap returns store.ErrInUse.
func (e *BusyError) Unwrap() error { return store.ErrInUse }

// errPooler says that what answers is no server but a pooler.
var errPooler = errors.New("a pooler is in front of the server: name the server itself, as locks and frozen views " +
	"belong to one connection")
