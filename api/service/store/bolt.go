package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"coffer/api/files"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

const (
	// growStep is how much the file grows at once: every step costs an fsync
	// of its own, every byte of it is sparse until used.
	growStep = 4 << 20
	// DefaultWait is how long OpenBolt waits for the holder of the file.
	DefaultWait = 2 * time.Second
	// listFrom is the size in bytes of a file whose free pages are written down
	// when it is closed. In a smaller one they are found in a moment.
	listFrom = 8 << 20
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
	if opts.Wait <= 0 {
		opts.Wait = DefaultWait
	}
	var db *bolt.DB
	var err error
	var reserved int
	if size > 0 {
		err = inspect(path, opts.Wait)
	}
	for _, reserved = range reservations(size) {
		if err != nil {
			break
		}
		if db, err = openBolt(path, opts.Wait, reserved); !errors.Is(err, syscall.ENOMEM) {
			break
		}
		err = nil
	}
	if err = openError(path, err); err != nil {
		return nil, err
	}
	s := newBoltStore(db, path, reserved)
	if s.fresh, err = isFresh(db); err == nil && !s.fresh {
		err = guarded(func() error { return upgrade(db) })
	}
	if err != nil {
		return nil, errors.Join(openError(path, err), db.Close())
	}
	if err := s.settle(created, opts.Holder); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// CheckFree fails with ErrInUse while a process has the file open, damaged or not. One that is not there is free.
func CheckFree(path string) error {
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil
	}
	db, err := open(path, bolt.Options{ReadOnly: true, Timeout: time.Millisecond, NoStatistics: true})
	if err == nil {
		return db.Close()
	}
	if errors.Is(err, bolterrors.ErrTimeout) {
		return openError(path, err)
	}
	return nil
}

// openError is why a file cannot be opened, in words.
func openError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bolterrors.ErrTimeout):
		return fmt.Errorf("%w: %s is held by %s", ErrInUse, path, readHolder(path))
	case errors.Is(err, ErrDamaged):
		return fmt.Errorf("%s: %w", path, err)
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum),
		errors.Is(err, bolterrors.ErrVersionMismatch), errors.Is(err, bolterrors.ErrInvalidMapping):
		return fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	return fmt.Errorf("open the database: %w", err)
}

// openBolt opens a file to write, with room to grow.
func openBolt(path string, wait time.Duration, reserved int) (*bolt.DB, error) {
	db, err := open(path, bolt.Options{
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

// open turns the panics with which the library meets some damaged files into an error, and lets go of the file then.
func open(path string, o bolt.Options) (db *bolt.DB, err error) {
	var file *os.File
	o.OpenFile = func(path string, flag int, mode os.FileMode) (_ *os.File, err error) {
		file, err = os.OpenFile(path, flag, mode)
		return file, err
	}
	err = guarded(func() (err error) {
		db, err = bolt.Open(path, 0o600, &o)
		return err
	})
	if errors.Is(err, errBroken) {
		return nil, errors.Join(err, file.Close())
	}
	return db, err
}

type boltStore struct {
	db       *bolt.DB
	path     string
	reserved int64 // bytes that are mapped from the start
	gate     *gate
	writing  sync.Mutex // whose turn it is to write
	fresh    bool       // nothing is in the file, not even the mark of its format; guarded by writing
	broken   error      // what ended an Update inside the library, which may hold its locks since; guarded by writing
	trouble  atomic.Pointer[trouble]
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
	if created {
		if err := files.SyncDir(filepath.Dir(s.path)); err != nil {
			return fmt.Errorf("make the database file durable: %w", err)
		}
	}
	writeHolder(s.path, holder)
	return nil
}

func (s *boltStore) View(fn func(Tx) error) error {
	if err := s.gate.read(); err != nil {
		return err
	}
	defer s.gate.doneReading()
	calling := false
	return boltError(guardedAround(&calling, func() error {
		return s.db.View(func(tx *bolt.Tx) error { return (&boltTx{tx: tx}).run(&calling, fn) })
	}))
}

func (s *boltStore) Update(fn func(Tx) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.gate.write(); err != nil {
		return err
	}
	defer s.gate.doneWriting()
	if s.broken != nil {
		return s.broken
	}
	alone, err := mayMapAnew(s.db, s.reserved)
	if err != nil {
		return err
	}
	if alone {
		s.gate.acquireExclusive()
	}
	calling, ended := false, false
	t := &boltTx{}
	err = boltError(guardedAround(&calling, func() error {
		err := s.db.Update(func(tx *bolt.Tx) error {
			if s.fresh {
				if err := writeFormat(tx, formatPacked); err != nil {
					return err
				}
			}
			t.tx = tx
			return t.run(&calling, fn)
		})
		ended = true
		return err
	}))
	err = s.committed(t, err)
	s.fresh = s.fresh && err != nil
	if !ended {
		s.broken = err
	}
	return err
}

// committed notes whether a commit that was tried succeeded.
func (s *boltStore) committed(t *boltTx, err error) error {
	if !t.good {
		return err // none was tried
	}
	if err == nil {
		s.trouble.Store(nil)
		return nil
	}
	if isFull(err) {
		err = fmt.Errorf("%w: %w", ErrFull, err)
	}
	err = fmt.Errorf("%w: %w", ErrNotWritten, err)
	s.trouble.Store(&trouble{err, time.Now()})
	return err
}

// isFull reports whether there is no room. The library repeats some errors of the system as text only.
func isFull(err error) bool {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, full) || strings.Contains(err.Error(), full.Error()) {
			return true
		}
	}
	return false
}

// trouble is a commit that failed.
type trouble struct {
	err error
	at  time.Time
}

// Trouble returns when and why the last commit failed.
func (s *boltStore) Trouble() (at time.Time, err error) {
	if t := s.trouble.Load(); t != nil {
		return t.at, t.err
	}
	return at, nil
}

// Trouble returns when and why the last commit of a store failed; nil when it succeeded, and for a store that cannot
// fail.
func Trouble(s Store) (at time.Time, err error) {
	if b, ok := s.(interface{ Trouble() (time.Time, error) }); ok {
		return b.Trouble()
	}
	return at, nil
}

func (s *boltStore) Snapshot(context.Context) (Snapshot, error) {
	if err := s.gate.read(); err != nil {
		return nil, err
	}
	tx, err := s.db.Begin(false)
	if err != nil {
		s.gate.doneReading()
		return nil, boltError(err)
	}
	return &boltSnapshot{boltTx: boltTx{tx: tx}, gate: s.gate}, nil
}

func (s *boltStore) YieldToWriter() { s.gate.yieldToWriter() }

func (s *boltStore) Close() error {
	var err error
	s.close.Do(func() {
		s.gate.end()
		removeHolder(s.path)
		if s.broken == nil && !errors.Is(s.listFree(), errBroken) { // nobody writes any more
			err = s.db.Close()
		}
	})
	return err
}

// listFree writes the list of free pages with a last commit, so that the next start need not look for them. Nothing
// depends on it: a file without the list is whole. Other commits leave it out, as the list can be long.
func (s *boltStore) listFree() error {
	if info, err := os.Stat(s.path); err != nil || info.Size() < listFrom {
		return err
	}
	s.db.NoFreelistSync = false
	return guarded(func() error { return s.db.Update(func(*bolt.Tx) error { return nil }) })
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
