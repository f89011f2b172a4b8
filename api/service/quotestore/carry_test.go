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
	"coffer/api/service/store"
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
		must(t, s.Update(func(tx store.Tx) error {
			if err := s.Accept(tx, q); err != nil {
				return err
			}
			q.Status = status
			return s.Save(tx, q)
		}))
		s.clock.now = s.clock.now.Add(time.Second)
	}
	for _, status := range []string{api.StatusCompleted, api.StatusFailed, api.StatusRefunded, api.StatusCompleted} {
		end(status)
	}
	open := s.offer(t)
	must(t, s.Update(func(tx store.Tx) error { return s.Accept(tx, open) }))
	s.offer(t) // nobody accepted it
	fresh := store.NewMemory()
	must(t, quotestore.Carry(s.store, fresh, func(err error) { t.Error(err) }))
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
	must(t, after.View(func(tx store.Tx) error {
		_, err := after.Quote(tx, open.ID)
		if after.Named(tx, alice) || len(after.Open(tx)) != 0 || !errors.Is(err, quotestore.ErrUnknownQuote) {
			t.Errorf("alice is named: %t, open: %v, the open quote: %v", after.Named(tx, alice), after.Open(tx), err)
		}
		return nil
	}))
	now := &shelf{after, s.clock, &counting{Store: fresh}, s.n}
	q := now.offer(t)
	must(t, after.Update(func(tx store.Tx) error { return after.Accept(tx, q) }))
	if ids, _ := pages(t, after, quotestore.SortCreated, ""); len(ids) != 5 || ids[0] != q.ID {
		t.Errorf("a new record is not the newest: %v", ids)
	}
	must(t, after.View(func(tx store.Tx) error {
		if !after.Named(tx, alice) {
			t.Error("a record of the new network does not name alice")
		}
		return nil
	}))
}
