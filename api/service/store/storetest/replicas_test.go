package storetest_test

import (
	"context"
	"errors"
	"testing"

	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

func put(bucket string) func(store.Tx) error {
	return func(tx store.Tx) error { return tx.Bucket(bucket).Put([]byte("key"), []byte("value")) }
}

func living(t *testing.T, s store.Store) (all map[uint64]bool) {
	t.Helper()
	if err := s.View(func(tx store.Tx) (err error) {
		all, err = tx.(store.Living).Living()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEachProcessIsToldOfWhatAnotherCommitted(t *testing.T) {
	db := storetest.NewDatabase()
	a, b := db.Open(), db.Open()
	told := 0
	stop := store.Watch(b, []string{"one", "two"}, func() { told++ })
	own := 0
	store.Watch(a, []string{"one"}, func() { own++ })
	for _, bucket := range []string{"one", "two", "three"} {
		if err := a.Update(put(bucket)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Update(func(store.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if told != 2 || own != 0 {
		t.Errorf("told %d times, of its own %d times", told, own)
	}
	stop()
	if err := a.Update(put("one")); err != nil || told != 2 {
		t.Errorf("%v, told %d times", err, told)
	}
}

func TestWhatAnEndedProcessHadIsAnothersAndItWritesNoMore(t *testing.T) {
	db := storetest.NewDatabase()
	a, b := db.Open(), db.Open()
	if n := living(t, a); store.Process(a) == store.Process(b) || len(n) != 2 || !n[a.Process()] {
		t.Errorf("%d and %d: %v", a.Process(), b.Process(), n)
	}
	if !store.Leads(a, "task") || store.Leads(b, "task") || !store.Leads(b, "other") {
		t.Error("a task is not one process's alone")
	}
	if _, err := store.Lock(t.Context(), a, "lock"); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.Lock(over, b, "lock"); !errors.Is(err, context.Canceled) {
		t.Errorf("two have a lock: %v", err)
	}
	a.End()
	unlock, err := store.Lock(t.Context(), b, "lock")
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if store.Leads(a, "task") || !store.Leads(b, "task") || len(living(t, b)) != 1 {
		t.Error("it still leads")
	}
	if err := a.Update(put("one")); !errors.Is(err, store.ErrNotWritten) {
		t.Errorf("it still writes: %v", err)
	}
	if err := b.Update(put("one")); err != nil {
		t.Error(err)
	}
}
