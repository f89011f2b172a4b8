package journal

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Belongs returns which of the networks the journal in dir is that of, "" when it is of none of them: there is no
// journal, it was never begun, or its header is damaged, which Open says.
func Belongs(dir string, networks ...string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, fileName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil || len(raw) < headerSize {
		return "", err
	}
	to := movedTo(decodeRecords(raw[headerSize:], headerSize).records)
	for _, n := range networks {
		if bytes.HasPrefix(raw, header(n)) && to == "" || to == n {
			return n, nil
		}
	}
	return "", nil
}

// Follow makes the journal in dir, which is that of network old.Network, the journal of network now.Network, which took
// that one's place; with none in dir, or one that has moved already, it does nothing. Every record stays: operations,
// signatures that are still open, amounts that count against caps. The signatures of the network before take no place
// on the new one, where every lane begins again. One record of type MOVED says so. A copy from before the journal moved
// follows, too, and is read-only then (ErrOlder). After a crash the journal is that of either network, and Follow may
// be called again. Errors: ErrLocked, those of Open; a journal that lacks or contradicts what was written, which has to
// be put back or adopted first.
func Follow(dir string, old, now Options) error {
	if is, err := Belongs(dir, now.Network, old.Network); is != old.Network || err != nil {
		return err
	}
	old, now = old.withDefaults(), now.withDefaults()
	if err := prepareDir(dir); err != nil {
		return err
	}
	held, err := takeLock(context.Background(), filepath.Join(dir, lockName), old)
	if err != nil {
		return err
	}
	defer held.release()
	j, _, err := load(dir, old)
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }()
	if j.readOnly != nil {
		return j.readOnly
	}
	// The anchor comes first: it counts a beginning of the journal before the record and after it, so a crash in
	// between leaves the journal of the old network whole. One that counts more stays: this is a copy from before the
	// journal moved, and what was signed since is missing in it.
	j.o = now
	if _, err := j.checkAnchor(); err != nil {
		j.o.Anchor = ""
	}
	if _, err := j.drop(j.anchorOf(len(j.sums), j.tip(), j.newest)); err != nil {
		return err
	}
	return j.record(record{state: Moved, entry: Entry{At: now.Clock().UTC(), Network: now.Network,
		Note: "another network took the place of the one before"}})
}
