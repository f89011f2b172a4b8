package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"coffer/api/service/store"
)

func TestAReadOnlyFileIsReadBySeveralAndChangedByNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "coffer.db")
	s, err := store.OpenBolt(path, store.BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	put := func(tx store.Tx) error { return tx.Bucket("b").Put([]byte("k"), []byte("v")) }
	if err := errors.Join(s.Update(put), s.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := store.OpenReadOnly(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := errors.Join(r.Close(), r.Close()); err != nil {
				t.Error(err)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
				t.Errorf("the file has changed (%v)", err)
			}
		}()
		if err := r.Update(put); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%v, expected ErrReadOnly", err)
		}
		err = r.View(func(tx store.Tx) error {
			if v := tx.Bucket("b").Get([]byte("k")); string(v) != "v" {
				t.Errorf("read %q", v)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := store.OpenReadOnly(path + ".none"); err == nil {
		t.Error("a file that is not there was opened")
	}
}

func TestABucketIsCopiedInSeveralCommitsWithoutWhatIsNotKept(t *testing.T) {
	const n = 10_000
	from, to := store.NewMemory(), store.NewMemory()
	key := func(i int) []byte { return fmt.Appendf(nil, "%08d", i) }
	err := from.Update(func(tx store.Tx) error {
		for i := range n {
			if err := tx.Bucket("b").Put(key(i), key(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	even := func(k, _ []byte) bool { return (k[7]-'0')%2 == 0 }
	if err := store.CopyBucket(from, to, "b", even, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
	got := 0
	err = to.View(func(tx store.Tx) error {
		tx.Bucket("b").Ascend(nil, func(k, v []byte) bool {
			if string(k) != string(key(2*got)) || string(v) != string(k) {
				t.Errorf("entry %d is %s: %s", got, k, v)
			}
			got++
			return true
		})
		return nil
	})
	if err != nil || got != n/2 {
		t.Errorf("%d entries (%v)", got, err)
	}
}
