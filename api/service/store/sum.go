package store

import (
	"bytes"
	_ "embed" // the dictionary
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/klauspost/compress/s2"
	bolt "go.etcd.io/bbolt"
)

// In a file every value is followed by the CRC-32C of its bucket's name, its key and itself. In format 3 a value may be
// packed; its sum is that of what is in the file, with every bit of packed turned. Earlier versions of this program
// wrote format 2, where no value is packed, and format 1, without sums: OpenBolt adds those, once. It packs nothing
// that is there.
const (
	sumSize  = 4
	packed   = 0x7061636b
	packFrom = 128 // bytes of the smallest value that is packed

	// bucketFormat is the store's own bucket. Its one entry is the mark of the format, or how far the sums have been
	// added.
	bucketFormat = "store"
	keyFormat    = "format"
	formatPacked = "3"
	formatSummed = "2"
	formatAdding = "1" // ‖ name of the bucket ‖ 0 ‖ last key that has its sum

	// A step of adding sums is one commit of about so many bytes or entries.
	addBytes   = 4 << 20
	addEntries = 16 << 10
)

// DamageError names a record whose bytes are not what was written. It wraps ErrDamaged.
type DamageError struct {
	Bucket string
	Key    []byte
}

// Error names the bucket and the key.
func (e *DamageError) Error() string {
	return fmt.Sprintf("the database is damaged: the record %s of %s is not what was written", showKey(e.Key), e.Bucket)
}

// Unwrap is ErrDamaged.
func (e *DamageError) Unwrap() error { return ErrDamaged }

// showKey is a key as text where it is some, else in hex.
func showKey(key []byte) string {
	if utf8.Valid(key) && !bytes.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return string(key)
	}
	return hex.EncodeToString(key)
}

// samples are blocks, quotes, documents and so on, as a test network wrote them: what is packed refers to what it has
// in common with them. They are part of format 3 and never change.
//
//go:embed dictionary.bin
var samples []byte

var dictionary = sync.OnceValue(func() *s2.Dict { return s2.MakeDict(samples, nil) })

// sums makes the checksums of one bucket.
type sums struct{ name uint32 }

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func sumsOf(bucket string) sums {
	return sums{crc32.Update(0, castagnoli(), append([]byte(bucket), 0))}
}

func (s sums) of(key, value []byte) uint32 {
	return crc32.Update(crc32.Update(s.name, castagnoli(), key), castagnoli(), value)
}

// seal copies a value, packed where that saves an eighth, and adds its sum.
func (s sums) seal(key, value []byte) []byte {
	if len(value) >= packFrom {
		if small := dictionary().Encode(nil, value); len(small) <= len(value)-len(value)/8 {
			return s.add(key, small, packed)
		}
	}
	return s.add(key, value, 0)
}

func (s sums) add(key, value []byte, turned uint32) []byte {
	out := make([]byte, 0, len(value)+sumSize)
	return binary.BigEndian.AppendUint32(append(out, value...), s.of(key, value)^turned)
}

// unseal returns the value, in the memory that was given unless it was packed; false when it is damaged.
func (s sums) unseal(key, sealed []byte) ([]byte, bool) {
	at := len(sealed) - sumSize
	if at < 0 {
		return nil, false
	}
	switch binary.BigEndian.Uint32(sealed[at:]) ^ s.of(key, sealed[:at]) {
	case 0:
		return sealed[:at:at], true
	case packed:
		value, err := dictionary().Decode(nil, sealed[:at])
		return value, err == nil
	}
	return nil, false
}

// upgrade brings a file to format 3. It goes on where an earlier process stopped.
func upgrade(db *bolt.DB) error {
	done := false
	err := db.View(func(tx *bolt.Tx) error {
		mark, err := readFormat(tx)
		done = mark == formatPacked
		return err
	})
	if err != nil || done {
		return err
	}
	for {
		done := false
		err := db.Update(func(tx *bolt.Tx) (err error) {
			done, err = addSums(tx)
			return err
		})
		if err != nil || done {
			return err
		}
	}
}

// isFresh reports whether nothing was ever written to a file: its first commit brings the mark.
func isFresh(db *bolt.DB) (fresh bool, err error) {
	err = guarded(func() error {
		return db.View(func(tx *bolt.Tx) error {
			k, _ := tx.Cursor().First()
			fresh = k == nil
			return nil
		})
	})
	return fresh, err
}

// ErrNewer says that a newer version of this program wrote a file. Nothing of it is damaged.
var ErrNewer = errors.New("its format is unknown: a newer version of this program wrote it")

// readFormat returns the mark, "" when there is none.
func readFormat(tx *bolt.Tx) (string, error) {
	b := tx.Bucket([]byte(bucketFormat))
	if b == nil {
		return "", nil
	}
	v := b.Get([]byte(keyFormat))
	if v == nil {
		return "", &DamageError{bucketFormat, []byte(keyFormat)}
	}
	mark, ok := sumsOf(bucketFormat).unseal([]byte(keyFormat), v)
	if !ok {
		return "", &DamageError{bucketFormat, []byte(keyFormat)}
	}
	if m := string(mark); m != formatPacked && m != formatSummed &&
		(!strings.HasPrefix(m, formatAdding) || !strings.Contains(m, "\x00")) {
		return "", fmt.Errorf("%w: %.20q", ErrNewer, mark)
	}
	return string(mark), nil
}

func writeFormat(tx *bolt.Tx, mark string) error {
	b, err := tx.CreateBucketIfNotExists([]byte(bucketFormat))
	if err != nil {
		return err
	}
	return b.Put([]byte(keyFormat), sumsOf(bucketFormat).seal([]byte(keyFormat), []byte(mark)))
}

// addSums does one step and reports whether it was the last.
func addSums(tx *bolt.Tx) (done bool, err error) {
	mark, err := readFormat(tx)
	switch {
	case err != nil:
		return true, err
	case mark == formatSummed:
		return true, writeFormat(tx, formatPacked)
	}
	if mark == "" {
		if err := refuseLostMark(tx); err != nil {
			return true, err
		}
	}
	name, after := []byte(nil), []byte(nil)
	if mark != "" {
		name, after, _ = bytes.Cut([]byte(mark[len(formatAdding):]), []byte{0})
	}
	c := tx.Cursor()
	for k, _ := c.Seek(name); k != nil; k, _ = c.Next() {
		if string(k) == bucketFormat {
			continue
		}
		if !bytes.Equal(k, name) {
			after = nil
		}
		last, err := addSumsTo(tx.Bucket(k), string(k), after)
		if err != nil {
			return true, err
		}
		if last != nil { // the step is full
			return false, writeFormat(tx, formatAdding+string(k)+"\x00"+string(last))
		}
	}
	return true, writeFormat(tx, formatPacked)
}

// refuseLostMark fails when values have sums though nothing says so: a second sum would spoil them.
func refuseLostMark(tx *bolt.Tx) error {
	return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
		if k, v := b.Cursor().First(); k != nil {
			if _, ok := sumsOf(string(name)).unseal(k, v); ok {
				return damage("the mark of its format is gone")
			}
		}
		return nil
	})
}

// addSumsTo adds sums to the entries of a bucket that follow a key, and returns the last key when there may be more of
// them.
func addSumsTo(b *bolt.Bucket, name string, after []byte) (last []byte, err error) {
	var keys, values [][]byte
	size := 0
	c := b.Cursor()
	for k, v := c.Seek(after); k != nil; k, v = c.Next() {
		if v == nil {
			return nil, errors.New("a bucket inside a bucket: this program did not write the file")
		}
		if after != nil && bytes.Equal(k, after) {
			continue
		}
		keys, values = append(keys, bytes.Clone(k)), append(values, sumsOf(name).add(k, v, 0))
		if size += len(k) + len(v); size > addBytes || len(keys) == addEntries {
			last = keys[len(keys)-1]
			break
		}
	}
	for i, k := range keys {
		if err := b.Put(k, values[i]); err != nil {
			return nil, err
		}
	}
	return last, nil
}
