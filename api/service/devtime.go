package service

import (
	"errors"
	"sync"
	"time"

	"coffer/api/service/devclock"
)

// nodeClock is the clock of one chain of a development network: that of the whole network, but for the next block,
// whose time can be fixed.
type nodeClock struct {
	shared *devclock.Clock
	head   func() (number, time uint64)

	mu    sync.Mutex
	next  time.Time // zero unless the time of the block after another one is fixed
	after uint64
}

var errBeforeHead = errors.New("timestamp error: it is lower than the previous block's timestamp")

// Now is the time of the next block.
func (c *nodeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next.IsZero() {
		return c.shared.Now()
	}
	if number, _ := c.head(); number != c.after {
		c.next = time.Time{}
		return c.shared.Now()
	}
	return c.next
}

// Forward moves the whole network.
func (c *nodeClock) Forward(by time.Duration) (ahead time.Duration, err error) {
	return c.shared.Forward(by)
}

// Set fixes the time of the next block. The network moves along when it is ahead of it.
func (c *nodeClock) Set(to time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	number, head := c.head()
	if to.Unix() < int64(head) {
		return errBeforeHead
	}
	if to.After(c.shared.Now()) {
		if err := c.shared.Set(to); err != nil {
			return err
		}
	}
	c.next, c.after = to, number
	return nil
}
