package flow

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Operation is one intent on its way.
type Operation struct {
	f  *Flow
	in intent.Intent

	step sync.Mutex // held while a step runs

	mu     sync.Mutex // guards what follows
	snap   Snapshot
	asking chan struct{} // closed when a question of Reconcile is over; nil when none is asked
	// records is how many records of the operation this process knows, see journal.Operation.
	records int

	stuck    bool      // its record does not hold: it can only be abandoned
	refused  bool      // a payment of it was sent and, as the service says, not taken
	quotable time.Time // until when the signed call can be quoted, by the service's clock; zero when there is none

	// The fields below are used by the running step only.
	prepared *verify.PreparedOp
	signed   *verify.SignedPrepared
	quote    *verify.VerifiedQuote
	window   time.Time // until when the prepared operation can be quoted, by the service's clock
	arrived  time.Time // when the answer under review came; its monotonic part survives a clock that is set back
	expires  int64
	refund   int64 // Unix seconds, from which on anyone may trigger the refund of the payments; 0: not known
	accepted bool
	looked   time.Time // when own nodes were asked last because the service did not answer
	others   int       // signatures of other operations when the answer under review was judged
	// confirmed: the quote was confirmed, so that nothing renews it; unrecorded is the record of a renewed one until
	// then, and met are the ids of all of those.
	confirmed  bool
	unrecorded *journal.Entry
	met        []string
}

// ID is the operation's id in the journal.
func (o *Operation) ID() string { return o.Snapshot().ID }

// Snapshot returns the present state. It may be called at any time.
func (o *Operation) Snapshot() Snapshot {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.snap
	s.Intent = o.in.Draft()
	s.Report1, s.Report2 = copyReport(s.Report1), copyReport(s.Report2)
	if s.State == StateQuoting || s.State == StateReview2 {
		s.Stuck = o.stuck
		s.Over = !s.Stuck && o.in.Kind() == intent.KindCall && (o.quotable.IsZero() || o.f.latest().After(o.quotable))
	}
	if s.Over && s.Problem == o.unsent() {
		s.Problem = strings.Replace(s.Problem, ". Ask for a new quote",
			", and there is no time left for a quote. Prepare it again", 1)
	}
	return s
}

// unsent says what can be done about an operation that was signed and not sent.
func (o *Operation) unsent() string {
	if o.refused {
		return o.noun() + " was sent, and the service says that it did not take it. Ask for a new quote, or abandon it."
	}
	return o.noun() + " was signed but not sent. Ask for a new quote, or abandon it."
}

func copyReport(r verify.Report) verify.Report {
	return verify.Report{Passed: slices.Clone(r.Passed), Reasons: slices.Clone(r.Reasons)}
}

func (o *Operation) update(fn func(s *Snapshot)) Snapshot {
	o.mu.Lock()
	fn(&o.snap)
	o.snap.Skew = o.f.d.Client.Skew()
	o.mu.Unlock()
	return o.Snapshot()
}

// fail puts err on record, and the state if one is given, and returns both.
func (o *Operation) fail(state State, err error) (Snapshot, error) {
	return o.update(func(s *Snapshot) {
		if state != "" {
			s.State = state
		}
		s.Err, s.Problem = err, problem(err)
	}), err
}

// begin takes the step lock if the state allows the step; the caller must unlock when the error is nil.
func (o *Operation) begin(allowed ...State) error {
	if !o.step.TryLock() {
		return ErrBusy
	}
	if !slices.Contains(allowed, o.Snapshot().State) {
		o.step.Unlock()
		return ErrState
	}
	return nil
}

// Prepare asks the service to build the operation and judges the answer. It ends in StateReview1, or in StateRefused
// with ErrRefused and the reasons in Report1. It may be repeated until the prepared operation is signed, and after the
// service asked for it.
func (o *Operation) Prepare(ctx context.Context) (Snapshot, error) {
	if err := o.begin(StateDraft, StateRefused, StateReview1, StateQuoting, StateReview2); err != nil {
		return o.Snapshot(), err
	}
	defer o.step.Unlock()
	switch {
	case o.in.IsZero():
		return o.fail("", errResume)
	case o.in.Kind() != intent.KindCall:
		return o.fail("", ErrState)
	}
	before := o.Snapshot().State
	o.update(func(s *Snapshot) { s.State, s.Err, s.Problem = StatePreparing, nil, "" })
	ask := o.f.d.Client.PrepareCallQuote
	if o.in.V1() {
		ask = o.f.d.Client.PrepareCallQuoteV1
	}
	look := o.look(ctx)
	answer, err := ask(ctx, o.in.PrepareBody())
	if err != nil {
		return o.fail(before, err)
	}
	ran := o.simulate(ctx, func() []verify.Simulation {
		p, _ := verify.Prepared(o.in, o.f.d.Policy, o.history(false), o.f.d.Clock(), answer.Document)
		if p == nil {
			return nil
		}
		return p.Simulations(o.f.d.Policy)
	})
	code, sights, simulated := o.code(ctx), look(), ran()
	release, err := o.hold(ctx)
	if err != nil {
		return o.unheld(before, err)
	}
	defer release()
	p, report := verify.Prepared(o.in, o.f.d.Policy, o.history(false), o.f.d.Clock(), answer.Document)
	report = o.f.clockRemark(report, answer.Skew)
	if p != nil {
		report = o.balanceRemark(p.WithCode(report, code, verify.Seen(sights, o.in.ChainID())), p.View().Sources)
		report = p.WithSights(o.f.d.Policy, o.f.d.Clock(), report, sights, o.statedNow(p.View().Sources),
			o.f.pledges())
		report = p.WithSimulations(o.f.d.Policy, o.f.d.Clock(), report, simulated)
	}
	o.update(func(s *Snapshot) {
		s.Report1, s.Review1, s.Review2, s.Previous, s.Report2 = report, nil, nil, nil, verify.Report{}
	})
	o.prepared, o.signed, o.quote = nil, nil, nil
	o.canQuote(time.Time{})
	if p == nil {
		return o.fail(StateRefused, ErrRefused)
	}
	if err := o.record(journal.Prepared, journal.Entry{Document: answer.Raw()}); err != nil {
		return o.fail(StateDraft, err) // the earlier review is gone: nothing is left to confirm
	}
	o.prepared, o.arrived, o.others = p, o.f.d.Clock(), o.countOthers()
	view := p.View()
	o.window = o.f.windowEnd(view, o.arrived)
	return o.update(func(s *Snapshot) {
		s.State, s.Review1, s.SignaturesDone, s.SignaturesTotal = StateReview1, &view, 0, p.Signing().Count()
		s.Deadline = o.local(o.window)
	}), nil
}

// canQuote notes until when the signed call can be quoted.
func (o *Operation) canQuote(until time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.quotable = until
}

// windowEnd is when the window of a prepared operation ends. A sponsor behind an open gate may not say; then the
// longest window of the policy counts.
func (f *Flow) windowEnd(v verify.PreparedView, made time.Time) time.Time {
	if v.Window.Until.IsZero() {
		return made.Add(f.d.Policy.MaxWindow)
	}
	return v.Window.Until
}

// local turns a time of the service's clock into the moment at which the local clock must stop trusting it.
func (o *Operation) local(t time.Time) time.Time { return t.Add(-max(o.f.d.Client.Skew(), 0)) }

// over reports whether less than left remains until end, by either clock or by the time that has passed since the
// answer came: that one goes on when the local clock is set back (TH-N9).
func (o *Operation) over(end time.Time, left time.Duration) bool {
	passed := o.f.d.Clock().Sub(o.arrived)
	return o.f.latest().Add(left).After(end) || (!o.arrived.IsZero() && passed+left > end.Sub(o.arrived))
}

// Abandon ends an operation that was not sent. Signatures that were made stay on the journal's list of outstanding
// ones.
func (o *Operation) Abandon() error {
	if err := o.begin(StateDraft, StateRefused, StateReview1, StateQuoting, StateReview2); err != nil {
		return err
	}
	defer o.step.Unlock()
	release, err := o.hold(context.Background())
	if err != nil {
		return err
	}
	defer release()
	if err := o.record(journal.Abandoned, journal.Entry{}); err != nil {
		return err
	}
	o.update(func(s *Snapshot) { s.State, s.Err, s.Problem = StateAbandoned, nil, "" })
	return nil
}
