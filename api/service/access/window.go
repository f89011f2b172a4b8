package access

import "time"

// Span is how long a request counts against its key: it expires this long after it was made (interface-facts §2).
const Span = time.Minute

// window is the sliding window of one key: the moments of the requests of the last minute, oldest first, in a ring that grows with use up to the
// key's limit. Moments are durations since the keys were opened.
type window struct {
	ring []time.Duration
	head int
	n    int
}

// smallestRing is how many moments a window has room for at first.
const smallestRing = 8

func (w *window) at(i int) *time.Duration { return &w.ring[(w.head+i)%len(w.ring)] }

// slide drops what has expired. A clock that was set back makes later moments now: a key is never shut out for longer than a Span.
func (w *window) slide(now time.Duration) {
	for i := w.n - 1; i >= 0 && *w.at(i) > now; i-- {
		*w.at(i) = now
	}
	for w.n > 0 && *w.at(0) <= now-Span {
		w.head, w.n = (w.head+1)%len(w.ring), w.n-1
	}
	if w.n == 0 {
		w.head = 0
	}
}

// take counts a request unless limit of them are in the window. It returns how many more are admitted and when the oldest expires.
func (w *window) take(now time.Duration, limit int) (ok bool, remaining int, reset time.Duration) {
	w.slide(now)
	if ok = w.n < limit; ok {
		w.grow(limit)
		w.n++
		*w.at(w.n - 1) = now
	}
	return ok, limit - w.n, *w.at(0) + Span
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
