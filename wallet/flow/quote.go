package flow

import (
	"context"
	"errors"
	"strings"
	"time"

	"coffer/api/client"
	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// minWindowLeft is what must remain of the prepared operation's window for signing it to make sense.
const minWindowLeft = 30 * time.Second

// SignPrepared signs the prepared operation that c permits and asks for a quote. It ends in StateReview2; a same-chain
// call whose quote brings back exactly the signed operation is executed right away (StateAccepted, or StateUnknown). If
// the quote fails, the state is StateQuoting and Requote tries again with the same signature.
func (o *Operation) SignPrepared(ctx context.Context, c consent.Consent) (Snapshot, error) {
	if err := o.begin(StateReview1); err != nil {
		return o.Snapshot(), err
	}
	defer o.step.Unlock()
	p := o.prepared
	if p == nil || c.Confirmation() != p.Confirmation() || !c.Permits(o.Snapshot().Under(false)) {
		return o.fail("", ErrConfirmation)
	}
	if o.over(o.window, minWindowLeft) {
		return o.fail("", ErrExpired)
	}
	if err := o.dear(ctx, p.Signing()); err != nil {
		return o.fail("", err)
	}
	if err := o.signCall(ctx, c.Confirmation()); err != nil {
		return o.unheld(StateReview1, err)
	}
	snap, err := o.askQuote(ctx)
	if err != nil || !p.View().WholeConsent || !o.quote.SameChainOnly() {
		return snap, err
	}
	return o.execute(ctx, o.quote.Confirmation(), func(Event) {})
}

// signCall makes and records the signatures of the prepared operation, in one step with the journal.
func (o *Operation) signCall(ctx context.Context, confirmed string) error {
	p := o.prepared
	release, err := o.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	o.f.signing.Lock()
	defer o.f.signing.Unlock()
	if err := errors.Join(o.f.d.Journal.ReadOnly(), o.f.alone("", p.Signing()), o.within()); err != nil {
		return err
	}
	if p.Unseen(o.f.d.Policy, o.in, o.history(false), o.f.earliest()) {
		return ErrBeside
	}
	o.update(func(s *Snapshot) { s.State, s.SignaturesDone, s.Err, s.Problem = StateSigning, 0, nil, "" })
	made, err := o.sign(ctx, p.Signing(), func(Event) {})
	if err != nil {
		return err
	}
	signed, err := p.WithSignatures(made)
	if err != nil {
		return err
	}
	entry := journal.Entry{
		Signatures: []journal.Signature{signatureRecord(p.Signing(), made, "")}, Recipients: recipients(p.View()),
		Confirmed: confirmed, Summary: callWords(p.View()),
	}
	if err := o.record(journal.Signed, entry); err != nil {
		return err
	}
	o.signed = signed
	o.canQuote(o.window)
	o.update(func(s *Snapshot) { s.State = StateQuoting })
	return nil
}

// Quote asks for the quote of a swap or a transfer and judges it. It ends in StateReview2, or in StateQuoting with the
// reason, ErrRefused among them; it may be repeated until the quote is sent.
func (o *Operation) Quote(ctx context.Context) (Snapshot, error) {
	if err := o.begin(StateDraft, StateQuoting, StateReview2); err != nil {
		return o.Snapshot(), err
	}
	defer o.step.Unlock()
	switch {
	case o.in.IsZero():
		return o.fail("", errResume)
	case o.in.Kind() == intent.KindCall:
		return o.fail("", ErrState)
	}
	return o.askQuote(ctx)
}

// Requote asks for a new quote, for the same signed operation if there is one; Previous then holds the view of the old
// one. A confirmation of the old quote is void.
func (o *Operation) Requote(ctx context.Context) (Snapshot, error) {
	if err := o.begin(StateQuoting, StateReview2); err != nil {
		return o.Snapshot(), err
	}
	defer o.step.Unlock()
	exchange := !o.in.IsZero() && o.in.Kind() != intent.KindCall
	if !exchange && o.signed == nil {
		return o.fail("", ErrState)
	}
	if !exchange && o.f.latest().After(o.window) {
		return o.fail(StateQuoting, ErrExpired)
	}
	return o.askQuote(ctx)
}

// Renew asks for another quote while the one under review stays as it is, and puts it in its place once it is judged;
// Previous then holds the view of the old one. Nothing is journalled before the new one is confirmed. When it cannot be
// had, is refused, or a step was taken meanwhile, the review is unchanged and the error says why. After a confirmation
// it is ErrState: what was confirmed may run.
func (o *Operation) Renew(ctx context.Context) (Snapshot, error) {
	if err := o.begin(StateReview2); err != nil {
		return o.Snapshot(), err
	}
	old, send, err := o.quote, (func(context.Context) (client.Answer, error))(nil), ErrState
	switch {
	case old == nil || o.confirmed:
	case o.signed != nil && o.f.latest().After(o.window):
		err = ErrExpired
	default:
		send, err = o.request()
	}
	checked := o.checks()
	o.step.Unlock()
	if err != nil {
		return o.Snapshot(), err
	}
	look := o.look(ctx)
	answer, err := send(ctx)
	if err != nil {
		return o.Snapshot(), err
	}
	seen := o.see(ctx, answer, checked, look)
	if err := o.begin(StateReview2); err != nil {
		return o.Snapshot(), err
	}
	defer o.step.Unlock()
	if o.quote != old || o.confirmed {
		return o.Snapshot(), ErrState
	}
	release, err := o.hold(ctx)
	if err != nil {
		return o.Snapshot(), err
	}
	defer release()
	q, report := o.judge(answer, seen)
	if q == nil {
		return o.Snapshot(), ErrRefused
	}
	o.met = append(o.met, strings.ToLower(q.ID()))
	entry := quoted(answer, q)
	o.unrecorded = &entry
	o.update(func(s *Snapshot) { s.Previous, s.Err, s.Problem = s.Review2, nil, "" })
	return o.take(q, report), nil
}

// askQuote asks for a quote and judges it.
func (o *Operation) askQuote(ctx context.Context) (Snapshot, error) {
	o.update(func(s *Snapshot) {
		if s.Review2 != nil {
			s.Previous = s.Review2
		}
		s.State, s.Review2, s.Err, s.Problem = StateQuoting, nil, nil, ""
	})
	o.quote, o.unrecorded, o.confirmed = nil, nil, false
	send, err := o.request()
	if err != nil {
		return o.fail(StateQuoting, err)
	}
	look, checked := o.look(ctx), o.checks()
	answer, err := send(ctx)
	if err != nil {
		return o.fail(StateQuoting, err)
	}
	seen := o.see(ctx, answer, checked, look)
	release, err := o.hold(ctx)
	if err != nil {
		return o.unheld(StateQuoting, err)
	}
	defer release()
	q, report := o.judge(answer, seen)
	o.update(func(s *Snapshot) { s.Report2 = report })
	if q == nil {
		return o.fail(StateQuoting, ErrRefused)
	}
	if err := o.record(journal.Quoted, quoted(answer, q)); err != nil {
		return o.fail(StateQuoting, err)
	}
	return o.take(q, report), nil
}

// quoted is the record of a quote.
func quoted(answer client.Answer, q *verify.VerifiedQuote) journal.Entry {
	return journal.Entry{Document: answer.Raw(), QuoteID: q.ID(), Expires: q.Expires(),
		RefundFrom: refundFrom(q.View())}
}

// take puts a quote under review.
func (o *Operation) take(q *verify.VerifiedQuote, report verify.Report) Snapshot {
	view, total := q.View(), o.signedBefore()
	o.quote, o.expires, o.refund, o.arrived, o.others = q, q.Expires(), refundFrom(view), o.f.d.Clock(), o.countOthers()
	for _, v := range q.Operations() {
		total += v.Count()
	}
	return o.update(func(s *Snapshot) {
		s.State, s.Review2, s.Report2, s.QuoteID, s.Quoted = StateReview2, &view, report, q.ID(), o.arrived
		s.SignaturesDone, s.SignaturesTotal = o.signedBefore(), total
		s.Deadline = o.local(view.Expires)
	})
}

// signedBefore counts the signatures that were made before the quote.
func (o *Operation) signedBefore() int {
	if o.signed == nil {
		return 0
	}
	return o.signed.Prepared().Signing().Count()
}

// request prepares the request for the quote of a signed call, or of a swap or a transfer.
func (o *Operation) request() (func(context.Context) (client.Answer, error), error) {
	c, ask, body := o.f.d.Client, o.f.d.Client.Quote, o.in.QuoteBody
	if o.in.V1() {
		ask = c.QuoteV1
	}
	if o.in.Kind() == intent.KindCall {
		raw, err := o.signed.CallQuoteBody()
		if err != nil {
			return nil, err
		}
		ask, body = c.CallQuote, func() []byte { return raw }
		if o.in.V1() {
			ask = c.CallQuoteV1
		}
	}
	return func(ctx context.Context) (client.Answer, error) { return ask(ctx, body()) }, nil
}

// sighting is what own nodes see of a review.
type sighting struct {
	sights    []verify.Sight
	simulated []verify.Simulated
}

// see waits for what own nodes see, and lets them simulate what a quote signs meanwhile.
func (o *Operation) see(ctx context.Context, a client.Answer, checked checks, look func() []verify.Sight) sighting {
	ran := o.simulate(ctx, func() []verify.Simulation {
		q, _ := checked(a)
		if q == nil {
			return nil
		}
		return q.Simulations(o.f.d.Policy)
	})
	return sighting{look(), ran()}
}

// checks are those of verify for the quote of an operation as it is now.
type checks func(client.Answer) (*verify.VerifiedQuote, verify.Report)

func (o *Operation) checks() checks {
	d, h, signed := o.f.d, o.history(true), o.signed
	return func(a client.Answer) (*verify.VerifiedQuote, verify.Report) {
		if o.in.Kind() != intent.KindCall {
			return verify.Exchange(o.in, d.Policy, h, d.Clock(), a.Document)
		}
		return verify.Quote(o.in, d.Policy, h, d.Clock(), signed, a.Document)
	}
}

// judge makes every check of a quote: those of verify, of the clocks, that it pays nothing twice, and what own nodes
// see of its payments.
func (o *Operation) judge(a client.Answer, seen sighting) (*verify.VerifiedQuote, verify.Report) {
	d := o.f.d
	q, report := o.checks()(a)
	report = o.f.clockRemark(report, a.Skew)
	if q != nil {
		if twice, refused := o.paysTwice(q); refused {
			q, report.Reasons = nil, append(report.Reasons, twice)
		} else {
			report = q.WithSights(d.Policy, d.Clock(), report, seen.sights, o.statedBefore(), o.f.pledges())
			report = q.WithSimulations(d.Policy, d.Clock(), report, seen.simulated)
		}
	}
	return q, report
}
