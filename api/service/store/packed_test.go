package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// Every file of format 3 needs this dictionary and this way of packing: neither changes without another format.
func TestWhatWasPackedOnceCanBeReadForEver(t *testing.T) {
	sum := sha256.Sum256(samples)
	if got := hex.EncodeToString(sum[:]); got != "a754578882624b9d378c04db89b07019f53b13261f5d63920e03dbc9c6b395ad" {
		t.Errorf("the dictionary has another sum: %s", got)
	}
	sealed, err := hex.DecodeString("b8089a6f250030110115006d043630150036eeb3301500448aa549407768" +
		"617420776173207772697474656e2011111900880108656e20d559ab5f")
	if err != nil {
		t.Fatal(err)
	}
	value, ok := sumsOf("b").unseal([]byte("k"), sealed)
	want := append(bytes.Clone(samples[20000:20400]), bytes.Repeat([]byte("what was written "), 40)...)
	if !ok || !bytes.Equal(value, want) {
		t.Errorf("%t, %q; packed now: %x", ok, value, sumsOf("b").seal([]byte("k"), want))
	}
}

func TestOnlyWhatGetsSmallerIsPacked(t *testing.T) {
	s := sumsOf("b")
	for name, c := range map[string]struct {
		value  []byte
		packed bool
	}{
		"nothing":         {nil, false},
		"a short one":     {bytes.Repeat([]byte{7}, packFrom-1), false},
		"the shortest":    {bytes.Repeat([]byte{7}, packFrom), true},
		"noise":           {noise(1 << 16), false},
		"a record":        {samples[20000:25000], true},
		"larger than all": {bytes.Repeat(noise(1000), 5000), true},
	} {
		sealed := s.seal([]byte("k"), c.value)
		if packed := len(sealed) < len(c.value)+sumSize; packed != c.packed {
			t.Errorf("%s: %d bytes became %d", name, len(c.value), len(sealed))
		}
		if got, ok := s.unseal([]byte("k"), sealed); !ok || !bytes.Equal(got, c.value) {
			t.Errorf("%s comes back as another one (%t)", name, ok)
		}
		if _, ok := s.unseal([]byte("j"), sealed); ok {
			t.Errorf("%s is taken for the value of another key", name)
		}
	}
}

func FuzzSeal(f *testing.F) {
	f.Add([]byte("k"), []byte{}, uint16(0))
	f.Add([]byte("k"), bytes.Repeat([]byte("abc"), 100), uint16(9))
	f.Add([]byte{}, samples[30000:31000], uint16(400))
	f.Fuzz(func(t *testing.T, key, value []byte, flip uint16) {
		value = append(bytes.Clone(value), samples[int(flip)%len(samples):min(int(flip)+300, len(samples))]...)
		s := sumsOf("b")
		sealed := s.seal(key, value)
		if got, ok := s.unseal(key, sealed); !ok || !bytes.Equal(got, value) {
			t.Fatalf("%x came back as %x, %t", value, got, ok)
		}
		sealed[int(flip)%len(sealed)] ^= 1 << (flip % 8)
		if got, ok := s.unseal(key, sealed); ok {
			t.Errorf("after a flipped bit %x is read as %x", value, got)
		}
	})
}

// unpacked makes a closed file as programs did that wrote format 2.
func unpacked(t *testing.T, n int) string {
	t.Helper()
	path := testPath(t)
	mustOpen(t, path, BoltOptions{}).Close()
	db, err := openBolt(path, 0, 32<<10)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		if err != nil {
			return err
		}
		for i := range n {
			k := fmt.Appendf(nil, "key %05d", i)
			if err := b.Put(k, sumsOf("b").add(k, bytes.Repeat(k, 40), 0)); err != nil {
				return err
			}
		}
		return writeFormat(tx, formatSummed)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file of format 2 opens with all its records, is marked so that older programs refuse it, and mixes both kinds.
func TestAFileWithoutPackedValuesIsReadAsBefore(t *testing.T) {
	const n = 1000
	path := unpacked(t, n)
	if r, err := CheckFile(path); err != nil || r.Records != n+1 || r.Damages != 0 || len(r.Notes) != 0 {
		t.Errorf("before it is opened: %+v, %v", r, err)
	}
	for again := range 3 {
		s := mustOpen(t, path, BoltOptions{})
		err := s.Update(func(tx Tx) error {
			b := tx.Bucket("b")
			for i := range n {
				k := fmt.Appendf(nil, "key %05d", i)
				if v := b.Get(k); !bytes.Equal(v, bytes.Repeat(k, 40)) {
					return fmt.Errorf("%s is %q", k, v)
				}
			}
			k := fmt.Appendf(nil, "key %05d", again*300)
			return b.Put(k, bytes.Repeat(k, 40))
		})
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	spoil(t, path, "b", "key 00300") // packed by now
	spoil(t, path, "b", "key 00301")
	if r, err := CheckFile(path); err != nil || r.Damages != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("b"))
		if packed, as := len(b.Get([]byte("key 00600"))), len(b.Get([]byte("key 00601"))); packed >= as {
			t.Errorf("a new value takes %d bytes, an old one %d", packed, as)
		}
		mark, err := readFormat(tx)
		if mark != "3" {
			t.Errorf("the format is %q", mark)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Pages of a bucket whose keys grow are filled; without that they would stay half empty.
func TestPagesOfGrowingKeysAreFilled(t *testing.T) {
	path := testPath(t)
	s := mustOpen(t, path, BoltOptions{})
	const n, size = 500, 100
	values := noise(n * size)
	for i := range n {
		err := s.Update(func(tx Tx) error {
			return tx.Bucket("b").Put(fmt.Appendf(nil, "%08d", i), values[i*size:][:size])
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bolt.Tx) error {
		if st := tx.Bucket([]byte("b")).Stats(); 100*st.LeafInuse < 85*st.LeafAlloc {
			t.Errorf("%d of %d bytes are in use", st.LeafInuse, st.LeafAlloc)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
