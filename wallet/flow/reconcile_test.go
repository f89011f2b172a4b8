package flow_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/wallet/flow"
	"coffer/wallet/internal/golden"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// unknown brings a call to an unknown outcome on a service whose status knows nothing.
func unknown(t *testing.T) (*bench, *flow.Operation) {
	t.Helper()
	b := newBench(t)
	b.f.execute = func([]byte) (api.ExecuteResponse, error) {
		return api.ExecuteResponse{}, &client.Error{Op: "execute", Kind: client.KindTimeout, Sent: true,
			Err: context.DeadlineExceeded}
	}
	b.f.status = func(int, string) (api.ExecutionStatus, error) { return api.ExecutionStatus{}, nil }
	o := b.review2()
	if s, err := o.Execute(t.Context(), consent2(o), nil); err == nil || s.State != flow.StateUnknown {
		t.Fatal(s.State, err)
	}
	return b, o
}

func lines(ids ...string) []api.HistoryRecord {
	var out []api.HistoryRecord
	for _, id := range ids {
		out = append(out, api.HistoryRecord{QuoteID: id, Status: api.StatusCompleted})
	}
	return out
}

func TestJ3_TheHistoryIsReadBeforeAQuoteCountsAsNotExecuted(t *testing.T) {
	b, o := unknown(t)
	id := strings.ToUpper(o.Snapshot().QuoteID[2:])
	b.f.history = func(n int, q client.HistoryQuery) (api.HistoryPage, error) {
		if q.User != b.w.Account.Hex() || q.Limit < 1 || q.SortBy != "createdAt" {
			t.Errorf("asked %+v", q)
		}
		switch n {
		case 1:
			return api.HistoryPage{}, errors.New("no connection")
		case 2:
			return api.HistoryPage{Transactions: lines("0x1", "0x2"), Continuation: "more"}, nil
		}
		if q.Continuation != "more" {
			t.Errorf("asked %+v", q)
		}
		return api.HistoryPage{Transactions: lines("0x3", "0x"+id)}, nil
	}
	b.clock.Store(20)
	if s, err := o.Watch(t.Context(), nil); err != nil || s.State != flow.StateDone ||
		s.Status.Status != api.StatusCompleted {
		t.Fatal(s.State, err)
	}
	if len(b.f.asked) != 3 || b.clock.Load() < 60 {
		t.Errorf("%d pages read after %d seconds: before the expiry an empty status says nothing", len(b.f.asked),
			b.clock.Load())
	}
	if rec := b.record(); rec.Outcome != api.StatusCompleted || len(b.f.executed) != 1 ||
		len(b.j.Outstanding(b.now())) != 0 {
		t.Errorf("%+v", rec)
	}
}

// An unknown outcome is asked for at longer and longer intervals, but not past the moment from which the answer is an
// end.
func TestJ3_TheEndOfAnUnknownOutcomeIsToldAsSoonAsItIsProven(t *testing.T) {
	for later := range int64(40) {
		b, o := unknown(t)
		var at []int64
		b.f.status = func(int, string) (api.ExecutionStatus, error) {
			at = append(at, b.clock.Load())
			return api.ExecutionStatus{}, nil
		}
		expires := time.Unix(b.record().Expires, 0)
		b.clock.Add(later)
		s, err := o.Watch(t.Context(), nil)
		if err != nil || s.State != flow.StateNotExecuted {
			t.Fatal(s.State, err)
		}
		if over := b.now().Sub(expires); over <= 30*time.Second || over > 32*time.Second || len(at) > 8 {
			t.Errorf("told %v after the expiry; asked at %v", over, at)
		}
	}
}

func TestJ3_WhenTheHistoryCannotBeReadNothingIsConcluded(t *testing.T) {
	b, o := unknown(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.f.history = func(n int, _ client.HistoryQuery) (api.HistoryPage, error) {
		if n == 5 {
			cancel()
		}
		return api.HistoryPage{}, errors.New("no connection")
	}
	s, err := o.Watch(ctx, nil)
	if !errors.Is(err, context.Canceled) || s.State != flow.StateUnknown || b.record().State != journal.Executing ||
		s.Problem == "" {
		t.Fatalf("%v %v %s", s.State, err, b.record().State)
	}
}

func TestH3_AHistoryWithoutEndIsReadInPart(t *testing.T) {
	for name, c := range map[string]struct {
		page  func(n int) api.HistoryPage
		reads int
	}{
		"the same token": {func(int) api.HistoryPage {
			return api.HistoryPage{Transactions: lines("0x1"),
				Continuation: "again"}
		}, 2},
		"a long token": {func(int) api.HistoryPage { return api.HistoryPage{Continuation: strings.Repeat("x", 4097)} },
			1},
		"no end": {func(n int) api.HistoryPage { return api.HistoryPage{Continuation: fmt.Sprint(n)} }, 20},
		"older records": {func(n int) api.HistoryPage {
			r := lines("0x1")
			r[0].Timestamp = time.Unix(1_760_000_000-3599-int64(n), 0).UTC().Format("2006-01-02T15:04:05.000Z")
			return api.HistoryPage{Transactions: r, Continuation: fmt.Sprint(n)}
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b, o := unknown(t)
			b.clock.Store(600)
			b.f.history = func(n int, _ client.HistoryQuery) (api.HistoryPage, error) { return c.page(n), nil }
			s, err := o.Watch(t.Context(), nil)
			if err != nil || s.State != flow.StateNotExecuted || len(b.f.asked) != c.reads {
				t.Fatalf("%v %v, %d pages", s.State, err, len(b.f.asked))
			}
		})
	}
}

func TestJ3_EveryAccountsHistoryIsSearched(t *testing.T) {
	b := newRecorded(t, "v3-kernel-mixed")
	b.f.execute = func([]byte) (api.ExecuteResponse, error) { return api.ExecuteResponse{}, errUnclear }
	o := b.toUnknown()
	b.clock.Store(600)
	b.f.status = func(int, string) (api.ExecutionStatus, error) { return api.ExecutionStatus{}, nil }
	sol, _ := b.f.recorded.in.SolanaAccount()
	b.f.history = func(_ int, q client.HistoryQuery) (api.HistoryPage, error) {
		if q.User != sol.AccountAddress {
			return api.HistoryPage{}, nil
		}
		r := lines(o.Snapshot().QuoteID)
		r[0].Status = api.StatusRefunded
		return api.HistoryPage{Transactions: r}, nil
	}
	if s, err := o.Watch(t.Context(), nil); err != nil || s.State != flow.StateFailed ||
		b.record().Outcome != api.StatusRefunded || len(b.f.asked) != 2 {
		t.Fatal(s.State, err, len(b.f.asked))
	}
	// What was paid came back and is spent; the call itself can still run.
	if live := b.j.Outstanding(b.now()); len(live) != 1 || live[0].Role != verify.RolePrepared {
		t.Errorf("%+v", live)
	}
}

func TestJ3_ReconcileAsksOnceForEveryOperationThatMayHaveBeenSent(t *testing.T) {
	b, o := unknown(t)
	list, err := b.flow.Reconcile(t.Context())
	if err != nil || len(list) != 1 || list[0] != o || b.f.polls != 1 || o.Snapshot().State != flow.StateUnknown {
		t.Fatalf("%v %v, %d questions", list, err, b.f.polls)
	}
	b.f.status = nil
	b.reopen()
	if list, err = b.flow.Reconcile(t.Context()); err != nil || len(list) != 1 ||
		list[0].Snapshot().State != flow.StateDone || len(b.flow.Unfinished()) != 0 {
		t.Fatalf("%+v %v", list, err)
	}
	// What was not sent is listed and not asked for.
	b = newBench(t)
	b.review2()
	if list, err = b.flow.Reconcile(t.Context()); err != nil || len(list) != 1 || b.f.polls != 0 ||
		list[0].Snapshot().State != flow.StateReview2 {
		t.Fatalf("%+v %v", list, err)
	}
}

func TestJ3_ReconcileInTheBackgroundIsInNobodysWay(t *testing.T) {
	b, o := unknown(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	b.f.status = func(_ int, id string) (api.ExecutionStatus, error) {
		close(asked)
		<-answer
		return api.ExecutionStatus{QuoteID: id, Status: api.StatusCompleted}, nil
	}
	ended := make(chan error)
	go func() { _, err := b.flow.Reconcile(t.Context()); ended <- err }()
	<-asked
	// a second one leaves what the first asks alone
	if _, err := b.flow.Reconcile(t.Context()); err != nil || b.f.polls != 1 {
		t.Fatal(err, b.f.polls)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.Watch(gone, nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	type end struct {
		s   flow.Snapshot
		err error
	}
	watched, told := make(chan end), 0
	go func() {
		s, err := o.Watch(t.Context(), func(flow.Snapshot) { told++ })
		watched <- end{s, err}
	}()
	close(answer)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	// Whether the watch began before or after the question was over, it sees the end; only one that came too late is
	// told so.
	if w := <-watched; w.s.State != flow.StateDone || (w.err != nil && !errors.Is(w.err, flow.ErrState)) ||
		(w.err == nil) != (told == 1) || b.f.polls != 1 {
		t.Fatalf("%v %v, told %d times, %d questions", w.s.State, w.err, told, b.f.polls)
	}
	b.f.status = func(int, string) (api.ExecutionStatus, error) {
		t.Error("asked for nothing")
		return api.ExecutionStatus{}, nil
	}
	if list, err := b.flow.Reconcile(t.Context()); err != nil || len(list) != 0 {
		t.Fatal(list, err)
	}
}

func TestJ3_ReconcileStopsWithItsContext(t *testing.T) {
	b, o := unknown(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.flow.Reconcile(gone); !errors.Is(err, context.Canceled) || b.f.polls != 0 ||
		o.Snapshot().State != flow.StateUnknown {
		t.Fatal(err, b.f.polls)
	}
}

func TestJ3_ReconcileSaysWhenTheJournalFails(t *testing.T) {
	b, _ := unknown(t)
	b.f.status = nil
	b.j.Close()
	if _, err := b.flow.Reconcile(t.Context()); !errors.Is(err, journal.ErrClosed) {
		t.Fatal(err)
	}
}

func TestJ5_AJournalOfAnEarlierFormatIsTakenOver(t *testing.T) {
	b := newBench(t)
	raw, err := os.ReadFile("../journal/testdata/kernel-calls.network.json")
	if err != nil {
		t.Fatal(err)
	}
	n, err := network.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	n.Chains = b.w.Network.Chains // the recorded network named one only; the call is paid from others
	b.w.Network, b.w.Draft.Network, b.policy = n, n.ID, verify.DefaultPolicy(n, b.w.Catalog)
	b.useKeys(crypto.FromECDSA(golden.KeyOf(b.w.Key)), nil)
	b.useJournal("../journal/testdata/kernel-calls.journal")
	b.clock.Store(15)
	list := b.flow.Unfinished()
	if len(list) != 2 {
		t.Fatalf("%d unfinished operations", len(list))
	}
	for i, want := range []flow.State{flow.StateQuoting, flow.StateUnknown} {
		if s := list[i].Snapshot(); s.State != want || s.Err != nil || s.Problem == "" {
			t.Errorf("%+v", s)
		}
	}
	b.w.ID, b.w.Now, b.w.Sequence = "0x"+strings.Repeat("7", 64), b.now(), 2
	b.f.build = func() api.Quote { return b.payment(6, 2) }
	if s, err := list[0].Requote(t.Context()); err != nil || s.State != flow.StateReview2 {
		t.Fatalf("%v %v %+v", s.State, err, s.Report2.Reasons)
	}
	if s, err := list[1].Watch(t.Context(), nil); err != nil || s.State != flow.StateDone {
		t.Fatal(s.State, err)
	}
}
