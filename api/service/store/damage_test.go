package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// filled makes a closed file with a few thousand records in two buckets, so that its trees have branches.
func filled(t *testing.T) string {
	t.Helper()
	path := testPath(t)
	s := mustOpen(t, path, BoltOptions{})
	for part := range 10 {
		err := s.Update(func(tx Tx) error {
			for i := range 300 {
				k := fmt.Appendf(nil, "key %05d", part*300+i)
				if err := errors.Join(tx.Bucket("first").Put(k, bytes.Repeat(k, 20)),
					tx.Bucket("second").Put(k, k)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// listed makes such a file whose free pages are written down.
func listed(t *testing.T) string {
	t.Helper()
	path := filled(t)
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(func(*bolt.Tx) error { return nil }), db.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// metaIn reads what a file says about its last commit.
func metaIn(t *testing.T, path string) meta {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := readMeta(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// changed copies a file with its content changed.
func changed(t *testing.T, path string, change func([]byte) []byte) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "coffer.db")
	if m, err := readMeta(bytes.NewReader(raw)); err == nil {
		raw = raw[:int(m.pages)*m.pageSize] // what is behind it is free
	}
	if err := os.WriteFile(copied, change(raw), 0o600); err != nil {
		t.Fatal(err)
	}
	return copied
}

// readAll reads every record and returns the damage that was met, an error of opening among it.
func readAll(path string) (records int, err error) {
	s, err := OpenBolt(path, BoltOptions{})
	if err != nil {
		return 0, err
	}
	err = s.View(func(tx Tx) error {
		for _, name := range []string{"first", "second"} {
			n, _ := Size(tx.Bucket(name))
			records += n
		}
		return nil
	})
	return records, errors.Join(err, s.Close())
}

// A file that lost its end is refused in words, whatever is missing, and is not changed.
func TestR2_ATruncatedFileIsRefused(t *testing.T) {
	path := filled(t)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := readMeta(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	used := int(m.pages) * m.pageSize
	for _, size := range []int{1, 100, 4096, 5000, 8192, 12288, used / 2, used - m.pageSize, used - 1} {
		short := changed(t, path, func(b []byte) []byte { return b[:size] })
		if _, err := readAll(short); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes of %d: %v", size, used, err)
		}
		if after, err := os.ReadFile(short); err != nil || !bytes.Equal(after, raw[:size]) {
			t.Errorf("%d bytes: the file was changed (%v)", size, err)
		}
	}
	for _, size := range []int{used, used + 1, used + 4<<20} { // a kill while it grew leaves more than is used
		long := changed(t, path, func(b []byte) []byte { return append(b[:used:used], make([]byte, size-used)...) })
		if n, err := readAll(long); err != nil || n != 6000 {
			t.Errorf("%d bytes of %d: %d records, %v", size, used, n, err)
		}
	}
}

// A page of zeros, at any place that is in use, is refused or reported; nothing is lost in silence and nothing panics.
func TestR2_AZeroedPageIsNoPanic(t *testing.T) {
	for name, path := range map[string]string{"without a list of free pages": filled(t), "with one": listed(t)} {
		t.Run(name, func(t *testing.T) {
			whole, err := readAll(path)
			if err != nil {
				t.Fatal(err)
			}
			m := metaIn(t, path)
			refused := 0
			for page := 2; page < int(m.pages); page++ {
				bad := changed(t, path, func(b []byte) []byte {
					clear(b[page*m.pageSize : (page+1)*m.pageSize])
					return b
				})
				n, err := readAll(bad)
				switch {
				case errors.Is(err, ErrDamaged):
					refused++
				case err != nil || n != whole: // without error the page was a free one
					t.Errorf("page %d: %d records of %d, %v", page, n, whole, err)
				}
			}
			if refused < 20 {
				t.Errorf("%d pages were refused", refused)
			}
		})
	}
}

// A list of free pages that names a page in use, or is none, is refused: what it names would be written over.
func TestR2_AListOfFreePagesIsHeldAgainstThePagesInUse(t *testing.T) {
	path := listed(t)
	m := metaIn(t, path)
	if m.freeList == noFreeList {
		t.Fatal("there is no list")
	}
	at := int(m.freeList) * m.pageSize
	native := binary.NativeEndian
	for name, spoils := range map[string]func(list []byte){
		"a page in use":      func(l []byte) { native.PutUint64(l[pageHead:], m.root) },
		"itself":             func(l []byte) { native.PutUint64(l[pageHead:], m.freeList) },
		"a meta page":        func(l []byte) { native.PutUint64(l[pageHead:], 1) },
		"behind the end":     func(l []byte) { native.PutUint64(l[pageHead:], m.pages) },
		"a page twice":       func(l []byte) { copy(l[pageHead:pageHead+idSize], l[pageHead+idSize:]) },
		"more than it holds": func(l []byte) { native.PutUint16(l[10:], 4000) },
		"a count of its own": func(l []byte) { native.PutUint16(l[10:], manyFree) },
		"another kind":       func(l []byte) { native.PutUint16(l[8:], flagLeaf) },
	} {
		bad := changed(t, path, func(b []byte) []byte { spoils(b[at:]); return b })
		if _, err := readAll(bad); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := readAll(changed(t, path, func(b []byte) []byte { return b })); err != nil {
		t.Error(err)
	}
}

// A large file keeps its list of free pages when it is closed, and loses it with the next commit.
func TestALargeFileIsClosedWithItsFreePages(t *testing.T) {
	path := testPath(t)
	writes := func(s Store, n int) {
		t.Helper()
		err := s.Update(func(tx Tx) error { return tx.Bucket("b").Put([]byte{byte(n)}, noise(n<<20)) })
		if err != nil {
			t.Fatal(err)
		}
	}
	s := mustOpen(t, path, BoltOptions{})
	writes(s, 1)
	if err := s.Close(); err != nil || metaIn(t, path).freeList != noFreeList {
		t.Fatalf("a small file has a list: %v", err)
	}
	s = mustOpen(t, path, BoltOptions{})
	for n := range 5 {
		writes(s, n+1)
	}
	if err := s.Close(); err != nil || metaIn(t, path).freeList == noFreeList {
		t.Fatalf("a large file has none: %v", err)
	}
	s = mustOpen(t, path, BoltOptions{})
	writes(s, 6)
	if metaIn(t, path).freeList != noFreeList {
		t.Error("a commit wrote a list")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := CheckFile(path); err != nil || len(r.Damaged) > 0 {
		t.Errorf("%+v %v", r, err)
	}
}

// Flipped bits anywhere in the pages in use: either the file is refused, or a record is named, or all that is read is
// what was written.
func TestR3_AFlippedBitIsNeverRead(t *testing.T) {
	path := filled(t)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := readMeta(bytes.NewReader(raw))
	named := 0
	for i := range 200 {
		at := 2*m.pageSize + (i*7919*31+i)%((int(m.pages)-2)*m.pageSize)
		bad := changed(t, path, func(b []byte) []byte { b[at] ^= 1 << (i % 8); return b })
		s, err := OpenBolt(bad, BoltOptions{})
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("byte %d: %v", at, err)
			}
			continue
		}
		wrong := 0
		err = s.View(func(tx Tx) error {
			for k := range 3000 {
				key := fmt.Appendf(nil, "key %05d", k)
				if v := tx.Bucket("first").Get(key); v != nil && !bytes.Equal(v, bytes.Repeat(key, 20)) {
					wrong++
				}
			}
			return nil
		})
		var record *DamageError
		if errors.As(err, &record) {
			named++
		}
		if wrong > 0 || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d: %d wrong values, %v", at, wrong, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if named < 10 {
		t.Errorf("%d records were named", named)
	}
}

// spoil flips a bit in the value of one record of a closed file.
func spoil(t *testing.T, path, bucket, key string) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		v := bytes.Clone(b.Get([]byte(key)))
		v[0] ^= 4
		return b.Put([]byte(key), v)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// One damaged record is named; it ends an update whole and a reader who asked to be told goes on with the rest.
func TestR3_ADamagedRecordIsNamedAndTheRestIsServed(t *testing.T) {
	path := filled(t)
	spoil(t, path, "first", "key 00007")
	s := mustOpen(t, path, BoltOptions{})
	is := func(err error) bool {
		var d *DamageError
		return errors.As(err, &d) && errors.Is(err, ErrDamaged) && d.Bucket == "first" &&
			string(d.Key) == "key 00007" && strings.Contains(err.Error(), "key 00007")
	}
	err := s.Update(func(tx Tx) error {
		if v := tx.Bucket("first").Get([]byte("key 00007")); v != nil {
			t.Errorf("the damaged value was read: %q", v)
		}
		return tx.Bucket("first").Put([]byte("new"), []byte("x"))
	})
	if !is(err) {
		t.Errorf("update: %v", err)
	}
	var told []error
	if err := s.View(func(tx Tx) error {
		if tx.Bucket("first").Get([]byte("new")) != nil {
			t.Error("an update that met damage was committed")
		}
		n, _ := Size(tx.Bucket("first").Reporting(func(err error) { told = append(told, err) }))
		if n != 2999 {
			t.Errorf("%d records", n)
		}
		return tx.Err()
	}); err != nil || len(told) != 1 || !is(told[0]) {
		t.Errorf("view: %v, %v", err, told)
	}
	snap, err := s.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Release()
	snap.Bucket("first").Descend(nil, func(_, _ []byte) bool { return true })
	if !is(snap.Err()) {
		t.Errorf("snapshot: %v", snap.Err())
	}
}

// old writes a file as versions without sums did.
func old(t *testing.T, records int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "coffer.db")
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range []string{"a", "store0", "z"} {
			b, err := tx.CreateBucket([]byte(name))
			if err != nil {
				return err
			}
			for i := range records {
				k := binary.BigEndian.AppendUint32(nil, uint32(i))
				if err := b.Put(k, bytes.Repeat(k, i%5)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file of a version without sums opens with all its records, and is protected from then on.
func TestR3_AnOldFileGetsItsSums(t *testing.T) {
	const records = addEntries + 100 // more than one step a bucket
	path := old(t, records)
	check := func(when string) {
		t.Helper()
		s := mustOpen(t, path, BoltOptions{})
		err := s.View(func(tx Tx) error {
			for _, name := range []string{"a", "store0", "z"} {
				n := 0
				tx.Bucket(name).Ascend(nil, func(k, v []byte) bool {
					if want := bytes.Repeat(k, n%5); binary.BigEndian.Uint32(k) != uint32(n) || !bytes.Equal(v, want) {
						t.Errorf("%s: %s %x is %x, want %x", when, name, k, v, want)
					}
					n++
					return !t.Failed()
				})
				if n != records {
					t.Errorf("%s: %s has %d records", when, name, n)
				}
			}
			return nil
		})
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	// The first process dies after two steps.
	db, err := openBolt(path, 0, 32<<10)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := db.Update(func(tx *bolt.Tx) error { _, err := addSums(tx); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	check("resumed")
	check("reopened")
	spoil(t, path, "z", string([]byte{0, 0, 0, 9}))
	if r, err := CheckFile(path); err != nil || r.Records != 3*records+1 || len(r.Damaged) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A check names every damaged record, and says of damaged pages and of an old file what there is to say. It changes
// nothing.
func TestR3_ACheckNamesWhatIsDamaged(t *testing.T) {
	path := filled(t)
	for _, key := range []string{"key 00007", "key 02999"} {
		spoil(t, path, "second", key)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := CheckFile(path)
	if err != nil || r.Records != 6001 || r.Damages != 2 || len(r.Notes) != 0 ||
		!strings.Contains(errors.Join(r.Damaged...).Error(), "key 02999 of second") {
		t.Errorf("%+v, %v", r, err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the check changed the file (%v)", err)
	}
	if r, err := CheckFile(old(t, 10)); err != nil || r.Records != 30 || len(r.Notes) != 1 {
		t.Errorf("an old file: %+v, %v", r, err)
	}
	short := changed(t, path, func(b []byte) []byte { return b[:len(b)/2] })
	if _, err := CheckFile(short); !errors.Is(err, ErrDamaged) {
		t.Errorf("half a file: %v", err)
	}
	s := mustOpen(t, filled(t), BoltOptions{})
	if _, err := CheckFile(s.(*boltStore).path); !errors.Is(err, ErrInUse) {
		t.Errorf("a file in use: %v", err)
	}
}

// Where the mark of the format is gone, sums must not be added a second time.
func TestR3_ALostMarkIsDamage(t *testing.T) {
	path := filled(t)
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte(bucketFormat)) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(path); !errors.Is(err, ErrDamaged) {
		t.Fatalf("%v", err)
	}
}

// A file of a newer version is not called damaged, and is not touched.
func TestAFileOfANewerVersionIsNotDamaged(t *testing.T) {
	path := filled(t)
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error { return writeFormat(tx, "4") })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = OpenBolt(path, BoltOptions{})
	_, checked := CheckFile(path)
	for _, err := range []error{err, checked} {
		if !errors.Is(err, ErrNewer) || errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed (%v)", err)
	}
}
