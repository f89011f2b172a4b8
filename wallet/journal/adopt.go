package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"coffer/api/network"
)

// ErrWhole says that a journal lacks nothing that its anchor counts.
var ErrWhole = errors.New("the journal lacks nothing: there is nothing to adopt")

// Adoption is a record that a person went on with a journal that lacked what was written before. Note says what was
// lost.
type Adoption struct {
	At   time.Time
	Note string
}

// Loss is what a journal lacks. Has is how many records it has, Written how many were written before, until Until;
// Written is 0 and Until zero when the file that would say so cannot be read. Missing: there is no journal at all.
type Loss struct {
	Has, Written int
	Until        time.Time
	Missing      bool
	Why          error
}

// Examine says what the journal in dir lacks. Errors: ErrWhole; a journal that is damaged or not readable.
func Examine(dir string, o Options) (Loss, error) {
	o = o.withDefaults()
	a, anchored, bad := readAnchor(o.Anchor, o.Network)
	plain := o
	plain.Anchor = ""
	l := Loss{}
	j, err := view(dir, plain)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.Missing = true
		j, err = &Journal{o: plain, dir: dir, book: newBook(plain.Kind == network.Embedded)}, nil
	case err == nil && j.readOnly != nil:
		err = j.readOnly
	}
	if err != nil {
		if j != nil {
			err = errors.Join(err, j.Close())
		}
		return Loss{}, err
	}
	if l.Has = len(j.sums); anchored {
		l.Written, l.Until, l.Why = a.Records, a.At, j.judge(a)
	}
	if bad != nil {
		l.Why = j.badAnchor(bad)
	}
	if err := j.Close(); err != nil {
		return Loss{}, err
	}
	if l.Why == nil {
		return Loss{}, ErrWhole
	}
	return l, nil
}

// Adopt makes the journal in dir, or a new one where there is none, the true one from now on, although it lacks what
// Examine says: signatures that it does not know may be live, and caps do not count them. A record of type ADOPTED says
// so for ever. Errors: ErrWhole, ErrLocked, those of Open.
func Adopt(dir string, o Options) error {
	l, err := Examine(dir, o)
	if err != nil {
		return err
	}
	o = o.withDefaults()
	if err := prepareDir(dir); err != nil {
		return err
	}
	held, err := takeLock(context.Background(), filepath.Join(dir, lockName), o)
	if err != nil {
		return err
	}
	defer held.release()
	plain := o
	plain.Anchor = ""
	j, _, err := load(dir, plain)
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }()
	if err := j.readOnly; err != nil {
		return err
	}
	if l.Has != len(j.sums) {
		return errors.New("journal: another process wrote to it meanwhile; look again")
	}
	// The record comes first: after a crash in between the journal is still refused, and is adopted again.
	j.o.Anchor = o.Anchor
	note := fmt.Sprintf("went on with %d records although %d were written until %s",
		l.Has, l.Written, l.Until.UTC().Format(time.RFC3339))
	return j.record(record{state: Adopted, entry: Entry{At: o.Clock().UTC(), Note: note}})
}

// Adoptions lists when a person went on with an older journal.
func (j *Journal) Adoptions() []Adoption {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]Adoption(nil), j.adopted...)
}
