package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/text"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// The rhythm of status questions: quick while an accepted quote settles, slow while an outcome is unknown (TH-N7).
const (
	firstPoll        = 300 * time.Millisecond
	longestPoll      = 5 * time.Second
	firstUnknownPoll = 2 * time.Second
	longestUnknown   = 60 * time.Second
	// notSeenMargin is how long after the expiry an empty status proves that a quote never ran (protocol §4.3), on top
	// of the difference of the clocks.
	notSeenMargin = 30 * time.Second
)

// Watch asks for the status until it is final, the outcome is known, or the context ends. progress may be nil; it gets
// every change. Ends: StateDone (COMPLETED), StateFailed (REFUNDED or FAILED), StateNotExecuted (the service does not
// know the quote after its expiry). It waits for a question that Reconcile is asking.
func (o *Operation) Watch(ctx context.Context, progress func(Snapshot)) (Snapshot, error) {
	if progress == nil {
		progress = func(Snapshot) {}
	}
	waited, err := o.beginWatch(ctx)
	if err != nil {
		snap := o.Snapshot()
		if waited && errors.Is(err, ErrState) && snap.State.Terminal() {
			progress(snap)
			return snap, nil // the question of Reconcile brought the end
		}
		return snap, err
	}
	defer o.step.Unlock()
	wait, longest := firstPoll, longestPoll
	if o.Snapshot().State == StateUnknown {
		wait, longest = firstUnknownPoll, longestUnknown
	}
	for {
		snap, done, err := o.ask(ctx)
		progress(snap)
		if done {
			_ = o.f.Observe(ctx) // what cannot be noted now is seen again later
		}
		if done || err != nil {
			return snap, err
		}
		if snap.State != StateAccepted && snap.State != StateUnknown {
			return snap, ErrMoved // another process brought it back to where it was before it was sent
		}
		pause := wait
		if told := o.untilOverdue(); told > 0 {
			pause = min(pause, told)
		}
		if err := o.f.d.Sleep(ctx, pause); err != nil {
			return o.Snapshot(), err
		}
		wait = min(wait*2, longest)
	}
}

var errForgotten = errors.New("the service accepted this quote before and now says that it does not know it")

// ask reads the status once. The error is only set when the journal or the context fails; a service that does not
// answer is asked again.
func (o *Operation) ask(ctx context.Context) (Snapshot, bool, error) {
	id := o.Snapshot().QuoteID
	status, err := o.f.d.Client.Status(ctx, id)
	if err != nil {
		o.witnessAlone(ctx)
		return o.unknown(err, ctx.Err())
	}
	if status.QuoteID == "" && o.overdue() {
		if status, err = o.lookUp(ctx, id); err != nil { // nothing is concluded before the history was read as well
			return o.unknown(err, ctx.Err())
		}
	}
	var became []verify.Became
	if strings.EqualFold(status.QuoteID, id) {
		became = o.witness(ctx, status)
	}
	release, err := o.hold(ctx)
	if err != nil {
		return o.later(err)
	}
	defer release()
	if status.QuoteID == "" {
		return o.notSeen()
	}
	if !strings.EqualFold(status.QuoteID, id) {
		return o.unknown(fmt.Errorf("the service answered about another quote: %s", text.Clean(status.QuoteID, 20)),
			nil)
	}
	o.update(func(s *Snapshot) {
		s.Status, s.StatusAt, s.Became, s.Err, s.Problem = status, o.f.d.Clock(), became, nil, ""
		if s.State == StateUnknown {
			s.State = StateAccepted
		}
	})
	if !o.accepted {
		if err := o.record(journal.Acked, journal.Entry{QuoteID: id, Note: "seen by status"}); err != nil {
			return o.failed(err)
		}
		o.accepted = true
	}
	if !api.Terminal(status.Status) {
		return o.overdueWords(), false, nil
	}
	return o.finish(status)
}

// overdue reports whether a service that knew the quote would have to say so: it accepted it before, or the expiry is
// over by some time.
func (o *Operation) overdue() bool {
	return o.accepted || (o.expires != 0 && o.f.earliest().After(o.proven()))
}

// proven is when an empty status begins to prove that the quote never ran.
func (o *Operation) proven() time.Time { return time.Unix(o.expires, 0).Add(notSeenMargin) }

// untilOverdue is how long to wait for the question whose empty answer is an end; zero when there is no such moment, or
// it is over.
func (o *Operation) untilOverdue() time.Duration {
	if o.expires == 0 || o.overdue() {
		return 0
	}
	return o.proven().Sub(o.f.earliest()) + time.Second
}

// notSeen handles an empty status: before the expiry it means nothing, some time after it the quote never ran. Of a
// quote that the service accepted it proves nothing: one of its two answers is wrong, so the operation stays open.
func (o *Operation) notSeen() (Snapshot, bool, error) {
	if o.accepted {
		return o.unknown(errForgotten, nil)
	}
	o.update(func(s *Snapshot) { s.StatusAt, s.Err, s.Problem = o.f.d.Clock(), nil, "" })
	if !o.overdue() {
		return o.Snapshot(), false, nil
	}
	note := "the service does not know the quote after its expiry"
	if err := o.record(journal.NotExecuted, journal.Entry{QuoteID: o.Snapshot().QuoteID, Note: note}); err != nil {
		return o.failed(err)
	}
	words := "The quote was never executed. The signatures that were made stay valid until their nonces are used or " +
		"their windows end."
	if !o.f.believes() {
		words = "The service says that it never executed the quote. " + o.liveWords()
	}
	return o.update(func(s *Snapshot) { s.State, s.Said, s.Problem = StateNotExecuted, !o.f.believes(), words }), true,
		nil
}

// finish records a final status. On COMPLETED every nonce is used; on REFUNDED the deposits landed but the call did not
// run (protocol §5.1); on FAILED nothing is known to be used. Where service and wallet are not one program that is what
// the service says: the journal keeps the signatures open, and the words say whose they are.
func (o *Operation) finish(status api.ExecutionStatus) (Snapshot, bool, error) {
	entry := journal.Entry{QuoteID: o.Snapshot().QuoteID, Outcome: status.Status,
		Note: text.Clean(status.FailReason, 80)}
	state, words := StateDone, ""
	switch status.Status {
	case api.StatusCompleted:
		entry.Used = o.ran()
	case api.StatusRefunded:
		entry.Used = o.paid()
		state, words = StateFailed, o.noun()+" did not run and the payments came back. "+reasonWords(status.FailReason)
	default:
		state, words = StateFailed, o.noun()+" did not run and nothing was paid. "+reasonWords(status.FailReason)
		if itself := failedItself(status); itself != "" {
			words = itself
		}
	}
	if err := o.record(journal.Done, entry); err != nil {
		return o.failed(err)
	}
	if state == StateFailed && !o.f.believes() {
		words = o.saidWords(status)
	}
	return o.update(func(s *Snapshot) { s.State, s.Said, s.Problem = state, !o.f.believes(), words }), true, nil
}

// paid lists the operations that the executed quote paid with.
func (o *Operation) paid() []string {
	var out []string
	for _, s := range o.journaled() {
		if s.QuoteID != "" && strings.EqualFold(s.QuoteID, o.Snapshot().QuoteID) {
			out = append(out, s.OpHash)
		}
	}
	return out
}

// ran lists all operations of the executed quote: the last prepared one and what it paid with.
func (o *Operation) ran() []string {
	out := o.paid()
	for _, s := range slices.Backward(o.journaled()) {
		if s.Role == verify.RolePrepared {
			return append(out, s.OpHash)
		}
	}
	return out
}

// noun names what the operation was to do.
func (o *Operation) noun() string {
	switch o.in.Kind() {
	case intent.KindSwap:
		return "The swap"
	case intent.KindTransfer:
		return "The transfer"
	}
	return "The call"
}

func (o *Operation) journaled() []journal.Signature {
	for _, x := range o.f.d.Journal.Operations() {
		if x.ID == o.ID() {
			return x.Signatures
		}
	}
	return nil
}

// failed puts an error on record that ends the questions.
func (o *Operation) failed(err error) (Snapshot, bool, error) { return o.unknown(err, err) }

// unknown puts on record why a question brought no answer; ends is why no other one is asked, nil when one is.
func (o *Operation) unknown(why, ends error) (Snapshot, bool, error) {
	snap, _ := o.fail("", why)
	return snap, false, ends
}
