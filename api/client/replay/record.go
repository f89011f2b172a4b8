package replay

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"coffer/api"
	"coffer/api/client/httplog"
	"coffer/api/client/internal/tap"
	"coffer/api/text"
)

// Recorder writes a recording. It is safe for concurrent use.
type Recorder struct {
	dir   string
	clock func() time.Time

	mu     sync.Mutex
	next   int
	size   int64
	err    error // the first failure to write; the Recorder writes nothing after it
	closed bool
}

// ErrTaken means that the directory is not empty.
var ErrTaken = errors.New("the directory of a new recording must be empty")

// Record begins a recording in a directory, which it creates when it is missing and which must be empty. A zero
// About.At means now.
func Record(dir string, about About, clock func() time.Time) (*Recorder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("begin a recording: %w", err)
	}
	old, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("begin a recording: %w", err)
	}
	if len(old) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrTaken, dir)
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // the mode of a directory that only its owner enters
		return nil, fmt.Errorf("begin a recording: %w", err)
	}
	if about.At.IsZero() {
		about.At = clock()
	}
	b, err := about.encode()
	if err != nil {
		return nil, err
	}
	if _, err := ParseAbout(b); err != nil { // a recording that could not be read again does not begin
		return nil, err
	}
	r := &Recorder{dir: dir, clock: clock, next: 1, size: int64(len(b))}
	return r, r.write(aboutName, b)
}

// Wrap returns a transport that records the exchanges through it. It belongs above the one that adds the API key.
func (r *Recorder) Wrap(inner http.RoundTripper) http.RoundTripper {
	return tap.Transport(inner, r.heard)
}

// Close ends the recording and returns the first failure to write. It does not record exchanges that are still under
// way.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return r.err
}

func (r *Recorder) heard(req *http.Request, body []byte) func(tap.Outcome) {
	kept, _ := httplog.Redacted(body)
	r.mu.Lock()
	e := exchange{number: r.next, at: r.clock(), method: req.Method, path: req.URL.EscapedPath(),
		query: req.URL.RawQuery, request: kept}
	r.next++
	r.mu.Unlock()
	return func(o tap.Outcome) { r.keep(e, o) }
}

// keep writes an exchange that has ended.
func (r *Recorder) keep(e exchange, o tap.Outcome) {
	e.took = max(0, min(r.clock().Sub(e.at), time.Hour))
	switch {
	case o.Err != nil:
		e.failure = text.Clean(o.Err.Error(), 500)
	case o.Size > api.DefaultLimits().Bytes:
		e.failure = fmt.Sprintf("an answer of more than %d bytes", api.DefaultLimits().Bytes)
	default:
		e.status, e.headers = o.Status, httplog.Headers(o.Header)
		e.answer, _ = httplog.Redacted(o.Body)
	}
	if e.status == 0 && e.failure == "" {
		e.failure = "no answer"
	}
	b, err := e.encode()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed || r.err != nil:
		return
	case err != nil:
	case len(b) > maxFile, e.number > MaxExchanges, r.size+int64(len(b)) > MaxBytes:
		err = fmt.Errorf("the recording is full: it ends before exchange %d", e.number)
	default:
		err = r.write(fileName(e.number), b)
	}
	r.size += int64(len(b))
	r.err = err
}

// write creates a file that appears as a whole.
func (r *Recorder) write(name string, b []byte) error {
	t, err := os.CreateTemp(r.dir, ".new-*") // 0600
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	_, err = t.Write(b)
	if err = errors.Join(err, t.Close()); err == nil {
		err = os.Rename(t.Name(), filepath.Join(r.dir, name))
	}
	if err != nil {
		if gone := os.Remove(t.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return fmt.Errorf("record: %w", err)
	}
	return nil
}
