package store_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// model is what a store promises to be: a map of maps.
type model map[string]map[string]string

func (m model) clone() model {
	out := model{}
	for name, b := range m {
		out[name] = maps.Clone(b)
	}
	return out
}

func (m model) put(bucket, k, v string) {
	if m[bucket] == nil {
		m[bucket] = map[string]string{}
	}
	m[bucket][k] = v
}

// frozen is a snapshot together with what it must show forever.
type frozen struct {
	snap store.Snapshot
	want model
}

var errRollback = errors.New("rolled back on purpose")

func buckets() []string { return []string{"a", "b", "c"} }

// smallKey makes collisions and shared prefixes likely.
func smallKey(t *rapid.T, label string) string {
	return rapid.StringOfN(rapid.RuneFrom([]rune("\x00\x01az")), 1, 3, -1).Draw(t, label)
}

func randomWrites(t *rapid.T, tx store.Tx, m model) {
	for range rapid.IntRange(1, 12).Draw(t, "writes") {
		name := rapid.SampledFrom(buckets()).Draw(t, "bucket")
		k := smallKey(t, "key")
		if rapid.Bool().Draw(t, "delete") {
			if err := tx.Bucket(name).Delete([]byte(k)); err != nil {
				t.Fatal(err)
			}
			delete(m[name], k)
			continue
		}
		v := rapid.StringN(0, 5, -1).Draw(t, "value")
		if err := tx.Bucket(name).Put([]byte(k), []byte(v)); err != nil {
			t.Fatal(err)
		}
		m.put(name, k, v)
	}
}

// checkView compares everything that can be read with the model.
func checkView(t *rapid.T, tx store.Tx, m model) {
	for _, name := range buckets() {
		b, want := tx.Bucket(name), m[name]
		keys := slices.Sorted(maps.Keys(want))
		fetch(t, tx, name)
		checkScan(t, b, want, keys, nil)
		from := smallKey(t, "from")
		checkScan(t, b, want, keys, &from)
		for _, k := range append(keys, "zz", "\x00") {
			v, ok := want[k]
			if got := b.Get([]byte(k)); (got != nil) != ok || string(got) != v {
				t.Fatalf("%s[%q] = %q, want %q (%v)", name, k, got, v, ok)
			}
		}
		if n, _ := store.Size(b); n != len(keys) {
			t.Fatalf("%s has %d entries, want %d", name, n, len(keys))
		}
	}
}

// fetch reads some records ahead, or none. Later reads must return the same either way.
func fetch(t *rapid.T, tx store.Tx, bucket string) {
	var keys [][]byte
	for range rapid.IntRange(0, 4).Draw(t, "fetched") {
		keys = append(keys, []byte(smallKey(t, "fetch")))
	}
	store.Fetch(tx, bucket, keys)
}

func checkScan(t *rapid.T, b store.Bucket, m map[string]string, keys []string, from *string) {
	var up, down []byte
	wantUp, wantDown := slices.Clone(keys), slices.Clone(keys)
	if from != nil {
		up, down = []byte(*from), []byte(*from)
		wantUp = slices.DeleteFunc(wantUp, func(k string) bool { return k < *from })
		wantDown = slices.DeleteFunc(wantDown, func(k string) bool { return k > *from })
	}
	slices.Reverse(wantDown)
	var got []string
	collect := func(k, v []byte) bool {
		if m[string(k)] != string(v) {
			t.Fatalf("scan gives %q = %q, want %q", k, v, m[string(k)])
		}
		got = append(got, string(k))
		return true
	}
	if b.Ascend(up, collect); !slices.Equal(got, wantUp) {
		t.Fatalf("ascend from %q: %q, want %q", up, got, wantUp)
	}
	got = nil
	if b.Descend(down, collect); !slices.Equal(got, wantDown) {
		t.Fatalf("descend from %q: %q, want %q", down, got, wantDown)
	}
}

// behave drives a store with random transactions, some of which fail, beside a
// model and checks that views, and snapshots however old, show the model.
func behave(t *rapid.T, s store.Store) {
	m := model{}
	ctx := store.Reading(context.Background())
	var held []frozen
	defer func() {
		for _, f := range held {
			f.snap.Release()
		}
	}()
	for range rapid.IntRange(1, 12).Draw(t, "transactions") {
		next := m.clone()
		fail := rapid.IntRange(0, 3).Draw(t, "fail") == 0
		err := s.Update(func(tx store.Tx) error {
			fetch(t, tx, buckets()[0])
			randomWrites(t, tx, next)
			checkView(t, tx, next) // sees its own writes
			if fail {
				return errRollback
			}
			return nil
		})
		if fail != errors.Is(err, errRollback) || (!fail && err != nil) {
			t.Fatalf("update: %v", err)
		}
		if !fail {
			m = next
		}
		if err := s.View(func(tx store.Tx) error { checkView(t, tx, m); return nil }); err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "hold") {
			snap, err := s.Snapshot(ctx)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, frozen{snap, m.clone()})
		}
		for _, f := range held {
			checkView(t, f.snap, f.want)
		}
	}
}

func TestMemoryBehavesAsAMapWithFrozenSnapshots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { behave(t, store.NewMemory()) })
}

func TestPostgresBehavesAsAMapWithFrozenSnapshots(t *testing.T) {
	address := storetest.Schema(t)
	s := storetest.Open(t, address)
	rapid.Check(t, func(rt *rapid.T) {
		storetest.Exec(t, address, "delete from coffer_record")
		behave(rt, s)
	})
}

func TestFileBehavesAsAMapWithFrozenSnapshots(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		s, err := store.OpenBolt(filepath.Join(dir, string(rune('a'+n%26))+string(rune('a'+n/26))), store.BoltOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		behave(t, s)
	})
}
