package flow_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/network"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// onLab makes the bench's network one on which the service's word proves nothing.
func onLab(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.policy.Network.Kind = network.Lab
	b.reopen()
	return b
}

// ended runs a call to the end that the service says.
func (b *bench) ended(status string) (*flow.Operation, flow.Snapshot) {
	b.t.Helper()
	b.f.status = func(_ int, id string) (api.ExecutionStatus, error) {
		if status == "" {
			return api.ExecutionStatus{}, nil
		}
		return api.ExecutionStatus{QuoteID: id, Status: status, FailReason: "SLIPPAGE"}, nil
	}
	if status == "" {
		b.f.execute = func([]byte) (api.ExecuteResponse, error) { return api.ExecuteResponse{}, errUnclear }
	}
	o := b.review2()
	if s, err := o.Execute(b.t.Context(), consent2(o), nil); err != nil && s.State != flow.StateUnknown {
		b.t.Fatal(s.State, err)
	}
	s, err := o.Watch(b.t.Context(), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return o, s
}

func TestK3_OnAnotherNetworkTheEndIsWhatTheServiceSays(t *testing.T) {
	for status, c := range map[string]struct {
		state flow.State
		words string
		said  journal.Word
	}{
		api.StatusRefunded: {flow.StateFailed, "The service says the call was refunded. The price moved further " +
			"than you allowed. The signatures can still be used until ", journal.SaidNothing},
		api.StatusFailed: {flow.StateFailed, "The service says the call failed and nothing was paid. The price " +
			"moved further than you allowed. The signatures can still be used until ", journal.SaidNothing},
		"": {flow.StateNotExecuted,
			"The service says that it never executed the quote. The signatures can still be used until ",
			journal.SaidNothing},
		api.StatusCompleted: {flow.StateDone, "", journal.SaidRan},
	} {
		b := onLab(t)
		o, s := b.ended(status)
		if s.State != c.state || !s.Said || !strings.HasPrefix(s.Problem, c.words) ||
			(c.words == "") != (s.Problem == "") {
			t.Errorf("%q: %s %v: %s", status, s.State, s.Said, s.Problem)
		}
		open := b.j.Outstanding(b.now())
		for _, x := range open {
			if x.Op != o.ID() || x.Said != c.said {
				t.Errorf("%q: %+v", status, x)
			}
		}
		if len(open) != 3 {
			t.Errorf("%q: %d signatures are open", status, len(open))
		}
		e := newBench(t)
		if _, s := e.ended(status); s.Said || strings.Contains(s.Problem, "The service says") {
			t.Errorf("%q on an embedded network: %s", status, s.Problem)
		}
	}
}

func TestK3_TheWordsSayWhenNoTimeEndsASignature(t *testing.T) {
	b := newRecorded(t, "v3-swap-role-based")
	b.policy.Network.Kind = network.Lab
	b.reopen()
	b.f.status = func(_ int, id string) (api.ExecutionStatus, error) {
		return api.ExecutionStatus{QuoteID: id, Status: api.StatusRefunded}, nil
	}
	o := b.toReviewOnly()
	if _, err := o.Execute(t.Context(), consent2(o), nil); err != nil {
		t.Fatal(err)
	}
	if s, err := o.Watch(t.Context(), nil); err != nil ||
		!strings.HasSuffix(s.Problem, "no time ends them. See `coffer activity`.") {
		t.Errorf("%v %s", err, s.Problem)
	}
}

func TestK3_WhatIsSignedBetweenReviewAndConfirmationIsNoticed(t *testing.T) {
	b := onLab(t)
	o := b.review1()
	raw, err := b.w.Intent().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	id, err := b.j.Begin(raw, [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	other := journal.Signature{
		Role: verify.RolePrepared, Chain: "eip155:10", ChainID: 10, Sender: o.Snapshot().Review1.Sender, Nonce: "77",
		OpHash: "0x77", ValidUntil: b.now().Add(time.Minute).Unix(),
	}
	for _, step := range []struct {
		state journal.State
		e     journal.Entry
	}{{journal.Prepared, journal.Entry{}}, {journal.Signed, journal.Entry{Signatures: []journal.Signature{other}}}} {
		if err := b.j.Append(id, step.state, step.e); err != nil {
			t.Fatal(err)
		}
	}
	s, err := o.SignPrepared(t.Context(), consent1(o))
	if !errors.Is(err, flow.ErrBeside) || b.pen.count.Load() != 0 || s.State != flow.StateReview1 ||
		!strings.Contains(s.Problem, "Nothing was signed") {
		t.Fatalf("%v %v: %s", s.State, err, s.Problem)
	}
}

func TestD2_ASignedCallSaysWhenItCanNoLongerBeQuoted(t *testing.T) {
	for _, restart := range []bool{false, true} {
		b := newBench(t)
		o := b.review2()
		if s := o.Snapshot(); s.Over || s.Stuck {
			t.Fatalf("%+v", s)
		}
		b.clock.Store(1000) // the window is over
		if restart {
			b.reopen()
			o = b.flow.Unfinished()[0]
		}
		s := o.Snapshot()
		if !s.Over || s.Stuck || restart != strings.Contains(s.Problem, "no time left for a quote") {
			t.Errorf("after a restart %v: %+v", restart, s)
		}
		b.w.Now = b.now()
		if s, err := o.Prepare(t.Context()); err != nil || s.State != flow.StateReview1 || s.Over {
			t.Errorf("after a restart %v: %v %v %+v", restart, s.State, err, s.Report1.Reasons)
		}
	}
}
