package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"coffer/api/files"
)

// The journal is written anew when that saves so many bytes and such a part of the file.
const (
	leastSaved = 256 << 10
	leastPart  = 4 // a quarter
)

// besideName is where the smaller file is written before it takes the journal's name.
const besideName = fileName + ".new"

// droppable reports whether the answer in a record is needed no more: its operation has ended. Everything else of the
// record stays.
func (j *Journal) droppable(r record) bool {
	o := j.book.ops[r.entry.Op]
	return len(r.entry.Document) > 0 && o != nil && o.State.Terminal()
}

// worthwhile reports whether dropping answers saves enough.
func (j *Journal) worthwhile(c content) bool {
	if j.readOnly != nil {
		return false
	}
	saved := 0
	for _, r := range c.records {
		if j.droppable(r) {
			saved += len(r.entry.Document) / 3 * 4 // in base64
		}
	}
	return saved >= leastSaved && saved >= c.good/leastPart
}

// smaller is the file without the answers of operations that have ended. Its records have the digests that they had.
func (j *Journal) smaller(c content) ([]byte, error) {
	out := append(make([]byte, 0, c.good), c.raw[:headerSize]...)
	for i, r := range c.records {
		end := c.good
		if i+1 < len(c.records) {
			end = int(c.records[i+1].offset)
		}
		raw := c.raw[r.offset:end]
		if j.droppable(r) {
			kind := raw[4]
			raw = frame(kind, lean(raw[5:len(raw)-4], r.entry.Document))
		}
		out = append(out, raw...)
	}
	again, err := decodeFile(out, j.o.Network)
	if err != nil || again.torn || again.damaged != nil || len(again.records) != len(c.records) {
		return nil, fmt.Errorf("the smaller file cannot be read: %w", errors.Join(err, again.damaged))
	}
	for i := range c.records {
		if again.records[i].digest != c.records[i].digest {
			return nil, fmt.Errorf("record %d of the smaller file is another one", i+1)
		}
	}
	return out, nil
}

// rewrite writes the smaller file beside the journal, durably.
func (j *Journal) rewrite(c content) error {
	b, err := j.smaller(c)
	if err != nil {
		return err
	}
	f, err := j.o.OpenFile(filepath.Join(j.dir, besideName), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	n, err := f.Write(b)
	if err == nil && n != len(b) {
		err = io.ErrShortWrite
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(filepath.Join(j.dir, besideName)))
	}
	return nil
}

// replace gives the smaller file the journal's name. Before, the larger one is the journal, afterwards the smaller one:
// a crash at any moment leaves one of them, and the anchor counts a beginning of both.
func (j *Journal) replace() error {
	beside := filepath.Join(j.dir, besideName)
	if err := os.Rename(beside, filepath.Join(j.dir, fileName)); err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	return syncDir(j.dir)
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	if err := files.SyncDir(dir); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}
