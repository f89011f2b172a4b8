// Package devclock is the clock of a development network that tests can move. Service and chains share it.
//
// It never goes back: what was sealed or promised at a time stays in the past.
package devclock

import (
	"errors"
	"sync"
	"time"
)

// ErrBack says that a clock was asked to go back.
var ErrBack = errors.New("the clock of a devnet does not go back")

// ErrFar says that a clock was asked to go further than a network can live.
var ErrFar = errors.New("the clock of a devnet goes ahead by 100 years at most")

const farthest = 100 * 365 * 24 * time.Hour

// Clock goes on from where it was set last. It is safe for concurrent use.
type Clock struct {
	from func() time.Time

	mu    sync.Mutex
	ahead time.Duration
}

// New makes a clock that goes with another one until it is moved; nil is the time of day.
func New(from func() time.Time) *Clock {
	if from == nil {
		from = time.Now
	}
	return &Clock{from: from}
}

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.from().Add(c.ahead)
}

// Forward moves the clock and returns how far it is ahead in all.
func (c *Clock) Forward(by time.Duration) (ahead time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if by < 0 {
		return c.ahead, ErrBack
	}
	if by > farthest-c.ahead {
		return c.ahead, ErrFar
	}
	c.ahead += by
	return c.ahead, nil
}

// Set makes it the given time.
func (c *Clock) Set(to time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ahead := to.Sub(c.from())
	if ahead < c.ahead {
		return ErrBack
	}
	if ahead > farthest {
		return ErrFar
	}
	c.ahead = ahead
	return nil
}
