package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"

	bolt "go.etcd.io/bbolt"
)

// Sum is what records amount to: two stores with the same one have the same buckets, keys and values. Records are added
// in the order of buckets and keys.
type Sum struct {
	Records int
	Bytes   int64 // of keys and values
	hash    hash.Hash
}

// NewSum is the sum of no records.
func NewSum() *Sum { return &Sum{hash: sha256.New()} }

// Add adds a record.
func (s *Sum) Add(bucket string, key, value []byte) {
	s.Records++
	s.Bytes += int64(len(key) + len(value))
	for _, part := range [][]byte{[]byte(bucket), key, value} {
		s.hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		s.hash.Write(part)
	}
}

// Hex is the SHA-256 of all records.
func (s *Sum) Hex() string { return hex.EncodeToString(s.hash.Sum(nil)) }

// EachOfFile hands every record of a database file that no process writes to to fn, in the order of buckets and keys,
// without the mark of the file's format. A damaged one ends it. The file is only read.
func EachOfFile(path string, fn func(bucket string, key, value []byte) error) error {
	if err := inspect(path, atOnce); err != nil {
		return openError(path, err)
	}
	db, err := open(path, bolt.Options{ReadOnly: true, Timeout: atOnce, NoStatistics: true})
	if err != nil {
		return openError(path, err)
	}
	var failed error
	err = guarded(func() error {
		return db.View(func(tx *bolt.Tx) error {
			mark, err := readFormat(tx)
			if err != nil {
				return err
			}
			if mark != formatPacked && mark != formatSummed {
				return errors.New("an earlier version of this program wrote it: let coffer serve open it once")
			}
			return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
				if string(name) == bucketFormat {
					return nil
				}
				sums := sumsOf(string(name))
				return b.ForEach(func(k, sealed []byte) error {
					v, ok := sums.unseal(k, sealed)
					if !ok {
						return &DamageError{string(name), append([]byte{}, k...)}
					}
					failed = fn(string(name), k, v)
					return failed
				})
			})
		})
	})
	err = errors.Join(err, db.Close())
	if failed != nil {
		return failed
	}
	return openError(path, err)
}

// WriteFile makes a database file of the records that each hands to its function, and syncs it. A file that exists is
// left alone; after an error there may be one that is not whole.
func WriteFile(path string, each func(func(bucket string, key, value []byte) error) error) error {
	s, err := OpenBolt(path, BoltOptions{Holder: "a copy"})
	if err != nil {
		return err
	}
	const atOnce = 4 << 20 // bytes of a commit
	type record struct {
		bucket     string
		key, value []byte
	}
	var batch []record
	size := 0
	flush := func() error {
		err := s.Update(func(tx Tx) error {
			for _, r := range batch {
				if err := tx.Bucket(r.bucket).Put(r.key, r.value); err != nil {
					return fmt.Errorf("%s: %w", r.bucket, err)
				}
			}
			return nil
		})
		batch, size = batch[:0], 0
		return err
	}
	err = each(func(bucket string, key, value []byte) error {
		batch = append(batch, record{bucket, append([]byte{}, key...), append([]byte{}, value...)})
		if size += len(key) + len(value); size < atOnce {
			return nil
		}
		return flush()
	})
	if err == nil && len(batch) > 0 {
		err = flush()
	}
	return errors.Join(err, s.Close())
}
