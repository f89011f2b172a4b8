package flow

import (
	"context"
	"errors"
	"slices"
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

	mu   sync.Mutex // guards what follows
	snap Snapshot

	// The fields below are used by the running step only.
	prepared *verify.PreparedOp
	signed   *verify.SignedPrepared
	quote    *verify.VerifiedQuote
	arrived  time.Time // when the answer under review came; its monotonic part survives a clock that is set back
	expires  int64
	accepted bool
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
	return s
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

// Prepare asks the service to build the operation and judges the answer. It ends in StateReview1, or in StateRefused with ErrRefused and the reasons in
// Report1. It may be repeated until the prepared operation is signed, and after the service asked for it.
func (o *Operation) Prepare(ctx context.Context) (Snapshot, error) {
	if err := o.begin(StateDraft, StateRefused, StateReview1, StateQuoting, StateReview2); err != nil {
		return o.Snapshot(), err
	}
	defer o.step.Unlock()
	if o.in.IsZero() {
		return o.fail("", errResume)
	}
	before := o.Snapshot().State
	o.update(func(s *Snapshot) { s.State, s.Err, s.Problem = StatePreparing, nil, "" })
	answer, err := o.f.d.Client.PrepareCallQuote(ctx, o.in.PrepareBody())
	if err != nil {
		return o.fail(before, err)
	}
	p, report := verify.Prepared(o.in, o.f.d.Policy, o.f.history(), o.f.d.Clock(), answer.Document)
	report = o.f.clockRemark(report, answer.Skew)
	o.update(func(s *Snapshot) {
		s.Report1, s.Review1, s.Review2, s.Previous, s.Report2 = report, nil, nil, nil, verify.Report{}
	})
	o.prepared, o.signed, o.quote = nil, nil, nil
	if p == nil {
		return o.fail(StateRefused, ErrRefused)
	}
	if err := o.f.d.Journal.Append(o.ID(), journal.Prepared, journal.Entry{Document: answer.Raw()}); err != nil {
		return o.fail(StateDraft, err) // the earlier review is gone: nothing is left to confirm
	}
	o.prepared, o.arrived = p, o.f.d.Clock()
	view := p.View()
	return o.update(func(s *Snapshot) {
		s.State, s.Review1, s.SignaturesDone, s.SignaturesTotal = StateReview1, &view, 0, 1
		s.Deadline = o.local(view.Window.Until)
	}), nil
}

// local turns a time of the service's clock into the moment at which the local clock must stop trusting it.
func (o *Operation) local(t time.Time) time.Time { return t.Add(-max(o.f.d.Client.Skew(), 0)) }

// over reports whether less than left remains until end, by either clock or by the time that has passed since the answer came: that one goes on when the
// local clock is set back (TH-N9).
func (o *Operation) over(end time.Time, left time.Duration) bool {
	passed := o.f.d.Clock().Sub(o.arrived)
	return o.f.latest().Add(left).After(end) || (!o.arrived.IsZero() && passed+left > end.Sub(o.arrived))
}

// SignPrepared signs the prepared operation that was confirmed by its fingerprint and asks for a quote. It ends in StateReview2; a same-chain call whose
// quote brings back exactly the signed operation is executed right away (StateAccepted, or StateUnknown). If the quote fails, the state is StateQuoting and
// Requote tries again with the same signature.
func (o *Operation) SignPrepared(ctx context.Context, confirmed string) (Snapshot, error) {
	if err := o.begin(StateReview1); err != nil {
		return o.Snapshot(), err
	}
	defer o.step.Unlock()
	p := o.prepared
	if p == nil || confirmed == "" || confirmed != p.Fingerprint() {
		return o.fail("", ErrConfirmation)
	}
	if o.over(p.View().Window.Until, minWindowLeft) {
		return o.fail("", ErrExpired)
	}
	if err := errors.Join(o.f.d.Journal.ReadOnly(), o.f.alone(p.UserOp())); err != nil {
		return o.fail("", err)
	}
	o.update(func(s *Snapshot) { s.State, s.Err, s.Problem = StateSigning, nil, "" })
	sig, err := o.f.d.Signer.SignUserOp(ctx, p.UserOp())
	if err != nil {
		return o.fail(StateReview1, err)
	}
	signed, err := p.WithSignature(sig)
	if err != nil {
		return o.fail(StateReview1, err)
	}
	entry := journal.Entry{Signatures: []journal.Signature{signatureRecord(p.UserOp(), sig, "")}, Recipients: recipients(p.View())}
	if err := o.f.d.Journal.Append(o.ID(), journal.Signed, entry); err != nil {
		return o.fail(StateReview1, err)
	}
	o.signed = signed
	o.update(func(s *Snapshot) { s.State, s.SignaturesDone = StateQuoting, 1 })
	snap, err := o.askQuote(ctx)
	if err != nil || !p.View().WholeConsent || !o.quote.SameChainOnly() {
		return snap, err
	}
	return o.execute(ctx, func(Event) {})
}

// minWindowLeft is what must remain of the prepared operation's window for signing it to make sense.
const minWindowLeft = 30 * time.Second

// Requote asks for a new quote for the same signed operation; Previous then holds the view of the old one. A confirmation of the old quote is void.
func (o *Operation) Requote(ctx context.Context) (Snapshot, error) {
	if err := o.begin(StateQuoting, StateReview2); err != nil {
		return o.Snapshot(), err
	}
	defer o.step.Unlock()
	if o.signed == nil {
		return o.fail("", ErrState)
	}
	if o.f.latest().After(o.signed.Prepared().View().Window.Until) {
		return o.fail(StateQuoting, ErrExpired)
	}
	return o.askQuote(ctx)
}

// askQuote sends the signed operation and judges the quote.
func (o *Operation) askQuote(ctx context.Context) (Snapshot, error) {
	body, err := o.signed.CallQuoteBody()
	if err != nil {
		return o.fail(StateQuoting, err)
	}
	o.update(func(s *Snapshot) {
		if s.Review2 != nil {
			s.Previous = s.Review2
		}
		s.State, s.Review2, s.Err, s.Problem = StateQuoting, nil, nil, ""
	})
	o.quote = nil
	answer, err := o.f.d.Client.CallQuote(ctx, body)
	if err != nil {
		return o.fail(StateQuoting, err)
	}
	q, report := verify.Quote(o.in, o.f.d.Policy, o.f.history(), o.f.d.Clock(), o.signed, answer.Document)
	report = o.f.clockRemark(report, answer.Skew)
	o.update(func(s *Snapshot) { s.Report2 = report })
	if q == nil {
		return o.fail(StateQuoting, ErrRefused)
	}
	if err := o.f.d.Journal.Append(o.ID(), journal.Quoted, journal.Entry{Document: answer.Raw(), QuoteID: q.ID(), Expires: q.Expires()}); err != nil {
		return o.fail(StateQuoting, err)
	}
	o.quote, o.expires, o.arrived = q, q.Expires(), o.f.d.Clock()
	view := q.View()
	return o.update(func(s *Snapshot) {
		s.State, s.Review2, s.QuoteID = StateReview2, &view, q.ID()
		s.SignaturesDone, s.SignaturesTotal = 1, 1+len(q.Funding())
		s.Deadline = o.local(view.Expires)
	}), nil
}

// Abandon ends an operation that was not sent. Signatures that were made stay on the journal's list of outstanding ones.
func (o *Operation) Abandon() error {
	if err := o.begin(StateDraft, StateRefused, StateReview1, StateQuoting, StateReview2); err != nil {
		return err
	}
	defer o.step.Unlock()
	if err := o.f.d.Journal.Append(o.ID(), journal.Abandoned, journal.Entry{}); err != nil {
		return err
	}
	o.update(func(s *Snapshot) { s.State, s.Err, s.Problem = StateAbandoned, nil, "" })
	return nil
}

func signatureRecord(v verify.VerifiedUserOp, sig []byte, quoteID string) journal.Signature {
	s := v.Summary()
	out := journal.Signature{
		Role: s.Role, Chain: s.Chain, ChainID: v.ChainID(), Sender: s.Sender, Lane: s.Lane, Nonce: s.Nonce, OpHash: v.OpHash().Hex(),
		Digest: v.Digest().Hex(), Signature: hex0x(sig), ValidUntil: s.ValidUntil, QuoteID: quoteID,
	}
	for _, a := range s.Spend {
		out.Spend = append(out.Spend, journal.Spend{Asset: a.Asset.String(), Amount: a.Amount.String()})
	}
	return out
}

func recipients(v verify.PreparedView) []string {
	var out []string
	for _, l := range v.Lines {
		if l.Recipient != "" && !slices.Contains(out, l.Recipient) {
			out = append(out, l.Recipient)
		}
	}
	return out
}

// isCancelled reports whether the caller gave up.
func isCancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
