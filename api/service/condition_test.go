package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"coffer/api"
	"coffer/api/service/store"
)

// at makes a condition whose clock is behind the latest block, and goes on.
func at(behind time.Duration) (*condition, *bytes.Buffer) {
	text := new(bytes.Buffer)
	head := time.Now().Truncate(time.Second)
	return &condition{
		clock: func() time.Time { return time.Now().Add(-behind) }, head: func() time.Time { return head },
		store: store.NewMemory(), log: slog.New(slog.NewTextHandler(text, nil)),
	}, text
}

// A clock that is a few seconds behind is waited for, a longer way is said with its length, and the log has both once.
func TestR4_AShortWayBackIsWaitedOut(t *testing.T) {
	for _, behind := range []time.Duration{0, 900 * time.Millisecond, 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			c, text := at(behind)
			begin := time.Now()
			if err := c.Ready(t.Context()); err != nil || time.Since(begin) < behind ||
				time.Since(begin) > behind+time.Second {
				t.Errorf("%s behind: %v after %s", behind, err, time.Since(begin))
			}
			if said := strings.Count(text.String(), "\n"); behind == 0 && said != 0 || behind > 0 && said != 2 {
				t.Errorf("%s behind: the log is\n%s", behind, text)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		c, text := at(time.Hour)
		for range 3 {
			for _, err := range []error{c.Ready(t.Context()), c.Health()} {
				var e *api.Error
				if !errors.As(err, &e) || e.StatusCode != 503 || e.RetryAfter != time.Hour ||
					!strings.Contains(e.Message, "1h0m0s") {
					t.Errorf("an hour behind: %v", err)
				}
			}
		}
		if strings.Count(text.String(), "the clock went back") != 1 {
			t.Errorf("the log is\n%s", text)
		}
		time.Sleep(time.Hour)
		if err := errors.Join(c.Ready(t.Context()), c.Health()); err != nil ||
			!strings.Contains(text.String(), "caught up") {
			t.Errorf("an hour later: %v\n%s", err, text)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c, _ := at(4 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that goes: %v", err)
		}
	})
}

// failing is a store whose last commit failed.
type failing struct {
	store.Store
	at  time.Time
	err error
}

func (f *failing) Trouble() (time.Time, error) { return f.at, f.err }

// Health says that the disk is full while commits fail, and no longer than a while after the last one that did.
func TestR6_HealthSaysThatTheDiskIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := at(0)
		f := &failing{store.NewMemory(), time.Now(), fmt.Errorf("%w: %w: %w", store.ErrNotWritten, store.ErrFull,
			syscall.ENOSPC)}
		c.store = f
		var e *api.Error
		if err := c.Health(); !errors.As(err, &e) || e.StatusCode != 503 ||
			!strings.Contains(e.Message, "disk is full") {
			t.Errorf("%v", err)
		}
		time.Sleep(troubleLasts)
		if err := c.Health(); err != nil {
			t.Errorf("later: %v", err)
		}
		f.at, f.err = time.Now(), fmt.Errorf("%w: %w", store.ErrNotWritten, syscall.EIO)
		if err := c.Health(); !errors.As(err, &e) || !strings.Contains(e.Message, "cannot be written") {
			t.Errorf("%v", err)
		}
		f.err = nil
		if err := c.Health(); err != nil {
			t.Errorf("after a commit: %v", err)
		}
	})
}
