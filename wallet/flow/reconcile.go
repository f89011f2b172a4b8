package flow

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/client"
)

// How much of the history is read for one quote: pages of records, the newest first, until one is older than the
// operation.
const (
	historyPage   = 50
	historyPages  = 20
	longestCursor = 4 << 10       // TH-H3
	historySlack  = 1 * time.Hour // the clocks of the records and of this machine differ by less
)

// Reconcile asks once for the outcome of every unfinished operation that may have been sent, and returns all unfinished
// operations as they then are, those that just ended among them. Before, the person's own nodes are asked which open
// signatures lost their nonces. Nothing is sent but questions (TH-J3). The error joins
// what kept a journal record from being written; a service that does not answer is no error, its words are in the
// operation's Snapshot.
//
// It may run in the background beside everything else, also twice at a time: what a step or a Watch holds is left
// alone, and a Watch waits for the one question. When nothing is open it returns without asking; when ctx ends it
// returns after the question under way, with the error of ctx. What a journal that cannot be written could not record
// is not asked for: the error is then the journal's.
func (f *Flow) Reconcile(ctx context.Context) ([]*Operation, error) {
	var failed []error
	if err := f.Observe(ctx); err != nil && ctx.Err() == nil {
		failed = append(failed, err)
	}
	list := f.Unfinished()
	for _, o := range list {
		if err := ctx.Err(); err != nil {
			return list, errors.Join(append(failed, err)...)
		}
		if s := o.Snapshot().State; s != StateAccepted && s != StateUnknown {
			continue // not sent
		}
		if err := f.d.Journal.ReadOnly(); err != nil {
			return list, errors.Join(append(failed, err)...)
		}
		failed = append(failed, o.askOnce(ctx))
	}
	return list, errors.Join(failed...)
}

// askOnce asks one question of Reconcile, unless another step holds the operation.
func (o *Operation) askOnce(ctx context.Context) error {
	o.mu.Lock()
	if o.asking != nil || !o.step.TryLock() {
		o.mu.Unlock()
		return nil
	}
	over := make(chan struct{})
	o.asking = over
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		o.asking = nil
		o.step.Unlock()
		o.mu.Unlock()
		close(over)
	}()
	if s := o.Snapshot().State; s != StateAccepted && s != StateUnknown {
		return nil
	}
	_, _, err := o.ask(ctx)
	return err
}

// beginWatch is begin for Watch; waited tells that a question of Reconcile was in between.
func (o *Operation) beginWatch(ctx context.Context) (waited bool, err error) {
	for {
		o.mu.Lock()
		asking, locked := o.asking, false
		if asking == nil {
			locked = o.step.TryLock()
		}
		o.mu.Unlock()
		switch {
		case locked:
			if s := o.Snapshot().State; s != StateAccepted && s != StateUnknown {
				o.step.Unlock()
				return waited, ErrState
			}
			return waited, nil
		case asking == nil:
			return waited, ErrBusy
		}
		select {
		case <-asking:
			waited = true
		case <-ctx.Done():
			return waited, ctx.Err()
		}
	}
}

// lookUp searches the history of each account of the operation for the quote; a zero status means that it is not there.
func (o *Operation) lookUp(ctx context.Context, quoteID string) (api.ExecutionStatus, error) {
	var users []string
	for _, s := range o.journaled() {
		if !slices.Contains(users, s.Sender) {
			users = append(users, s.Sender)
		}
	}
	for _, user := range users {
		r, err := o.find(ctx, user, quoteID)
		if err != nil || r.QuoteID != "" {
			return r, err
		}
	}
	return api.ExecutionStatus{}, nil
}

// find reads an account's history page by page.
func (o *Operation) find(ctx context.Context, user, quoteID string) (api.ExecutionStatus, error) {
	cursors := []string{""}
	for range historyPages {
		q := client.HistoryQuery{User: user, Limit: historyPage, SortBy: "createdAt",
			Continuation: cursors[len(cursors)-1]}
		page, err := o.f.d.Client.History(ctx, q)
		if err != nil {
			return api.ExecutionStatus{}, err
		}
		for _, r := range page.Transactions {
			if strings.EqualFold(r.QuoteID, quoteID) {
				return statusOf(r), nil
			}
		}
		next := page.Continuation
		if next == "" || len(next) > longestCursor || slices.Contains(cursors, next) || o.before(page.Transactions) {
			break
		}
		cursors = append(cursors, next)
	}
	return api.ExecutionStatus{}, nil
}

// before reports whether the last record of a page is older than the operation: what follows is older still.
func (o *Operation) before(page []api.HistoryRecord) bool {
	if len(page) == 0 {
		return false
	}
	at, err := time.Parse(time.RFC3339, page[len(page)-1].Timestamp)
	return err == nil && at.Add(historySlack).Before(o.Snapshot().Started)
}

// statusOf is a line of history in the form of a status.
func statusOf(r api.HistoryRecord) api.ExecutionStatus {
	return api.ExecutionStatus{
		QuoteID: r.QuoteID, Status: r.Status, User: r.User, RecipientAccountID: r.RecipientAccountID,
		OriginChainOperations:      r.OriginChainOperations,
		DestinationChainOperations: r.DestinationChainOperations, FailReason: r.FailReason,
	}
}
