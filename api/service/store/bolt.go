package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

const (
	// growStep is how much the file grows at once: every step costs an fsync
	// of its own, every byte of it is sparse until used.
	growStep = 4 << 20
	// DefaultWait is how long OpenBolt waits for the holder of the file.
	DefaultWait = 2 * time.Second
)

// BoltOptions says how a file is opened. The zero value is usable.
type BoltOptions struct {
	// Wait bounds the wait for another process that holds the file;
	// 0 means DefaultWait.
	Wait time.Duration
	// Holder describes this process to another one that finds the file in use,
	// for example "coffer serve". The process id is added. It must not
	// contain anything secret.
	Holder string
}

// OpenBolt opens or creates a database file for this process alone. A missing
// directory is created with mode 0700; the file has mode 0600. While another
// process holds the file it waits at most opts.Wait, then fails with an error
// that wraps ErrInUse and says who holds it. A file that is no intact database
// gives ErrDamaged.
func OpenBolt(path string, opts BoltOptions) (Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("create the directory of the database: %w", err)
	}
	info, statErr := os.Stat(path)
	created := errors.Is(statErr, os.ErrNotExist)
	var size int64
	if statErr == nil {
		size = info.Size()
	}
	var db *bolt.DB
	var err error
	var reserved int
	for _, reserved = range reservations(size) {
		if db, err = openBolt(path, opts.Wait, reserved); !errors.Is(err, syscall.ENOMEM) {
			break
		}
	}
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("%w: %s is held by %s", ErrInUse, path, readHolder(path))
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum),
		errors.Is(err, bolterrors.ErrVersionMismatch), errors.Is(err, bolterrors.ErrInvalidMapping):
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	case err != nil:
		return nil, fmt.Errorf("open the database: %w", err)
	}
	s := newBoltStore(db, path, reserved)
	if err := s.settle(created, opts.Holder); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openBolt turns the panics with which the library meets some damaged files
// into an error.
func openBolt(path string, wait time.Duration, reserved int) (db *bolt.DB, err error) {
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, fmt.Errorf("%w: %v", bolterrors.ErrInvalid, p)
		}
	}()
	if wait <= 0 {
		wait = DefaultWait
	}
	db, err = bolt.Open(path, 0o600, &bolt.Options{
		Timeout:         wait,
		NoFreelistSync:  true,
		FreelistType:    bolt.FreelistMapType,
		InitialMmapSize: reserved,
		NoStatistics:    true,
	})
	if err == nil {
		db.AllocSize = growStep
	}
	return db, err
}

type boltStore struct {
	db       *bolt.DB
	path     string
	reserved int64 // bytes that are mapped from the start
	gate     *gate
	writing  sync.Mutex // whose turn it is to write
	close    sync.Once
}

func newBoltStore(db *bolt.DB, path string, reserved int) *boltStore {
	return &boltStore{db: db, path: path, reserved: int64(reserved), gate: newGate()}
}

// settle makes the file private, its name durable, and leaves word of who
// holds it.
func (s *boltStore) settle(created bool, holder string) error {
	if info, err := os.Stat(s.path); err == nil && info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(s.path, 0o600); err != nil {
			return fmt.Errorf("make the database file private: %w", err)
		}
	}
	if created && runtime.GOOS != "windows" {
		if err := syncDir(filepath.Dir(s.path)); err != nil {
			return fmt.Errorf("make the database file durable: %w", err)
		}
	}
	writeHolder(s.path, holder)
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (s *boltStore) View(fn func(Tx) error) error {
	if err := s.gate.read(); err != nil {
		return err
	}
	defer s.gate.doneReading()
	return boltError(s.db.View(func(tx *bolt.Tx) error { return fn(boltTx{tx}) }))
}

func (s *boltStore) Update(fn func(Tx) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.gate.write(); err != nil {
		return err
	}
	defer s.gate.doneWriting()
	alone, err := mayMapAnew(s.db, s.reserved)
	if err != nil {
		return err
	}
	if alone {
		s.gate.wantAlone()
	}
	return boltError(s.db.Update(func(tx *bolt.Tx) error { return fn(boltTx{tx}) }))
}

func (s *boltStore) Snapshot() (Snapshot, error) {
	if err := s.gate.read(); err != nil {
		return nil, err
	}
	tx, err := s.db.Begin(false)
	if err != nil {
		s.gate.doneReading()
		return nil, boltError(err)
	}
	return &boltSnapshot{boltTx: boltTx{tx}, gate: s.gate}, nil
}

func (s *boltStore) MakeWay() { s.gate.makeWay() }

func (s *boltStore) Close() error {
	var err error
	s.close.Do(func() {
		s.gate.end()
		removeHolder(s.path)
		err = s.db.Close()
	})
	return err
}

func boltError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bolterrors.ErrDatabaseNotOpen):
		return ErrClosed
	case errors.Is(err, bolterrors.ErrTxNotWritable):
		return ErrReadOnly
	case errors.Is(err, bolterrors.ErrBucketNameRequired):
		return ErrBucketName
	case errors.Is(err, bolterrors.ErrKeyRequired), errors.Is(err, bolterrors.ErrKeyTooLarge):
		return ErrKey
	}
	return err
}

type boltTx struct{ tx *bolt.Tx }

func (t boltTx) Bucket(name string) Bucket {
	return &boltBucket{tx: t.tx, name: []byte(name), b: t.tx.Bucket([]byte(name))}
}

type boltSnapshot struct {
	boltTx
	gate    *gate
	release sync.Once
}

// Release ends the read transaction; its only error is that it has ended.
func (s *boltSnapshot) Release() {
	s.release.Do(func() {
		_ = s.tx.Rollback()
		s.gate.doneReading()
	})
}

type boltBucket struct {
	tx   *bolt.Tx
	name []byte
	b    *bolt.Bucket
}

// bucket looks again for a bucket that another handle may have created.
func (b *boltBucket) bucket() *bolt.Bucket {
	if b.b == nil && b.tx.Writable() {
		b.b = b.tx.Bucket(b.name)
	}
	return b.b
}

func (b *boltBucket) Get(key []byte) []byte {
	bk := b.bucket()
	if bk == nil {
		return nil
	}
	v := bk.Get(key)
	if v == nil {
		return nil
	}
	return copyValue(v)
}

func (b *boltBucket) Put(key, value []byte) error {
	bk, err := b.create()
	if err != nil {
		return err
	}
	if err := checkKey(key); err != nil {
		return err
	}
	// The library copies the key but keeps the value until the commit.
	return boltError(bk.Put(key, copyValue(value)))
}

func (b *boltBucket) Delete(key []byte) error {
	bk, err := b.create()
	if err != nil {
		return err
	}
	return boltError(bk.Delete(key))
}

func (b *boltBucket) create() (*bolt.Bucket, error) {
	if !b.tx.Writable() {
		return nil, ErrReadOnly
	}
	if bk := b.bucket(); bk != nil {
		return bk, nil
	}
	bk, err := b.tx.CreateBucket(b.name)
	if err != nil {
		return nil, boltError(err)
	}
	b.b = bk
	return bk, nil
}

func (b *boltBucket) Ascend(from []byte, fn func(k, v []byte) bool) {
	bk := b.bucket()
	if bk == nil {
		return
	}
	c := bk.Cursor()
	for k, v := c.Seek(from); k != nil && fn(k, v); k, v = c.Next() {
	}
}

func (b *boltBucket) Descend(from []byte, fn func(k, v []byte) bool) {
	bk := b.bucket()
	if bk == nil {
		return
	}
	c := bk.Cursor()
	k, v := c.Last()
	if from != nil {
		if at, val := c.Seek(from); at != nil {
			if k, v = at, val; string(at) != string(from) {
				k, v = c.Prev()
			}
		} else {
			k, v = c.Last()
		}
	}
	for ; k != nil && fn(k, v); k, v = c.Prev() {
	}
}
