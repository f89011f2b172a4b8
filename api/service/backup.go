package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"coffer/api"
	"coffer/api/files"
	"coffer/api/service/store"
)

// backupPath is where the local socket answers with a copy of the database.
const backupPath = "/admin/backup"

// ErrExists says that a backup would have replaced a file.
var ErrExists = errors.New("the file is there already and is not overwritten")

// ErrBadCopy says that a copy is not what was written: the place where it was put may be at fault.
var ErrBadCopy = errors.New("the copy is not good")

// BackUp writes a consistent copy of the database of a data directory to a new file of mode 0600, reads it back and
// reports what is in it. The database itself is only read: one of an earlier version is copied as it is. A service that
// runs there makes the copy, over the local socket, and goes on meanwhile. The copy is as secret as the database: it
// holds the service's own keys. A file that exists is ErrExists; after any error no file is left. What has the file's
// name is whole: a process that is killed leaves FILE.*.part. Damaged records are copied as they are and are in the
// report.
func BackUp(ctx context.Context, dir, file string) (r store.Report, err error) {
	if err := InFile(dir); err != nil {
		return r, err
	}
	if err := errors.Join(checkDir(dir), checkFile(dir)); err != nil {
		return r, err
	}
	path := filepath.Join(dir, DatabaseFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("%w in %s", ErrNoDatabase, dir)
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return r, backupError(file, err)
	}
	out, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.part")
	if err != nil {
		return r, fmt.Errorf("back up: %w", err)
	}
	part := out.Name()
	defer func() {
		if gone := os.Remove(part); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	err = reachStore(ctx, dir, attachWait,
		func() error { return store.BackupFile(path, out) },
		func(way *http.Transport) (bool, error) { return fetchBackup(ctx, way, out) })
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return r, fmt.Errorf("back up: %w", err)
	}
	if r, err = store.CheckFile(part); err != nil {
		return r, fmt.Errorf("back up: %w: %w", ErrBadCopy, err)
	}
	if err = files.Claim(part, file); err != nil {
		return r, backupError(file, err)
	}
	return r, files.SyncDir(filepath.Dir(file))
}

// backupError is why a backup cannot have its name; nil: there is a file of that name.
func backupError(file string, err error) error {
	if err == nil || errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %s", ErrExists, file)
	}
	return fmt.Errorf("back up: %w", err)
}

// fetchBackup copies what the process behind the socket sends.
func fetchBackup(ctx context.Context, way *http.Transport, out io.Writer) (reached bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+localHost+backupPath, nil)
	if err != nil {
		return true, err
	}
	res, err := way.RoundTrip(req)
	if err != nil {
		return !errors.Is(err, errDial), err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if res.StatusCode != http.StatusOK {
		return true, fmt.Errorf("the process that runs the service answers %s: is it of an earlier version?",
			res.Status)
	}
	n, err := io.Copy(out, res.Body)
	if err == nil && n != res.ContentLength {
		err = fmt.Errorf("%d bytes came of %d", n, res.ContentLength)
	}
	return true, err
}

// sendBackup answers with a copy of the database.
func sendBackup(s store.Store, log *slog.Logger) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		to := &patient{w: w, control: http.NewResponseController(w)}
		err := store.Backup(s, func(size int64) {
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
			w.WriteHeader(http.StatusOK)
		}, to)
		switch {
		case err == nil:
			log.Info("a backup was made", "bytes", to.written, "caller", "local socket")
		case to.written == 0:
			reply(w, http.StatusInternalServerError, nil,
				api.NewError(api.ErrInternal, "The database cannot be copied: %v", err))
		default: // the connection ends short of the length that was promised
			log.Error("a backup was cut off", "bytes", to.written, "error", err)
		}
	}
}

// patient gives every write the whole time that an answer has elsewhere: a copy may take long, a reader that stands
// still may not.
type patient struct {
	w       io.Writer
	control *http.ResponseController
	written int64
}

// Write implements io.Writer.
func (p *patient) Write(b []byte) (int, error) {
	err := p.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := p.w.Write(b)
	p.written += int64(n)
	return n, err
}
