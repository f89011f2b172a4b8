package flow_test

import (
	"errors"
	"strings"
	"testing"

	"coffer/api"
	"coffer/wallet/flow"
)

func quoteID(digit string) string { return "0x" + strings.Repeat(digit, 64) }

// A renewal puts the new quote in the place of the old one, whose confirmation is void; the journal has it when it is
// confirmed, and what is executed is the new one, once.
func TestD5_ARenewedQuoteIsJournalledOnlyWhenItIsConfirmed(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	first, void, records := o.Snapshot(), consent2(o), b.record().Records
	for _, digit := range []string{"2", "3"} {
		b.w.ID = quoteID(digit)
		s, err := o.Renew(t.Context())
		if err != nil || s.State != flow.StateReview2 || s.QuoteID != quoteID(digit) || s.Previous == nil ||
			s.Quoted.Before(first.Quoted) {
			t.Fatalf("%v %+v", err, s)
		}
		if rec := b.record(); rec.Records != records || rec.QuoteID != first.QuoteID {
			t.Fatalf("journalled: %+v", rec)
		}
	}
	if _, err := o.Execute(t.Context(), void, nil); !errors.Is(err, flow.ErrConfirmation) || b.pen.count.Load() != 1 {
		t.Fatalf("%v, %d signatures", err, b.pen.count.Load())
	}
	b.w.ID = quoteID("3")
	if _, err := o.Renew(t.Context()); !errors.Is(err, flow.ErrRefused) { // an id that was met, in no record
		t.Fatal(err)
	}
	if s, err := o.Execute(t.Context(), consent2(o), nil); err != nil || s.State != flow.StateAccepted {
		t.Fatal(err)
	}
	if rec := b.record(); rec.QuoteID != quoteID("3") || len(b.f.executed) != 1 || rec.Records < records+4 {
		t.Errorf("%+v, %d executed", rec, len(b.f.executed))
	}
	if !b.j.SeenQuote(quoteID("3")) || b.j.SeenQuote(quoteID("2")) {
		t.Error("the journal has another quote")
	}
}

// When the renewal cannot be had, or is refused, the review stays as it is and can be confirmed.
func TestD5_ARenewalThatFailsLeavesTheReview(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	before, given := o.Snapshot(), consent2(o)
	for name, change := range map[string]func(q *api.Quote) error{
		"an error":  func(*api.Quote) error { return api.NewError(api.ErrNoRoute, "none") },
		"a refusal": func(q *api.Quote) error { q.OriginToken.Amount = "1"; return nil },
	} {
		b.w.ID, b.f.quote = quoteID("4"), change
		s, err := o.Renew(t.Context())
		if err == nil || s.State != flow.StateReview2 || s.QuoteID != before.QuoteID || s.Problem != "" ||
			s.Review2.Fingerprint != before.Review2.Fingerprint || s.Report2.Refused() {
			t.Errorf("%s: %v %+v", name, err, s)
		}
	}
	if s, err := o.Execute(t.Context(), given, nil); err != nil || s.State != flow.StateAccepted {
		t.Fatal(err)
	}
}

// Nothing is renewed after a confirmation, whatever became of it, nor behind the end of the window, nor where nothing
// is under review.
func TestD5_NothingIsRenewedAfterAConfirmation(t *testing.T) {
	b := newBench(t)
	o := b.review1()
	if _, err := o.Renew(t.Context()); !errors.Is(err, flow.ErrState) {
		t.Fatal(err)
	}
	if _, err := o.SignPrepared(t.Context(), consent1(o)); err != nil {
		t.Fatal(err)
	}
	b.f.execute = func([]byte) (api.ExecuteResponse, error) {
		return api.ExecuteResponse{}, api.NewError(api.ErrInsufficientBalance, "needed 5, available 4")
	}
	if s, err := o.Execute(t.Context(), consent2(o), nil); err == nil || s.State != flow.StateReview2 {
		t.Fatalf("%v %v", s.State, err)
	}
	asked := len(b.f.calls)
	if _, err := o.Renew(t.Context()); !errors.Is(err, flow.ErrState) || len(b.f.calls) != asked {
		t.Fatal(err)
	}
	b.w.ID = quoteID("5")
	if _, err := o.Requote(t.Context()); err != nil { // a person asked
		t.Fatal(err)
	}
	b.w.ID = quoteID("6")
	if _, err := o.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.clock.Store(601)
	if _, err := o.Renew(t.Context()); !errors.Is(err, flow.ErrExpired) {
		t.Fatal(err)
	}
}

// A confirmation while the answer is on its way wins: the old quote runs, once, and the new one is dropped.
func TestD5_AConfirmationWinsOverARenewalOnItsWay(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	before, given := o.Snapshot().QuoteID, consent2(o)
	b.w.ID = quoteID("7")
	ran := false
	b.f.quote = func(*api.Quote) error {
		if !ran {
			ran = true
			b.f.mu.Unlock()
			defer b.f.mu.Lock()
			if s, err := o.Execute(t.Context(), given, nil); err != nil || s.State != flow.StateAccepted {
				t.Errorf("%v %v", s.State, err)
			}
		}
		return nil
	}
	if s, err := o.Renew(t.Context()); !errors.Is(err, flow.ErrState) || s.QuoteID != before {
		t.Errorf("%v %+v", err, s)
	}
	if len(b.f.executed) != 1 || b.record().QuoteID != before {
		t.Errorf("%d executed, %+v", len(b.f.executed), b.record())
	}
}
