package flow

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"coffer/api"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Unfinished returns the operations of the journal that were signed and have no end yet, oldest first. One that may have been sent is in StateUnknown or
// StateAccepted and can only be watched; one that was not sent is in StateQuoting and can be quoted again or abandoned (TH-J3), a swap or a transfer with a
// quote and signatures of its own. Operations that were never
// signed have had no effect and are not listed. An operation that is under way in this process is returned as it is: a second one for the same record could
// sign and send beside it.
func (f *Flow) Unfinished() []*Operation {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []*Operation
	for _, rec := range f.d.Journal.Operations() {
		if rec.State.Terminal() || (len(rec.Signatures) == 0 && rec.State != journal.Executing && rec.State != journal.Acked) {
			continue
		}
		o := f.ops[rec.ID]
		if o == nil {
			o = f.resume(rec)
			f.keep(o)
		}
		out = append(out, o)
	}
	return out
}

var errResume = errors.New("the signed operation cannot be checked again, so it can only be abandoned")

// resume makes the operation of a record; f.mu is held.
func (f *Flow) resume(rec journal.Operation) *Operation {
	o := &Operation{f: f, expires: rec.Expires}
	o.snap = Snapshot{ID: rec.ID, Started: rec.Started, State: StateQuoting, QuoteID: rec.QuoteID, BodyHash: rec.BodyHash}
	for _, s := range rec.Signatures {
		o.snap.SignaturesDone++
		if s.Delegation != nil {
			o.snap.SignaturesDone++
		}
	}
	o.snap.SignaturesTotal = o.snap.SignaturesDone
	in, err := intent.Parse(rec.Intent, api.Rules{Catalog: f.d.Policy.Catalog, Now: time.Time{}})
	if h := in.Hash(); err == nil && hex.EncodeToString(h[:]) == rec.IntentHash {
		o.in = in
	} else {
		err = errResume
	}
	switch rec.State {
	case journal.Executing:
		o.snap.State = StateUnknown
		o.snap.Problem = "The program ended while this quote was being sent. Its outcome is asked for; it is not sent again."
		f.inFlight[strings.ToLower(rec.QuoteID)] = true
		return o
	case journal.Acked:
		o.snap.State, o.accepted = StateAccepted, true
		f.inFlight[strings.ToLower(rec.QuoteID)] = true
		return o
	}
	if err == nil && o.in.Kind() == intent.KindCall {
		err = o.restoreSigned(rec)
	}
	o.snap.Err, o.snap.Problem = err, o.unsent()
	if err != nil {
		o.snap.Problem, o.stuck = problem(err), true
	}
	return o
}

// restoreSigned judges the recorded answer again, at the time of its record, and joins the recorded signature to it.
func (o *Operation) restoreSigned(rec journal.Operation) error {
	doc, err := api.ParseDocument(rec.Prepared, api.DefaultLimits())
	if err != nil {
		return errResume
	}
	p, report := verify.Prepared(o.in, o.f.d.Policy, o.history(false), rec.PreparedAt, doc)
	o.snap.Report1 = report
	if p == nil {
		return errResume
	}
	for _, s := range slices.Backward(rec.Signatures) {
		if s.Role != verify.RolePrepared || s.OpHash != p.Signing().Hash() {
			continue
		}
		made, err := restore(p.Signing(), s)
		if err != nil {
			return errResume
		}
		if o.signed, err = p.WithSignatures(made); err != nil {
			return errResume
		}
		o.prepared = p
		view := p.View()
		o.snap.Review1, o.snap.SignaturesDone, o.snap.SignaturesTotal = &view, o.signedBefore(), o.signedBefore()
		o.window = o.f.windowEnd(view, rec.PreparedAt)
		o.canQuote(o.window)
		o.snap.Deadline = o.local(o.window)
		return nil
	}
	return errResume
}
