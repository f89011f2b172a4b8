package settle_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/service/quotestore"
	"coffer/api/service/settle"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

var errDisk = errors.New("the disk is full")

func hourly(int) time.Duration { return time.Hour }

func TestSagaThatAFaultStoppedIsTriedAgainToItsEnd(t *testing.T) {
	var tries atomic.Int32
	var waited []int
	ended := make(chan struct{})
	w := New(t, Options{
		Pause: func(attempt int) time.Duration { waited = append(waited, attempt); return 0 },
		AfterStep: func(step string) {
			if step == "release eip155:10" {
				close(ended)
			}
		},
		Faults: &settle.Faults{BeforeFill: func(context.Context, string) error {
			if tries.Add(1) <= 3 {
				return errDisk
			}
			return nil
		}},
	})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	sums := w.Sums(payee())
	Must(t, w.Execute(signed))
	<-ended
	Must(t, w.Settler.Idle(context.Background()))
	if s := w.Status(w.Decode(signed).ID); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
	if n := tries.Load(); n != 4 {
		t.Errorf("%d attempts", n)
	}
	// the deposits of the first attempt count as progress, the later attempts made none
	if len(waited) != 3 || waited[0] != 0 || waited[1] != 0 || waited[2] != 1 {
		t.Errorf("attempts %v", waited)
	}
	w.SameSums(sums, w.Sums(payee()))
	erasedContext(t, w, w.Decode(signed).ID)
}

func erasedContext(t *testing.T, w *World, id string) {
	t.Helper()
	open, err := w.Book.Open(context.Background())
	Must(t, err)
	if len(open) != 0 {
		t.Errorf("open quotes: %v", open)
	}
	_, found, err := w.Book.Context(context.Background(), record(w, id).OpHash)
	if err != nil || found {
		t.Errorf("the prepared operation is still in the book (%v)", err)
	}
}

func TestIdleTellsWhatStandsStillAndResumeTriesItAtOnce(t *testing.T) {
	var healthy atomic.Bool
	w := New(t, Options{Pause: hourly, Faults: &settle.Faults{BeforeFill: func(context.Context, string) error {
		if healthy.Load() {
			return nil
		}
		return errDisk
	}}})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	Must(t, w.Execute(signed))
	for range 2 { // it does not hang, and says so as often as it is asked
		if err := w.Settler.Idle(context.Background()); !errors.Is(err, errDisk) {
			t.Fatalf("idle told %v", err)
		}
	}
	Must(t, w.Settler.Resume(context.Background()))
	if err := w.Settler.Idle(context.Background()); !errors.Is(err, errDisk) {
		t.Fatalf("idle told %v", err)
	}
	healthy.Store(true)
	Must(t, w.Settler.Resume(context.Background()))
	Must(t, w.Settler.Idle(context.Background()))
	if s := w.Status(w.Decode(signed).ID); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
}

func TestCloseEndsAPause(t *testing.T) {
	w := New(t, Options{Pause: hourly, Faults: &settle.Faults{
		BeforeFill: func(context.Context, string) error { return errDisk }}})
	Must(t, w.Execute(w.SignQuote(w.Quote(crossChain(w), ""))))
	if err := w.Settler.Idle(context.Background()); !errors.Is(err, errDisk) {
		t.Fatalf("idle told %v", err)
	}
	Must(t, w.Settler.Close())
}

func TestSagaThatStandsStillBeyondTheWindowRefunds(t *testing.T) {
	clock := NewClock()
	w := New(t, Options{Clock: clock, Pause: hourly,
		Faults: &settle.Faults{BeforeFill: func(context.Context, string) error { return errDisk }}})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	had := balances(w, w.User.Address)
	Must(t, w.Execute(signed))
	if err := w.Settler.Idle(context.Background()); !errors.Is(err, errDisk) {
		t.Fatalf("idle told %v", err)
	}
	clock.Advance(11 * time.Minute)
	Must(t, w.Settler.Resume(context.Background()))
	Must(t, w.Settler.Idle(context.Background()))
	if s := w.Status(w.Decode(signed).ID); s.Status != api.StatusRefunded || s.FailReason != "ORDER_EXPIRED" {
		t.Fatalf("status %+v", s)
	}
	sameBalances(t, had, balances(w, w.User.Address))
	erased(t, w, w.Decode(signed).ID)
}

// After the refund deadline anyone may send a deposit back: the saga must not wait for ever for one that is gone.
func TestADepositThatSomebodyElseRefundedDoesNotHoldTheSagaUp(t *testing.T) {
	for _, c := range []struct {
		after, status string
		revert        bool
	}{{"target", api.StatusCompleted, false}, {"refused", api.StatusRefunded, true}} {
		t.Run(c.status, func(t *testing.T) {
			clock, id := NewClock(), ""
			var w *World
			w = New(t, Options{Clock: clock, Pause: hourly, Faults: faultsOf(c.revert), AfterStep: func(step string) {
				if step != c.after {
					return
				}
				clock.Advance(3 * time.Hour) // a long stop
				w.RunDirect(Arbitrum, 7, false, op.Call{
					To: w.Installation.Pins.Escrow, Value: zero(),
					Data: escrow.RefundCalldata(common.HexToHash(id), w.User.Address),
				})
			}})
			signed := w.SignQuote(w.Quote(crossChain(w), ""))
			id = w.Decode(signed).ID
			sums := w.Sums(payee())
			if s := w.Settle(signed); s.Status != c.status {
				t.Fatalf("status %+v", s)
			}
			w.SameSums(sums, w.Sums(payee()))
			erasedContext(t, w, id)
			for _, chainID := range []uint64{Arbitrum, Polygon, Optimism} {
				wantBalance(t, w, w.Installation.Pins.Escrow, w.Asset("usdc", chainID), zero())
			}
			if q := record(w, id); q.Legs[0].State != quotestore.LegRefunded {
				t.Errorf("the first leg is %s", q.Legs[0].State)
			}
		})
	}
}

func TestPreparingTheSameAgainKeepsTheQuotesOfTheFirstUsable(t *testing.T) {
	w := New(t, Options{})
	r := crossChain(w)
	signed := w.SignQuote(w.Quote(r, ""))
	_, err := w.Prepare(r)
	Must(t, err)
	if s := w.Settle(signed); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
}

// flaky fails some updates: before anything is written, or after the commit, so that the caller cannot know.
type flaky struct {
	store.Store
	on     atomic.Bool
	random *rand.Rand
}

func (f *flaky) Update(fn func(store.Tx) error) error {
	if !f.on.Load() || f.random.IntN(2) == 0 {
		return f.Store.Update(fn)
	}
	if f.random.IntN(2) == 0 {
		return errDisk
	}
	return errors.Join(f.Store.Update(fn), errDisk)
}

func TestDatabaseFaultsAtAnyStepEndTheSameWay(t *testing.T) {
	t.Parallel()
	seeds := uint64(2)
	if whole() {
		seeds = 8
	}
	for number, y := range stories() {
		if testing.Short() && number%3 != 0 {
			continue
		}
		clean := y.tell(t, storetest.New(t), nil)
		for seed := range seeds {
			kept := &flaky{Store: storetest.New(t), random: rand.New(rand.NewPCG(seed, 1))}
			w := y.open(t, kept, nil)
			stock(w, w.User)
			Must(t, w.Execute(w.SignQuote(y.ask(w))))
			kept.on.Store(true)
			for range 200 {
				err := w.Settler.Idle(context.Background())
				if err == nil {
					break
				}
				if !errors.Is(err, errDisk) {
					t.Fatal(err)
				}
				_ = w.Settler.Resume(context.Background()) // its own sweep may meet the fault
			}
			kept.on.Store(false)
			y.sameEnd(t, w, clean)
		}
	}
}

func TestAPanicInOneSagaIsAFaultOfThatSaga(t *testing.T) {
	var healthy atomic.Bool
	w := New(t, Options{Pause: hourly, Faults: &settle.Faults{BeforeFill: func(context.Context, string) error {
		if !healthy.Load() {
			panic("a bug")
		}
		return nil
	}}})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	Must(t, w.Execute(signed))
	if err := w.Settler.Idle(context.Background()); err == nil || !strings.Contains(err.Error(), "a bug") {
		t.Fatalf("idle told %v", err)
	}
	healthy.Store(true)
	Must(t, w.Settler.Resume(context.Background()))
	Must(t, w.Settler.Idle(context.Background()))
	if s := w.Status(w.Decode(signed).ID); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
}

// lost commits and then reports a fault, once.
type lost struct {
	store.Store
	next atomic.Bool
}

func (l *lost) Update(fn func(store.Tx) error) error {
	err := l.Store.Update(fn)
	if err == nil && l.next.CompareAndSwap(true, false) {
		return errDisk
	}
	return err
}

func TestAcceptanceWhoseCommitWasReportedAsFailedStillRuns(t *testing.T) {
	kept := &lost{Store: storetest.New(t)}
	w := New(t, Options{Store: kept, Pause: hourly})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	kept.next.Store(true)
	if err := w.Execute(signed); !errors.Is(err, errDisk) {
		t.Fatalf("execute told %v", err)
	}
	Must(t, w.Settler.Idle(context.Background()))
	if s := w.Status(w.Decode(signed).ID); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
	Refused(t, w.Execute(signed), api.ErrAlreadyExecuted)
}

// blind fails the next View once it is told to.
type blind struct {
	lost
	next atomic.Bool
}

func (b *blind) View(fn func(store.Tx) error) error {
	if b.next.CompareAndSwap(true, false) {
		return errDisk
	}
	return b.lost.View(fn)
}

// A commit that was reported as failed and a record that could not be read again leave the saga with an old record:
// what it does from there must leave nothing behind, or a quote that was delivered would end as refused.
func TestAStepFromAnOldRecordLeavesNothingBehind(t *testing.T) {
	kept := &blind{lost: lost{Store: storetest.New(t)}}
	var pauses int
	ended := make(chan struct{})
	w := New(t, Options{
		Store: kept, Pause: func(int) time.Duration {
			pauses++
			kept.next.Store(pauses == 1)
			return 0
		},
		AfterStep: func(step string) {
			switch step {
			case "target":
				kept.lost.next.Store(true)
			case "release eip155:10":
				close(ended)
			}
		},
	})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	sums := w.Sums(payee())
	Must(t, w.Execute(signed))
	<-ended
	Must(t, w.Settler.Idle(context.Background()))
	if s := w.Status(w.Decode(signed).ID); s.Status != api.StatusCompleted || s.FailReason != "" || pauses != 2 {
		t.Fatalf("status %+v after %d pauses", s, pauses)
	}
	w.SameSums(sums, w.Sums(payee()))
	nothingHeld(t, w)
}

// interrupted does something once before the next Update.
type interrupted struct {
	store.Store
	before atomic.Pointer[func()]
}

func (i *interrupted) Update(fn func(store.Tx) error) error {
	if before := i.before.Swap(nil); before != nil {
		(*before)()
	}
	return i.Store.Update(fn)
}

// Between the checks of an execute and its commit another quote of the account may end, and give its claims back with
// its nonces used.
func TestAQuoteWhoseNonceWasUsedDuringItsChecksIsNotAccepted(t *testing.T) {
	kept, hold := &interrupted{Store: storetest.New(t)}, make(chan struct{})
	w := New(t, Options{Store: kept, Faults: &settle.Faults{Wait: func(context.Context, settle.Moment, string) error {
		<-hold
		return nil
	}}})
	w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 300*usdcPlain)
	first := w.SignQuote(w.Quote(pay(w, Base, 60*usdcPlain), ""))
	second := w.SignQuote(w.Quote(pay(w, Base, 30*usdcPlain), ""))
	Must(t, w.Execute(first))
	finish := func() {
		close(hold)
		Must(t, w.Settler.Idle(context.Background()))
	}
	kept.before.Store(&finish)
	Refused(t, w.Execute(second), api.ErrPrepareAgain)
	if s := w.Status(w.Decode(first).ID); s.Status != api.StatusCompleted {
		t.Errorf("status %+v", s)
	}
	untouched(t, w, w.Decode(second).ID)
	nothingHeld(t, w)
}
