package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// step counts the steps of this process that are under way; they share the lock.
type step struct {
	mu   sync.Mutex
	held int
}

// Hold takes the journal for one step, such as a signature or a request that executes, and reads what other processes
// appended since the last one; release ends it. While a step lasts no other process appends; within this process steps
// may overlap. Whoever sleeps, or waits for a person, holds nothing.
//
// Errors: ErrLocked with the name of the other process, after Options.Patience; the error of ctx; ErrReadOnly, also
// when the file lost records since.
func (j *Journal) Hold(ctx context.Context) (release func(), err error) {
	if err := j.ReadOnly(); err != nil {
		return nil, err
	}
	if j.scratch {
		return func() {}, nil
	}
	j.step.mu.Lock()
	defer j.step.mu.Unlock()
	if j.step.held == 0 {
		if err := j.begin(ctx); err != nil {
			return nil, err
		}
	}
	j.step.held++
	return sync.OnceFunc(j.end), nil
}

func (j *Journal) begin(ctx context.Context) error {
	l, err := takeLock(ctx, filepath.Join(j.dir, lockName), j.o)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.readOnly == nil {
		err = j.catchUp()
	} else {
		err = j.readOnly
	}
	if err != nil {
		l.release()
		return err
	}
	j.lock = l
	return nil
}

func (j *Journal) end() {
	j.step.mu.Lock()
	defer j.step.mu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.step.held--; j.step.held == 0 && j.lock != nil {
		j.lock.release()
		j.lock = nil
	}
}

// catchUp reads what was appended, under the lock. What is there must begin with the records that were read before, and
// the anchor must count a beginning of it; a record that another process left cut short is removed.
func (j *Journal) catchUp() error {
	torn, err := j.tail()
	switch {
	case errors.Is(err, errReplaced):
		return j.reload()
	case err != nil:
		return err
	}
	if torn {
		if err := j.cut(j.size); err != nil {
			return fmt.Errorf("%w: %w", ErrReadOnly, err)
		}
	}
	_, err = j.checkAnchor()
	if errors.Is(err, ErrOlder) {
		j.readOnly = err
	}
	return err
}

// errReplaced says that another file has taken the journal's name.
var errReplaced = errors.New("the journal is another file now")

// tail takes in the records that were appended to the file. torn: it ends in a part of a record.
func (j *Journal) tail() (torn bool, err error) {
	now, err := os.Stat(filepath.Join(j.dir, fileName))
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && os.SameFile(now, j.id) && now.Size() < j.size:
		j.readOnly = j.older("it was shortened or removed while this program had it open")
		return false, j.readOnly
	case err != nil:
		return false, fmt.Errorf("%w: %w", ErrReadOnly, err)
	case !os.SameFile(now, j.id):
		return false, errReplaced
	}
	from := max(j.last, int64(headerSize))
	if _, err := j.file.Seek(from, io.SeekStart); err != nil {
		return false, fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	b, err := io.ReadAll(j.file)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	c := decodeRecords(b, int(from))
	if n := len(j.sums); n > 0 { // the last record that was read comes again
		before := sum{}
		if n > 1 {
			before = j.sums[n-2]
		}
		if len(c.records) == 0 || before.with(c.records[0].digest) != j.sums[n-1] {
			j.readOnly = j.older("it was changed while this program had it open")
			return false, j.readOnly
		}
		c.records = c.records[1:]
	}
	if j.readOnly = j.replay(c); j.readOnly != nil {
		return false, j.readOnly
	}
	j.size = int64(c.good)
	return c.torn, nil
}

// reload reads the file that has taken the journal's name: a smaller one with the same records (compact), or a copy
// that somebody put there.
func (j *Journal) reload() error {
	k, _, err := load(j.dir, j.o)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	n := len(j.sums)
	if k.readOnly == nil && (len(k.sums) < n || n > 0 && k.sums[n-1] != j.tip()) {
		k.readOnly = j.older("another file was put in its place while this program had it open")
	}
	_ = j.file.Close()
	j.file, j.id, j.size, j.last = k.file, k.id, k.size, k.last
	j.newest, j.adopted, j.readOnly = k.newest, k.adopted, k.readOnly
	if k.readOnly == nil {
		j.book, j.sums = k.book, k.sums
	}
	return j.readOnly
}

// refresh takes in what other processes appended, for a reader; what cannot be read now is read by the next step.
func (j *Journal) refresh() {
	if j.readOnly != nil || j.scratch || j.lock != nil {
		return
	}
	now, err := os.Stat(filepath.Join(j.dir, fileName))
	if err != nil || !os.SameFile(now, j.id) || now.Size() <= j.size {
		return
	}
	if _, err := j.tail(); err != nil {
		j.readOnly = nil // judged under the lock
	}
}
