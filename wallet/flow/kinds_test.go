package flow_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"coffer/api"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// verbsOf reads from a document's operations which verbs sign them, in order.
func verbsOf(r *recorded, ops ...api.ChainOperation) []string {
	var out []string
	for _, o := range ops {
		if o.Delegation != nil {
			out = append(out, "delegation")
		}
		a, _ := r.in.EVMAccount()
		switch {
		case o.IsSolana():
			out = append(out, "solana")
		case a.Type == api.AccountRoleBased:
			out = append(out, "approve")
		default:
			out = append(out, "userOp")
		}
	}
	return out
}

// expected reads from the recorded answers what is signed before and after the quote.
func (r *recorded) expected(t *testing.T) (before, after []string) {
	t.Helper()
	var p struct {
		ChainOperation api.ChainOperation `json:"chainOperation"`
	}
	var q struct {
		OriginChainsOperations []api.ChainOperation `json:"originChainsOperations"`
	}
	if err := r.quote.Decode(&q); err != nil {
		t.Fatal(err)
	}
	if r.prepared == nil {
		return nil, verbsOf(r, q.OriginChainsOperations...)
	}
	if err := r.prepared.Decode(&p); err != nil {
		t.Fatal(err)
	}
	before = verbsOf(r, p.ChainOperation)
	first := q.OriginChainsOperations[0]
	if len(q.OriginChainsOperations) == 1 && first.UserOp != nil &&
		first.UserOp.Nonce == p.ChainOperation.UserOp.Nonce {
		return before, nil
	}
	return before, verbsOf(r, q.OriginChainsOperations...)
}

func TestEveryKindOfOperationIsSignedWithItsOwnVerbsAndSentWhereItBelongs(t *testing.T) {
	used := map[string]bool{}
	for _, name := range recordedNames(t) {
		t.Run(name, func(t *testing.T) {
			b := newRecorded(t, name)
			r := b.f.recorded
			before, after := r.expected(t)
			o := b.toReview2()
			var events []string
			if s := o.Snapshot(); s.State == flow.StateReview2 {
				if !slices.Equal(b.pen.verbs, before) || s.SignaturesDone != len(before) ||
					s.SignaturesTotal != len(before)+len(after) {
					t.Fatalf("before the second review: %v, %d of %d", b.pen.verbs, s.SignaturesDone, s.SignaturesTotal)
				}
				index := len(before)
				s, err := o.Execute(t.Context(), consent2(o), func(e flow.Event) {
					events = append(events, e.Kind)
					if e.Kind == flow.EventSigned {
						index++
						if e.Index != index || e.Chain == "" {
							t.Errorf("%+v", e)
						}
					}
				})
				if err != nil {
					t.Fatal(s.Problem, err)
				}
			}
			want := append(slices.Clone(before), after...)
			s := o.Snapshot()
			if !slices.Equal(b.pen.verbs, want) || s.State != flow.StateAccepted || s.SignaturesDone != len(want) ||
				s.SignaturesTotal != len(want) {
				t.Fatalf("%v signed with %v, want %v; %d of %d", s.State, b.pen.verbs, want, s.SignaturesDone,
					s.SignaturesTotal)
			}
			if len(after) > 0 && strings.Count(strings.Join(events, " "), flow.EventSigned) != len(after) {
				t.Errorf("events %v", events)
			}
			checkEndpoints(t, b)
			checkRecord(t, b, len(before) > 0, len(after) > 0)
			for _, v := range want {
				used[v] = true
			}
			if s, err := o.Watch(t.Context(), nil); err != nil || s.State != flow.StateDone {
				t.Fatal(s.State, err)
			}
			if live := b.j.Outstanding(b.now()); len(live) != 0 || len(b.f.executed) != 1 {
				t.Fatalf("%d executes, open: %+v", len(b.f.executed), live)
			}
		})
	}
	if len(used) != 4 {
		t.Errorf("verbs used: %v", used)
	}
}

func checkEndpoints(t *testing.T, b *bench) {
	t.Helper()
	want := []string{"exchange", "execute"}
	if b.f.recorded.in.Kind() == intent.KindCall {
		want = []string{"prepare", "quote", "execute"}
	}
	for i := range want {
		if b.f.recorded.in.V1() {
			want[i] += " v1"
		}
	}
	if !slices.Equal(b.f.calls, want) {
		t.Errorf("asked %v, want %v", b.f.calls, want)
	}
}

// checkRecord compares what the journal keeps with what was signed (TH-V6).
func checkRecord(t *testing.T, b *bench, prepared, paid bool) {
	t.Helper()
	rec := b.record()
	agreed := 0
	if prepared {
		agreed++
	}
	if paid || b.f.recorded.in.Kind() != intent.KindCall || prepared {
		agreed++ // the quote of a call that needs no payment is confirmed with the first review
	}
	if len(rec.Agreed) != agreed {
		t.Fatalf("%d agreements: %+v", len(rec.Agreed), rec.Agreed)
	}
	for _, a := range rec.Agreed {
		if a.Confirmed == "" || len(a.Summary) < 2 {
			t.Errorf("%+v", a)
		}
	}
	for _, s := range rec.Signatures {
		solana := s.Kind == api.AccountSolana
		if s.Digest == "" || s.Signature == "" || len(s.Spend) == 0 || s.Kind == "" || solana != (s.BlockHash != "") ||
			solana != (s.ChainID == 0) || s.ValidUntil == 0 {
			t.Errorf("%+v", s)
		}
		if s.Delegation != nil && (s.Delegation.Digest == "" || len(s.Delegation.Signature) != 132 ||
			s.Delegation.ChainID != s.ChainID) {
			t.Errorf("%+v", s.Delegation)
		}
	}
	if len(b.j.Spent(b.now())) == 0 {
		t.Error("nothing counts as spent")
	}
}

func TestJ4_EverySignatureThatMayHaveLeftIsListedWithWhatEndsIt(t *testing.T) {
	for _, name := range recordedNames(t) {
		t.Run(name, func(t *testing.T) {
			b := newRecorded(t, name)
			b.f.execute = func([]byte) (api.ExecuteResponse, error) { return api.ExecuteResponse{}, errUnclear }
			before, after := b.f.recorded.expected(t)
			o := b.toUnknown()
			live := b.j.Outstanding(b.now())
			signed, shared := append(before, after...), 0
			if name == "v3-eip7702-paid-on-base" {
				shared = 1 // one authorization for both operations of the chain (protocol §2.12)
			}
			if len(live) != len(signed)-shared {
				t.Fatalf("%v signed, listed: %+v", signed, live)
			}
			for _, l := range live {
				if l.Void == "" || l.Sender == "" || l.Chain == "" || l.Made.IsZero() {
					t.Errorf("%+v", l)
				}
			}
			b.f.status = func(int, string) (api.ExecutionStatus, error) { return api.ExecutionStatus{}, nil }
			if s, err := o.Watch(t.Context(), nil); err != nil || s.State != flow.StateNotExecuted {
				t.Fatal(s.State, err)
			}
			b.clock.Add(3600)
			endless := 0
			for _, l := range b.j.Outstanding(b.now()) {
				if l.Role != journal.RoleDelegation && l.ValidUntil != verify.NoEnd ||
					!strings.HasPrefix(l.Void, "It never expires") {
					t.Errorf("still open after an hour: %+v", l)
				}
				endless++
			}
			if want := countOf(signed, "delegation") + countOf(signed, "approve") - shared; endless != want {
				t.Errorf("%d signatures without an end are open, %d were made", endless, want)
			}
		})
	}
}

func countOf(list []string, what string) int {
	n := 0
	for _, s := range list {
		if s == what {
			n++
		}
	}
	return n
}

var errUnclear = api.NewError(api.ErrInternal, "who knows")

// toUnknown brings an operation to an execute whose outcome is unknown.
func (b *bench) toUnknown() *flow.Operation {
	b.t.Helper()
	o := b.start()
	var err error
	if b.f.recorded.in.Kind() == intent.KindCall {
		if _, err = o.Prepare(b.t.Context()); err != nil {
			b.t.Fatal(err)
		}
		_, err = o.SignPrepared(b.t.Context(), consent1(o))
	} else {
		_, err = o.Quote(b.t.Context())
	}
	if o.Snapshot().State == flow.StateReview2 && err == nil {
		_, err = o.Execute(b.t.Context(), consent2(o), nil)
	}
	if err == nil || o.Snapshot().State != flow.StateUnknown {
		b.t.Fatal(o.Snapshot().State, err)
	}
	return o
}

func TestJ3_EveryKindResumesAfterARestart(t *testing.T) {
	for _, name := range recordedNames(t) {
		t.Run(name, func(t *testing.T) {
			b := newRecorded(t, name)
			before, after := b.f.recorded.expected(t)
			b.toReviewOnly()
			b.reopen()
			list := b.flow.Unfinished()
			if len(before) == 0 { // a swap of which nothing is signed had no effect
				if len(list) != 0 {
					t.Fatalf("%+v", list)
				}
			} else if len(list) != 1 || list[0].Snapshot().State != flow.StateQuoting ||
				list[0].Snapshot().Err != nil || list[0].Snapshot().SignaturesDone != len(before) {
				t.Fatalf("%+v", list[0].Snapshot())
			}
			// The recorded quote may be met once only, so what goes on is the first program's operation, sent with its
			// answer lost.
			b = newRecorded(t, name)
			b.f.execute = func([]byte) (api.ExecuteResponse, error) { return api.ExecuteResponse{}, errUnclear }
			o := b.toUnknown()
			sent := len(b.f.calls)
			b.reopen()
			list, err := b.flow.Reconcile(t.Context())
			if err != nil || len(list) != 1 || list[0].ID() != o.ID() || len(b.f.calls) != sent {
				t.Fatalf("%v %v, calls %v", list, err, b.f.calls[sent:])
			}
			s := list[0].Snapshot()
			if s.State != flow.StateDone || s.SignaturesDone != len(before)+len(after) ||
				len(b.j.Outstanding(b.now())) != 0 {
				t.Fatalf("%v, %d signatures, %+v", s.State, s.SignaturesDone, b.j.Outstanding(b.now()))
			}
		})
	}
}

// toReviewOnly stops at the second review even when a call would go on alone, by refusing its quote.
func (b *bench) toReviewOnly() *flow.Operation {
	b.t.Helper()
	o := b.start()
	if b.f.recorded.in.Kind() != intent.KindCall {
		if _, err := o.Quote(b.t.Context()); err != nil {
			b.t.Fatal(err)
		}
		return o
	}
	if _, err := o.Prepare(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	quote := b.f.recorded.quote
	b.f.recorded.quote = b.f.recorded.prepared // no quote at all
	if _, err := o.SignPrepared(b.t.Context(), consent1(o)); !errors.Is(err, flow.ErrRefused) {
		b.t.Fatal(err)
	}
	b.f.recorded.quote = quote
	return o
}

func TestASwapHasOneReviewAndCanBeQuotedAgain(t *testing.T) {
	b := newRecorded(t, "v3-swap-evm")
	o := b.start()
	for name, step := range map[string]func() (flow.Snapshot, error){
		"prepare": func() (flow.Snapshot, error) { return o.Prepare(t.Context()) },
		"sign":    func() (flow.Snapshot, error) { return o.SignPrepared(t.Context(), consent.Consent{}) },
		"requote": func() (flow.Snapshot, error) { return o.Requote(t.Context()) },
		"execute": func() (flow.Snapshot, error) { return o.Execute(t.Context(), consent.Consent{}, nil) },
	} {
		if _, err := step(); !errors.Is(err, flow.ErrState) {
			t.Errorf("%s in draft: %v", name, err)
		}
	}
	b.f.quote = func(*api.Quote) error { return api.NewError(api.ErrNoRoute, "none") }
	if s, err := o.Quote(t.Context()); err == nil || s.State != flow.StateQuoting || s.Problem == "" {
		t.Fatal(s.State, err)
	}
	b.f.quote = nil
	if s, err := o.Requote(t.Context()); err != nil || s.State != flow.StateReview2 || s.Review1 != nil ||
		s.Review2.Kind != intent.KindSwap {
		t.Fatal(s.State, err)
	}
	old := consent2(o)
	// The same quote once more is an id that was met before (TH-Q1).
	if s, err := o.Requote(t.Context()); !errors.Is(err, flow.ErrRefused) || !s.Report2.Has("Q1", verify.Refuse) ||
		s.Previous == nil {
		t.Fatal(s.State, err)
	}
	if _, err := o.Execute(t.Context(), old, nil); !errors.Is(err, flow.ErrState) || b.pen.count.Load() != 0 {
		t.Fatal(err)
	}
	if err := o.Abandon(); err != nil || o.Snapshot().State != flow.StateAbandoned ||
		len(b.j.Outstanding(b.now())) != 0 {
		t.Fatal(err)
	}
	call := newBench(t).start()
	if _, err := call.Quote(t.Context()); !errors.Is(err, flow.ErrState) {
		t.Errorf("a call was quoted without being prepared: %v", err)
	}
}

func TestARefusedQuoteOfASwapIsNeverSigned(t *testing.T) {
	b := newRecorded(t, "v3-swap-from-solana")
	quote, err := b.f.recorded.quote.Splice(api.Edit{Pointer: "/destinationToken/recipientAccount",
		Value: []byte(`"eip155:10:` + stranger + `"`)})
	if err != nil {
		t.Fatal(err)
	}
	b.f.recorded.quote = quote
	o := b.start()
	s, err := o.Quote(t.Context())
	if !errors.Is(err, flow.ErrRefused) || s.State != flow.StateQuoting || s.Review2 != nil ||
		!s.Report2.Has("Q9", verify.Refuse) || b.pen.count.Load() != 0 {
		t.Fatalf("%v %v %+v", s.State, err, s.Report2.Reasons)
	}
}

func TestASwapThatWasRefusedIsQuotedAgainOrAbandoned(t *testing.T) {
	b := newRecorded(t, "v3-swap-role-based")
	b.f.execute = func([]byte) (api.ExecuteResponse, error) {
		return api.ExecuteResponse{}, api.NewError(api.ErrNoRoute, "price moved")
	}
	o := b.toReviewOnly()
	if s, err := o.Execute(t.Context(), consent2(o), nil); err == nil || s.State != flow.StateReview2 {
		t.Fatal(s.State, err)
	}
	b.reopen()
	list := b.flow.Unfinished()
	if len(list) != 1 {
		t.Fatalf("%d unfinished", len(list))
	}
	o = list[0]
	if s := o.Snapshot(); s.State != flow.StateQuoting || s.Err != nil || s.SignaturesDone != 1 ||
		!strings.HasPrefix(s.Problem, "The swap was sent, and the service says that it did not take it") {
		t.Fatalf("%+v", s)
	}
	if s, err := o.Requote(t.Context()); !errors.Is(err, flow.ErrRefused) ||
		b.f.calls[len(b.f.calls)-1] != "exchange" || !s.Report2.Has("Q1", verify.Refuse) {
		t.Fatal(s.State, err) // asked again; the recording has one quote only
	}
	if err := o.Abandon(); err != nil || len(b.flow.Unfinished()) != 0 || len(b.j.Outstanding(b.now())) != 1 {
		t.Fatal(err)
	}
	if b.j.Outstanding(b.now())[0].Kind != api.AccountRoleBased ||
		!strings.Contains(b.j.Outstanding(b.now())[0].Void, "never expires") {
		t.Errorf("%+v", b.j.Outstanding(b.now())[0])
	}
}

func TestTH_S13_OneSolanaMessageOfAnAccountIsOpenAtATime(t *testing.T) {
	b := newRecorded(t, "v3-swap-from-solana")
	b.f.execute = func([]byte) (api.ExecuteResponse, error) {
		return api.ExecuteResponse{}, api.NewError(api.ErrNoRoute, "price moved")
	}
	first := b.toReviewOnly()
	if _, err := first.Execute(t.Context(), consent2(first), nil); err == nil {
		t.Fatal("accepted")
	}
	// The same message is no second one; it may be sent again.
	if s, err := first.Execute(t.Context(), consent2(first), nil); err == nil || s.State != flow.StateReview2 ||
		len(b.f.executed) != 2 {
		t.Fatal(s.State, err)
	}
	other := newRecorded(t, "v3-swap-from-solana").f.recorded
	live := b.j.Outstanding(b.now())
	if len(live) != 1 || !live[0].Sent {
		t.Fatalf("%+v", live)
	}
	x := live[0].Signature
	x.OpHash, x.QuoteID = "0x"+strings.Repeat("7", 64), "0x"+strings.Repeat("8", 64)
	if !x.Conflicts(live[0].Signature) || live[0].Conflicts(live[0].Signature) {
		t.Error("two messages of one account stand beside each other")
	}
	x.Sender = other.network.Pins.SolanaVault
	if x.Conflicts(live[0].Signature) {
		t.Error("another account's message is in the way")
	}
}

func TestGatedReviewsNeedTheSentenceBesideTheFingerprint(t *testing.T) {
	b := newRecorded(t, "v3-role-based-funded")
	b.policy.Network.Formulas = nil // what the account signs cannot be computed here
	b.reopen()
	o := b.start()
	if s, err := o.Prepare(t.Context()); !errors.Is(err, flow.ErrRefused) || !s.Report1.Has("T7", verify.Gate) {
		t.Fatalf("%v %+v", err, s.Report1.Reasons)
	}
	b.policy.Limits.Gates = []string{verify.GateBlindSigning}
	b.reopen()
	o = b.start()
	s, err := o.Prepare(t.Context())
	if err != nil || s.Review1.Phrase == "" || s.Report1.Phrase() == "" {
		t.Fatalf("%v %+v", err, s.Report1.Reasons)
	}
	for _, phrase := range []string{"", strings.ToUpper(s.Review1.Phrase)} { // not the sentence of the gate
		wrong, v := s, *s.Review1
		v.Phrase, wrong.Review1 = phrase, &v
		if _, err := o.SignPrepared(t.Context(), consentTo(wrong, false)); !errors.Is(err, flow.ErrConfirmation) ||
			b.pen.count.Load() != 0 {
			t.Fatalf("%q: %v", phrase, err)
		}
	}
	if s, err = o.SignPrepared(t.Context(), consent1(o)); err != nil || s.Review2.Phrase == "" {
		t.Fatalf("%v %+v", err, s.Report2.Reasons)
	}
	wrong, v := s, *s.Review2
	v.Phrase, wrong.Review2 = "", &v
	if _, err := o.Execute(t.Context(), consentTo(wrong, true), nil); !errors.Is(err, flow.ErrConfirmation) ||
		b.pen.count.Load() != 1 {
		t.Fatal(err)
	}
	if s, err = o.Execute(t.Context(), consent2(o), nil); err != nil || s.State != flow.StateAccepted {
		t.Fatal(s.State, err)
	}
	if a := b.record().Agreed; len(a) != 2 || !strings.HasSuffix(a[0].Confirmed, "\n"+s.Review2.Phrase) {
		t.Errorf("%+v", a)
	}
}
