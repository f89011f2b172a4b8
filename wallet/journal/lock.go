package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"coffer/api/files"
	"coffer/api/text"
)

// lock is held by a process for the length of one step. The lock file's text names that process; only the lock itself
// decides, so the text of a dead process is harmless.
type lock struct{ f *os.File }

const (
	maxHolder = 200
	lockedAt  = 1 << 30 // beyond the note, which stays readable
)

// patience is how long a step waits for another process, which holds the lock for the length of one step.
const patience = 5 * time.Second

// takeLock waits for the lock until ctx ends or the time is over. The error is then ErrLocked with the name of the
// holder.
func takeLock(ctx context.Context, path string, o Options) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	wait, cancel := context.WithTimeout(ctx, o.Patience)
	defer cancel()
	if files.Lock(wait, f, lockedAt) != nil {
		err := ctx.Err()
		if err == nil {
			err = fmt.Errorf("%w: %s", ErrLocked, readHolder(f))
		}
		return nil, errors.Join(err, f.Close())
	}
	note := fmt.Sprintf("%s, process %d", o.Holder, os.Getpid())
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
