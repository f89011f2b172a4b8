package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"coffer/api/files"
	"coffer/api/network"
)

// Open opens or creates the journal in dir for writing. A torn tail is removed, answers that are not needed any more
// are dropped, and a missing anchor is made. A file that is damaged elsewhere, or that lacks records which the anchor
// counts (ErrOlder), is opened read-only, and ReadOnly says why. The lock is held for the length of this call;
// afterwards each step takes it. Errors: ErrLocked with the name of the other process; a file of another network or
// version; a directory that others may write to.
func Open(dir string, o Options) (*Journal, error) {
	o = o.withDefaults()
	if err := prepareDir(dir); err != nil {
		return nil, err
	}
	l, err := takeLock(context.Background(), filepath.Join(dir, lockName), o)
	if err != nil {
		return nil, err
	}
	defer l.release()
	return open(dir, o)
}

// OpenReadOnly reads the journal in dir without the lock and without repairing anything; every Append fails with
// ErrReadOnly.
func OpenReadOnly(dir string, o Options) (*Journal, error) {
	j, err := view(dir, o)
	if err != nil {
		return nil, err
	}
	if j.readOnly == nil {
		j.readOnly = fmt.Errorf("%w: it was opened for reading", ErrReadOnly)
	}
	return j, nil
}

// OpenScratch reads the journal in dir like OpenReadOnly, nothing if there is none, and keeps what is appended in
// memory: not a byte is written to disk. A journal that could not be written, such as one that is older than what was
// signed, is an error.
func OpenScratch(dir string, o Options) (*Journal, error) {
	j, err := view(dir, o)
	if errors.Is(err, fs.ErrNotExist) {
		j = &Journal{o: o.withDefaults(), dir: dir, book: newBook(o.Kind == network.Embedded)}
		_, j.readOnly = j.checkAnchor()
		err = nil
	}
	if err != nil {
		return nil, err
	}
	if err := j.readOnly; err != nil {
		return nil, errors.Join(err, j.Close())
	}
	j.scratch = true
	return j, nil
}

// view reads a journal. The anchor is read first: whatever another process writes meanwhile, the records that it counts
// are there.
func view(dir string, o Options) (*Journal, error) {
	o = o.withDefaults()
	j := &Journal{o: o, dir: dir, book: newBook(o.Kind == network.Embedded)}
	a, anchored, bad := anchor{}, false, error(nil)
	if o.Anchor != "" {
		a, anchored, bad = readAnchor(o.Anchor, o.Network)
	}
	f, err := o.OpenFile(filepath.Join(dir, fileName), os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j.file = f
	c, err := j.read()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	err = j.replay(c)
	if err == nil && bad != nil {
		err = j.badAnchor(bad)
	}
	if err == nil && anchored {
		err = j.judge(a)
	}
	j.readOnly = err
	return j, nil
}

func (o Options) withDefaults() Options {
	if o.OpenFile == nil {
		o.OpenFile = func(path string, flag int, perm fs.FileMode) (File, error) {
			return os.OpenFile(path, flag, perm)
		}
	}
	if o.Holder == "" {
		o.Holder = "coffer"
	}
	if o.Patience == 0 {
		o.Patience = patience
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
	if files.OthersMayWrite(info) {
		return fmt.Errorf("journal: others may write to %s; make it private first (chmod 700)", dir)
	}
	return nil
}

// open opens the journal under its lock.
func open(dir string, o Options) (*Journal, error) {
	j, c, err := load(dir, o)
	if err != nil || !j.worthwhile(c) {
		return j, err
	}
	failed := j.rewrite(c)
	if err := j.file.Close(); failed == nil {
		failed = err
	}
	if failed == nil {
		failed = j.replace()
	}
	if j, _, err = load(dir, o); err == nil && failed != nil {
		j.remark = strings.TrimSpace(j.remark + " The journal could not be made smaller: " + failed.Error())
	}
	return j, err
}

// load opens the file and makes what was read ready for writing: it repairs a torn tail, writes a missing header and
// makes the file's existence durable. The anchor comes first: a tail that is torn off what the anchor counts is not
// repaired.
func load(dir string, o Options) (*Journal, content, error) {
	j := &Journal{o: o, dir: dir, book: newBook(o.Kind == network.Embedded)}
	if err := j.attach(); err != nil {
		return nil, content{}, err
	}
	c, err := j.read()
	if err == nil {
		err = j.settle(c)
	}
	if err != nil {
		return nil, content{}, errors.Join(err, j.file.Close())
	}
	return j, c, nil
}

func (j *Journal) settle(c content) (err error) {
	anchored := false
	if j.readOnly = j.replay(c); j.readOnly == nil {
		anchored, j.readOnly = j.checkAnchor()
	}
	if j.readOnly != nil {
		return nil
	}
	if c.torn {
		if err := j.cut(int64(c.good)); err != nil {
			return fmt.Errorf("journal: remove a record that was cut short: %w", err)
		}
	}
	if j.size = int64(c.good); c.good == 0 {
		if err := errors.Join(j.write(header(j.o.Network)), syncDir(j.dir)); err != nil {
			return err
		}
	}
	if !anchored && len(j.sums) > 0 && j.o.Anchor != "" {
		j.remark = fmt.Sprintf("There was no %s, which says how far the journal was written. "+
			"It was made for the %d records that are there.", j.o.Anchor, len(j.sums))
	}
	// Also after a crash between a record and its anchor.
	_, j.readOnly = j.drop(j.anchorOf(len(j.sums), j.tip(), j.newest))
	return nil
}

// attach opens the file and notes which one it is.
func (j *Journal) attach() error {
	path := filepath.Join(j.dir, fileName)
	f, err := j.o.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	id, err := os.Stat(path)
	if err != nil {
		return errors.Join(fmt.Errorf("journal: %w", err), f.Close())
	}
	j.file, j.id = f, id
	return nil
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
		if err := j.checked(r); err != nil {
			return err
		}
	}
	if to := movedTo(c.records); to != "" && to != j.o.Network {
		return fmt.Errorf("%w: %w", ErrReadOnly, errNetwork)
	}
	if c.damaged != nil {
		return fmt.Errorf("%w: %w; copy it away, and begin a new one: coffer activity adopt", ErrReadOnly, c.damaged)
	}
	return nil
}

// checked takes a record in that may come next.
func (j *Journal) checked(r record) error {
	if r.state != Adopted && r.state != Moved {
		if err := j.book.check(r); err != nil {
			return fmt.Errorf("%w: its records contradict each other (%w)", ErrReadOnly, err)
		}
	}
	j.take(r)
	return nil
}
