package quotestore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/service/quotestore"
	"coffer/api/service/store/storetest"
)

// pages reads a history to its end from a continuation on, page by page.
func pages(t *testing.T, b *quotestore.Book, sort, continuation string) (ids []string, raw []byte) {
	t.Helper()
	for {
		p, err := b.History(context.Background(), quotestore.HistoryQuery{User: alice, Limit: 2, SortBy: sort,
			Continuation: continuation})
		must(t, err)
		for _, r := range p.Transactions {
			line, err := json.Marshal(r)
			must(t, err)
			ids, raw = append(ids, r.QuoteID), append(append(raw, line...), '\n')
		}
		if continuation = p.Continuation; continuation == "" {
			return ids, raw
		}
	}
}

func TestWhatIsCarriedOverIsToldAsItWasBehindTheSameContinuations(t *testing.T) {
	s := open(t)
	end := func(status string) {
		q := s.offer(t)
		must(t, s.take(q))
		s.save(t, q, status)
		s.clock.now = s.clock.now.Add(time.Second)
	}
	for _, status := range []string{api.StatusCompleted, api.StatusFailed, api.StatusRefunded, api.StatusCompleted} {
		end(status)
	}
	open := s.offer(t)
	must(t, s.take(open))
	s.offer(t) // nobody accepted it
	fresh := storetest.New(t)
	var left []error
	must(t, quotestore.Carry(s.store, fresh, func(err error) { left = append(left, err) }))
	if len(left) != 1 || left[0].Error() != "the quote "+open.ID+" is PENDING and did not end" {
		t.Errorf("of the quote that is open is told %v", left)
	}
	after, err := quotestore.Open(fresh, quotestore.Options{Clock: s.clock.Now, Random: rand.NewChaCha8([32]byte{9})})
	must(t, err)
	for _, sort := range []string{quotestore.SortCreated, quotestore.SortUpdated} {
		first, err := s.History(context.Background(), quotestore.HistoryQuery{User: alice, Limit: 2, SortBy: sort})
		must(t, err)
		_, want := pages(t, s.Book, sort, first.Continuation)
		if _, got := pages(t, after, sort, first.Continuation); !bytes.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: a continuation goes on with\n%s\nit was\n%s", sort, got, want)
		}
		ids, _ := pages(t, after, sort, "")
		if len(ids) != 4 {
			t.Errorf("%s: %d records, expected the four that ended: %v", sort, len(ids), ids)
		}
	}
	now := &shelf{after, s.clock, &counting{Store: fresh}, s.n}
	named, errNamed := after.Named(ctx(), alice)
	_, err = after.Quote(ctx(), open.ID)
	if named || errNamed != nil || len(now.listed(t)) != 0 || !errors.Is(err, quotestore.ErrUnknownQuote) {
		t.Errorf("alice is named: %t (%v), open: %v, the open quote: %v", named, errNamed, now.listed(t), err)
	}
	q := now.offer(t)
	must(t, now.take(q))
	if ids, _ := pages(t, after, quotestore.SortCreated, ""); len(ids) != 5 || ids[0] != q.ID {
		t.Errorf("a new record is not the newest: %v", ids)
	}
	if named, err := after.Named(ctx(), alice); !named || err != nil {
		t.Errorf("a record of the new network does not name alice (%v)", err)
	}
}
