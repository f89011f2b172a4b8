package quotestore_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/service/quotestore"
)

func TestOfAnyNumberOfConcurrentAcceptsOneWins(t *testing.T) {
	s := open(t)
	q := s.offer(t)
	var won atomic.Int32
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			err := s.take(q.Clone())
			if err == nil {
				won.Add(1)
			} else if !errors.Is(err, quotestore.ErrAlreadyAccepted) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 || len(s.listed(t)) != 1 {
		t.Errorf("%d of them won, open: %v", won.Load(), s.listed(t))
	}
}

// What was checked before another quote of one of the accounts took a step may no longer be so:
// then nothing is written.
func TestAcceptNoticesEveryStepOfAnotherQuoteOfItsAccounts(t *testing.T) {
	s := open(t)
	other, q := s.swap(t, 0), s.offer(t)
	accept := func(seen quotestore.Seen) error {
		c, _, err := s.Context(ctx(), q.OpHash)
		return errors.Join(err, s.Accept(ctx(), q.Clone(), c, seen))
	}
	seen := func(owners ...string) quotestore.Seen {
		v, err := s.Latest(ctx(), owners...)
		must(t, err)
		return v
	}
	before := seen(alice, carol)
	must(t, s.take(other))
	for _, status := range []string{api.StatusInProgress, api.StatusFailed} {
		if err := accept(before); !errors.Is(err, quotestore.ErrMoved) {
			t.Errorf("before %s: %v", status, err)
		}
		before = seen(alice)
		other = other.Clone()
		s.save(t, other, status)
	}
	if kept, err := s.Quote(ctx(), q.ID); err != nil || kept.Status != "" {
		t.Fatalf("a refused accept left %q (%v)", kept.Status, err)
	}
	must(t, accept(seen(carol)))
}

func TestAcceptKeepsTheLastSecondAndNothingBehindIt(t *testing.T) {
	s := open(t)
	first, second := s.offer(t), s.offer(t)
	s.clock.now = time.Unix(int64(first.Expires), 0)
	must(t, s.take(first))
	s.clock.now = s.clock.now.Add(time.Nanosecond)
	if err := s.take(second); !errors.Is(err, quotestore.ErrExpired) {
		t.Errorf("%v", err)
	}
}

func TestAdvanceLeavesARecordThatHasMovedOnAsItIs(t *testing.T) {
	s := open(t)
	q := s.accept(t)
	moved := q.Clone()
	s.save(t, moved, api.StatusInProgress)
	late := q.Clone()
	late.Status = api.StatusFailed
	if err := s.Advance(ctx(), q, late); !errors.Is(err, quotestore.ErrOvertaken) {
		t.Errorf("%v", err)
	}
	if got, err := s.Quote(ctx(), q.ID); err != nil || got.Status != api.StatusInProgress ||
		got.Updated != moved.Updated {
		t.Errorf("the record is %q (%v)", got.Status, err)
	}
}

// A second context of one hash is refused, the first one asked for again keeps the signature that it was given.
func TestKeepFindsAContextAgainAndRefusesAnotherOfItsHash(t *testing.T) {
	s := open(t)
	q := s.offer(t)
	kept, _, err := s.Context(ctx(), q.OpHash)
	must(t, err)
	again := kept
	again.Signature = ""
	must(t, s.Keep(ctx(), again))
	if now, _, err := s.Context(ctx(), q.OpHash); err != nil || now.Signature != kept.Signature {
		t.Errorf("the signature is %q (%v)", now.Signature, err)
	}
	again.Gas++
	if err := s.Keep(ctx(), again); !errors.Is(err, quotestore.ErrHashTaken) {
		t.Errorf("another context: %v", err)
	}
	must(t, s.take(q))
	if err := s.Keep(ctx(), kept); !errors.Is(err, quotestore.ErrHashTaken) {
		t.Errorf("after the operation was executed: %v", err)
	}
}

func TestAVerbOfAnEndedContextWritesAndReadsNothing(t *testing.T) {
	s := open(t)
	q := s.offer(t)
	ended, cancel := context.WithCancel(ctx())
	cancel()
	c, _, err := s.Context(ctx(), q.OpHash)
	must(t, err)
	_, errQuote := s.Quote(ended, q.ID)
	for i, err := range []error{errQuote, s.Accept(ended, q.Clone(), c, quotestore.Seen{}), s.Keep(ended, c),
		s.Sweep(ended)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("verb %d: %v", i, err)
		}
	}
	if open := s.listed(t); slices.Contains(open, q.ID) {
		t.Error("the quote was accepted")
	}
}
