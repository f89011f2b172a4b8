package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
)

// atOnce is how long BackupFile waits for the file.
const atOnce = time.Millisecond

// maxFound bounds how many damaged records a Report lists.
const maxFound = 1000

// Report is what CheckFile found. Damaged lists the damaged records by name, the first 1000 of Damages; Notes are what
// an operator should know though nothing is damaged.
type Report struct {
	Records int
	Bytes   int64 // of keys and values
	Damages int
	Damaged []error
	Notes   []string
}

// CheckFile reads every page and every record of a database file that no process writes to, and changes nothing.
// Damaged records are listed in the report; the error says that the file cannot be read at all, or that its pages are
// damaged (ErrDamaged), or that it is in use (ErrInUse).
func CheckFile(path string) (r Report, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return r, openError(path, err)
	case !info.Mode().IsRegular():
		return r, fmt.Errorf("%s is not a regular file", path)
	case info.Size() == 0:
		return r, openError(path, damage("it is empty"))
	}
	db, err := open(path, bolt.Options{ReadOnly: true, Timeout: DefaultWait, NoStatistics: true})
	if err != nil {
		return r, openError(path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	m, err := inspectFile(path)
	if err != nil {
		return r, openError(path, err)
	}
	if !m.both {
		r.Notes = append(r.Notes, "one of the two copies of the first page is not intact: "+
			"a commit was cut off, or the last one is missing")
	}
	err = guarded(func() error {
		return db.View(func(tx *bolt.Tx) error {
			if err := checkPages(tx); err != nil {
				return err
			}
			return r.readAll(tx)
		})
	})
	return r, openError(path, err)
}

// checkPages runs the library's own check.
func checkPages(tx *bolt.Tx) error {
	var found error
	for err := range tx.Check() { // to the end: the library waits for who reads
		if found == nil {
			found = damage("%v", err)
		}
	}
	return found
}

// readAll compares every record with its sum.
func (r *Report) readAll(tx *bolt.Tx) error {
	mark, err := readFormat(tx)
	if err != nil {
		return err
	}
	summed := mark == formatPacked || mark == formatSummed
	if !summed {
		r.Notes = append(r.Notes, "its records have no checksums yet: "+
			"an earlier version wrote it, and the next start adds them")
	}
	return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
		sums := sumsOf(string(name))
		return b.ForEach(func(k, v []byte) error {
			r.Records++
			r.Bytes += int64(len(k) + len(v))
			if !summed {
				return nil
			}
			if _, ok := sums.unseal(k, v); !ok {
				if r.Damages++; len(r.Damaged) < maxFound {
					r.Damaged = append(r.Damaged, &DamageError{string(name), bytes.Clone(k)})
				}
			}
			return nil
		})
	})
}

// OpenReadOnly opens a database file that nobody writes any more; several processes may read it at once. Its Update
// fails with ErrReadOnly.
func OpenReadOnly(path string) (Store, error) {
	if err := inspect(path, DefaultWait); err != nil {
		return nil, openError(path, err)
	}
	db, err := open(path, bolt.Options{ReadOnly: true, Timeout: DefaultWait, NoStatistics: true})
	if err != nil {
		return nil, openError(path, err)
	}
	return &readOnlyStore{newBoltStore(db, path, 0)}, nil
}

type readOnlyStore struct{ *boltStore }

// Update fails with ErrReadOnly.
func (*readOnlyStore) Update(func(Tx) error) error { return ErrReadOnly }

// Close lets go of the file.
func (s *readOnlyStore) Close() (err error) {
	s.close.Do(func() {
		s.gate.end()
		err = s.db.Close()
	})
	return err
}

// CopyBucket copies the entries of a bucket that keep takes into another database, so many in a commit. What is damaged
// is passed over and handed to report.
func CopyBucket(from, to Store, name string, keep func(key, value []byte) bool, report func(error)) error {
	const atOnce = 4096
	for next, more := []byte(nil), true; more; {
		var keys, values [][]byte
		err := from.View(func(tx Tx) error {
			more = false
			tx.Bucket(name).Reporting(report).Ascend(next, func(k, v []byte) bool {
				if len(keys) == atOnce {
					next, more = bytes.Clone(k), true
					return false
				}
				if keep(k, v) {
					keys, values = append(keys, bytes.Clone(k)), append(values, bytes.Clone(v))
				}
				return true
			})
			return nil
		})
		if err != nil {
			return err
		}
		err = to.Update(func(tx Tx) error {
			for i, k := range keys {
				if err := tx.Bucket(name).Put(k, values[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// BackupFile copies a database file that no process writes to and that is only read: one of an earlier version is
// copied as it is. A file in use is ErrInUse.
func BackupFile(path string, w io.Writer) error {
	if err := inspect(path, atOnce); err != nil {
		return openError(path, err)
	}
	db, err := open(path, bolt.Options{ReadOnly: true, Timeout: atOnce, NoStatistics: true})
	if err != nil {
		return openError(path, err)
	}
	err = guarded(func() error { return copyOf(db, func(int64) {}, w) })
	return openError(path, errors.Join(err, db.Close()))
}

// copyOf writes a consistent copy: it reads the file, not the memory that is mapped.
func copyOf(db *bolt.DB, begin func(size int64), w io.Writer) error {
	return db.View(func(tx *bolt.Tx) error {
		begin(tx.Size())
		n, err := tx.WriteTo(w)
		if err == nil && n != tx.Size() {
			err = fmt.Errorf("%d bytes were copied of %d", n, tx.Size())
		}
		return err
	})
}

// Backup writes a consistent copy of a store that is a file, as it is at this moment; begin is told its size in bytes
// before anything is written. Writers go on meanwhile, though one that needs the file mapped anew waits.
func Backup(s Store, begin func(size int64), w io.Writer) error {
	b, ok := s.(*boltStore)
	if !ok {
		return errors.New("a store in memory has no file to copy")
	}
	if err := b.gate.read(); err != nil {
		return err
	}
	defer b.gate.doneReading()
	return boltError(copyOf(b.db, begin, w))
}
