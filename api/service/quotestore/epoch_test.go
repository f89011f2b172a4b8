package quotestore_test

import (
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/service/quotestore"
	"coffer/api/service/store"
)

func (s *shelf) behind(tb testing.TB, why string) quotestore.Epoch {
	tb.Helper()
	must(tb, s.store.Update(func(tx store.Tx) error { return quotestore.BeginEpoch(tx, s.clock.now, why) }))
	e, err := s.Epoch(ctx())
	must(tb, err)
	return e
}

// A new epoch ends offers, and leaves what was accepted to be read again. Records are missing since they were last
// written for sure, also when another epoch begins before all that is missing was found.
func TestAnEpochEndsOffersAndKnowsSinceWhen(t *testing.T) {
	s := open(t)
	taken := s.offer(t)
	must(t, s.take(taken))
	left := s.offer(t)
	alive := s.clock.now
	must(t, s.Alive(ctx()))
	s.clock.now = s.clock.now.Add(10 * time.Second)
	e := s.behind(t, "a backup")
	if e.Number != 1 || e.Why != "a backup" || !e.Since.Equal(alive) || e.Searched {
		t.Fatalf("%+v", e)
	}
	now, err := s.Quote(ctx(), left.ID)
	must(t, err)
	if err := s.take(now); !errors.Is(err, quotestore.ErrExpired) {
		t.Errorf("an offer of before is accepted: %v", err)
	}
	if q, err := s.Quote(ctx(), taken.ID); err != nil || q.Epoch != 0 || q.Status != api.StatusPending {
		t.Errorf("%+v, %v", q, err)
	}
	s.clock.now = s.clock.now.Add(10 * time.Minute)
	must(t, s.Alive(ctx()))
	if e = s.behind(t, "again"); e.Number != 2 || !e.Since.Equal(alive) {
		t.Errorf("%+v", e)
	}
	must(t, s.store.Update(func(tx store.Tx) error {
		return quotestore.BeginEpochSince(tx, s.clock.now, s.clock.now, "another chain")
	}))
	if e, _ = s.Epoch(ctx()); e.Number != 2 {
		t.Errorf("a second chain of one opening began %+v", e)
	}
	must(t, s.Searched(ctx(), 1))
	if e, _ = s.Epoch(ctx()); e.Searched {
		t.Error("what was found of an earlier epoch ended this one")
	}
	must(t, s.Searched(ctx(), 2))
	if e = s.behind(t, "once more"); e.Number != 3 || !e.Since.Equal(s.clock.now) {
		t.Errorf("%+v", e)
	}
	next := s.offer(t)
	must(t, s.take(next))
	if q, err := s.Quote(ctx(), next.ID); err != nil || q.Epoch != 3 {
		t.Errorf("%+v, %v", q, err)
	}
}

// A deposit without a record gets one: that of its offer, or a new one, to which the deposits of other chains are added
// even when it has ended. One that has a record keeps it.
func TestADepositWithoutARecordGetsOne(t *testing.T) {
	s := open(t)
	taken := s.offer(t)
	must(t, s.take(taken))
	offered := s.offer(t)
	found := func(id string, chain uint64) *quotestore.Quote {
		return &quotestore.Quote{ID: id, Owner: common.HexToAddress(alice), ChainID: 8453, ValidUntil: 1_760_000_600,
			AcceptedAt: s.clock.now, FailReason: "ORDER_EXPIRED", Type: api.RecordSwap,
			Accounts: []api.Account{{AccountAddress: alice}},
			Legs: []quotestore.Leg{{ChainID: chain, Pays: quotestore.Amount{Asset: "eip155:10/slip44:60",
				Value: big.NewInt(10)}, State: quotestore.LegDeposited}}}
	}
	if yes, err := s.Adopt(ctx(), found(offered.ID, 10)); yes || err == nil {
		t.Errorf("outside an epoch: %t, %v", yes, err)
	}
	s.behind(t, "a backup")
	adopts := func(q *quotestore.Quote, want bool) *quotestore.Quote {
		t.Helper()
		if yes, err := s.Adopt(ctx(), q); yes != want || err != nil {
			t.Fatalf("%s: %t, %v", q.ID, yes, err)
		}
		open, err := s.Open(ctx())
		must(t, err)
		if !slices.Contains(open, q.ID) {
			t.Errorf("%s is not settled", q.ID)
		}
		now, err := s.Quote(ctx(), q.ID)
		must(t, err)
		return now
	}
	if q := adopts(found(taken.ID, 10), false); q.Status != api.StatusPending || q.FailReason != "" {
		t.Errorf("%+v", q)
	}
	if q := adopts(found(offered.ID, 10), true); q.Status != api.StatusInProgress || !q.Signed || q.Epoch != 0 ||
		len(q.Legs) != 1 || q.Legs[0].Op.Nonce == "" || q.Required == nil {
		t.Errorf("%+v", q)
	}
	const id = "0x00000000000000000000000000000000000000000000000000000000000000ee"
	q := adopts(found(id, 10), true)
	if got, ok, err := s.Status(ctx(), id); err != nil || !ok || got.Status != api.StatusInProgress {
		t.Errorf("%+v, %v", got, err)
	}
	q.Legs[0].State, q.Status, q.Epoch = quotestore.LegRefunded, api.StatusRefunded, 1 // it was read again
	must(t, s.step(q))
	if q = adopts(found(id, 42161), true); q.Status != api.StatusInProgress || len(q.Legs) != 2 {
		t.Errorf("%+v", q)
	}
	adopts(found(id, 42161), false)
}
