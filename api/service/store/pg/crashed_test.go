package pg_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"coffer/api/service/store"
	"coffer/api/service/store/pg"
	"coffer/api/service/store/storetest"
)

// The server is killed before it gets a commit. It has forgotten the number of the transaction, which never reached its
// disk, and gives it to transactions of others that do commit.
func TestACommitThatACrashForgotIsNotTakenForThatOfAnother(t *testing.T) {
	server := storetest.NewServer(t, "alone")
	l, way := newLine(t, server.Address)
	var armed atomic.Bool
	l.toServer = func(b []byte) (bool, bool) {
		if !bytes.Contains(b, []byte("commit\x00")) || !armed.CompareAndSwap(true, false) {
			return true, false
		}
		l.down.Store(true)
		defer l.down.Store(false)
		server.Do("kill")
		server.Do("start")
		for range 20 {
			storetest.Exec(t, server.Address, `create table if not exists others (n int)`)
			storetest.Exec(t, server.Address, `insert into others values (1)`)
		}
		return false, true
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
	if got := get(t, s, "k"); !errors.Is(err, store.ErrNotWritten) || got != "old" {
		t.Errorf("stored is %q, and the writer was told %v", got, err)
	}
	if err := put(s, "k", "next"); err != nil || get(t, s, "k") != "next" {
		t.Errorf("what follows: %v", err)
	}
}

// A dump is restored in the place of the tables, with --clean, and the connections of the process stay.
func TestTablesThatWereReplacedAreNotWritten(t *testing.T) {
	address := storetest.Schema(t)
	s := storetest.Open(t, address)
	if err := put(s, "k", "old"); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, address, `alter table coffer_record rename to replaced;
		create table coffer_record (like replaced including all); insert into coffer_record select * from replaced`)
	if err := put(s, "k", "new"); !errors.Is(err, pg.ErrOlder) || !errors.Is(err, store.ErrNotWritten) {
		t.Errorf("%v", err)
	}
	if got := get(t, s, "k"); got != "old" || !errors.Is(context.Cause(s.Lost()), pg.ErrOlder) {
		t.Errorf("stored is %q, lost: %v", got, context.Cause(s.Lost()))
	}
}
