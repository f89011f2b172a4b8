package access

import (
	"cmp"
	"sync"
	"time"
)

// Span is how long a request counts against its key: it expires this long after it was made (docs/interface.md#limits).
const Span = time.Minute

// FundSpan is how long a new account counts against the budget of the key that test funds came with.
const FundSpan = 24 * time.Hour

// window is a sliding window of one key: the moments of what the last span brought, oldest first, in a ring that grows
// with use up to the key's limit. Moments are durations since the keys were opened. A span of zero is Span.
type window struct {
	span time.Duration
	ring []time.Duration
	head int
	n    int
}

// smallestRing is how many moments a window has room for at first.
const smallestRing = 8

func (w *window) life() time.Duration { return cmp.Or(w.span, Span) }

func (w *window) at(i int) *time.Duration { return &w.ring[(w.head+i)%len(w.ring)] }

// slide drops what has expired. A clock that was set back makes later moments now: a key is never shut out for longer
// than the span.
func (w *window) slide(now time.Duration) {
	for i := w.n - 1; i >= 0 && *w.at(i) > now; i-- {
		*w.at(i) = now
	}
	for w.n > 0 && *w.at(0) <= now-w.life() {
		w.head, w.n = (w.head+1)%len(w.ring), w.n-1
	}
	if w.n == 0 {
		w.head = 0
	}
}

// take counts something unless limit of it is in the window. It returns how many more are admitted and when the oldest
// expires.
func (w *window) take(now time.Duration, limit int) (ok bool, remaining int, reset time.Duration) {
	w.slide(now)
	if ok = w.n < limit; ok {
		w.grow(limit)
		w.n++
		*w.at(w.n - 1) = now
	}
	return ok, limit - w.n, *w.at(0) + w.life()
}

// budget lets new accounts have test funds while a window has room for them; lock guards the window.
func (w *window) budget(lock sync.Locker, now func() time.Duration, limit int) func(newAccount bool) bool {
	return func(newAccount bool) bool {
		if !newAccount {
			return true
		}
		lock.Lock()
		defer lock.Unlock()
		ok, _, _ := w.take(now(), limit)
		return ok
	}
}

func (w *window) grow(limit int) {
	if w.n < len(w.ring) {
		return
	}
	bigger := make([]time.Duration, min(max(2*len(w.ring), smallestRing), limit))
	for i := range w.n {
		bigger[i] = *w.at(i)
	}
	w.ring, w.head = bigger, 0
}
