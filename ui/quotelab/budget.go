package quotelab

import (
	"context"
	"sync"
	"time"

	"coffer/api/client"
)

// Budget keeps the lab's requests below half of what the service and the client allow, so that the other half is there
// for whatever the person does beside it. It is safe for concurrent use; the zero Budget is ready.
type Budget struct {
	mu   sync.Mutex
	last time.Time
}

// Wait is how long the next request has to wait at now; the zero Window has no limit.
func (b *Budget) Wait(now time.Time, w client.Window) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	var wait time.Duration
	if w.PerSecond > 0 {
		wait = b.last.Add(2 * time.Second / time.Duration(w.PerSecond)).Sub(now)
	}
	if w.Limit > 0 && w.Remaining <= w.Limit/2 {
		wait = max(wait, min(w.Reset.Sub(now), time.Minute))
	}
	return max(0, wait)
}

// spend waits for the next request and counts it.
func (a Asker) spend(ctx context.Context) error {
	if wait := a.Budget.Wait(a.Clock(), a.Client.Window()); wait > 0 {
		if err := a.Sleep(ctx, wait); err != nil {
			return err
		}
	}
	a.Budget.mu.Lock()
	defer a.Budget.mu.Unlock()
	a.Budget.last = a.Clock()
	return nil
}
