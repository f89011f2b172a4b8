package quotestore_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"coffer/api"
	"coffer/api/service/quotestore"
	"coffer/api/service/store"
)

// onDisk is a book in a file; again closes it, changes its bytes and opens it anew.
func onDisk(t *testing.T) (s *shelf, again func(change func(*bolt.Tx) error)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "coffer.db")
	c := &clock{time.Unix(1_760_000_000, 0)}
	s = &shelf{clock: c}
	begin := func() {
		file, err := store.OpenBolt(path, store.BoltOptions{})
		must(t, err)
		s.store = &counting{Store: file}
		s.Book, err = quotestore.Open(s.store, quotestore.Options{Clock: c.Now, Random: rand.NewChaCha8([32]byte{1})})
		must(t, err)
	}
	begin()
	t.Cleanup(func() { must(t, s.store.Close()) })
	return s, func(change func(*bolt.Tx) error) {
		t.Helper()
		must(t, s.store.Close())
		db, err := bolt.Open(path, 0o600, &bolt.Options{NoFreelistSync: true})
		must(t, err)
		must(t, errors.Join(db.Update(change), db.Close()))
		begin()
	}
}

// flip damages the first byte of a record, or of its checksum where it is empty.
func flip(bucket string, key []byte) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		v := bytes.Clone(b.Get(key))
		v[0] ^= 1
		return b.Put(key, v)
	}
}

// One damaged record of a page is left out and named, whatever part of it is damaged; the others, the next pages, new
// quotes and the sweep go on.
func TestR3_AHistoryWithADamagedRecordIsServed(t *testing.T) {
	s, again := onDisk(t)
	var quotes []*quotestore.Quote
	for range 5 {
		quotes = append(quotes, s.accept(t))
		s.clock.now = s.clock.now.Add(time.Second)
	}
	again(flip("book-quote", []byte(quotes[1].ID)))
	again(flip("book-document", []byte(quotes[3].ID)))
	for _, order := range []string{quotestore.SortCreated, quotestore.SortUpdated} {
		var got, left []string
		for q := (quotestore.HistoryQuery{User: alice, Limit: 2, SortBy: order}); ; {
			p, err := s.History(context.Background(), q)
			must(t, err)
			got, left = append(got, ids(p.HistoryPage)...), append(left, p.Damaged...)
			for _, why := range p.Reasons {
				if !errors.Is(why, store.ErrDamaged) {
					t.Errorf("%v", why)
				}
			}
			if q.Continuation = p.Continuation; q.Continuation == "" {
				break
			}
		}
		if !slices.Equal(got, []string{"5", "3", "1"}) || !slices.Equal(left, []string{quotes[3].ID, quotes[1].ID}) {
			t.Errorf("by %s: %v, left out %v", order, got, left)
		}
	}
	if _, _, err := s.Status(context.Background(), quotes[1].ID); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("the status of a damaged record: %v", err)
	}
	s.accept(t)
	s.save(t, quotes[4], api.StatusCompleted)
	s.clock.now = s.clock.now.Add(time.Hour)
	must(t, s.Sweep(ctx()))
}

// A damaged entry of the index is named too, and a damaged offer does not stop the sweep.
func TestR3_ADamagedIndexAndOffer(t *testing.T) {
	s, again := onDisk(t)
	s.accept(t)
	offer := s.offer(t)
	again(func(tx *bolt.Tx) error {
		k, _ := tx.Bucket([]byte("book-created")).Cursor().First()
		return errors.Join(flip("book-created", bytes.Clone(k))(tx), flip("book-quote", []byte(offer.ID))(tx))
	})
	damaged := 0
	for _, user := range []string{alice, carol} {
		p, err := s.History(context.Background(), quotestore.HistoryQuery{User: user})
		must(t, err)
		damaged += len(p.Damaged)
		if len(p.Transactions)+len(p.Damaged) < 1 {
			t.Errorf("%s has no history", user)
		}
	}
	if damaged == 0 {
		t.Error("the damaged entry is not named")
	}
	s.clock.now = s.clock.now.Add(time.Hour)
	must(t, s.Sweep(ctx()))
	s.accept(t)
}

// A damaged place in the order of updates keeps nobody from executing his next quote.
func TestR3_AnAccountWithADamagedPlaceExecutes(t *testing.T) {
	s, again := onDisk(t)
	s.accept(t)
	next := s.offer(t)
	again(func(tx *bolt.Tx) error {
		k, _ := tx.Bucket([]byte("book-updated")).Cursor().First()
		return flip("book-updated", bytes.Clone(k))(tx)
	})
	before, err := s.Latest(ctx(), alice, carol)
	must(t, err)
	must(t, s.take(next))
	if now, err := s.Latest(ctx(), alice, carol); err != nil || now == before {
		t.Errorf("%v after %v, %v", now, before, err)
	}
}

// A damaged operation keeps no quote from its end, and so no deposit from being given back with it.
func TestR3_AQuoteEndsWhoseOperationIsDamaged(t *testing.T) {
	s, again := onDisk(t)
	q := s.accept(t)
	again(flip("book-context", q.OpHash[:]))
	s.save(t, q, api.StatusFailed)
	if _, found, err := s.Context(ctx(), q.OpHash); err != nil || found || len(s.listed(t)) > 0 {
		t.Errorf("%t, %v, open: %v", found, err, s.listed(t))
	}
}

// A damaged cursor key ends the continuations that it signed, and nothing else.
func TestR3_ADamagedCursorKeyIsDrawnAnew(t *testing.T) {
	s, again := onDisk(t)
	q := s.accept(t)
	again(flip("book", []byte("cursor-key")))
	p, err := s.History(context.Background(), quotestore.HistoryQuery{User: alice})
	must(t, err)
	if got := ids(p.HistoryPage); !slices.Equal(got, []string{"1"}) || len(p.Damaged) != 0 {
		t.Errorf("%v, %v after %s", got, p.Damaged, q.ID)
	}
	again(func(*bolt.Tx) error { return nil }) // what was drawn is kept, and is sound
}
