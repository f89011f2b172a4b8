package settle

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"coffer/api/service/quotestore"
)

// Bounds of the pause between two attempts, and how long a process tries in vain before another one may.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 30 * time.Second
	vain       = 2 * time.Minute
)

// pause doubles from firstPause to lastPause.
func pause(attempt int) time.Duration {
	d := firstPause
	for ; attempt > 0 && d < lastPause; attempt-- {
		d *= 2
	}
	return min(d, lastPause)
}

// start runs the saga of a quote in the background; when it runs already, a pause of it ends. It reports false after
// Close.
func (s *Settler) start(q *quotestore.Quote) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if again, runs := s.sagas[q.ID]; runs {
		select {
		case again <- struct{}{}:
		default: // it was asked already
		}
		s.running[q.ID] = true // or about to be: Idle waits for it
		return true
	}
	again := make(chan struct{}, 1)
	s.sagas[q.ID], s.running[q.ID] = again, true
	s.workers.Go(func() { s.keepRunning(q, again) })
	return true
}

// keepRunning brings a saga to its end. Each attempt begins from the record in the book, which is what really was
// committed. Funds lie in escrow or are pledged while a saga stands still, so it is never given up; a window that ends
// meanwhile turns it into a refund. A record without status is one whose acceptance could not be read back.
func (s *Settler) keepRunning(q *quotestore.Quote, again <-chan struct{}) {
	id := q.ID
	var since time.Time // it fails without getting on
	for attempt := 0; ; attempt++ {
		at := q.Updated
		err := s.attempt(q)
		if err != nil && attempt == 0 {
			since = s.Clock()
		}
		if errors.Is(err, quotestore.ErrElsewhere) || s.leave(id, &since, err) { // what is left is another process's
			err = nil
		}
		if err == nil && s.asked(id, again) {
			q = &quotestore.Quote{ID: id} // it was accepted since it was read
			continue
		}
		if err == nil {
			return
		}
		if s.ctx.Err() != nil {
			s.ended(id, err)
			return
		}
		s.stall(id, attempt, err)
		if !s.rest(s.Pause(attempt), again) {
			s.ended(id, err)
			return
		}
		s.mu.Lock()
		s.running[id] = true
		s.mu.Unlock()
		if now, err := s.Book.Quote(s.ctx, id); err == nil {
			q = now
		}
		if q.Updated != at {
			attempt = -1 // it got on since
		}
	}
}

// leave gives a quote to another process that this one has tried to settle in vain for long: it may be the only one
// that does not reach its nodes.
func (s *Settler) leave(id string, since *time.Time, why error) bool {
	now := s.Clock()
	if why == nil || now.Sub(*since) < vain || s.ctx.Err() != nil {
		return false
	}
	*since = now
	left, err := s.Book.Leave(s.ctx, id)
	if left && err == nil {
		s.Log.Warn("a quote is left to another process", "quote", id, "error", why)
	}
	return left && err == nil
}

// attempt is run, with a panic as an error: what breaks down over one quote must not take the others along.
func (s *Settler) attempt(q *quotestore.Quote) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("settlement broke down: %v\n%s", p, debug.Stack())
		}
	}()
	if mine, err := s.Book.Drives(s.ctx, q.ID); err != nil || !mine {
		return err
	}
	if q.Status == "" {
		if q, err = s.Book.Quote(s.ctx, q.ID); err != nil {
			return err
		}
		if q.Status == "" {
			return nil // it was not accepted after all
		}
	}
	return s.run(quotestore.Work(s.ctx), q)
}

// rest waits for d or until the saga is asked to try again, and reports false when the settler is closed.
func (s *Settler) rest(d time.Duration, again <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.ctx.Done():
		return false
	case <-again:
	case <-timer.C:
	}
	return true
}

// stall notes that a saga pauses and why: for Idle, and for the operator, who alone can mend it.
func (s *Settler) stall(id string, attempt int, err error) {
	s.Log.Error("settlement stopped and will be tried again", "quote", id, "attempt", attempt+1, "error", err)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, id)
	s.stalled[id] = err
	s.wake()
}

// asked reports whether a saga that seems to be at its end was asked for meanwhile; if not, its end is noted.
func (s *Settler) asked(id string, again <-chan struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-again:
		return true
	default:
		s.drop(id, nil)
		return false
	}
}

// ended notes the end of a saga's goroutine; err is why it stopped before its quote was terminal.
func (s *Settler) ended(id string, err error) {
	if !errors.Is(err, context.Canceled) {
		s.Log.Error("settlement stopped until the next start", "quote", id, "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(id, err)
}

// drop forgets a saga. The mutex is held.
func (s *Settler) drop(id string, err error) {
	delete(s.running, id)
	delete(s.sagas, id)
	delete(s.stalled, id)
	if err != nil {
		s.stalled[id] = err
	}
	s.wake()
}

// wake lets Idle look when nothing is at work any more. The mutex is held.
func (s *Settler) wake() {
	if len(s.running) > 0 {
		return
	}
	for _, w := range s.waiting {
		close(w)
	}
	s.waiting = nil
}

// Idle waits until no saga is at work. The error is the context's, or tells which quotes stand still before they are
// terminal, and why; those are tried again by themselves.
func (s *Settler) Idle(ctx context.Context) error {
	s.mu.Lock()
	done := make(chan struct{})
	if len(s.running) == 0 {
		close(done)
	} else {
		s.waiting = append(s.waiting, done)
	}
	s.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []error
	for id, err := range s.stalled {
		all = append(all, fmt.Errorf("quote %s stopped: %w", id, err))
	}
	return errors.Join(all...)
}
