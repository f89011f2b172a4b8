package journal

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// Options are the surroundings of a journal. Network is the id of the network it belongs to, Kind what the user
// declared it to be: only on an embedded one, where service and wallet are one program, does the service's word end a
// signature; the zero value believes nothing. Clock stamps the records; Random makes operation ids; Holder is how this
// process is named to another one; OpenFile is os.OpenFile unless a test replaces it. Anchor is the path of the file
// that says how far the journal was written, outside its directory; "" keeps none. Patience is how long a step waits
// for another process, 0: five seconds.
type Options struct {
	Network  string
	Kind     network.Kind
	Clock    func() time.Time
	Random   io.Reader
	Holder   string
	OpenFile func(path string, flag int, perm fs.FileMode) (File, error)
	Anchor   string
	Patience time.Duration
}

// The errors of a journal.
var (
	ErrReadOnly = errors.New("the journal cannot be written, so nothing may be signed")
	ErrLocked   = errors.New("another process is in the middle of a step with this journal")
	ErrClosed   = errors.New("the journal is closed")
	ErrConflict = errors.New("an earlier signature of this account is still open under another nonce, so a second " +
		"one must not exist beside it")
	ErrQuote = errors.New("the record is not about the quote of this operation")
)

// Journal is an open journal. It is safe for concurrent use, also beside other processes.
type Journal struct {
	o    Options
	dir  string
	step step

	mu       sync.Mutex // guards what follows
	file     File
	id       fs.FileInfo // which file it is: a restored or compacted one has taken the name when another is found
	size     int64       // of the sound part that was read
	last     int64       // where the last record begins
	book     *book
	sums     []sum // the running hash after each record
	newest   time.Time
	adopted  []Adoption
	lock     *lock // while this process is in a step
	repaired int
	remark   string
	scratch  bool
	readOnly error
}

// tip is the running hash over all records.
func (j *Journal) tip() sum {
	if n := len(j.sums); n > 0 {
		return j.sums[n-1]
	}
	return sum{}
}

// take adds a checked record to what is known.
func (j *Journal) take(r record) {
	j.sums, j.last, j.newest = append(j.sums, j.tip().with(r.digest)), r.offset, r.entry.At
	if r.state == Adopted {
		j.adopted = append(j.adopted, Adoption{At: r.entry.At, Note: r.entry.Note})
		return
	}
	if r.state == Moved {
		j.book.era++ // another network took the place of the one before: its lanes begin again
		clear(j.book.lanes)
		return
	}
	j.book.apply(r)
}

// Repaired is the number of bytes of a record cut short that were removed, or left aside when read-only.
func (j *Journal) Repaired() int { return j.repaired }

// Remark says in plain words what a person should know about how the journal was opened; "" when there is nothing.
func (j *Journal) Remark() string { return j.remark }

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

// Append puts the operation into a state, in a step of its own or in the one that Hold began. It returns nil only when
// the record is on disk and anchored; after an error nothing was recorded, unless the journal is read-only from then
// on. Errors: ErrReadOnly, ErrLocked, ErrClosed, ErrConflict (a signature that must not exist beside an open one),
// ErrQuote, and a record that cannot follow the last one.
func (j *Journal) Append(op string, state State, e Entry) error {
	release, err := j.Hold(context.Background())
	if err != nil {
		return err
	}
	defer release()
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
	return j.record(r)
}

// record writes a checked record and anchors it.
func (j *Journal) record(r record) error {
	b, digest, err := encodeRecord(r)
	if err != nil {
		return err
	}
	r.digest, r.offset = digest, j.size
	if j.scratch {
		j.size += int64(len(b))
		j.take(r)
		return nil
	}
	if err := j.write(b); err != nil {
		return err
	}
	if renamed, err := j.drop(j.anchorOf(len(j.sums)+1, j.tip().with(digest), r.entry.At)); err != nil {
		return j.takeBack(int64(len(b)), renamed, err)
	}
	j.take(r)
	return nil
}

// takeBack undoes a record that could not be anchored. When the anchor may be in place nevertheless, the record stays,
// and only reading both again tells.
func (j *Journal) takeBack(n int64, anchored bool, why error) error {
	if anchored {
		j.readOnly = why
		return why
	}
	j.size -= n
	if undo := j.cut(j.size); undo != nil {
		j.readOnly = fmt.Errorf("%w: a record that was not anchored could not be taken back: %w", ErrReadOnly, undo)
	}
	return why
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
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	if j.lock != nil {
		j.lock.release()
	}
	return err
}
