package store_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// both runs a test on each kind of store.
func both(t *testing.T, test func(t *testing.T, s store.Store)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { test(t, store.NewMemory()) })
	t.Run("file", func(t *testing.T) { test(t, openFile(t, filepath.Join(t.TempDir(), "coffer.db"))) })
	if storetest.PostgreSQL() {
		t.Run("postgres", func(t *testing.T) { test(t, storetest.New(t)) })
	}
}

func openFile(t *testing.T, path string) store.Store {
	t.Helper()
	s, err := store.OpenBolt(path, store.BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t *testing.T, s store.Store, bucket, key, value string) {
	t.Helper()
	err := s.Update(func(tx store.Tx) error { return tx.Bucket(bucket).Put([]byte(key), []byte(value)) })
	if err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s store.Store, bucket, key string) []byte {
	t.Helper()
	var v []byte
	if err := s.View(func(tx store.Tx) error { v = tx.Bucket(bucket).Get([]byte(key)); return nil }); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestFailedUpdateLeavesNothing(t *testing.T) {
	both(t, func(t *testing.T, s store.Store) {
		put(t, s, "b", "k", "old")
		want := errors.New("no")
		err := s.Update(func(tx store.Tx) error {
			if err := tx.Bucket("b").Put([]byte("k"), []byte("new")); err != nil {
				return err
			}
			return want
		})
		if !errors.Is(err, want) || err.Error() != want.Error() {
			t.Fatalf("the function's error must come back as it is, got %v", err)
		}
		if got := get(t, s, "b", "k"); string(got) != "old" {
			t.Fatalf("value is %q", got)
		}
	})
}

func TestPanicInUpdateLeavesNothingAndUnlocks(t *testing.T) {
	both(t, func(t *testing.T, s store.Store) {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = s.Update(func(tx store.Tx) error {
				_ = tx.Bucket("b").Put([]byte("k"), []byte("v"))
				panic("broken")
			})
		}()
		if get(t, s, "b", "k") != nil {
			t.Fatal("a panicking update was kept")
		}
		put(t, s, "b", "k", "v")
	})
}

func TestReadViewsRefuseWrites(t *testing.T) {
	both(t, func(t *testing.T, s store.Store) {
		put(t, s, "b", "k", "v")
		refuse := func(tx store.Tx) error {
			for _, name := range []string{"b", "never written"} {
				if err := tx.Bucket(name).Put([]byte("k"), nil); !errors.Is(err, store.ErrReadOnly) {
					t.Errorf("put: %v", err)
				}
				if err := tx.Bucket(name).Delete([]byte("k")); !errors.Is(err, store.ErrReadOnly) {
					t.Errorf("delete: %v", err)
				}
			}
			return nil
		}
		if err := s.View(refuse); err != nil {
			t.Fatal(err)
		}
		snap, err := s.Snapshot(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Release()
		_ = refuse(snap)
	})
}

func TestKeysAndBucketNamesAreChecked(t *testing.T) {
	both(t, func(t *testing.T, s store.Store) {
		_ = s.Update(func(tx store.Tx) error {
			b := tx.Bucket("b")
			if err := b.Put(nil, nil); !errors.Is(err, store.ErrKey) {
				t.Errorf("empty key: %v", err)
			}
			if err := b.Put(make([]byte, store.MaxKey+1), nil); !errors.Is(err, store.ErrKey) {
				t.Errorf("long key: %v", err)
			}
			if err := b.Put(make([]byte, store.MaxKey), nil); err != nil {
				t.Errorf("longest key: %v", err)
			}
			if err := tx.Bucket("").Put([]byte("k"), nil); !errors.Is(err, store.ErrBucketName) {
				t.Errorf("bucket without a name: %v", err)
			}
			return nil
		})
	})
}

func TestEmptyValueIsPresent(t *testing.T) {
	both(t, func(t *testing.T, s store.Store) {
		put(t, s, "b", "k", "")
		if got := get(t, s, "b", "k"); got == nil || len(got) != 0 {
			t.Fatalf("an empty value reads as %v", got)
		}
	})
}

func TestValuesAreCopiedInAndOut(t *testing.T) {
	both(t, func(t *testing.T, s store.Store) {
		in := []byte("value")
		err := s.Update(func(tx store.Tx) error {
			if err := tx.Bucket("b").Put([]byte("k"), in); err != nil {
				return err
			}
			copy(in, "XXXXX")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		copy(get(t, s, "b", "k"), "YYYYY")
		if got := get(t, s, "b", "k"); string(got) != "value" {
			t.Fatalf("value is %q", got)
		}
	})
}

func TestHandlesOfOneBucketSeeEachOther(t *testing.T) {
	both(t, func(t *testing.T, s store.Store) {
		err := s.Update(func(tx store.Tx) error {
			before := tx.Bucket("new")
			if err := tx.Bucket("new").Put([]byte("k"), []byte("v")); err != nil {
				return err
			}
			if got := before.Get([]byte("k")); string(got) != "v" {
				t.Errorf("a handle from before the first write reads %q", got)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestScanStopsWhenAsked(t *testing.T) {
	both(t, func(t *testing.T, s store.Store) {
		for _, k := range []string{"a", "b", "c"} {
			put(t, s, "b", k, k)
		}
		_ = s.View(func(tx store.Tx) error {
			n := 0
			stop := func(_, _ []byte) bool { n++; return false }
			tx.Bucket("b").Ascend(nil, stop)
			tx.Bucket("b").Descend(nil, stop)
			if n != 2 {
				t.Errorf("%d calls, want 2", n)
			}
			return nil
		})
	})
}

func TestClosedStoreRefusesEverything(t *testing.T) {
	both(t, func(t *testing.T, s store.Store) {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatalf("second close: %v", err)
		}
		nothing := func(store.Tx) error { t.Error("a closed store ran a transaction"); return nil }
		if err := s.View(nothing); !errors.Is(err, store.ErrClosed) {
			t.Errorf("view: %v", err)
		}
		if err := s.Update(nothing); !errors.Is(err, store.ErrClosed) {
			t.Errorf("update: %v", err)
		}
		if _, err := s.Snapshot(context.Background()); !errors.Is(err, store.ErrClosed) {
			t.Errorf("snapshot: %v", err)
		}
	})
}

func TestSnapshotMayBeReleasedTwice(t *testing.T) {
	both(t, func(t *testing.T, s store.Store) {
		snap, err := s.Snapshot(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		snap.Release()
		snap.Release()
		put(t, s, "b", "k", "v")
	})
}

// Two counters are written together; no reader may ever see them differ.
func TestReadersNeverSeeHalfAnUpdate(t *testing.T) {
	both(t, func(t *testing.T, s store.Store) {
		const rounds = 300
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					snap, err := s.Snapshot(context.Background())
					if err != nil {
						t.Error(err)
						return
					}
					x, y := snap.Bucket("x").Get([]byte("n")), snap.Bucket("y").Get([]byte("n"))
					snap.Release()
					if !bytes.Equal(x, y) {
						t.Errorf("half an update: %q and %q", x, y)
						return
					}
				}
			})
		}
		var writers sync.WaitGroup
		for range 2 {
			writers.Go(func() {
				for range rounds {
					if err := s.Update(increment); err != nil {
						t.Error(err)
					}
				}
			})
		}
		writers.Wait()
		close(stop)
		wg.Wait()
		if got := get(t, s, "x", "n"); len(got) != 2*rounds {
			t.Fatalf("counted to %d, want %d: an update was lost", len(got), 2*rounds)
		}
	})
}

// increment counts in the length of a value.
func increment(tx store.Tx) error {
	for _, name := range []string{"x", "y"} {
		b := tx.Bucket(name)
		if err := b.Put([]byte("n"), append(b.Get([]byte("n")), 'i')); err != nil {
			return err
		}
	}
	return nil
}
