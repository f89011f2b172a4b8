package jsonrpc

import (
	"container/list"
	"sync"
	"time"
)

// Expiry calls functions once a time has passed that is the same for all. It sets a timer once in that time: one for
// each function would wake, each time, the thread that waits for the network.
type Expiry struct {
	after time.Duration

	mu     sync.Mutex
	all    list.List // of *expiring, in the order of their times
	timer  *time.Timer
	closed bool
}

type expiring struct {
	at  time.Time
	run func() // nil once it was called
}

// NewExpiry makes an Expiry for one time.
func NewExpiry(after time.Duration) *Expiry { return &Expiry{after: after} }

// Add has a function called, which must not wait for anything, when the time has passed. Remove takes that back; it
// reports false when the function was called.
func (e *Expiry) Add(run func()) (remove func() bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		run()
		return func() bool { return false }
	}
	x := &expiring{time.Now().Add(e.after), run}
	at := e.all.PushBack(x)
	if e.timer == nil {
		e.timer = time.AfterFunc(e.after, e.expire)
	}
	return func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.all.Remove(at)
		return x.run != nil
	}
}

// Close calls all functions, and from now on each at once.
func (e *Expiry) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.call(func(*expiring) bool { return true })
}

func (e *Expiry) expire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.timer = nil
	now := time.Now()
	e.call(func(x *expiring) bool { return !x.at.After(now) })
	if next := e.all.Front(); next != nil {
		e.timer = time.AfterFunc(next.Value.(*expiring).at.Sub(now), e.expire)
	}
}

// call calls the first functions, as long as they are to be called; the lock is held.
func (e *Expiry) call(due func(*expiring) bool) {
	for first := e.all.Front(); first != nil && due(first.Value.(*expiring)); first = e.all.Front() {
		x := e.all.Remove(first).(*expiring)
		x.run()
		x.run = nil
	}
}
