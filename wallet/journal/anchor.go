package journal

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api/files"
)

// anchorVersion is the version of the anchor's form.
const anchorVersion = 1

// maxAnchor bounds an anchor, in bytes.
const maxAnchor = 4 << 10

// ErrOlder says that records are missing which were written before: an earlier copy of the journal is in its place, or
// another one, or none.
var ErrOlder = errors.New("this journal is older than what was signed")

// errAnchor is an anchor that says nothing.
var errAnchor = errors.New("it is damaged")

// anchor says how far a journal of a network was written: Records is how many records it had, Sum the running hash over
// their digests, At when the last of them was made. It is kept outside the journal's directory and written after a
// record is on disk and before anything it announces is on the wire, so the records that it counts are always a
// beginning of the true journal.
type anchor struct {
	Version int       `json:"coffer_journal_anchor"`
	Network string    `json:"network"`
	Records int       `json:"records"`
	Sum     string    `json:"sum"`
	At      time.Time `json:"at"`
}

// parseAnchor reads an anchor of a network.
func parseAnchor(b []byte, network string) (anchor, error) {
	var a anchor
	if len(b) > maxAnchor || json.Unmarshal(b, &a, json.RejectUnknownMembers(true)) != nil {
		return anchor{}, errAnchor
	}
	raw, err := hex.DecodeString(a.Sum)
	switch {
	case a.Version != anchorVersion:
		return anchor{}, fmt.Errorf("it has version %d, this program reads %d", a.Version, anchorVersion)
	case a.Network != network:
		return anchor{}, errors.New("it belongs to another network")
	case err != nil || len(raw) != len(sum{}) || a.Records < 0 || (a.Records == 0 && sum(raw) != sum{}):
		return anchor{}, errAnchor
	}
	return a, nil
}

func (a anchor) encode() ([]byte, error) {
	a.Version = anchorVersion
	b, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("journal: anchor: %w", err)
	}
	return append(b, '\n'), nil
}

// sum is the running hash that the anchor holds; parseAnchor has checked it.
func (a anchor) sum() sum {
	raw, err := hex.DecodeString(a.Sum)
	if err != nil || len(raw) != len(sum{}) {
		return sum{}
	}
	return sum(raw)
}

// readAnchor returns the anchor at a path; false when there is none.
func readAnchor(path, network string) (anchor, bool, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return anchor{}, false, nil
	case err != nil:
		return anchor{}, false, err
	case !info.Mode().IsRegular() || files.OthersMayWrite(info):
		return anchor{}, false, errors.New("it is not a file that you alone may write to")
	}
	f, err := os.Open(path)
	if err != nil {
		return anchor{}, false, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxAnchor+1))
	if err != nil {
		return anchor{}, false, err
	}
	a, err := parseAnchor(b, network)
	return a, err == nil, err
}

// AnchorNetwork is the id of the network whose journal an anchor counts, as the file says; "" when there is no anchor.
func AnchorNetwork(path string) string {
	var a anchor
	raw, err := os.ReadFile(path)
	if err != nil || len(raw) > maxAnchor || json.Unmarshal(raw, &a) != nil {
		return ""
	}
	return a.Network
}

// writeAnchor replaces the anchor. renamed: the new one may be what is read next time, even after an error. The
// journal's lock keeps writers apart, so the file beside it has one name, and a crash leaves one such file at most.
func writeAnchor(path string, a anchor) (renamed bool, err error) {
	b, err := a.encode()
	if err != nil {
		return false, err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	beside := path + ".new"
	f, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return false, err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return false, err
	}
	if err := os.Rename(beside, path); err != nil {
		return false, err
	}
	return true, syncDir(dir)
}

// judge says why the records of the journal cannot be all that was written, or nil: the anchor must count a beginning
// of them.
func (j *Journal) judge(a anchor) error {
	until := a.At.UTC().Format("2 January 2006, 15:04:05 UTC")
	switch {
	case a.Records > len(j.sums):
		return j.older("it has %d of the %d records that were written until %s", len(j.sums), a.Records, until)
	case a.Records > 0 && j.sums[a.Records-1] != a.sum():
		return j.older("its first %d records are not those that were written until %s", a.Records, until)
	}
	return nil
}

// older is ErrOlder with what was seen and what to do.
func (j *Journal) older(format string, args ...any) error {
	return fmt.Errorf("%w: %w: %s. Put the newest copy of %s back; if there is none, see what is lost: "+
		"coffer activity adopt", ErrReadOnly, ErrOlder, fmt.Sprintf(format, args...), j.dir)
}

// checkAnchor compares the journal with its anchor; found is false when there is none.
func (j *Journal) checkAnchor() (found bool, err error) {
	if j.o.Anchor == "" {
		return false, nil
	}
	a, found, err := readAnchor(j.o.Anchor, j.o.Network)
	if err != nil {
		return found, j.badAnchor(err)
	}
	if !found {
		return false, nil
	}
	return true, j.judge(a)
}

func (j *Journal) badAnchor(err error) error {
	return fmt.Errorf("%w: the file that says how far it was written cannot be used: %s: %w. "+
		"Put it back from a copy; if there is none: coffer activity adopt", ErrReadOnly, j.o.Anchor, err)
}

// anchorOf is the anchor of so many records.
func (j *Journal) anchorOf(records int, s sum, at time.Time) anchor {
	return anchor{Network: j.o.Network, Records: records, Sum: hex.EncodeToString(s[:]), At: at}
}

// drop puts an anchor in place. renamed: it may be there even after an error.
func (j *Journal) drop(a anchor) (renamed bool, err error) {
	if j.o.Anchor == "" {
		return false, nil
	}
	if renamed, err = writeAnchor(j.o.Anchor, a); err != nil {
		return renamed, fmt.Errorf("%w: the file that says how far it was written: %w", ErrReadOnly, err)
	}
	return true, nil
}
