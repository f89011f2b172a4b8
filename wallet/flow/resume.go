package flow

import (
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"coffer/api"
	"coffer/api/text"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Unfinished returns the operations of the journal that were signed and have no end yet, oldest first. One that may
// have been sent is in StateUnknown or StateAccepted and can only be watched; one that was not sent is in StateQuoting
// and can be quoted again or abandoned (TH-J3), a swap or a transfer with a quote and signatures of its own. Operations
// that were never signed have had no effect and are not listed. An operation that is under way in this process is
// returned as it is: a second one for the same record could sign and send beside it.
func (f *Flow) Unfinished() []*Operation {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []*Operation
	for _, rec := range f.d.Journal.Operations() {
		if rec.State.Terminal() || (len(rec.Signatures) == 0 && rec.State != journal.Executing &&
			rec.State != journal.Acked) {
			continue
		}
		o := f.ops[rec.ID]
		if o == nil {
			o = f.resume(rec)
			f.keep(o)
		}
		o.follow(rec)
		out = append(out, o)
	}
	return out
}

var errResume = errors.New("the signed operation cannot be checked again, so it can only be abandoned")

// resume makes the operation of a record.
func (f *Flow) resume(rec journal.Operation) *Operation {
	o := &Operation{f: f}
	o.snap = Snapshot{ID: rec.ID, Started: rec.Started}
	in, err := intent.Parse(rec.Intent, api.Rules{Catalog: f.d.Policy.Catalog, Now: time.Time{}})
	if h := in.Hash(); err == nil && hex.EncodeToString(h[:]) == rec.IntentHash {
		o.in = in
	}
	o.adopt(rec)
	return o
}

// adopt puts the operation where its record is; its step lock is held, or nobody else has it yet.
func (o *Operation) adopt(rec journal.Operation) {
	o.prepared, o.signed, o.quote, o.unrecorded, o.expires, o.refund = nil, nil, nil, nil, rec.Expires, rec.RefundFrom
	made, paid := 0, false
	for _, s := range rec.Signatures {
		made++
		paid = paid || s.Role == verify.RoleFunding
		if s.Delegation != nil {
			made++
		}
	}
	o.update(func(s *Snapshot) {
		s.State, s.QuoteID, s.BodyHash, s.Err, s.Problem = StateQuoting, rec.QuoteID, rec.BodyHash, nil, ""
		s.SignaturesDone, s.SignaturesTotal, s.Paid = made, max(made, 1), paid
	})
	o.mu.Lock()
	o.records = rec.Records
	o.mu.Unlock()
	switch rec.State {
	case journal.Executing:
		o.f.claim(rec.QuoteID)
		o.update(func(s *Snapshot) {
			s.State = StateUnknown
			s.Problem = "The program ended while this quote was being sent. Coffer asks for its outcome and does not " +
				"send it again."
		})
	case journal.Acked:
		o.f.claim(rec.QuoteID)
		o.accepted = true
		o.update(func(s *Snapshot) { s.State = StateAccepted })
	case journal.Done, journal.NotExecuted, journal.Abandoned:
		o.adoptEnd(rec)
	default:
		o.adoptSigned(rec)
	}
}

// adoptEnd takes an end over that another process recorded.
func (o *Operation) adoptEnd(rec journal.Operation) {
	said, live, status := !o.f.believes(), "", api.ExecutionStatus{QuoteID: rec.QuoteID, Status: rec.Outcome,
		FailReason: rec.Note}
	words := ""
	if said {
		live, words = o.liveWords(), o.saidWords(status)
	}
	o.update(func(s *Snapshot) {
		s.Said = said && rec.State != journal.Abandoned
		switch {
		case rec.State == journal.Abandoned:
			s.State = StateAbandoned
		case rec.State == journal.NotExecuted:
			s.State, s.Problem = StateNotExecuted,
				"The quote was never executed; another process of this wallet found that out."
			if said {
				s.Problem =
					"The service says that it never executed the quote; another process of this wallet asked. " + live
			}
		case rec.Outcome == api.StatusCompleted:
			s.State, s.Status = StateDone, api.ExecutionStatus{QuoteID: rec.QuoteID, Status: rec.Outcome}
		default:
			s.State, s.Status = StateFailed, status
			s.Problem = "It ended " + text.Clean(rec.Outcome, 40) + "; another process of this wallet recorded that. " +
				reasonWords(rec.Note)
			if said {
				s.Problem = words
			}
		}
	})
}

// adoptSigned goes on from what was signed and not sent.
func (o *Operation) adoptSigned(rec journal.Operation) {
	if o.f.unclaim(rec.QuoteID); len(rec.Signatures) == 0 {
		o.update(func(s *Snapshot) { s.State = StateDraft })
		return
	}
	var err error
	switch {
	case o.in.IsZero():
		err = errResume
	case o.in.Kind() == intent.KindCall:
		err = o.restoreSigned(rec)
	}
	o.mu.Lock()
	o.refused = slices.ContainsFunc(rec.Signatures, func(s journal.Signature) bool { return s.Sent && s.QuoteID != "" })
	o.mu.Unlock()
	words := o.unsent()
	if err != nil {
		words = problem(err)
	}
	o.update(func(s *Snapshot) { o.stuck, s.Err, s.Problem = err != nil, err, words })
}

// restoreSigned judges the recorded answer again, at the time of its record, and joins the recorded signature to it.
func (o *Operation) restoreSigned(rec journal.Operation) error {
	doc, err := api.ParseDocument(rec.Prepared, api.DefaultLimits())
	if err != nil {
		return errResume
	}
	p, report := verify.Prepared(o.in, o.f.d.Policy, o.history(false), rec.PreparedAt, doc)
	o.update(func(s *Snapshot) { s.Report1 = report })
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
		o.window = o.f.windowEnd(view, rec.PreparedAt)
		o.canQuote(o.window)
		o.update(func(s *Snapshot) {
			s.Review1, s.SignaturesDone, s.SignaturesTotal = &view, o.signedBefore(), o.signedBefore()
			s.Deadline = o.local(o.window)
		})
		return nil
	}
	return errResume
}
