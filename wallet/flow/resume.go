package flow

import (
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"coffer/api"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Unfinished returns the operations of the journal that were signed and have no end yet, oldest first. One that may have been sent is in StateUnknown or
// StateAccepted and can only be watched; one that was not sent is in StateQuoting and can be quoted again or abandoned (TH-J3). Operations that were never
// signed have had no effect and are not listed. An operation that is under way in this process is returned as it is: a second one for the same record could
// sign and send beside it.
func (f *Flow) Unfinished() []*Operation {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []*Operation
	for _, rec := range f.d.Journal.Operations() {
		if rec.State.Terminal() || rec.State == journal.Intent || (rec.State == journal.Prepared && len(rec.Signatures) == 0) {
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
	o.snap = Snapshot{ID: rec.ID, Started: rec.Started, State: StateQuoting, QuoteID: rec.QuoteID, BodyHash: rec.BodyHash, SignaturesTotal: len(rec.Signatures), SignaturesDone: len(rec.Signatures)}
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
	if err == nil {
		err = o.restoreSigned(rec)
	}
	o.snap.Err, o.snap.Problem = err, "The call was signed but not sent. Ask for a new quote, or abandon it."
	if err != nil {
		o.snap.Problem = problem(err)
	}
	return o
}

// restoreSigned judges the recorded answer again, at the time of its record, and joins the recorded signature to it.
func (o *Operation) restoreSigned(rec journal.Operation) error {
	doc, err := api.ParseDocument(rec.Prepared, api.DefaultLimits())
	if err != nil {
		return errResume
	}
	p, report := verify.Prepared(o.in, o.f.d.Policy, o.f.history(), rec.PreparedAt, doc)
	o.snap.Report1 = report
	if p == nil {
		return errResume
	}
	for _, s := range rec.Signatures {
		if s.Role != verify.RolePrepared || s.OpHash != p.UserOp().OpHash().Hex() {
			continue
		}
		raw, err := hex.DecodeString(strings.TrimPrefix(s.Signature, "0x"))
		if err != nil {
			return errResume
		}
		if o.signed, err = p.WithSignature(raw); err != nil {
			return errResume
		}
		o.prepared = p
		view := p.View()
		o.snap.Review1, o.snap.SignaturesDone, o.snap.SignaturesTotal = &view, 1, 1
		o.snap.Deadline = o.local(time.Unix(view.Window.Until.Unix(), 0))
		return nil
	}
	return errResume
}
