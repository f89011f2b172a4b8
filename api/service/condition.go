package service

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"coffer/api"
	"coffer/api/service/store"
)

// Bounds of what a service says about its own condition.
const (
	// patience is how far the clock may be behind for a request to wait until it has caught up.
	patience = 5 * time.Second
	// troubleLasts is how long a commit that failed counts when none was tried since.
	troubleLasts = 30 * time.Second
)

// condition knows what keeps the service from working as it should: a clock that is behind the chains, as the time of
// blocks never goes back, and a database that cannot be written.
type condition struct {
	clock func() time.Time
	head  func() time.Time // time of the latest block of all chains
	store store.Store
	log   *slog.Logger

	mu     sync.Mutex
	behind bool // as the log has it
}

// lag is how far the clock is behind the latest block, 0 when it is not. A change is logged.
func (c *condition) lag() time.Duration {
	head, now := c.head(), c.clock()
	lag := max(0, head.Sub(now.Truncate(time.Second)))
	c.mu.Lock()
	defer c.mu.Unlock()
	if behind := lag > 0; behind != c.behind {
		c.behind = behind
		if behind {
			c.log.Error("the clock went back: nothing is quoted or executed until it has caught up; set the clock",
				"clock", now.UTC().Format(time.RFC3339), "block", head.UTC().Format(time.RFC3339), "behind",
				lag.String())
		} else {
			c.log.Warn("the clock has caught up with the latest block: quoting goes on")
		}
	}
	return lag
}

// Ready returns nil when quotes can be made and executed. A clock that is a few seconds behind is waited for; else the
// error says what is wrong and for how long. It is the context's error when that ends first.
func (c *condition) Ready(ctx context.Context) error {
	for left := patience; ; {
		lag := c.lag()
		if lag == 0 {
			return nil
		}
		if lag > left {
			return slow(lag)
		}
		left -= lag
		if err := pause(ctx, lag); err != nil {
			return err
		}
	}
}

// pause waits; the error is the context's cause when that ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// slow says that the clock is behind.
func slow(lag time.Duration) error {
	e := api.NewError(api.ErrUnavailable, "The service's clock went back: it is %s behind its latest block. "+
		"Nothing is quoted or executed until it has caught up, in %s, or is set.", lag, lag)
	e.RetryAfter = lag
	return e
}

// Health returns nil when all is well, else an error that says what is not.
func (c *condition) Health() error {
	if at, err := store.Trouble(c.store); err != nil && time.Since(at) < troubleLasts {
		return unwritten(err)
	}
	if lag := c.lag(); lag > 0 {
		return slow(lag)
	}
	return nil
}

// unwritten says that the database cannot be written.
func unwritten(err error) error {
	why, when := "its database cannot be written", "there is room again"
	switch {
	case errors.Is(err, store.ErrAway):
		why, when = "its database does not answer", "it does"
	case errors.Is(err, store.ErrFull):
		why = "its disk is full"
	}
	return api.NewError(api.ErrUnavailable, "The service cannot keep anything: %s. "+
		"What was accepted is safe and goes on when %s.", why, when)
}

// latest is the time of the latest block of all chains of this service, zero where they are others', which go on
// without it.
func (s *Service) latest() time.Time {
	if s.embedded == nil {
		return time.Time{}
	}
	head := s.embedded.Ledger.Time()
	for _, c := range s.in.Chains {
		head = max(head, c.Head().Time)
	}
	return time.Unix(int64(head), 0)
}
