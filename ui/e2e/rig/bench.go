//go:build unix

package rig

import (
	"sync"
	"testing"
	"time"
)

// Bench is a test with a clock that moves only when it is told to. It is safe for concurrent use.
type Bench struct {
	*testing.T
	mu  sync.Mutex
	now time.Time
}

// NewBench is a bench whose clock shows 2025-10-09 08:53:20 UTC.
func NewBench(t *testing.T) *Bench { return &Bench{T: t, now: time.Unix(1_760_000_000, 0)} }

// Clock is the time.
func (b *Bench) Clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

// Advance moves the clock.
func (b *Bench) Advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

// Must ends the test with an error that is not nil.
func (b *Bench) Must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
