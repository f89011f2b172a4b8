package journal

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"coffer/api/network"
)

const (
	fileName = "journal"
	lockName = "journal.lock"
)

// File is what the journal needs of a file; tests put a failing one in its place.
type File interface {
	io.ReadWriteCloser
	io.Seeker
	Truncate(size int64) error
	Sync() error
}

// Options are the surroundings of a journal. Network is the id of the network it belongs to, Kind what the user declared it to be: only on an embedded one,
// where service and wallet are one program, does the service's word end a signature; the zero value believes nothing. Clock stamps the records; Random makes
// operation ids; Holder is how this process is named to a second one; OpenFile is os.OpenFile unless a test replaces it.
type Options struct {
	Network  string
	Kind     network.Kind
	Clock    func() time.Time
	Random   io.Reader
	Holder   string
	OpenFile func(path string, flag int, perm fs.FileMode) (File, error)
}

// The errors of a journal.
var (
	ErrReadOnly = errors.New("the journal cannot be written, so nothing may be signed")
	ErrLocked   = errors.New("another process uses the journal")
	ErrClosed   = errors.New("the journal is closed")
	ErrConflict = errors.New("an earlier signature of this account is still open under another nonce, so a second one must not exist beside it")
	ErrQuote    = errors.New("the record is not about the quote of this operation")
)

// Journal is an open journal. It is safe for concurrent use.
type Journal struct {
	o        Options
	mu       sync.Mutex
	file     File
	size     int64
	book     *book
	lock     *lock
	repaired int
	readOnly error
}

// Open opens or creates the journal in dir for writing. A torn tail is removed. A file that is damaged elsewhere is opened read-only, and ReadOnly says why.
// Errors: ErrLocked with the name of the other process; a file of another network or version; a directory that others may write to.
func Open(dir string, o Options) (*Journal, error) {
	o = o.withDefaults()
	if err := prepareDir(dir); err != nil {
		return nil, err
	}
	l, err := takeLock(filepath.Join(dir, lockName), o.Holder)
	if err != nil {
		return nil, err
	}
	j, err := open(dir, o)
	if err != nil {
		l.release()
		return nil, err
	}
	j.lock = l
	return j, nil
}

// OpenReadOnly reads the journal in dir without the lock and without repairing anything; every Append fails with ErrReadOnly.
func OpenReadOnly(dir string, o Options) (*Journal, error) {
	o = o.withDefaults()
	f, err := o.OpenFile(filepath.Join(dir, fileName), os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j := &Journal{o: o, file: f, book: newBook(o.Kind == network.Embedded), readOnly: fmt.Errorf("%w: it was opened for reading", ErrReadOnly)}
	c, err := j.read()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := j.replay(c); err != nil {
		j.readOnly = err
	}
	return j, nil
}

func (o Options) withDefaults() Options {
	if o.OpenFile == nil {
		o.OpenFile = func(path string, flag int, perm fs.FileMode) (File, error) { return os.OpenFile(path, flag, perm) }
	}
	if o.Holder == "" {
		o.Holder = "coffer"
	}
	return o
}

func prepareDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if othersMayWrite(info.Mode()) {
		return fmt.Errorf("journal: others may write to %s; make it private first (chmod 700)", dir)
	}
	return nil
}

func open(dir string, o Options) (*Journal, error) {
	path := filepath.Join(dir, fileName)
	f, err := o.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j := &Journal{o: o, file: f, book: newBook(o.Kind == network.Embedded)}
	if err := j.load(dir); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

// load reads the file, repairs a torn tail, writes a missing header and makes the file's existence durable.
func (j *Journal) load(dir string) error {
	c, err := j.read()
	if err != nil {
		return err
	}
	if err := j.replay(c); err != nil {
		j.readOnly = err
		return nil
	}
	if c.torn {
		if err := j.cut(int64(c.good)); err != nil {
			return fmt.Errorf("journal: remove a record that was cut short: %w", err)
		}
	}
	j.size = int64(c.good)
	if c.good > 0 {
		return nil
	}
	if err := j.write(header(j.o.Network)); err != nil {
		return err
	}
	return syncDir(dir)
}

func (j *Journal) read() (content, error) {
	b, err := io.ReadAll(j.file)
	if err != nil {
		return content{}, fmt.Errorf("journal: %w", err)
	}
	c, err := decodeFile(b, j.o.Network)
	if err != nil {
		return content{}, fmt.Errorf("journal: %w", err)
	}
	if c.torn {
		j.repaired = len(b) - c.good
	}
	return c, nil
}

// replay takes all sound records in, and returns why the journal must stay read-only.
func (j *Journal) replay(c content) error {
	for _, r := range c.records {
		if err := j.book.check(r); err != nil {
			return fmt.Errorf("%w: its records contradict each other (%w)", ErrReadOnly, err)
		}
		j.book.apply(r)
	}
	if c.damaged != nil {
		return fmt.Errorf("%w: %w; copy it away and start a new one", ErrReadOnly, c.damaged)
	}
	return nil
}

// Repaired is the number of bytes of a record cut short that were removed, or left aside when read-only.
func (j *Journal) Repaired() int { return j.repaired }

// ReadOnly says why nothing can be written, or nil.
func (j *Journal) ReadOnly() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.readOnly
}

// Begin records a new operation for an intent and returns its id.
func (j *Journal) Begin(intentJSON []byte, intentHash [32]byte) (string, error) {
	var b [8]byte
	if j.o.Random == nil {
		return "", errors.New("journal: no source of randomness")
	}
	if _, err := io.ReadFull(j.o.Random, b[:]); err != nil {
		return "", fmt.Errorf("journal: %w", err)
	}
	id := hex.EncodeToString(b[:])
	return id, j.Append(id, Intent, Entry{Intent: intentJSON, IntentHash: hex.EncodeToString(intentHash[:])})
}

// Append puts the operation into a state. It returns nil only when the record is on disk; after an error nothing was recorded. Errors: ErrReadOnly,
// ErrClosed, ErrConflict (a signature that must not exist beside an open one), ErrQuote, and a record that cannot follow the last one.
func (j *Journal) Append(op string, state State, e Entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.readOnly != nil {
		return j.readOnly
	}
	e.Op, e.At = op, j.o.Clock().UTC()
	r := record{state: state, entry: e}
	if err := j.book.check(r); err != nil {
		return err
	}
	if err := j.book.admit(r, e.At); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	b, err := encodeRecord(r)
	if err != nil {
		return err
	}
	if err := j.write(b); err != nil {
		return err
	}
	j.book.apply(r)
	return nil
}

// write appends b durably, or undoes what was written.
func (j *Journal) write(b []byte) error {
	if _, err := j.file.Seek(j.size, io.SeekStart); err != nil {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	n, err := j.file.Write(b)
	if err == nil && n != len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		if undo := j.cut(j.size); undo != nil {
			j.readOnly = fmt.Errorf("%w: a failed write could not be undone: %w", ErrReadOnly, undo)
		}
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	if err := j.file.Sync(); err != nil {
		// After a failed fsync nobody knows what is on disk; only reading the file again tells.
		j.readOnly = fmt.Errorf("%w: the disk did not confirm a write: %w", ErrReadOnly, err)
		return j.readOnly
	}
	j.size += int64(len(b))
	return nil
}

func (j *Journal) cut(size int64) error {
	if err := j.file.Truncate(size); err != nil {
		return err
	}
	return j.file.Sync()
}

// Close releases the file and the lock. Appends fail afterwards.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(j.readOnly, ErrClosed) {
		return nil
	}
	j.readOnly = ErrClosed
	err := j.file.Close()
	if j.lock != nil {
		j.lock.release()
	}
	return err
}
