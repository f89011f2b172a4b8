package pg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"coffer/api/service/store"
)

// Times of processes that share a database.
const (
	hearWithin = time.Second      // between two looks at who is there
	waitsFor   = 5 * time.Second  // the lock of writers, which a process has for long that stands still
	goneAfter  = 2 * time.Second  // without its lock a process is gone
	returns    = 10 * time.Second // it may take to come back after a server started, or when all were cut off
	beatEvery  = 5 * time.Second  // a process tells that it is at work
	frozen     = 45 * time.Second // without that its connections are ended, and so its locks
	tellEvery  = 15 * time.Second // whoever watches is told, as word may have been lost
	leftFor    = time.Minute      // a task is to others that a process cannot do
	idleWithin = 10 * time.Second // a transaction that writes; the others wait behind it
)

// maxLocks is how many locks (Store.Lock) are held or waited for at once; each takes a connection.
const maxLocks = 12

// processes is the bucket that store.Watch is asked for to learn that a process is gone.
const processes = store.Processes

// sharing is what a process knows of others that have the database open as well.
type sharing struct {
	since time.Time           // of the session; zero for the first. Of the claim's goroutine alone
	free  map[int64]time.Time // since when a process is without its lock. Of the claim's goroutine alone

	mu       sync.Mutex
	tasks    map[string]*task // once asked for they are tried for
	watchers map[int]watcher
	next     int
	told     time.Time
}

// task is what one process does for all.
type task struct {
	mine  bool
	given bool      // its lock has yet to be let go
	until time.Time // it is left to others
}

type watcher struct {
	buckets []string
	fn      func()
}

func newSharing() *sharing {
	return &sharing{free: map[int64]time.Time{}, tasks: map[string]*task{}, watchers: map[int]watcher{},
		told: time.Now()}
}

// channel is that of the words about commits.
func (c *claim) channel() string { return "coffer_" + strconv.FormatUint(uint64(c.schema), 10) }

// word says which process has written into which buckets.
func (c *claim) word(buckets []string) string {
	return strconv.FormatInt(c.number, 10) + " " + strings.Join(buckets, ",")
}

// tag is the end of the name of a process's connections.
func (c *claim) tag(number int64) string {
	return " " + strconv.FormatUint(uint64(c.schema), 10) + "/" + strconv.FormatInt(number, 10)
}

// lockOf is the advisory lock of a process that is there, or'ed with its number.
func (c *claim) lockOf() int64 { return int64(c.schema) << 32 }

// begin becomes one of several that serve, once nobody serves alone and the tables are those of this version. Tables
// are made by a process that is alone.
func (c *claim) begin(ctx context.Context, session *pgx.Conn) (mine bool, err error) {
	current, err := c.current(ctx, session)
	if errors.Is(err, store.ErrNewer) { // while others serve from them they are forwarded to
		if mine, errLock := c.lock(ctx, session); errLock != nil || !mine {
			return false, errLock
		}
	}
	if err != nil {
		return false, err
	}
	if !current {
		if mine, err = c.lock(ctx, session); err != nil || !mine {
			return false, err
		}
		if err = migrate(ctx, session, c); err != nil {
			return false, err
		}
		if mine, err = c.join(ctx, session); err != nil || !mine {
			return false, err
		}
		_, err = session.Exec(ctx, `select pg_advisory_unlock($1::int, $2::int)`, int32(lockServe), int32(c.schema))
		return err == nil, explain(err)
	}
	if mine, err = c.join(ctx, session); err != nil || !mine {
		return false, err
	}
	current, err = c.current(ctx, session) // nobody changes them from here on
	if err == nil && !current {
		err = fmt.Errorf("%w: its tables have changed", store.ErrAway)
	}
	return true, err
}

// current reports whether the tables are those of this version. Those of a newer one are an error.
func (c *claim) current(ctx context.Context, session *pgx.Conn) (bool, error) {
	has, knows, err := versions(ctx, session)
	return has == knows, explainOpen(err)
}

// join takes the lock of who serves beside others.
func (c *claim) join(ctx context.Context, session *pgx.Conn) (mine bool, err error) {
	err = session.QueryRow(ctx, `select pg_try_advisory_lock_shared($1::int, $2::int)`, int32(lockServe),
		int32(c.schema)).Scan(&mine)
	return mine, explain(err)
}

// enter makes the process one of those that are there. It holds its lock before others can see it.
func (c *claim) enter(ctx context.Context, t pgx.Tx, o Options) error {
	err := t.QueryRow(ctx, `insert into coffer_process (name, address) values ($1, $2) returning number`, o.Holder,
		o.Address).Scan(&c.number)
	if err != nil {
		return err
	}
	c.config = c.config.Copy()
	c.config.RuntimeParams["application_name"] += c.tag(c.number)
	b := &pgx.Batch{}
	b.Queue(`insert into coffer_seen (number) values ($1)`, c.number).Exec(ignore)
	b.Queue(`select pg_advisory_lock($1)`, c.lockOf()|c.number).Exec(ignore)
	b.Queue(`select set_config('application_name', $1, false)`, c.config.RuntimeParams["application_name"]).Exec(ignore)
	b.Queue(`listen ` + c.channel()).Exec(ignore)
	b.Queue(`select pg_notify($1, $2)`, c.channel(), c.word([]string{processes})).Exec(ignore)
	return t.SendBatch(ctx, b).Close()
}

// back takes the locks of the process on a new session, and hears of commits on it.
func (c *claim) back(ctx context.Context, session *pgx.Conn) (mine bool, err error) {
	if mine, err = c.join(ctx, session); err != nil || !mine {
		return false, err
	}
	if err = session.QueryRow(ctx, `select pg_try_advisory_lock($1)`, c.lockOf()|c.number).Scan(&mine); err == nil {
		_, err = session.Exec(ctx, `listen `+c.channel())
	}
	c.shared.since = time.Now()
	c.shared.tell(nil)
	return mine, explain(err)
}

// hear waits for words of other processes, but not long.
func (c *claim) hear(ctx context.Context, session *pgx.Conn) {
	ctx, cancel := context.WithTimeout(ctx, hearWithin)
	defer cancel()
	for {
		n, err := session.WaitForNotification(ctx)
		if err != nil { // the time is over, or the session broke, which is found next
			return
		}
		from, buckets, _ := strings.Cut(n.Payload, " ")
		if from == strconv.FormatInt(c.number, 10) {
			continue
		}
		all := strings.Split(buckets, ",")
		c.shared.tell(all)
		if slices.Contains(all, processes) {
			return // its tasks may be free
		}
	}
}

// beat tells that this process is at work, and ends the connections of those that have not told so for long: a machine
// that stands still keeps them open. It waits neither for a standby nor for a commit of this process that does.
func (c *claim) beat(ctx context.Context, session *pgx.Conn) error {
	_, err := session.Exec(ctx, `with here as (select set_config('synchronous_commit', 'local', true))
		update coffer_seen set at = clock_timestamp() from here where number = $1
		and at < clock_timestamp() - make_interval(secs => $2)`, c.number, beatEvery.Seconds())
	if err != nil || !c.shared.since.IsZero() && time.Since(c.shared.since) < returns {
		return explain(err)
	}
	rows, err := session.Query(ctx, `select number from coffer_seen where number <> $1
		and at < clock_timestamp() - make_interval(secs => $2)
		and pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => $3)`, c.number, frozen.Seconds(),
		returns.Seconds())
	if err != nil {
		return explain(err)
	}
	still, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, number := range still {
		if err == nil {
			_, err = session.Exec(ctx, `select pg_terminate_backend(pid) from pg_stat_activity
				where datname = current_database() and usename = current_user
				and right(application_name, length($1)) = $1`, c.tag(number))
		}
	}
	return explain(err)
}

// others finds out which processes are gone, and takes tasks that nobody has. Whom it takes off the list may have to
// wait for writers.
func (c *claim) others(ctx context.Context, session *pgx.Conn) error {
	removing := ctx
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	if err := c.beat(ctx, session); err != nil {
		return err
	}
	rows, err := session.Query(ctx, `select number from coffer_process p where number <> $1 and not exists (
		select from pg_locks l where l.locktype = 'advisory' and l.granted and l.objsubid = 1
		and l.database = (select oid from pg_database where datname = current_database())
		and l.classid = $2::oid and l.objid = p.number::oid)`, c.number, c.schema)
	if err != nil {
		return explain(err)
	}
	absent, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return explain(err)
	}
	now, before := time.Now(), c.shared.free
	c.shared.free = map[int64]time.Time{}
	for _, number := range absent {
		since, known := before[number]
		if !known {
			since = now
		}
		c.shared.free[number] = since
		if now.Sub(since) < goneAfter || !c.shared.since.IsZero() && now.Sub(c.shared.since) < returns {
			continue
		}
		within, done := context.WithTimeout(removing, statementWithin)
		err := c.remove(within, session, number)
		done()
		if e, is := errors.AsType[*pgconn.PgError](err); is && e.Code == lockNotAvailable {
			break // the next look ends the connections of who has it, if that one stands still
		}
		if err != nil {
			return err
		}
	}
	ctx, again := context.WithTimeout(removing, connectWithin)
	defer again()
	if given := c.shared.given(); len(given) > 0 {
		_, err := session.Exec(ctx, `select pg_advisory_unlock(hashtextextended('task ' || task, $2))
			from unnest($1::text[]) task`, given, int64(c.schema))
		if err != nil {
			return explain(err)
		}
	}
	if wanted := c.shared.wanted(now); len(wanted) > 0 {
		rows, err := session.Query(ctx, `select task from unnest($1::text[]) task
			where pg_try_advisory_lock(hashtextextended('task ' || task, $2))`, wanted, int64(c.schema))
		if err != nil {
			return explain(err)
		}
		mine, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return explain(err)
		}
		c.shared.lead(mine)
	}
	return nil
}

// remove takes a process off the list that has lost its lock: from then on it writes nothing. After a server has
// started all are given time to come back.
func (c *claim) remove(ctx context.Context, session *pgx.Conn, number int64) error {
	gone := false
	err := pgx.BeginFunc(ctx, session, func(t pgx.Tx) error {
		_, err := t.Exec(ctx, `set local lock_timeout = `+millis(waitsFor))
		if err == nil {
			_, err = t.Exec(ctx, c.writeLock()) // a commit of it that is under way ends first
		}
		if err != nil {
			return err
		}
		err = t.QueryRow(ctx, `select clock_timestamp() - pg_postmaster_start_time() > make_interval(secs => $1)
			and pg_try_advisory_xact_lock($2)`, returns.Seconds(), c.lockOf()|number).Scan(&gone)
		if err != nil || !gone {
			return err
		}
		b := &pgx.Batch{}
		b.Queue(`delete from coffer_process where number = $1`, number).Exec(ignore)
		b.Queue(namesAnother).Exec(ignore)
		b.Queue(`select pg_notify($1, $2)`, c.channel(), c.word([]string{processes})).Exec(ignore)
		return t.SendBatch(ctx, b).Close()
	})
	if err == nil && gone {
		c.log.Warn("another process of the service is gone; the others go on with its work", "process", number)
		c.shared.tell([]string{processes})
	}
	return explain(err)
}

// namesAnother has the stored holder be a process that is there, if one is: who only forwards reads it.
const namesAnother = `update coffer_holder h set name = p.name, address = p.address, since = p.since
	from coffer_process p where p.number = (select max(number) from coffer_process)`

// leave takes this process off the list at its orderly end, so that nobody has to wait for it.
func (c *claim) leave(ctx context.Context, session *pgx.Conn) {
	_ = pgx.BeginFunc(ctx, session, func(t pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue(c.writeLock()).Exec(ignore)
		b.Queue(`delete from coffer_process where number = $1`, c.number).Exec(ignore)
		b.Queue(namesAnother).Exec(ignore)
		b.Queue(`select pg_notify($1, $2)`, c.channel(), c.word([]string{processes})).Exec(ignore)
		return t.SendBatch(ctx, b).Close()
	})
}

// tell calls who watches one of the buckets; nil are all.
func (s *sharing) tell(buckets []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if buckets == nil {
		s.told = time.Now()
	}
	for _, w := range s.watchers {
		written := func(bucket string) bool { return slices.Contains(buckets, bucket) }
		if buckets == nil || slices.ContainsFunc(w.buckets, written) {
			w.fn()
		}
	}
}

// tellAll calls everyone who watches and was not told of all for long.
func (s *sharing) tellAll(now time.Time) {
	if s == nil {
		return
	}
	s.mu.Lock()
	silent := now.Sub(s.told) >= tellEvery
	s.mu.Unlock()
	if silent {
		s.tell(nil)
	}
}

// wanted are the tasks that somebody asked for and this process neither has nor has given away a moment ago.
func (s *sharing) wanted(now time.Time) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, t := range s.tasks {
		if !t.mine && now.After(t.until) {
			out = append(out, name)
		}
	}
	return out
}

// given are the tasks whose locks this process has yet to let go.
func (s *sharing) given() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, t := range s.tasks {
		if t.given {
			out, t.given = append(out, name), false
		}
	}
	return out
}

func (s *sharing) lead(tasks []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range tasks {
		s.tasks[name].mine = true
	}
}

// broke notes that the session is gone, and the tasks with it.
func (s *sharing) broke() {
	if s == nil {
		return
	}
	clear(s.free)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tasks {
		t.mine, t.given = false, false
	}
}

var (
	_ store.Shared = (*Store)(nil)
	_ store.Living = (*tx)(nil)
)

// Process implements store.Shared; it is 0 where this process serves alone.
func (s *Store) Process() uint64 {
	if s.claim.shared == nil {
		return 0
	}
	return uint64(s.claim.number)
}

// Lock implements store.Shared.
func (s *Store) Lock(ctx context.Context, name string) (unlock func(), err error) {
	select {
	case s.locks <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() {
		if err != nil {
			<-s.locks
		}
	}()
	conn, err := s.acquire()
	if err != nil {
		return nil, err
	}
	schema := int64(s.claim.schema)
	for late := true; late; { // the server gives up a wait now and then
		within, cancel := context.WithTimeout(ctx, statementWithin+waitsFor)
		_, err = conn.Exec(within, `select pg_advisory_lock(hashtextextended('lock ' || $1, $2))`, name, schema)
		cancel()
		e, is := errors.AsType[*pgconn.PgError](err)
		late = is && e.Code == lockNotAvailable && ctx.Err() == nil
	}
	if err != nil {
		_ = conn.Conn().Close(context.WithoutCancel(ctx)) // it may have it all the same
		conn.Release()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, s.note(explain(err))
	}
	return sync.OnceFunc(func() {
		end, cancel := context.WithTimeout(context.Background(), connectWithin)
		defer cancel()
		_, err := conn.Exec(end, `select pg_advisory_unlock(hashtextextended('lock ' || $1, $2))`, name, schema)
		if err != nil {
			_ = conn.Conn().Close(end)
		}
		conn.Release()
		<-s.locks
	}), nil
}

// Leads implements store.Shared.
func (s *Store) Leads(task string) bool {
	if s.claim.shared == nil {
		return true
	}
	s.claim.shared.mu.Lock()
	defer s.claim.shared.mu.Unlock()
	return s.claim.shared.task(task).mine
}

// Yield implements store.Shared.
func (s *Store) Yield(task string) {
	if s.claim.shared == nil {
		return
	}
	s.claim.shared.mu.Lock()
	defer s.claim.shared.mu.Unlock()
	if t := s.claim.shared.task(task); t.mine {
		t.mine, t.given, t.until = false, true, time.Now().Add(leftFor)
	}
}

// task is one that somebody asked for. The mutex is held.
func (s *sharing) task(name string) *task {
	t := s.tasks[name]
	if t == nil {
		t = &task{}
		s.tasks[name] = t
	}
	return t
}

// Watch implements store.Shared.
func (s *Store) Watch(buckets []string, fn func()) (stop func()) {
	w := s.claim.shared
	if w == nil {
		return func() {}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id := w.next
	w.next++
	w.watchers[id] = watcher{buckets, fn}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.watchers, id)
	}
}

// Living implements store.Living.
func (t *tx) Living() (map[uint64]bool, error) {
	out := map[uint64]bool{}
	err := t.ask(func(rows pgx.Rows) error {
		all, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		for _, number := range all {
			out[uint64(number)] = true
		}
		return err
	}, `select number from coffer_process`)
	if err != nil {
		t.fail(err)
	}
	return out, err
}
