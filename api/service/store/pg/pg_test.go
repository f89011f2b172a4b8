package pg_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"golang.org/x/sync/errgroup"

	"coffer/api/service/store"
	"coffer/api/service/store/pg"
	"coffer/api/service/store/storetest"
)

func open(t *testing.T, address string) (*pg.Store, error) {
	t.Helper()
	a, err := pg.ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	s, err := pg.Open(t.Context(), a, pg.Options{Holder: "another test"})
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, err
}

func put(s store.Store, key, value string) error {
	return s.Update(func(tx store.Tx) error { return tx.Bucket("b").Put([]byte(key), []byte(value)) })
}

func get(t *testing.T, s store.Store, key string) string {
	t.Helper()
	v, err := store.Get(s, "b", []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	return string(v)
}

func TestADatabaseOfANewerVersionIsLeftAlone(t *testing.T) {
	address := storetest.Schema(t)
	if err := storetest.Open(t, address).Close(); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, address, "insert into coffer_schema (version) values (1000)")
	if _, err := open(t, address); !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), "1000") {
		t.Errorf("%v", err)
	}
}

func TestARoleThatMayNotMakeTablesIsToldWhatToDo(t *testing.T) {
	address := storetest.Schema(t)
	role := "r" + fmt.Sprint(time.Now().UnixNano())
	storetest.Exec(t, address, "create role "+role+" login")
	t.Cleanup(func() { storetest.Exec(t, address, "drop role "+role) })
	u, _ := url.Parse(address)
	u.User = url.User(role)
	if _, err := open(t, u.String()); !errors.Is(err, pg.ErrRole) {
		t.Errorf("a role without rights: %v", err)
	}
	u.User = url.User("nobody_at_all")
	if _, err := open(t, u.String()); !errors.Is(err, pg.ErrRole) {
		t.Errorf("no such role: %v", err)
	}
	u.User, u.Path = url.User("coffer"), "/no_such_database"
	if _, err := open(t, u.String()); !errors.Is(err, pg.ErrServer) || !strings.Contains(err.Error(), "createdb") {
		t.Errorf("no such database: %v", err)
	}
}

func TestAServerThatOnlyReadsIsRefused(t *testing.T) {
	address := storetest.Schema(t)
	if _, err := open(t, address+"&default_transaction_read_only=on"); !errors.Is(err, pg.ErrServer) ||
		!strings.Contains(err.Error(), "primary") {
		t.Errorf("%v", err)
	}
}

func TestAServerThatForgetsCommitsIsRefused(t *testing.T) {
	a, err := pg.ParseAddress(storetest.Schema(t) + "&synchronous_commit=off")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Open(t.Context(), a, pg.Options{}); !errors.Is(err, pg.ErrServer) {
		t.Errorf("%v", err)
	}
}

func TestASecondProcessIsRefusedAndSaysWhoHasTheDatabase(t *testing.T) {
	address := storetest.Schema(t)
	first := storetest.Open(t, address)
	if _, err := open(t, address); !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), "test has it") {
		t.Fatalf("%v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, address); err != nil {
		t.Errorf("after the first has closed: %v", err)
	}
}

// TestASecondProcessLearnsWhereTheFirstIsReached, unless the tables are those of a version that did not tell.
func TestASecondProcessLearnsWhereTheFirstIsReached(t *testing.T) {
	schema := storetest.Schema(t)
	a, err := pg.ParseAddress(schema)
	if err != nil {
		t.Fatal(err)
	}
	first, err := pg.Open(t.Context(), a, pg.Options{Holder: "the first", Address: "https://10.0.0.1:8443"})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	for _, want := range []string{"https://10.0.0.1:8443", ""} {
		_, err := open(t, schema)
		busy, is := errors.AsType[*pg.BusyError](err)
		if !is || busy.Address != want || busy.Holder != "the first" || busy.Since.IsZero() {
			t.Errorf("%+v, %v", busy, err)
		}
		storetest.Exec(t, schema, "alter table coffer_holder drop column if exists address")
	}
}

// Another process took over while this one could not be seen. Whatever this one still wants to write is out of date.
func TestWhoWasReplacedWritesNothingMore(t *testing.T) {
	address := storetest.Schema(t)
	s := storetest.Open(t, address)
	if err := put(s, "k", "mine"); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, address, "update coffer_holder set claim = claim + 1, name = 'the other'")
	ran := false
	err := s.Update(func(store.Tx) error { ran = true; return nil })
	if !errors.Is(err, pg.ErrTaken) || ran {
		t.Errorf("%v, the function ran: %v", err, ran)
	}
	select {
	case <-s.Lost().Done():
	case <-time.After(10 * time.Second):
		t.Error("nobody is told")
	}
	if get(t, s, "k") != "mine" {
		t.Error("what was written is gone")
	}
}

// What somebody wrote by hand is not what the service wrote.
func TestAChangedRecordIsFoundDamaged(t *testing.T) {
	address := storetest.Schema(t)
	s := storetest.Open(t, address)
	if err := errors.Join(put(s, "a", "one"), put(s, "z", "two")); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, address, `update coffer_record set value = '\x6f6e65' where key = 'a'`)
	if _, err := store.Get(s, "b", []byte("a")); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("%v", err)
	}
	var seen, told int
	err := s.View(func(tx store.Tx) error {
		store.Fetch(tx, "b", [][]byte{[]byte("a")})
		_ = tx.Bucket("b").Get([]byte("a"))
		return nil
	})
	if !errors.Is(err, store.ErrDamaged) {
		t.Errorf("fetched: %v", err)
	}
	err = s.View(func(tx store.Tx) error {
		tx.Bucket("b").Reporting(func(error) { told++ }).Ascend(nil, func(_, _ []byte) bool { seen++; return true })
		return nil
	})
	if err != nil || seen != 1 || told != 1 {
		t.Errorf("%d seen, %d reported, %v", seen, told, err)
	}
}

func TestWhatIsFetchedTakesOneWay(t *testing.T) {
	address := storetest.Schema(t)
	watched := storetest.Watch(t, address)
	s := storetest.Open(t, watched.Address)
	var keys [][]byte
	if err := s.Update(func(tx store.Tx) error {
		for i := range byte(100) {
			keys = append(keys, []byte{'k', i})
			if err := tx.Bucket("b").Put(keys[i], []byte{i}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	watched.Taken()
	if err := s.View(func(tx store.Tx) error {
		store.Fetch(tx, "b", append(keys, []byte("none")))
		for i, k := range keys {
			for range 2 {
				v := tx.Bucket("b").Get(k)
				if len(v) != 1 || v[0] != byte(i) {
					t.Errorf("%d is %v", i, v)
				}
				v[0] = 200 // is the caller's
			}
		}
		if v := tx.Bucket("b").Get([]byte("none")); v != nil {
			t.Errorf("there is %v", v)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if made, ways := watched.Taken(); ways > 3 {
		t.Errorf("%d ways: %v", ways, made)
	}
}

func TestAFullDiskOfTheServerIsTold(t *testing.T) {
	address := storetest.Schema(t)
	s := storetest.Open(t, address)
	storetest.Exec(t, address, `create function full_disk() returns trigger language plpgsql as
		$$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`)
	storetest.Exec(t, address, `create trigger full_disk before insert on coffer_record execute function full_disk()`)
	if err := put(s, "k", "v"); !errors.Is(err, store.ErrFull) || !errors.Is(err, store.ErrNotWritten) {
		t.Errorf("%v", err)
	}
	if _, err := store.Trouble(s); !errors.Is(err, store.ErrFull) {
		t.Errorf("trouble: %v", err)
	}
	storetest.Exec(t, address, `drop trigger full_disk on coffer_record`)
	if err := put(s, "k", "v"); err != nil {
		t.Error(err)
	}
	if _, err := store.Trouble(s); err != nil {
		t.Errorf("trouble after there was room again: %v", err)
	}
}

func TestFrozenViewsAreBounded(t *testing.T) {
	s := storetest.Open(t, storetest.Schema(t))
	for i := 0; ; i++ {
		v, err := s.Snapshot(context.Background())
		if err != nil {
			if !errors.Is(err, store.ErrBusy) || i < 4 {
				t.Errorf("the %d-th: %v", i, err)
			}
			break
		}
		defer v.Release()
	}
	if err := put(s, "k", "v"); err != nil {
		t.Errorf("a writer needs a connection all the same: %v", err)
	}
}

// Twenty requests each hold a frozen view while they open three more: they take turns, and none waits for one who
// waits.
func TestWhoHoldsAFrozenViewGetsFurtherOnes(t *testing.T) {
	s := storetest.Open(t, storetest.Schema(t))
	var all errgroup.Group
	for range 20 {
		all.Go(func() (err error) {
			ctx := store.Reading(t.Context())
			first, err := s.Snapshot(ctx)
			if err != nil {
				return fmt.Errorf("the first: %w", err)
			}
			defer first.Release()
			for range 3 {
				if err := put(s, "k", "v"); err != nil { // an Update between them, on a connection of its own
					return err
				}
				v, err := s.Snapshot(ctx)
				if err != nil {
					return fmt.Errorf("a further one: %w", err)
				}
				v.Release()
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
}

// A request whose caller has gone does not wait any longer.
func TestWhoWaitsForAFrozenViewGivesUpWithItsRequest(t *testing.T) {
	s := storetest.Open(t, storetest.Schema(t))
	for {
		v, err := s.Snapshot(t.Context())
		if err != nil {
			break
		}
		defer v.Release()
	}
	gone := errors.New("the caller has gone")
	ctx, leave := context.WithCancelCause(t.Context())
	leave(gone)
	if _, err := s.Snapshot(ctx); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}

// line is a way to the server that can break.
type line struct {
	net.Listener
	to       string
	mu       sync.Mutex
	open     []net.Conn
	down     atomic.Bool
	still    atomic.Pointer[chan struct{}] // until it is closed nothing goes through
	toServer func([]byte) (forward, cut bool)
	toClient func([]byte)
}

// newLine returns a line to the server of an address, and the address by that line.
func newLine(t *testing.T, address string) (*line, string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l := &line{to: u.Host}
	if l.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(); l.cut() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if l.down.Load() {
				c.Close()
				continue
			}
			s, err := net.Dial("tcp", l.to)
			if err != nil {
				c.Close()
				continue
			}
			l.mu.Lock()
			l.open = append(l.open, c, s)
			l.mu.Unlock()
			go l.forward(c, s)
			go l.back(s, c)
		}
	}()
	u.Host = l.Addr().String()
	return l, u.String()
}

func (l *line) forward(c, s net.Conn) {
	buf := make([]byte, 1<<16)
	for {
		n, err := c.Read(buf)
		if err != nil {
			s.Close()
			return
		}
		l.stands()
		forward, cut := true, false
		if l.toServer != nil {
			forward, cut = l.toServer(buf[:n])
		}
		if forward {
			_, _ = s.Write(buf[:n])
		}
		if cut {
			c.Close()
			time.Sleep(200 * time.Millisecond) // the server has done it by then
			s.Close()
			return
		}
	}
}

func (l *line) back(s, c net.Conn) {
	buf := make([]byte, 1<<16)
	for {
		n, err := s.Read(buf)
		if err != nil {
			c.Close()
			return
		}
		l.stands()
		if l.toClient != nil {
			l.toClient(buf[:n])
		}
		_, _ = c.Write(buf[:n])
	}
}

// stop keeps everything back until goOn is closed. New connections wait as well.
func (l *line) stop(goOn chan struct{}) { l.still.Store(&goOn) }

func (l *line) stands() {
	if goOn := l.still.Load(); goOn != nil {
		<-*goOn
	}
}

// cut breaks every connection.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.open {
		c.Close()
	}
	l.open = nil
}

// The line breaks between the commit and its answer. What Update says is what is stored, whichever it is.
func TestACommitWhoseAnswerWasLostIsLookedUp(t *testing.T) {
	for name, arrives := range map[string]bool{"it arrived": true, "it did not": false} {
		t.Run(name, func(t *testing.T) {
			address := storetest.Schema(t)
			l, way := newLine(t, address)
			var armed atomic.Bool
			l.toServer = func(b []byte) (bool, bool) {
				if bytes.Contains(b, []byte("commit\x00")) && armed.CompareAndSwap(true, false) {
					return arrives, true
				}
				return true, false
			}
			s := storetest.Open(t, way)
			if err := put(s, "k", "old"); err != nil {
				t.Fatal(err)
			}
			armed.Store(true)
			err := put(s, "k", "new")
			if armed.Load() {
				t.Fatal("no commit was seen")
			}
			want := "old"
			if arrives {
				want = "new"
			}
			if (err == nil) != arrives || err != nil && !errors.Is(err, store.ErrNotWritten) {
				t.Errorf("%v", err)
			}
			if got := get(t, s, "k"); got != want {
				t.Errorf("stored is %q, expected %q", got, want)
			}
			if err := put(s, "k", "next"); err != nil || get(t, s, "k") != "next" {
				t.Errorf("what follows: %v", err)
			}
		})
	}
}

func TestADatabaseThatWasAwayIsUsedAgainWithoutARestart(t *testing.T) {
	address := storetest.Schema(t)
	l, way := newLine(t, address)
	s := storetest.Open(t, way)
	if err := put(s, "k", "v"); err != nil {
		t.Fatal(err)
	}
	l.down.Store(true)
	l.cut()
	begun := time.Now()
	for deadline := begun.Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) { // nobody asks for anything
		if _, err := store.Trouble(s); errors.Is(err, store.ErrAway) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody is told while nothing is asked")
		}
	}
	for i := range 4 {
		if err := put(s, "k", "lost"); !errors.Is(err, store.ErrAway) {
			t.Fatalf("write %d: %v", i, err)
		}
		if _, err := store.Get(s, "b", []byte("k")); !errors.Is(err, store.ErrAway) {
			t.Fatalf("read %d: %v", i, err)
		}
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("the answers took %s", took)
	}
	if _, err := store.Trouble(s); !errors.Is(err, store.ErrAway) {
		t.Errorf("trouble: %v", err)
	}
	l.down.Store(false)
	deadline := time.Now().Add(20 * time.Second)
	for put(s, "k", "back") != nil {
		if time.Now().After(deadline) {
			t.Fatal("it is never used again")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if got := get(t, s, "k"); got != "back" || s.Lost().Err() != nil {
		t.Errorf("stored is %q, lost: %v", got, s.Lost().Err())
	}
}

// A pooler answers with a number of its own in place of that of the server's process.
func TestAPoolerIsRefused(t *testing.T) {
	l, way := newLine(t, storetest.Schema(t))
	l.toClient = func(b []byte) {
		if i := bytes.Index(b, []byte{'K', 0, 0, 0, 12}); i >= 0 && len(b) >= i+9 {
			binary.BigEndian.PutUint32(b[i+5:], 7)
		}
	}
	if _, err := open(t, way); !errors.Is(err, pg.ErrServer) || !strings.Contains(err.Error(), "pooler") {
		t.Errorf("%v", err)
	}
}

func TestWhatIsNoDatabaseServerIsAway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			c.Close()
		}
	}()
	if _, err := open(t, "postgres://u@"+l.Addr().String()+"/db"); !errors.Is(err, store.ErrAway) {
		t.Errorf("%v", err)
	}
}

// standby is what the server takes for a standby, until the test ends or it leaves.
func standby(t *testing.T, address string) (leave func()) {
	t.Helper()
	config, err := pgconn.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	delete(config.RuntimeParams, "search_path")
	config.RuntimeParams["replication"] = "true"
	c, err := pgconn.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	leave = func() { _ = c.Conn().Close() } // as a server that is gone
	t.Cleanup(leave)
	at, err := c.Exec(t.Context(), "IDENTIFY_SYSTEM").ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	c.Frontend().SendQuery(&pgproto3.Query{String: fmt.Sprintf("START_REPLICATION PHYSICAL %s", at[0].Rows[0][2])})
	if err := c.Frontend().Flush(); err != nil {
		t.Fatal(err)
	}
	for {
		m, err := c.ReceiveMessage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *pgproto3.CopyBothResponse:
			return leave
		case *pgproto3.ErrorResponse:
			t.Fatal(pgconn.ErrorResponseToPgError(m))
		}
	}
}

// A standby that may lack what was confirmed is refused where money is at stake, and told of when it comes later.
func TestACommitThatAStandbyMayLackIsNotEnoughForMoney(t *testing.T) {
	address := storetest.Schema(t)
	a, err := pg.ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	leave := standby(t, address)
	if _, err := pg.Open(t.Context(), a, pg.Options{Money: true}); !errors.Is(err, pg.ErrServer) ||
		!strings.Contains(err.Error(), "synchronous_standby_names") {
		t.Fatalf("%v", err)
	}
	if s, err := pg.Open(t.Context(), a, pg.Options{}); err != nil {
		t.Errorf("play money: %v", err)
	} else if err := s.Close(); err != nil {
		t.Error(err)
	}
	leave()
	log := new(said)
	open := func() (s *pg.Store, err error) {
		return pg.Open(t.Context(), a, pg.Options{Money: true, Look: time.Millisecond,
			Log: slog.New(slog.NewTextHandler(log, nil))})
	}
	s, err := open()
	for end := time.Now().Add(time.Minute); err != nil && time.Now().Before(end); s, err = open() { // until it has left
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	leave = standby(t, address)
	log.waits(t, "code="+pg.CodeUnsafe)
	leave()
	log.waits(t, "code="+pg.CodeUnsafe+" over=true")
}

// said is a log that is read while it is written to.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *said) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *said) waits(t *testing.T, word string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		l.mu.Lock()
		text := l.text.String()
		l.mu.Unlock()
		if strings.Contains(text, word) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the log does not say %q:\n%s", word, text)
		}
	}
}

// A machine whose clock is a minute off would make the next one wait for it.
func TestAClockThatIsNotTheServersIsRefused(t *testing.T) {
	a, err := pg.ParseAddress(storetest.Schema(t))
	if err != nil {
		t.Fatal(err)
	}
	for off, words := range map[time.Duration]string{time.Minute: "ahead of", -time.Minute: "behind"} {
		clock := func() time.Time { return time.Now().Add(off) }
		if _, err := pg.Open(t.Context(), a, pg.Options{Clock: clock}); err == nil ||
			!strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "time server") {
			t.Errorf("%s off: %v", off, err)
		}
	}
	s, err := pg.Open(t.Context(), a, pg.Options{Clock: func() time.Time { return time.Now().Add(5 * time.Second) }})
	if err != nil {
		t.Fatalf("5 s off: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestAnotherTableInThePlaceOfTheRecordsIsNoticed: a dump was restored in the place of the records. Who had them opened
// writes nothing more, and what is opened next says that it is another.
func TestAnotherTableInThePlaceOfTheRecordsIsNoticed(t *testing.T) {
	address := storetest.Schema(t)
	s, err := open(t, address)
	if err != nil {
		t.Fatal(err)
	}
	if err := put(s, "a", "1"); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, address, `do $$ begin
		alter table coffer_record rename to dumped;
		create table coffer_record (like dumped including all);
		insert into coffer_record select * from dumped;
		drop table dumped;
		perform pg_terminate_backend(pid) from pg_stat_activity where pid != pg_backend_pid() and application_name like
			'coffer%' and datname = current_database() and query like '%coffer_%';
		end $$`)
	select {
	case <-s.Lost().Done():
	case <-time.After(20 * time.Second):
		t.Fatal("it does not see that the records are others")
	}
	if err := put(s, "a", "2"); !errors.Is(err, pg.ErrOlder) {
		t.Errorf("it wrote: %v", err)
	}
	_ = s.Close()
	next, err := open(t, address)
	if err != nil {
		t.Fatal(err)
	}
	if next.Lineage() == s.Lineage() || get(t, next, "a") != "1" {
		t.Errorf("%s, and %s before", next.Lineage(), s.Lineage())
	}
	_ = next.Close()
	again, err := open(t, address)
	if err != nil {
		t.Fatal(err)
	}
	if again.Lineage() != next.Lineage() {
		t.Errorf("the same records are %s and %s", again.Lineage(), next.Lineage())
	}
}
