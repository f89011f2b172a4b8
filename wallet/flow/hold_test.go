package flow_test

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
)

// beside is another process with the same journal, key and service; it does not wait for a step of the first.
func (b *bench) beside() (*flow.Flow, *journal.Journal) {
	b.t.Helper()
	ids := counter(100)
	j, err := journal.Open(b.dir, journal.Options{
		Network: b.policy.Network.ID, Clock: b.now, Random: &ids, Holder: "the other process",
		Patience: time.Millisecond,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { j.Close() })
	sleep := func(ctx context.Context, d time.Duration) error {
		b.clock.Add(max(int64(d/time.Second), 1))
		return ctx.Err()
	}
	return flow.New(flow.Deps{Client: b.f, Signer: b.pen, Journal: j, Policy: b.policy, Clock: b.now, Sleep: sleep}), j
}

// only is the one operation that has no end.
func only(t *testing.T, f *flow.Flow) *flow.Operation {
	t.Helper()
	list := f.Unfinished()
	if len(list) != 1 {
		t.Fatalf("%d operations have no end", len(list))
	}
	return list[0]
}

func TestK8_AStepStopsWhereAnotherProcessWentOn(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	other, _ := b.beside()
	x := only(t, other)
	b.w.ID = "0x" + strings.Repeat("02", 32)
	if s, err := x.Requote(t.Context()); err != nil || s.State != flow.StateReview2 {
		t.Fatal(s.State, err)
	}
	signed := b.pen.count.Load()
	s, err := o.Execute(t.Context(), consent2(o), nil)
	if !errors.Is(err, flow.ErrMoved) || s.State != flow.StateQuoting || s.Problem == "" {
		t.Fatalf("%s: %v: %q", s.State, err, s.Problem)
	}
	if b.pen.count.Load() != signed || len(b.f.executed) != 0 {
		t.Error("signed or sent all the same")
	}
	if s, err := x.Execute(t.Context(), consent2(x), nil); err != nil || s.State != flow.StateAccepted {
		t.Fatal(s.State, err)
	}
	if _, err := o.Requote(t.Context()); !errors.Is(err, flow.ErrMoved) || o.Snapshot().State != flow.StateAccepted {
		t.Fatal(o.Snapshot().State, err)
	}
	if s, err := o.Watch(t.Context(), nil); err != nil || s.State != flow.StateDone || len(b.f.executed) != 1 {
		t.Fatal(s.State, err)
	}
}

func TestK8_NothingIsResumedWhileItIsSent(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	other, j := b.beside()
	x := only(t, other)
	inside := func() {
		if s, err := x.Requote(t.Context()); !errors.Is(err, journal.ErrLocked) || s.State != flow.StateQuoting ||
			!strings.Contains(s.Problem, "process") {
			t.Errorf("%s: %v: %s", s.State, err, s.Problem)
		}
		if err := x.Abandon(); !errors.Is(err, journal.ErrLocked) {
			t.Error(err)
		}
		if _, err := j.Begin([]byte(`{}`), [32]byte{}); !errors.Is(err, journal.ErrLocked) {
			t.Error(err)
		}
	}
	b.pen.before = func() { b.pen.before = nil; inside() }
	b.f.execute = func([]byte) (api.ExecuteResponse, error) {
		b.f.mu.Unlock() // the other process asks the same service
		defer b.f.mu.Lock()
		inside()
		return api.ExecuteResponse{Success: true}, nil
	}
	if s, err := o.Execute(t.Context(), consent2(o), nil); err != nil || s.State != flow.StateAccepted {
		t.Fatal(s.State, err)
	}
	if _, err := x.Requote(t.Context()); err == nil || x.Snapshot().State != flow.StateAccepted {
		t.Errorf("%s: %v", x.Snapshot().State, err)
	}
	if len(b.f.executed) != 1 {
		t.Errorf("sent %d times", len(b.f.executed))
	}
}

func TestK8_AWaitHoldsNothingAndTakesTheEndOfAnotherProcess(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	if s, err := o.Execute(t.Context(), consent2(o), nil); err != nil {
		t.Fatal(s.State, err)
	}
	b.f.status = func(n int, id string) (api.ExecutionStatus, error) {
		return api.ExecutionStatus{QuoteID: id, Status: "PENDING"}, nil
	}
	other, j := b.beside()
	seen := 0
	s, err := o.Watch(t.Context(), func(s flow.Snapshot) {
		switch seen++; seen {
		case 1:
			if _, err := j.Begin([]byte(`{}`), [32]byte{}); err != nil {
				t.Errorf("nothing can be begun beside a wait: %v", err)
			}
		case 2:
			b.f.mu.Lock()
			b.f.status = nil
			b.f.mu.Unlock()
			if s, err := only(t, other).Watch(t.Context(), nil); err != nil || s.State != flow.StateDone {
				t.Error(s.State, err)
			}
		}
	})
	if rec, _ := b.j.Operation(o.ID()); err != nil || s.State != flow.StateDone || rec.State != journal.Done {
		t.Fatalf("%s: %v", s.State, err)
	}
	if n := len(b.flow.Unfinished()); n != 0 {
		t.Errorf("%d are unfinished", n)
	}
}

func TestK8_ARefusedQuoteIsNoLongerWatchedByAnotherProcess(t *testing.T) {
	b, o := unknown(t)
	other, j := b.beside()
	x := only(t, other)
	if x.Snapshot().State != flow.StateUnknown {
		t.Fatal(x.Snapshot().State)
	}
	// The first process hears that the service refused.
	if err := b.j.Append(o.ID(), journal.QuoteSigned, journal.Entry{QuoteID: o.Snapshot().QuoteID}); err != nil {
		t.Fatal(err)
	}
	s, err := x.Watch(t.Context(), nil)
	if !errors.Is(err, flow.ErrMoved) || s.State != flow.StateQuoting {
		t.Fatal(s.State, err)
	}
	if _, ok := j.Operation(o.ID()); !ok {
		t.Error("lost")
	}
}

func TestK8_TheCapOfTheDayCountsWhatAnotherProcessSigned(t *testing.T) {
	b := newBench(t)
	b.policy.Limits.MaxSpendPerDay = big.NewInt(1_000_000_000_000)
	b.reopen()
	o := b.review2()
	other, _ := b.beside()
	in, err := other.Start(t.Context(), b.w.Intent())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, err := in.SignPrepared(t.Context(), consent1(in)); s.SignaturesDone == 0 {
		t.Fatal(s.State, err)
	}
	signed := b.pen.count.Load()
	s, err := o.Execute(t.Context(), consent2(o), nil)
	if !errors.Is(err, flow.ErrSpent) || !errors.Is(err, flow.ErrExpired) || s.State != flow.StateReview2 ||
		b.pen.count.Load() != signed {
		t.Fatal(s.State, err)
	}
	if !strings.Contains(s.Problem, "cap of the day") {
		t.Error(s.Problem)
	}
}

func TestK8_PendingPastTheRefundSaysWhatToDo(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	after := o.Snapshot().Review2.Legs[0].RefundAfter
	if s, err := o.Execute(t.Context(), consent2(o), nil); err != nil {
		t.Fatal(s.State, err)
	}
	b.f.status = func(_ int, id string) (api.ExecutionStatus, error) {
		return api.ExecutionStatus{QuoteID: id, Status: "PENDING"}, nil
	}
	for _, program := range []string{"the one that sent", "the next"} {
		b.clock.Store(0)
		ctx, stop := context.WithCancel(t.Context())
		before, said := true, false
		s, err := o.Watch(ctx, func(s flow.Snapshot) {
			if now := b.now(); s.Overdue != now.After(after) {
				t.Errorf("%s, %s: overdue %v", program, now, s.Overdue)
			} else if s.Overdue {
				said = true
				stop()
			} else if before = false; b.clock.Load() < 600 {
				b.clock.Add(after.Unix() - b.now().Unix() - 30)
			}
		})
		stop()
		if !errors.Is(err, context.Canceled) || before || !said || s.State != flow.StateAccepted {
			t.Fatalf("%s: %s: %v", program, s.State, err)
		}
		for _, w := range []string{"operator", "refund", after.UTC().Format("15:04:05 UTC")} {
			if !strings.Contains(s.Problem, w) {
				t.Errorf("%s: %q is not said: %s", program, w, s.Problem)
			}
		}
		b.reopen()
		o = only(t, b.flow)
	}
}
