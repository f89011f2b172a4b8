package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"coffer/api/text"
)

// lock is held by the process that writes. The lock file's text names that process; only the lock itself decides, so the text of a dead process is harmless.
type lock struct{ f *os.File }

const maxHolder = 200

func takeLock(path, holder string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s", ErrLocked, readHolder(f)), f.Close())
	}
	note := fmt.Sprintf("%s, process %d", holder, os.Getpid())
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(note), 0) // a missing note costs only a better message
	}
	return &lock{f}, nil
}

func readHolder(f *os.File) string {
	b, err := io.ReadAll(io.LimitReader(f, maxHolder))
	who := text.Clean(strings.TrimSpace(string(b)), maxHolder)
	if err != nil || who == "" {
		return "a process that left no name"
	}
	return who
}

// release ends the lock; closing the file is what releases it.
func (l *lock) release() { _ = l.f.Close() }

func lower(s string) string { return strings.ToLower(s) }
