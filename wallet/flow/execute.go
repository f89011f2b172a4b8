package flow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"coffer/api"
	"coffer/api/client"
	"coffer/api/text"
	"coffer/wallet/consent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Execute signs the operations of the quote that c permits and sends the quote, once. It ends in StateAccepted; in
// StateUnknown when the request may have arrived but no answer came; or back in StateReview2 with the reason when the
// service refused or nothing was sent. progress may be nil and is called from this goroutine, once for each signature.
func (o *Operation) Execute(ctx context.Context, c consent.Consent, progress func(Event)) (Snapshot, error) {
	if err := o.begin(StateReview2); err != nil {
		return o.Snapshot(), err
	}
	defer o.step.Unlock()
	if o.quote == nil || c.Confirmation() != o.quote.Confirmation() || !c.Permits(o.Snapshot().Under(true)) {
		return o.fail("", ErrConfirmation)
	}
	if err := o.dear(ctx, o.quote.Operations()...); err != nil {
		return o.fail("", err)
	}
	if progress == nil {
		progress = func(Event) {}
	}
	return o.execute(ctx, c.Confirmation(), progress)
}

// execute runs the confirmed quote. The journal is held from before the first signature until the answer to the request
// is recorded, so that no other process takes the operation for one that was left.
func (o *Operation) execute(ctx context.Context, confirmed string, progress func(Event)) (Snapshot, error) {
	q, d := o.quote, o.f.d
	o.confirmed = true
	release, err := o.hold(ctx)
	if err != nil {
		return o.unheld(StateReview2, err)
	}
	defer release()
	if o.unrecorded != nil {
		if err := o.record(journal.Quoted, *o.unrecorded); err != nil {
			return o.fail(StateReview2, err)
		}
		o.unrecorded = nil
	}
	body, err := o.signPayments(ctx, confirmed, progress)
	if err != nil {
		return o.fail(StateReview2, err)
	}
	progress(Event{Kind: EventJournaled, At: d.Clock()})
	if err := o.open(); err != nil { // signing may have taken its time
		return o.fail(StateReview2, err)
	}
	if !o.f.claim(q.ID()) {
		return o.fail(StateReview2, ErrSubmitted)
	}
	raw := body.Raw()
	sum := sha256.Sum256(raw)
	if err := o.record(journal.Executing, journal.Entry{QuoteID: q.ID(), BodyHash: hex.EncodeToString(sum[:])}); err !=
		nil {
		o.f.unclaim(q.ID())
		return o.fail(StateReview2, err)
	}
	o.update(func(s *Snapshot) { s.State, s.BodyHash = StateExecuting, hex.EncodeToString(sum[:]) })
	progress(Event{Kind: EventSent, At: d.Clock()})
	send := d.Client.ExecuteQuote
	if o.in.V1() {
		send = d.Client.ExecuteQuoteV1
	}
	answer, err := send(ctx, raw)
	return o.outcome(answer, err, progress)
}

// signPayments makes and records the signatures of the quote and returns the body to send. No other operation of this
// process is signed meanwhile.
func (o *Operation) signPayments(ctx context.Context, confirmed string, progress func(Event)) (*api.Document, error) {
	q := o.quote
	o.f.signing.Lock()
	defer o.f.signing.Unlock()
	if err := errors.Join(o.open(), o.f.alone(q.ID(), q.Operations()...), o.within()); err != nil {
		return nil, err
	}
	if q.Unseen(o.f.d.Policy, o.in, o.history(true), o.f.earliest()) {
		return nil, ErrBeside
	}
	o.update(func(s *Snapshot) {
		s.State, s.SignaturesDone, s.Err, s.Problem = StateSigning, o.signedBefore(), nil, ""
	})
	signatures, entry, err := o.signQuote(ctx, confirmed, progress)
	if err != nil {
		return nil, err
	}
	body, err := q.ExecuteBody(signatures)
	if err != nil {
		return nil, err
	}
	return body, o.record(journal.QuoteSigned, entry)
}

// open reports whether the quote may still be signed and sent.
func (o *Operation) open() error {
	if err := o.f.d.Journal.ReadOnly(); err != nil {
		return err
	}
	if o.over(time.Unix(o.quote.Expires(), 0), o.f.d.Policy.MinQuoteLife) {
		return ErrExpired
	}
	return nil
}

// signQuote makes the signatures of every operation of the quote, and the record of them.
func (o *Operation) signQuote(ctx context.Context, confirmed string, progress func(Event)) ([]verify.Signatures,
	journal.Entry, error) {
	view := o.quote.View()
	entry := journal.Entry{QuoteID: o.quote.ID(), Confirmed: confirmed, Summary: quoteWords(view), Terms: o.terms(view)}
	if o.signed == nil && !view.RecipientOwn {
		entry.Recipients = []string{view.Recipient}
	}
	var out []verify.Signatures
	for _, v := range o.quote.Operations() {
		made, err := o.sign(ctx, v, progress)
		if err != nil {
			return nil, entry, err
		}
		out = append(out, made)
		entry.Signatures = append(entry.Signatures, signatureRecord(v, made, o.quote.ID()))
	}
	return out, entry, nil
}

// outcome sorts the answer to the one execute request.
func (o *Operation) outcome(answer api.ExecuteResponse, err error, progress func(Event)) (Snapshot, error) {
	d := o.f.d
	if err == nil && answer.Success {
		o.accepted = true
		if err := o.record(journal.Acked, journal.Entry{QuoteID: o.quote.ID()}); err != nil {
			return o.fail(StateAccepted, err) // the service has it; only our note is missing
		}
		progress(Event{Kind: EventAccepted, At: d.Clock()})
		return o.update(func(s *Snapshot) { s.State = StateAccepted }), nil
	}
	if err == nil {
		err = refusal(answer)
	}
	if !certainlyNot(err) {
		return o.fail(StateUnknown, err)
	}
	// The service said no, or nothing left: the quote is as usable as before, and so are its signatures.
	if jerr := o.record(journal.QuoteSigned, journal.Entry{QuoteID: o.quote.ID(), Note: problem(err)}); jerr != nil {
		return o.fail(StateUnknown, errors.Join(err, jerr))
	}
	o.f.unclaim(o.quote.ID())
	return o.fail(StateReview2, err)
}

// refusal is the error in a 200 answer that says success:false.
func refusal(a api.ExecuteResponse) error {
	message := "the service did not accept the quote and gave no reason"
	if a.Error != nil && *a.Error != "" {
		message = text.Clean(*a.Error, 300)
	}
	return api.NewError("NotAccepted", "%s", message)
}

// certainlyNot reports whether an execute error proves that the quote was not accepted: no byte left, or the service
// answered with a refusal of its own. A conflict means that it was accepted before; a server error, a lost answer or an
// unreadable one mean nothing.
func certainlyNot(err error) bool {
	var failed *client.Error
	if errors.As(err, &failed) {
		return !failed.Sent
	}
	var no *api.Error
	if errors.As(err, &no) {
		return no.StatusCode >= 400 && no.StatusCode < 500 && no.StatusCode != 409 && no.StatusCode != 408
	}
	return false
}
