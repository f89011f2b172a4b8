package flow_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unsafe"

	"coffer/api"
	"coffer/api/client"
	"coffer/wallet/flow"
	"coffer/wallet/internal/golden"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

func TestU3_OfTwoOpenReviewsWithDifferentNoncesOnlyOneIsSigned(t *testing.T) {
	b := newBench(t)
	first := b.review1()
	b.w.Sequence = 1 // nothing is signed yet, so the second answer passes on its own
	second := b.review1()
	if _, err := first.SignPrepared(t.Context(), consent1(first)); err != nil {
		t.Fatal(err)
	}
	s, err := second.SignPrepared(t.Context(), consent1(second))
	if !errors.Is(err, journal.ErrConflict) || b.pen.count.Load() != 1 || len(b.f.quoted) != 1 ||
		s.State != flow.StateReview1 || s.Problem == "" {
		t.Fatalf("%v %v, %d signatures", s.State, err, b.pen.count.Load())
	}
	if list := b.j.Outstanding(b.now()); len(list) != 1 {
		t.Errorf("%d open signatures", len(list))
	}
}

func TestU3_OfTwoQuotesWithDifferentFundingNoncesOnlyOneIsSigned(t *testing.T) {
	b := newBench(t)
	first := b.review2()
	b.w.ID = "0x" + strings.Repeat("4", 64)
	b.f.build = func() api.Quote {
		return b.w.QuoteResponse("225980000", map[string]string{golden.ArbUSDC: "480000"},
			golden.Payment{Asset: golden.ArbUSDC, Amount: 125_980_000, Sequence: 5},
			golden.Payment{Asset: golden.OpUSDC, Amount: 100_000_000, Deploy: true})
	}
	second := b.review2()
	if s, err := first.Execute(t.Context(), consent2(first), nil); err != nil {
		t.Fatal(s.Problem, err)
	}
	signed := b.pen.count.Load()
	s, err := second.Execute(t.Context(), consent2(second), nil)
	if !errors.Is(err, journal.ErrConflict) || b.pen.count.Load() != signed || len(b.f.executed) != 1 ||
		s.State != flow.StateReview2 || s.Problem == "" {
		t.Fatalf("%v %v, %d signatures, %d executes", s.State, err, b.pen.count.Load(), len(b.f.executed))
	}
}

func TestU3_ASignatureThatAppearsWhileAnotherIsMadeIsThrownAway(t *testing.T) {
	b := newBench(t)
	o := b.review1()
	b.pen.before = func() { // another operation records its signature between check and record
		id, err := b.j.Begin([]byte(`{}`), [32]byte{})
		if err != nil {
			t.Fatal(err)
		}
		v := o.Snapshot().Review1
		other := journal.Signature{
			Role: "prepared", Chain: v.Chain.CAIP, ChainID: v.Chain.ID, Sender: v.Sender, Nonce: "77", OpHash: "0x77",
			ValidUntil: v.Window.Until.Unix(),
		}
		if err := b.j.Append(id, journal.Prepared, journal.Entry{}); err != nil {
			t.Fatal(err)
		}
		if err := b.j.Append(id, journal.Signed, journal.Entry{Signatures: []journal.Signature{other}}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := o.SignPrepared(t.Context(), consent1(o))
	if !errors.Is(err, journal.ErrConflict) || len(b.f.quoted) != 0 || s.State != flow.StateReview1 {
		t.Fatalf("%v %v, %d bodies with a signature left", s.State, err, len(b.f.quoted))
	}
}

func TestX3_ThereIsOneOperationForARecord(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	if list := b.flow.Unfinished(); len(list) != 1 || list[0] != o {
		t.Fatal("a second operation for the record of the one under way: both could be executed")
	}
	b.reopen()
	one, two := b.flow.Unfinished(), b.flow.Unfinished()
	if len(one) != 1 || len(two) != 1 || one[0] != two[0] {
		t.Fatal("two operations for one record after a restart")
	}
	if err := one[0].Abandon(); err != nil || len(b.flow.Unfinished()) != 0 {
		t.Fatal(err)
	}
}

func TestN9_ASignatureCountsAsOpenUntilBothClocksSayItEnded(t *testing.T) {
	for name, c := range map[string]struct {
		skew    time.Duration
		refused bool
	}{"the clocks agree": {0, false}, "the local clock is ahead": {-11 * time.Minute, true}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.review2() // open until 600 s and the margin
			b.clock.Store(665)
			b.w.Now, b.w.Sequence, b.f.skew = b.now(), 1, c.skew
			s, _ := b.start().Prepare(t.Context())
			if s.Report1.Has("U3", verify.Refuse) != c.refused || (s.Review1 == nil) != c.refused {
				t.Fatalf("%v %+v", s.State, s.Report1.Reasons)
			}
		})
	}
}

// setBack returns t with its wall clock set back and its monotonic reading as it is, as after a change of the system's
// clock.
func setBack(t time.Time, d time.Duration) time.Time {
	(*struct {
		wall uint64
		ext  int64
	})(unsafe.Pointer(&t)).wall -= uint64(d/time.Second) << 30
	return t
}

func TestN9_AClockThatIsSetBackDoesNotReopenAReview(t *testing.T) {
	b := newBench(t)
	started := time.Now()
	shift := golden.Clock().Sub(started)
	var passed, back time.Duration
	b.flow = flow.New(flow.Deps{
		Client: b.f, Signer: b.pen, Journal: b.j, Policy: verify.DefaultPolicy(b.w.Network, b.w.Catalog),
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Clock: func() time.Time { return setBack(started.Add(shift).Add(passed), back) },
	})
	o := b.review2()
	passed, back = 45*time.Second, time.Hour // the quote lived 30 s
	s, err := o.Execute(t.Context(), consent2(o), nil)
	if !errors.Is(err, flow.ErrExpired) || b.pen.count.Load() != 1 || len(b.f.executed) != 0 {
		t.Fatalf("%v %v", s.State, err)
	}
}

func TestAnAcceptedQuoteThatTheServiceForgetsStaysOpen(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	if _, err := o.Execute(t.Context(), consent2(o), nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	b.f.status = func(n int, _ string) (api.ExecutionStatus, error) {
		if n > 40 {
			cancel()
		}
		return api.ExecutionStatus{}, nil
	}
	s, err := o.Watch(ctx, nil)
	if !errors.Is(err, context.Canceled) || s.State != flow.StateAccepted || s.Problem == "" ||
		b.record().State != journal.Acked {
		t.Fatalf("%v %v %s", s.State, err, b.record().State)
	}
	if b.clock.Load() < 100 {
		t.Fatalf("only %d seconds were watched", b.clock.Load())
	}
	b.f.status = nil
	if s, err := o.Watch(t.Context(), nil); err != nil || s.State != flow.StateDone || s.Problem != "" {
		t.Fatal(s.State, err)
	}
}

func TestARecordWhoseIntentDoesNotHoldSendsNothing(t *testing.T) {
	b := newBench(t)
	raw, err := b.w.Intent().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	id, err := b.j.Begin(raw, [32]byte{1}) // the hash is another intent's
	if err != nil {
		t.Fatal(err)
	}
	sig := journal.Signature{Role: "prepared", Chain: "eip155:8453", ChainID: 8453, Sender: b.w.Account.Hex(),
		Nonce: "0", OpHash: "0x1", ValidUntil: b.now().Unix() + 600}
	if err := b.j.Append(id, journal.Prepared, journal.Entry{}); err != nil {
		t.Fatal(err)
	}
	if err := b.j.Append(id, journal.Signed, journal.Entry{Signatures: []journal.Signature{sig}}); err != nil {
		t.Fatal(err)
	}
	o := b.flow.Unfinished()[0]
	s, err := o.Prepare(t.Context())
	if err == nil || s.Problem == "" || len(b.f.calls) != 0 {
		t.Fatalf("%v, calls %v", err, b.f.calls)
	}
	if _, err := o.Requote(t.Context()); err == nil || len(b.f.calls) != 0 {
		t.Fatalf("%v, calls %v", err, b.f.calls)
	}
}

func TestAReviewThatCouldNotBeRecordedIsNoReview(t *testing.T) {
	b := newBench(t)
	j := &brittle{b.j, 1}
	b.flow = flow.New(flow.Deps{Client: b.f, Signer: b.pen, Journal: j,
		Policy: verify.DefaultPolicy(b.w.Network, b.w.Catalog), Clock: b.now})
	o := b.review1()
	s, err := o.Prepare(t.Context())
	if !errors.Is(err, journal.ErrReadOnly) || (s.State == flow.StateReview1) != (s.Review1 != nil) {
		t.Fatalf("%v with review %v: %v", s.State, s.Review1 != nil, err)
	}
	j.left = 1
	if s, err = o.Prepare(t.Context()); err != nil || s.State != flow.StateReview1 {
		t.Fatal(s.State, err)
	}
}

func TestR1_TextOfTheServiceIsCleanInErrorsAndRecords(t *testing.T) {
	evil := "no\x1b]0;owned\x07\u202e"
	b := newBench(t)
	o := b.review2()
	fp := consent2(o)
	b.f.execute = func([]byte) (api.ExecuteResponse, error) { return api.ExecuteResponse{Error: &evil}, nil }
	s, err := o.Execute(t.Context(), fp, nil)
	clean(t, "execute", err.Error(), s.Err.Error(), s.Problem, b.record().Note)
	b.f.execute = nil
	if _, err := o.Execute(t.Context(), fp, nil); err != nil {
		t.Fatal(err)
	}
	b.f.status = func(n int, id string) (api.ExecutionStatus, error) {
		if n == 1 {
			return api.ExecutionStatus{QuoteID: evil, Status: api.StatusCompleted}, nil
		}
		return api.ExecutionStatus{QuoteID: id, Status: api.StatusFailed,
			FailReason: evil + strings.Repeat("x", 1<<20)}, nil
	}
	s, err = o.Watch(t.Context(), func(s flow.Snapshot) {
		if s.Err != nil {
			clean(t, "status", s.Err.Error(), s.Problem)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	clean(t, "end", s.Problem, b.record().Note)
	if len(b.record().Note) > 400 {
		t.Errorf("a note of %d bytes", len(b.record().Note))
	}
	clean(t, "network", (&client.Error{Op: "x", Kind: client.KindNetwork, Err: errors.New(evil)}).Error())
}

func clean(t *testing.T, what string, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if strings.ContainsAny(s, "\x1b\x07\u202e") {
			t.Errorf("%s: %q", what, s)
		}
	}
}
