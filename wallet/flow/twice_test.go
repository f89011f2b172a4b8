package flow_test

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/network"
	"coffer/wallet/flow"
	"coffer/wallet/internal/golden"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// onlyArbitrum is the golden quote paid from one chain.
func (b *bench) onlyArbitrum(sequence uint64) api.Quote {
	return b.w.QuoteResponse("225980000", map[string]string{golden.ArbUSDC: "480000"},
		golden.Payment{Asset: golden.ArbUSDC, Amount: 225_980_000, Sequence: sequence})
}

// onlyOptimism pays from the other.
func (b *bench) onlyOptimism(sequence uint64) api.Quote {
	return b.w.QuoteResponse("225980000", map[string]string{golden.OpUSDC: "480000"},
		golden.Payment{Asset: golden.OpUSDC, Amount: 225_980_000, Sequence: sequence})
}

// denied has a quote sent that the service then says it did not take.
func denied(t *testing.T, build func(b *bench) api.Quote) (*bench, *flow.Operation) {
	t.Helper()
	b := newBench(t)
	b.f.build = func() api.Quote { return build(b) }
	b.f.execute = func([]byte) (api.ExecuteResponse, error) {
		return api.ExecuteResponse{}, api.NewError(api.ErrNoRoute, "price moved")
	}
	o := b.review2()
	if s, err := o.Execute(t.Context(), consent2(o), nil); err == nil || s.State != flow.StateReview2 {
		t.Fatal(s.State, err)
	}
	b.w.ID = "0x" + strings.Repeat("2", 64)
	return b, o
}

func (b *bench) reasonU3(s flow.Snapshot) verify.Reason {
	for _, r := range s.Report2.Reasons {
		if r.Code == "U3" && r.Level == verify.Refuse {
			return r
		}
	}
	return verify.Reason{}
}

func TestU3_ARequoteMayNotPayBesideAPaymentThatWasSent(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("after a restart ", restart), func(t *testing.T) {
			b, o := denied(t, func(b *bench) api.Quote { return b.onlyArbitrum(4) })
			if restart {
				b.reopen()
				o = b.flow.Unfinished()[0]
			}
			signed := b.pen.count.Load()
			for name, build := range map[string]func() api.Quote{
				"another chain": func() api.Quote { return b.onlyOptimism(9) },
				"both":          func() api.Quote { return b.payment(4, 9) },
			} {
				b.f.build = build
				s, err := o.Requote(t.Context())
				r := b.reasonU3(s)
				if !errors.Is(err, flow.ErrRefused) || s.State != flow.StateQuoting || s.Review2 != nil ||
					r.Code == "" {
					t.Fatalf("%s: %v %v %+v", name, s.State, err, s.Report2.Reasons)
				}
				end := b.sent(o.ID())[0]
				at, ends := end.Ends()
				if !ends || !strings.Contains(r.Title, "Ask again after "+
					at.UTC().Format("2 January 2006, 15:04:05 UTC")) || !strings.Contains(r.Want, "eip155:42161") ||
					r.Got == r.Want {
					t.Errorf("%s: %+v", name, r)
				}
			}
			if b.pen.count.Load() != signed || len(b.f.executed) != 1 {
				t.Errorf("%d signatures, %d executes", b.pen.count.Load(), len(b.f.executed))
			}
			// The same place stands for the payment that was sent.
			b.f.build = func() api.Quote { return b.onlyArbitrum(4) }
			b.f.execute = nil
			if s, err := o.Requote(t.Context()); err != nil || s.State != flow.StateReview2 {
				t.Fatalf("%v %+v", err, s.Report2.Reasons)
			}
			if s, err := o.Execute(t.Context(), consent2(o), nil); err != nil || s.State != flow.StateAccepted {
				t.Fatal(s.State, err)
			}
		})
	}
}

// sent lists the payments of an operation that were sent and are open.
func (b *bench) sent(id string) []journal.Outstanding {
	var out []journal.Outstanding
	for _, x := range b.j.Outstanding(b.now()) {
		if x.Op == id && x.Sent && x.QuoteID != "" {
			out = append(out, x)
		}
	}
	return out
}

func TestU3_AfterTheEndOfASentPaymentAnotherPlaceMayPay(t *testing.T) {
	b, o := denied(t, func(b *bench) api.Quote { return b.onlyArbitrum(4) })
	end, _ := b.sent(o.ID())[0].Ends()
	b.clock.Store(int64(end.Sub(golden.Clock()).Seconds()) + 1)
	b.w.Now = b.now()
	if s, err := o.Prepare(t.Context()); err != nil { // the window of the prepared call is over as well
		t.Fatalf("%v %+v", err, s.Report1.Reasons)
	}
	b.f.build = func() api.Quote { return b.onlyOptimism(9) }
	if s, err := o.SignPrepared(t.Context(), consent1(o)); err != nil || s.State != flow.StateReview2 {
		t.Fatalf("%v %+v", err, s.Report2.Reasons)
	}
}

func TestY5_TheWordOfTheServiceTakesNothingOffTheDay(t *testing.T) {
	for name, status := range map[string]string{"not executed": "", "refunded": api.StatusRefunded,
		"failed": api.StatusFailed} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.policy.Limits.MaxSpendPerDay = big.NewInt(500_000_000)
			b.reopen()
			b.f.execute = func([]byte) (api.ExecuteResponse, error) { return api.ExecuteResponse{}, errUnclear }
			o := b.review2()
			if s, err := o.Execute(t.Context(), consent2(o), nil); err == nil || s.State != flow.StateUnknown {
				t.Fatal(s.State, err)
			}
			b.f.status = func(_ int, id string) (api.ExecutionStatus, error) {
				if status == "" {
					return api.ExecutionStatus{}, nil
				}
				return api.ExecutionStatus{QuoteID: id, Status: status}, nil
			}
			if s, err := o.Watch(t.Context(), nil); err != nil || !s.State.Terminal() {
				t.Fatal(s.State, err)
			}
			b.w.Now = b.now()
			if s, err := b.start().Prepare(t.Context()); !errors.Is(err, flow.ErrRefused) ||
				!s.Report1.Has("Y5", verify.Refuse) {
				t.Fatalf("a second call of 250 USD on the same day: %v %+v", err, s.Report1.Reasons)
			}
		})
	}
}

func TestU3_OnlyTheOwnersTypedWordVoidsAnEndlessSignature(t *testing.T) {
	b := newRecorded(t, "v3-swap-role-based")
	b.f.execute = func([]byte) (api.ExecuteResponse, error) {
		return api.ExecuteResponse{}, api.NewError(api.ErrNoRoute, "price moved")
	}
	o := b.toReviewOnly()
	if _, err := o.Execute(t.Context(), consent2(o), nil); err == nil {
		t.Fatal("accepted")
	}
	if err := o.Abandon(); err != nil {
		t.Fatal(err)
	}
	x := b.j.Outstanding(b.now())[0]
	end := x.Sender[len(x.Sender)-4:]
	for _, typed := range []string{"", end[1:], "x" + end[1:], " " + end, x.Sender} {
		if err := b.flow.Void(x.OpHash, typed); !errors.Is(err, flow.ErrVoidTyped) {
			t.Errorf("%q: %v", typed, err)
		}
	}
	if err := b.flow.Void("0x"+strings.Repeat("7", 64), end); !errors.Is(err, flow.ErrVoidUnknown) {
		t.Error(err)
	}
	if !b.j.Outstanding(b.now())[0].VoidedAt.IsZero() {
		t.Fatal("voided without the word")
	}
	if err := b.flow.Void(x.OpHash, strings.ToUpper(end)); err != nil {
		t.Fatal(err)
	}
	if err := b.flow.Void(x.OpHash, end); !errors.Is(err, flow.ErrVoidUnknown) {
		t.Error("voided twice:", err)
	}
	b.reopen()
	list := b.j.Outstanding(b.now())
	if len(list) != 1 || !strings.HasPrefix(list[0].Void, "Voided by you on ") {
		t.Fatalf("%+v", list)
	}
	next := list[0].Signature // the next one in its lane, with another nonce
	next.Nonce, next.OpHash = next.Nonce+"0", "0x"+strings.Repeat("7", 64)
	if next.Conflicts(list[0].Signature) || !next.Conflicts(x.Signature) {
		t.Error("the voided signature still blocks its lane, or the open one did not")
	}
	// What ends by itself is not voided.
	b = newBench(t)
	b.review2()
	y := b.j.Outstanding(b.now())[0]
	if err := b.flow.Void(y.OpHash, y.Sender[len(y.Sender)-4:]); !errors.Is(err, flow.ErrVoidUnknown) {
		t.Error(err)
	}
}

// K3: what was sent and refused may have been taken all the same, also when its window is over. A review of the same
// operation counts it, with a warning.
func TestK3_WhatWasSentAndRefusedStaysInTheWorstCase(t *testing.T) {
	for kind, counts := range map[network.Kind]bool{network.Embedded: false, network.Lab: true, network.Real: true} {
		t.Run(string(kind), func(t *testing.T) {
			b := newBench(t)
			b.policy.Network.Kind, b.policy.Limits = kind, verify.Limits{}
			b.reopen()
			b.f.build = func() api.Quote { return b.onlyArbitrum(4) }
			b.f.execute = func([]byte) (api.ExecuteResponse, error) {
				return api.ExecuteResponse{}, api.NewError(api.ErrNoRoute, "price moved")
			}
			o := b.review2()
			first := o.Snapshot().Review2.Worst
			if _, err := o.Execute(t.Context(), consent2(o), nil); err == nil {
				t.Fatal("accepted")
			}
			end, _ := b.sent(o.ID())[0].Ends()
			b.clock.Store(int64(end.Sub(golden.Clock()).Seconds()) + 1)
			b.w.Now = b.now()
			if s, err := o.Prepare(t.Context()); err != nil {
				t.Fatalf("%v %+v", err, s.Report1.Reasons)
			}
			b.w.ID = "0x" + strings.Repeat("7", 64)
			b.f.build = func() api.Quote { return b.onlyOptimism(9) }
			s, err := o.SignPrepared(t.Context(), consent1(o))
			if err != nil {
				t.Fatalf("%v %+v", err, s.Report2.Reasons)
			}
			sum := func(list []verify.AmountView) (total int64) {
				for _, a := range list {
					total += a.Amount.Int64()
				}
				return total
			}
			want := sum(first)
			if counts {
				want += sum(s.Review2.Pay)
			}
			if got := sum(s.Review2.Worst); got != want || s.Report2.Has("J4", verify.Warn) != counts {
				t.Errorf("the worst case is %d, want %d: %+v", got, want, s.Report2.Reasons)
			}
		})
	}
}
