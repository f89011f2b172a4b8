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

// patience is how long a step waits for another process, which holds the lock for the length of one step; again is how
// often it looks.
const (
	patience = 5 * time.Second
	again    = 15 * time.Millisecond
)

// takeLock waits for the lock until ctx ends or the time is over. The error is then ErrLocked with the name of the
// holder.
func takeLock(ctx context.Context, path string, o Options) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	over := time.NewTimer(o.Patience)
	defer over.Stop()
	tick := time.NewTicker(again)
	defer tick.Stop()
	for files.TryLock(f, lockedAt) != nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-over.C:
			return nil, errors.Join(fmt.Errorf("%w: %s", ErrLocked, readHolder(f)), f.Close())
		}
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
