package vault

import (
	"context"
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

// maxFile bounds a vault file, in bytes: every record that fits into a vault, and some.
const maxFile = 256 << 10

// fileStore keeps all records in one file, mode 0600, that is replaced as a whole: written beside it, synced, renamed,
// and the directory synced. A crash leaves the old file or the new one.
type fileStore struct {
	lock *dirLock
	path string
}

// records is the file: what head and the record names hold. Every value is encrypted.
type records struct {
	Version int               `json:"coffer_vault_file"`
	Records map[string]string `json:"records"`
}

// exclusive also removes what a crash left beside the file; whoever holds the lock is the only writer.
func (f *fileStore) exclusive(ctx context.Context) (func(), error) {
	release, err := f.lock.hold(ctx)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(f.path)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if left, _ := filepath.Match(f.beside(), e.Name()); left {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		release()
		return nil, fmt.Errorf("vault file: %w", err)
	}
	return release, nil
}

// beside is the pattern of the names under which new content is written.
func (f *fileStore) beside() string { return "." + filepath.Base(f.path) + "-*" }

func (f *fileStore) get(_ context.Context, name string) ([]byte, error) {
	r, err := f.read()
	if err != nil {
		return nil, err
	}
	value, ok := r.Records[name]
	if !ok {
		return nil, errNone
	}
	if len(value) > maxValue {
		return nil, ErrDamaged
	}
	return []byte(value), nil
}

func (f *fileStore) put(_ context.Context, name string, value []byte) error {
	r, err := f.read()
	if err != nil {
		return err
	}
	r.Records[name] = string(value)
	return f.write(r)
}

func (f *fileStore) remove(_ context.Context, name string) error {
	r, err := f.read()
	if err != nil {
		return err
	}
	if _, ok := r.Records[name]; !ok {
		return nil
	}
	delete(r.Records, name)
	return f.write(r)
}

func (f *fileStore) drop(context.Context, []string) error {
	return errors.Join(os.Remove(f.path), files.SyncDir(filepath.Dir(f.path)))
}

// read returns the records, none when there is no file yet. A file that others may read or write, or that is no file,
// is refused.
func (f *fileStore) read() (records, error) {
	empty := records{Version: headVersion, Records: map[string]string{}}
	if err := checkDir(filepath.Dir(f.path)); errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	} else if err != nil {
		return records{}, err
	}
	b, err := readPrivate(f.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	} else if err != nil {
		return records{}, err
	}
	var r records
	if json.Unmarshal(b, &r, json.RejectUnknownMembers(true)) != nil || r.Version != headVersion || r.Records == nil {
		return records{}, ErrDamaged
	}
	return r, nil
}

func (f *fileStore) write(r records) (err error) {
	b, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("vault file: %w", err)
	}
	dir := filepath.Dir(f.path)
	if err := makeDir(dir); err != nil {
		return err
	}
	if err := files.Replace(f.path, f.beside(), b); err != nil {
		return fmt.Errorf("vault file: %w", err)
	}
	if err := files.SyncDir(dir); err != nil {
		return fmt.Errorf("vault directory: %w", err)
	}
	return nil
}

// makeDir makes the directory of a vault, for its owner alone, and checks the one that is there.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("vault directory: %w", err)
	}
	return checkDir(dir)
}

// checkDir refuses a directory in which others could put another file (TH-C3).
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("vault directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("vault directory: %s is not a directory", dir)
	}
	if files.Foreign(info) {
		return fmt.Errorf("vault directory: %s belongs to another user, who may change it at any time", dir)
	}
	if files.OthersMayWrite(info) {
		return fmt.Errorf("vault directory: others may write in %s; make it yours alone: chmod 700 %s", dir, dir)
	}
	return nil
}

// readPrivate reads a regular file of at most limit bytes that nobody but its owner may read or write.
func readPrivate(path string, limit int) ([]byte, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat() // of the opened file: what is looked at is what is read
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case files.Foreign(info):
		return nil, fmt.Errorf("%s belongs to another user, who may change it at any time; make your own copy",
			path)
	case files.OthersMayRead(info):
		return nil, fmt.Errorf("others may use %s; make it yours alone: chmod 600 %s", path, path)
	case info.Size() > int64(limit):
		return nil, fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	content := make([]byte, info.Size()+1) // one more, to see a file that grows
	n, err := io.ReadFull(f, content)
	if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) || n > limit {
		clear(content)
		return nil, fmt.Errorf("%s could not be read at once", path)
	}
	return content[:n], nil
}

// dirLock keeps processes apart that change the same vault: an empty file beside it, locked by the operating system for
// the length of a change.
type dirLock struct{ path string }

// lockWait bounds the wait for another process, which holds the lock for a few milliseconds, or for one slow keyring
// call.
const lockWait = 5 * time.Second

func (l *dirLock) hold(ctx context.Context) (release func(), err error) {
	if err := makeDir(filepath.Dir(l.path)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("vault lock: %w", err)
	}
	wait, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if err := files.Lock(wait, f, 0); err != nil {
		return nil, fmt.Errorf("vault lock: another program is changing this vault (%s): %w", l.path,
			errors.Join(err, f.Close()))
	}
	return func() { _ = f.Close() }, nil // closing releases it
}
