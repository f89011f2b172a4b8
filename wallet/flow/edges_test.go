package flow_test

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/client"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/sign"
	"coffer/wallet/verify"
)

// forger signs, and changes one byte afterwards: a signer whose own check failed.
type forger struct {
	flow.Signer
	from int // the signature from which on it forges
	made int
}

func (f *forger) SignUserOp(ctx context.Context, v verify.VerifiedUserOp) (sign.Signature, error) {
	s, err := f.Signer.SignUserOp(ctx, v)
	if f.made++; f.made >= f.from && err == nil {
		s[10] ^= 1
	}
	return s, err
}

func (b *bench) useSigner(s flow.Signer) {
	b.flow = flow.New(flow.Deps{Client: b.f, Signer: s, Journal: b.j, Policy: b.policy, Clock: b.now,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
}

func TestU15_AForgedSignatureIsNeitherRecordedNorSent(t *testing.T) {
	b := newBench(t)
	b.useSigner(&forger{Signer: b.pen, from: 1})
	o := b.review1()
	if s, err := o.SignPrepared(t.Context(), consent1(o)); err == nil || s.State != flow.StateReview1 ||
		len(b.j.Outstanding(b.now())) != 0 || len(b.f.quoted) != 0 {
		t.Fatal(s.State, err)
	}
	b = newBench(t)
	b.useSigner(&forger{Signer: b.pen, from: 2})
	o = b.review2()
	if s, err := o.Execute(t.Context(), consent2(o), nil); err == nil || s.State != flow.StateReview2 ||
		b.record().State != journal.Quoted || len(b.f.executed) != 0 {
		t.Fatal(s.State, err)
	}
}

func TestAFailedDelegationStopsTheOperationBesideIt(t *testing.T) {
	b := newRecorded(t, "v3-eip7702-funded")
	b.pen.before = func() {
		b.pen.fail = sign.ErrExternal
	}
	o := b.start()
	if _, err := o.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := o.SignPrepared(t.Context(), consent1(o))
	if !errors.Is(err, sign.ErrExternal) || s.State != flow.StateReview1 || s.SignaturesDone != 0 ||
		b.pen.count.Load() != 1 || !strings.HasPrefix(s.Problem, "The signer command") {
		t.Fatalf("%+v", s)
	}
}

func TestQ10_AQuoteThatExpiresWhileItIsSignedIsNotSent(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	b.pen.before = func() { b.clock.Store(29) } // a person took time over the device
	s, err := o.Execute(t.Context(), consent2(o), nil)
	if !errors.Is(err, flow.ErrExpired) || s.State != flow.StateReview2 || b.record().State != journal.QuoteSigned ||
		len(b.f.executed) != 0 {
		t.Fatal(s.State, err)
	}
	if n := len(b.record().Signatures); n > 0 && strings.Contains(s.Problem, "Nothing was signed") {
		t.Errorf("%d signatures are in the journal, and it is said: %s", n, s.Problem)
	}
	b.reopen()
	if left := b.flow.Unfinished(); !s.Paid || len(left) != 1 || !left[0].Snapshot().Paid {
		t.Error("the payments count as unsigned, at once or after a start")
	}
}

func TestJ5_AClosedJournalStopsEveryStep(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	signed := b.pen.count.Load()
	b.j.Close()
	if s, err := o.Execute(t.Context(), consent2(o), nil); !errors.Is(err, journal.ErrClosed) ||
		s.State != flow.StateReview2 || b.pen.count.Load() != signed {
		t.Fatal(s.State, err)
	}
	if err := o.Abandon(); !errors.Is(err, journal.ErrClosed) || o.Snapshot().State != flow.StateReview2 {
		t.Fatal(err)
	}
	if _, err := b.flow.Start(t.Context(), b.w.Intent()); !errors.Is(err, journal.ErrClosed) {
		t.Fatal(err)
	}
	b, o = unknown(t)
	b.clock.Store(600)
	b.j.Close()
	if s, err := o.Watch(t.Context(), nil); !errors.Is(err, journal.ErrClosed) || s.State != flow.StateUnknown {
		t.Fatal(s.State, err)
	}
}

func TestARefusalThatCannotBeRecordedLeavesTheOutcomeOpen(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	b.f.execute = func([]byte) (api.ExecuteResponse, error) {
		b.j.Close()
		return api.ExecuteResponse{}, api.NewError(api.ErrNoRoute, "price moved")
	}
	if s, err := o.Execute(t.Context(), consent2(o), nil); !errors.Is(err, journal.ErrClosed) ||
		s.State != flow.StateUnknown {
		t.Fatal(s.State, err)
	}
}

func TestAnErrorOfAnotherKindIsAnUnknownOutcome(t *testing.T) {
	b := newBench(t)
	b.f.execute = func([]byte) (api.ExecuteResponse, error) { return api.ExecuteResponse{}, errors.New("anything") }
	o := b.review2()
	if s, err := o.Execute(t.Context(), consent2(o), nil); err == nil || s.State != flow.StateUnknown {
		t.Fatal(s.State, err)
	}
}

func TestOnlyOneStepOfAnOperationRunsAtATime(t *testing.T) {
	b := newBench(t)
	o := b.start()
	if _, err := o.Watch(t.Context(), nil); !errors.Is(err, flow.ErrState) {
		t.Error(err)
	}
	b.f.onWire = func(string) {
		for name, step := range map[string]func() error{
			"prepare": func() error { _, err := o.Prepare(t.Context()); return err },
			"quote":   func() error { _, err := o.Quote(t.Context()); return err },
			"sign":    func() error { _, err := o.SignPrepared(t.Context(), consent.Consent{}); return err },
			"watch":   func() error { _, err := o.Watch(t.Context(), nil); return err },
			"abandon": o.Abandon,
		} {
			if err := step(); !errors.Is(err, flow.ErrBusy) {
				t.Errorf("%s beside another step: %v", name, err)
			}
		}
	}
	if _, err := o.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestASponsorThatIsNotPinnedMaySayNothingOfItsWindow(t *testing.T) {
	b := newBench(t)
	b.policy.Limits.Gates = []string{verify.GatePaymaster}
	b.reopen()
	foreign := func(o *api.ChainOperation) { o.UserOp.Paymaster, o.UserOp.PaymasterData = stranger, "0x1234" }
	b.f.prepare = func(r *api.PrepareResponse) error { foreign(&r.ChainOperation); return nil }
	b.f.quote = func(q *api.Quote) error {
		for i := range q.OriginChainsOperations {
			foreign(&q.OriginChainsOperations[i])
		}
		return nil
	}
	o := b.review1()
	s := o.Snapshot()
	if s.Review1.Phrase == "" || !s.Deadline.Equal(b.now().Add(b.policy.MaxWindow)) {
		t.Fatalf("%q until %s", s.Review1.Phrase, s.Deadline)
	}
	if s, err := o.SignPrepared(t.Context(), consent1(o)); err != nil {
		t.Fatalf("%v %+v", err, s.Report2.Reasons)
	}
	for _, l := range b.j.Outstanding(b.now().Add(time.Hour)) {
		if l.ValidUntil != verify.NoEnd || !strings.HasPrefix(l.Void, "It never expires") {
			t.Errorf("%+v", l)
		}
	}
	b.reopen()
	if list := b.flow.Unfinished(); len(list) != 1 || list[0].Snapshot().Err != nil ||
		!list[0].Snapshot().Deadline.Equal(b.now().Add(b.policy.MaxWindow)) {
		t.Fatalf("%+v", list[0].Snapshot())
	}
}

func TestV6_WhatCannotBeDecodedIsOnRecordAsBytes(t *testing.T) {
	b := newBench(t)
	b.w.Draft.Calls[1].Data = "0xdeadbeef"
	b.review2()
	if got := strings.Join(b.record().Agreed[0].Summary, "\n"); !strings.Contains(got, "not decoded: 0xdeadbeef") ||
		!strings.Contains(got, "transfer") {
		t.Errorf("%s", got)
	}
}

// edited is a journal of which a record is read otherwise than it was written.
type edited struct {
	*journal.Journal
	edit func(o *journal.Operation)
}

func (e edited) Operations() []journal.Operation {
	out := e.Journal.Operations()
	for i := range out {
		e.edit(&out[i])
	}
	return out
}

func TestJ3_ARecordThatWasChangedIsNotSignedOrSentAgain(t *testing.T) {
	for name, edit := range map[string]func(o *journal.Operation){
		"no answer":          func(o *journal.Operation) { o.Prepared = nil },
		"a broken answer":    func(o *journal.Operation) { o.Prepared = []byte("{") },
		"another answer":     func(o *journal.Operation) { o.Prepared = []byte("{}") },
		"another time":       func(o *journal.Operation) { o.PreparedAt = o.PreparedAt.Add(time.Hour) },
		"another role":       func(o *journal.Operation) { o.Signatures[0].Role = verify.RoleFunding },
		"another operation":  func(o *journal.Operation) { o.Signatures[0].OpHash = "0x77" },
		"a broken signature": func(o *journal.Operation) { o.Signatures[0].Signature = "0xzz" },
		"another signature": func(o *journal.Operation) {
			o.Signatures[0].Signature = "0x" +
				strings.Repeat("11", 65)
		},
		"no delegation": func(o *journal.Operation) { o.Signatures[0].Delegation = nil },
		"a broken delegation": func(o *journal.Operation) {
			o.Signatures[0].Delegation = &journal.Delegation{
				Signature: "0x11"}
		},
		"another delegation":   func(o *journal.Operation) { o.Signatures[0].Delegation = forgedDelegation() },
		"a damaged intent":     func(o *journal.Operation) { o.Intent = []byte("{}") },
		"another intent's sum": func(o *journal.Operation) { o.IntentHash = strings.Repeat("0", 64) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newRecorded(t, "v3-eip7702-funded")
			b.toReviewOnly()
			sent := len(b.f.calls)
			b.flow = flow.New(flow.Deps{Client: b.f, Signer: b.pen, Journal: edited{b.j, edit}, Policy: b.policy,
				Clock: b.now})
			list := b.flow.Unfinished()
			if len(list) != 1 || list[0].Snapshot().Err == nil ||
				!strings.Contains(list[0].Snapshot().Problem, "only be abandoned") {
				t.Fatalf("%+v", list)
			}
			for step, try := range map[string]func() (flow.Snapshot, error){
				"requote": func() (flow.Snapshot, error) { return list[0].Requote(t.Context()) },
				"quote":   func() (flow.Snapshot, error) { return list[0].Quote(t.Context()) },
			} {
				if _, err := try(); err == nil || len(b.f.calls) != sent {
					t.Errorf("%s: %v, calls %v", step, err, b.f.calls[sent:])
				}
			}
			if err := list[0].Abandon(); err != nil {
				t.Error(err)
			}
		})
	}
}

func forgedDelegation() *journal.Delegation {
	return &journal.Delegation{ChainID: 8453, Digest: "0x01", Signature: "0x" + strings.Repeat("11", 64) + "1b"}
}

func TestASwapWhoseIntentDoesNotHoldIsNotQuoted(t *testing.T) {
	b := newRecorded(t, "v3-swap-evm")
	b.f.execute = func([]byte) (api.ExecuteResponse, error) {
		return api.ExecuteResponse{}, api.NewError(api.ErrNoRoute, "no")
	}
	o := b.toReviewOnly()
	if _, err := o.Execute(t.Context(), consent2(o), nil); err == nil {
		t.Fatal("accepted")
	}
	sent := len(b.f.calls)
	b.flow = flow.New(flow.Deps{Client: b.f, Signer: b.pen,
		Journal: edited{b.j, func(o *journal.Operation) { o.IntentHash = "" }}, Policy: b.policy, Clock: b.now})
	o = b.flow.Unfinished()[0]
	if _, err := o.Quote(t.Context()); err == nil || len(b.f.calls) != sent {
		t.Fatal(err)
	}
	if _, err := o.Requote(t.Context()); err == nil || len(b.f.calls) != sent {
		t.Fatal(err)
	}
}

func TestTheEndOfATransferIsToldAsOne(t *testing.T) {
	for status, want := range map[string]string{
		api.StatusRefunded: "The transfer did not run and the payments came back.",
		api.StatusFailed:   "The transfer did not run and nothing was paid.",
	} {
		b := newRecorded(t, "v3-transfer")
		b.f.status = func(_ int, id string) (api.ExecutionStatus, error) {
			return api.ExecutionStatus{QuoteID: id, Status: status}, nil
		}
		o := b.toReview2()
		if _, err := o.Execute(t.Context(), consent2(o), nil); err != nil {
			t.Fatal(err)
		}
		if s, err := o.Watch(t.Context(), nil); err != nil || s.State != flow.StateFailed ||
			!strings.HasPrefix(s.Problem, want) {
			t.Errorf("%v %v %q", s.State, err, s.Problem)
		}
		used := len(b.record().Used)
		if (status == api.StatusRefunded) != (used > 0) || len(b.j.Recipients()) != 0 {
			t.Errorf("%s: %d used, paid %v", status, used, b.j.Recipients())
		}
	}
	b := newRecorded(t, "v3-transfer")
	o := b.toReview2()
	if _, err := o.Execute(t.Context(), consent2(o), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Watch(t.Context(), nil); err != nil || len(b.j.Recipients()) != 1 {
		t.Errorf("%v %v", err, b.j.Recipients())
	}
}

func TestARateLimitIsToldWithItsWait(t *testing.T) {
	b := newBench(t)
	b.f.prepare = func(*api.PrepareResponse) error {
		e := api.NewError(api.ErrTooManyRequests, "slow down")
		e.RetryAfter = 7 * time.Second
		return e
	}
	if s, err := b.start().Prepare(t.Context()); err == nil || !strings.Contains(s.Problem, "7s") {
		t.Errorf("%q %v", s.Problem, err)
	}
}

var (
	_ flow.Client  = (*client.Client)(nil)
	_ flow.Signer  = (*sign.Signer)(nil)
	_ flow.Signer  = sign.External{}
	_ flow.Journal = (*journal.Journal)(nil)
)

func TestY5_ADaysCapCountsEveryOperationOnceHoweverOftenItsStepsAreJudged(t *testing.T) {
	b := newBench(t)
	b.policy.Limits.MaxSpendPerDay = big.NewInt(500_000_000) // the call takes 250.50 USD and 225.98 are paid for it
	b.reopen()
	o := b.review2()
	b.w.ID = "0x" + strings.Repeat("2", 64)
	if s, err := o.Requote(t.Context()); err != nil {
		t.Fatalf("quoted again: %+v", s.Report2.Reasons)
	}
	if s, err := o.Prepare(t.Context()); err != nil {
		t.Fatalf("prepared again: %+v", s.Report1.Reasons)
	}
	b.w.ID = "0x" + strings.Repeat("3", 64)
	if s, err := o.SignPrepared(t.Context(), consent1(o)); err != nil {
		t.Fatalf("signed again: %+v", s.Report2.Reasons)
	}
	b.reopen()
	o = b.flow.Unfinished()[0]
	if o.Snapshot().Err != nil {
		t.Fatalf("after a restart: %+v", o.Snapshot().Report1.Reasons)
	}
	b.w.ID = "0x" + strings.Repeat("4", 64)
	if s, err := o.Requote(t.Context()); err != nil {
		t.Fatalf("quoted after a restart: %+v", s.Report2.Reasons)
	}
	if _, err := o.Execute(t.Context(), consent2(o), nil); err != nil {
		t.Fatal(err)
	}
	if s, err := b.start().Prepare(t.Context()); !errors.Is(err, flow.ErrRefused) ||
		!s.Report1.Has("Y5", verify.Refuse) {
		t.Fatalf("a second call of 250 USD on the same day: %v %+v", err, s.Report1.Reasons)
	}
	// A cap that holds for the call and what it is missing, but not for the cost as well.
	b = newBench(t)
	b.policy.Limits.MaxSpendPerDay = big.NewInt(476_000_000)
	b.reopen()
	o = b.review1()
	if s, err := o.SignPrepared(t.Context(), consent1(o)); !errors.Is(err, flow.ErrRefused) ||
		!s.Report2.Has("Y5", verify.Refuse) {
		t.Fatalf("%v %+v", err, s.Report2.Reasons)
	}
}
