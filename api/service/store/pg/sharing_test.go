package pg_test

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coffer/api/service/store"
	"coffer/api/service/store/pg"
	"coffer/api/service/store/storetest"
)

// share opens a database as one of several processes, until the test ends.
func share(t *testing.T, address string) *pg.Store {
	t.Helper()
	return shareAt(t, address, there)
}

// shareAt is share with an address by which others reach the process.
func shareAt(t *testing.T, address, at string) *pg.Store {
	t.Helper()
	s, err := openSharedAt(t, address, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

const there = "https://there:1"

func openShared(t *testing.T, address string) (*pg.Store, error) {
	t.Helper()
	return openSharedAt(t, address, there)
}

func openSharedAt(t *testing.T, address, at string) (*pg.Store, error) {
	t.Helper()
	a, err := pg.ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	return pg.Open(t.Context(), a, pg.Options{Holder: "test", Address: at, Shared: true})
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("did not happen: " + what)
		}
	}
}

// living are the processes that are there.
func living(t *testing.T, s store.Store) (out map[uint64]bool) {
	t.Helper()
	if err := s.View(func(tx store.Tx) (err error) {
		out, err = tx.(store.Living).Living()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// add counts one up in a record that all processes write.
func add(s store.Store) error {
	return s.Update(func(tx store.Tx) error {
		n, _ := strconv.Atoi(string(tx.Bucket("b").Get([]byte("n"))))
		return tx.Bucket("b").Put([]byte("n"), []byte(strconv.Itoa(n+1)))
	})
}

func TestSeveralProcessesWriteInTurnAndLoseNothing(t *testing.T) {
	address := storetest.Schema(t)
	const processes, each = 3, 40
	var all sync.WaitGroup
	numbers := map[uint64]bool{}
	for range processes {
		s := share(t, address)
		numbers[s.Process()] = true
		for range each {
			all.Go(func() {
				if err := add(s); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	s := share(t, address)
	if got := get(t, s, "n"); got != strconv.Itoa(processes*each) || len(numbers) != processes || numbers[0] {
		t.Errorf("%d writes left %s; the processes are %v", processes*each, got, numbers)
	}
	if there := living(t, s); len(there) != processes+1 || !there[s.Process()] {
		t.Errorf("%v are there", there)
	}
}

func TestWhoServesAloneAndWhoSharesKeepEachOtherOut(t *testing.T) {
	address := storetest.Schema(t)
	s := share(t, address)
	var busy *pg.BusyError
	if _, err := open(t, address); !errors.As(err, &busy) || busy.Address != there {
		t.Errorf("alone beside one that shares: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	alone, err := open(t, address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openShared(t, address); !errors.As(err, &busy) {
		t.Errorf("one that shares beside one alone: %v", err)
	}
	if err := alone.Close(); err != nil {
		t.Fatal(err)
	}
	share(t, address)
}

func TestAProcessThatIsGoneIsTakenOffTheListAndWritesNothingMore(t *testing.T) {
	address := storetest.Schema(t)
	l, way := newLine(t, address)
	gone, stays := share(t, way), share(t, address)
	told := make(chan struct{}, 100)
	stays.Watch([]string{store.Processes}, func() { told <- struct{}{} })
	l.down.Store(true)
	l.cut()
	there := func() bool { return living(t, stays)[gone.Process()] }
	if !there() {
		t.Error("it is taken off the list at once")
	}
	<-told
	eventually(t, "it is taken off the list", func() bool { return !there() })
	l.down.Store(false)
	eventually(t, "it learns of it", func() bool { return gone.Lost().Err() != nil })
	if err := add(gone); !errors.Is(err, pg.ErrTaken) {
		t.Errorf("it writes: %v", err)
	}
	if err := add(stays); err != nil || get(t, stays, "n") != "1" {
		t.Errorf("the other: %v", err)
	}
}

// A machine that stands still keeps its connections, and with them its locks.
func TestAProcessThatStandsStillIsTakenOffTheList(t *testing.T) {
	address := storetest.Schema(t)
	l, way := newLine(t, address)
	still, goesOn := share(t, way), share(t, address)
	unlock, err := still.Lock(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	goOn := make(chan struct{})
	l.stop(goOn)
	standsStill(t, address, still)
	done, err := goesOn.Lock(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	done()
	eventually(t, "it is off the list", func() bool { return !living(t, goesOn)[still.Process()] })
	close(goOn)
	eventually(t, "it learns of it", func() bool { return still.Lost().Err() != nil })
}

// writesSlowly has a process write until goOn is closed, with the lock of writers, and returns once it has that.
func writesSlowly(s *pg.Store, goOn chan struct{}) (ended chan error) {
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- s.Update(func(tx store.Tx) error {
			close(begun)
			<-goOn
			return tx.Bucket("b").Put([]byte("n"), []byte("100"))
		})
	}()
	<-begun
	return ended
}

// It has the lock of writers, so the others wait until its connections are ended.
func TestWhatAProcessWritesThatStandsStillInTheMiddleIsUndoneAndOthersWrite(t *testing.T) {
	address := storetest.Schema(t)
	l, way := newLine(t, address)
	still, goesOn := share(t, way), share(t, address)
	goOn := make(chan struct{})
	ended := writesSlowly(still, goOn)
	l.stop(goOn)
	standsStill(t, address, still)
	if err := add(goesOn); err != nil {
		t.Error(err)
	}
	eventually(t, "it is off the list", func() bool { return !living(t, goesOn)[still.Process()] })
	close(goOn)
	if err := <-ended; !errors.Is(err, store.ErrNotWritten) {
		t.Errorf("it has written: %v", err)
	}
	eventually(t, "it learns of it", func() bool { return still.Lost().Err() != nil })
	if got := get(t, goesOn, "n"); got != "1" {
		t.Errorf("%s is written", got)
	}
}

// Others do not wait longer for a process that stands still in the middle of a write than the server lets it.
func TestOthersWriteSoonAlthoughAProcessStandsStillInTheMiddle(t *testing.T) {
	address := storetest.Schema(t)
	l, way := newLine(t, address)
	still, goesOn := share(t, way), share(t, address)
	goOn := make(chan struct{})
	ended := writesSlowly(still, goOn)
	l.stop(goOn)
	if err := add(goesOn); err != nil {
		t.Error(err)
	}
	close(goOn)
	if err := <-ended; !errors.Is(err, store.ErrNotWritten) {
		t.Errorf("it has written: %v", err)
	}
	eventually(t, "it writes again", func() bool { return add(still) == nil })
	if got := get(t, goesOn, "n"); got != "2" {
		t.Errorf("%s is written", got)
	}
}

// Who is gone is taken off the list under the lock of writers, which a process that stands still may have for long. Its
// connections are ended by the session that would wait, so that does not break.
func TestASessionLastsWhileAProcessThatIsGoneCannotBeTakenOffTheList(t *testing.T) {
	address := storetest.Schema(t)
	l, way := newLine(t, address)
	toGone, wayOfGone := newLine(t, address)
	still, _, goesOn := share(t, way), share(t, wayOfGone), share(t, address)
	goOn := make(chan struct{})
	ended := writesSlowly(still, goOn)
	l.stop(goOn)
	toGone.down.Store(true)
	toGone.cut()
	first, again := 0, 0
	eventually(t, "it is tried", func() bool { first = waitsToWrite(t, address); return first != 0 })
	eventually(t, "it is given up", func() bool { return waitsToWrite(t, address) == 0 })
	eventually(t, "it is tried again", func() bool { again = waitsToWrite(t, address); return again != 0 })
	if first != again {
		t.Error("the session broke")
	}
	standsStill(t, address, still)
	eventually(t, "both are off the list", func() bool { return len(living(t, goesOn)) == 1 })
	close(goOn)
	if err := <-ended; err == nil {
		t.Error("it has written")
	}
}

// waitsToWrite is the process of the server that waits for the lock of writers, 0 for none.
func waitsToWrite(t *testing.T, address string) (pid int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
	if err := c.QueryRow(t.Context(), `select coalesce(max(pid), 0) from pg_locks where locktype = 'advisory'
		and not granted and objid = current_schema()::regnamespace`).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

// standsStill has a process be one that has not told for long that it is at work.
func standsStill(t *testing.T, address string, s *pg.Store) {
	t.Helper()
	storetest.Exec(t, address, `update coffer_seen set at = now() - interval '1 hour' where number = $1`,
		s.Process())
}

// All processes lose their sessions when the server is away. None of them is gone.
func TestProcessesThatWereCutOffTogetherAllComeBack(t *testing.T) {
	address := storetest.Schema(t)
	l, way := newLine(t, address)
	one, two := share(t, way), share(t, way)
	l.down.Store(true)
	l.cut()
	for _, s := range []*pg.Store{one, two} {
		if err := add(s); !errors.Is(err, store.ErrAway) {
			t.Errorf("the server is away: %v", err)
		}
	}
	l.down.Store(false)
	for _, s := range []*pg.Store{one, two, one, two} {
		eventually(t, "it writes again", func() bool { return add(s) == nil })
	}
	if got := get(t, one, "n"); got != "4" || one.Lost().Err() != nil || two.Lost().Err() != nil {
		t.Errorf("%s writes; lost: %v, %v", got, context.Cause(one.Lost()), context.Cause(two.Lost()))
	}
}

func TestWhoWatchesIsToldWhatOthersWrite(t *testing.T) {
	address := storetest.Schema(t)
	one, two := share(t, address), share(t, address)
	var own, others, elsewhere atomic.Int32
	one.Watch([]string{"b"}, func() { own.Add(1) })
	two.Watch([]string{"a", "b"}, func() { others.Add(1) })
	stop := two.Watch([]string{"c"}, func() { elsewhere.Add(1) })
	if err := add(one); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other is told", func() bool { return others.Load() == 1 })
	if own.Load() != 0 || elsewhere.Load() != 0 {
		t.Errorf("told of its own: %d, of another bucket: %d", own.Load(), elsewhere.Load())
	}
	stop()
}

func TestATaskIsThatOfOneProcessAndOfAnotherWhenItIsGone(t *testing.T) {
	address := storetest.Schema(t)
	l, way := newLine(t, address)
	all := []*pg.Store{share(t, way), share(t, address), share(t, address)}
	leads := func() (who int) {
		who = -1
		for i, s := range all {
			if s != nil && s.Leads("task") {
				if who >= 0 {
					t.Fatalf("%d and %d lead", who, i)
				}
				who = i
			}
		}
		return who
	}
	first := -1
	eventually(t, "one leads", func() bool { first = leads(); return first >= 0 })
	if first == 0 {
		l.down.Store(true)
		l.cut()
	} else if err := all[first].Close(); err != nil {
		t.Fatal(err)
	}
	all[first] = nil
	eventually(t, "another one leads", func() bool { return leads() >= 0 })
}

// The server has not noticed yet that a session is gone, and the process has another one, on which tasks are free.
func TestATaskIsNotThatOfAProcessWhoseSessionIsNotBack(t *testing.T) {
	address := storetest.Schema(t)
	l, way := newLine(t, address)
	cut, other := share(t, way), share(t, address)
	l.down.Store(true)
	l.cut()
	old, err := pgx.Connect(t.Context(), address) // stands for the session that is gone
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Close(context.WithoutCancel(t.Context())) }()
	if _, err := old.Exec(t.Context(), `select pg_advisory_lock(
		(select oid from pg_namespace where nspname = current_schema())::bigint << 32 | $1)`,
		int64(cut.Process())); err != nil {
		t.Fatal(err)
	}
	cut.Leads("task")
	l.down.Store(false)
	eventually(t, "it tries", func() bool { return add(cut) == nil })
	time.Sleep(2 * time.Second) // it has other sessions meanwhile
	eventually(t, "another one leads", func() bool { return other.Leads("task") })
	if err := old.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is back", func() bool { _, err := cut.Trouble(); return err == nil && cut.Leads("mine") })
	if cut.Leads("task") || !other.Leads("task") {
		t.Error("two lead")
	}
}

func TestATaskThatAProcessYieldsIsAnotherOnes(t *testing.T) {
	address := storetest.Schema(t)
	one, two := share(t, address), share(t, address)
	eventually(t, "one leads", func() bool { return one.Leads("task") })
	if two.Leads("task") {
		t.Error("two lead")
	}
	one.Yield("task")
	if one.Leads("task") {
		t.Error("it leads still")
	}
	eventually(t, "the other one leads", func() bool { return two.Leads("task") })
	if one.Leads("task") {
		t.Error("two lead")
	}
	one.Yield("task") // is not its own
	if !two.Leads("task") {
		t.Error("it is taken away")
	}
}

// An address names two servers, and the first is gone without a word when the session breaks.
func TestASessionComesBackByTheSecondAddress(t *testing.T) {
	address := storetest.Schema(t)
	l, first := newLine(t, address)
	u, err := url.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Host += "," + second.Host
	s := share(t, u.String())
	goOn := make(chan struct{})
	t.Cleanup(func() { close(goOn) })
	l.stop(goOn)
	l.cut()
	eventually(t, "its session is back", func() bool { _, err := s.Trouble(); return err == nil && s.Leads("task") })
	if err := add(s); err != nil {
		t.Error(err)
	}
}

// A commit of a process has its row until a standby confirms, which may take longer than its session waits.
func TestASessionLastsWhileACommitWaits(t *testing.T) {
	address := storetest.Schema(t)
	s := share(t, address)
	eventually(t, "it leads", func() bool { return s.Leads("task") })
	other, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(context.WithoutCancel(t.Context())) }()
	if _, err := other.Exec(t.Context(), `begin; select from coffer_process for update`); err != nil {
		t.Fatal(err)
	}
	var seen, again time.Time
	at := func(t *testing.T, seen *time.Time) {
		t.Helper()
		if err := other.QueryRow(t.Context(), `select at from coffer_seen`).Scan(seen); err != nil {
			t.Fatal(err)
		}
	}
	at(t, &seen)
	eventually(t, "it tells that it is at work", func() bool { at(t, &again); return again.After(seen) })
	if _, err := s.Trouble(); err != nil || !s.Leads("task") {
		t.Errorf("its session broke: %v", err)
	}
}

func TestWhoIsNamedAsServingIsThere(t *testing.T) {
	address := storetest.Schema(t)
	one := shareAt(t, address, "https://one:1")
	two := shareAt(t, address, "https://two:1")
	named := func(want string) {
		t.Helper()
		var busy *pg.BusyError
		if _, err := open(t, address); !errors.As(err, &busy) || busy.Address != want {
			t.Errorf("named is %v, there is %s", busy, want)
		}
	}
	named("https://two:1")
	if err := two.Close(); err != nil {
		t.Fatal(err)
	}
	named("https://one:1")
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
}

// A process of an earlier version cannot serve from newer tables. While others do, it learns where.
func TestAnEarlierVersionLearnsWhoServes(t *testing.T) {
	address := storetest.Schema(t)
	s := share(t, address)
	storetest.Exec(t, address, `insert into coffer_schema (version) select max(version) + 1 from coffer_schema`)
	var busy *pg.BusyError
	if _, err := openShared(t, address); !errors.As(err, &busy) || busy.Address != there {
		t.Errorf("%v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := openShared(t, address); !errors.Is(err, store.ErrNewer) {
		t.Errorf("%v", err)
	}
}

func TestALockIsHeldByOneProcessAtATime(t *testing.T) {
	address := storetest.Schema(t)
	one, two := share(t, address), share(t, address)
	unlock, err := one.Lock(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	other, err := two.Lock(t.Context(), "y")
	if err != nil {
		t.Fatal(err)
	}
	other()
	ctx, leave := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer leave()
	if _, err := two.Lock(ctx, "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("two hold it: %v", err)
	}
	if _, err := two.Trouble(); err != nil {
		t.Errorf("who waits no longer says of the database: %v", err)
	}
	got := make(chan error)
	go func() {
		unlock, err := two.Lock(t.Context(), "x")
		if err == nil {
			unlock()
		}
		got <- err
	}()
	unlock()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// Between a commit whose answer was lost and the question what became of it, another process writes the same record.
func TestALostCommitIsFoundAlthoughOthersHaveWrittenSince(t *testing.T) {
	address := storetest.Schema(t)
	l, way := newLine(t, address)
	one, two := share(t, way), share(t, address)
	if err := errors.Join(add(one), add(two)); err != nil {
		t.Fatal(err)
	}
	var armed atomic.Bool
	l.toServer = func(b []byte) (bool, bool) {
		if !bytes.Contains(b, []byte("commit\x00")) || !armed.CompareAndSwap(true, false) {
			return true, false
		}
		l.down.Store(true) // it asks later
		go func() {
			if err := add(two); err != nil {
				t.Error(err)
			}
			l.down.Store(false)
		}()
		return true, true
	}
	armed.Store(true)
	if err := add(one); err != nil {
		t.Errorf("it was committed: %v", err)
	}
	if got := get(t, two, "n"); got != "4" {
		t.Errorf("%s were written", got)
	}
}

// All sessions of those that serve are gone for a moment, in which a newer version makes its tables.
func TestWhoKnewEarlierTablesWritesNothingMoreOnceTheyHaveChanged(t *testing.T) {
	address := storetest.Schema(t)
	l, way := newLine(t, address)
	earlier := share(t, way)
	l.down.Store(true)
	l.cut()
	pg.Later(t)
	eventually(t, "it makes its tables", func() bool {
		s, err := openShared(t, address)
		if err == nil {
			t.Cleanup(func() { _ = s.Close() })
		}
		return err == nil
	})
	l.down.Store(false)
	eventually(t, "the earlier one has lost the database", func() bool {
		return errors.Is(add(earlier), pg.ErrTaken) && earlier.Lost().Err() != nil
	})
}

// A server that has just started cut off all that serve at once. Who wants to be alone does not take their place.
func TestProcessesMayComeBackToAServerThatHasStarted(t *testing.T) {
	server := storetest.NewServer(t, "alone")
	l, way := newLine(t, server.Address)
	s := share(t, way)
	l.down.Store(true)
	server.Do("kill")
	server.Do("start")
	if _, err := open(t, server.Address); !errors.As(err, new(*pg.BusyError)) {
		t.Errorf("one alone: %v", err)
	}
	l.down.Store(false)
	eventually(t, "it writes again", func() bool { return add(s) == nil })
}

// Tables change only under a process that is alone.
func TestTablesOfAnEarlierVersionStayWhileOthersServeFromThem(t *testing.T) {
	address := storetest.Schema(t)
	s := share(t, address)
	earlier, err := pgx.Connect(t.Context(), address) // a process that knows nothing of the newer tables
	if err != nil {
		t.Fatal(err)
	}
	tag, err := earlier.Exec(t.Context(), `select pg_advisory_lock_shared(classid::int, objid::int) from pg_locks
		where locktype = 'advisory' and objsubid = 2 and mode = 'ShareLock' and granted
		and objid = (select oid from pg_namespace where nspname = current_schema())`)
	if err != nil || tag.RowsAffected() != 1 {
		t.Fatal(tag, err)
	}
	storetest.Exec(t, address, `drop table coffer_seen, coffer_process; alter table coffer_holder drop column last;
		delete from coffer_schema where version = 3`)
	if _, err := openShared(t, address); !errors.As(err, new(*pg.BusyError)) {
		t.Errorf("%v", err)
	}
	if err := errors.Join(s.Close(), earlier.Close(t.Context())); err != nil {
		t.Log(err) // it has no table to leave
	}
	if err := add(share(t, address)); err != nil {
		t.Error(err)
	}
}
