package verify

import (
	"slices"
	"time"

	"coffer/api"
	"coffer/wallet/intent"
)

// Digests are what gets signed of one verified operation, for comparison on another machine. Hash and Digest are those
// of Signing, Delegation is the hash of the EIP-7702 authorization beside it, "" when there is none; 0x and 64 hex
// digits each.
type Digests struct {
	Summary    OpSummary
	Hash       string
	Digest     string
	Delegation string
}

// Digests returns the hashes of the operation.
func (s Signing) Digests() Digests {
	d := Digests{Summary: s.summary, Hash: s.Hash(), Digest: s.Digest()}
	if a, ok := s.Delegation(); ok {
		d.Delegation = a.authorization.Hash().Hex()
	}
	return d
}

// UnsignedQuote is a quote of a call that passed every check but one: whether the prepared operation was signed is
// unknown. Nothing can be signed and no body can be made with it.
type UnsignedQuote struct {
	view       QuoteView
	operations []Digests
}

// View is what review 2 shows.
func (q *UnsignedQuote) View() QuoteView { return q.view }

// Digests are those of the operations that the quote asks to sign.
func (q *UnsignedQuote) Digests() []Digests { return slices.Clone(q.operations) }

// Unsigned judges the quote of a call like Quote, for a prepared operation whose signature is not at hand, as on a
// machine without the keys (TH-V5). The report says that the signature was not checked (U15, Unknown). The quote is nil
// when the report refuses.
func Unsigned(in intent.Intent, p Policy, h History, now time.Time, prepared *PreparedOp,
	doc *api.Document) (*UnsignedQuote, Report) {
	j := &judge{Policy: p, in: in, h: h, now: now}
	var without *SignedPrepared
	if prepared != nil {
		without = &SignedPrepared{prepared: prepared}
	}
	q := j.quote(without, doc)
	j.add(Unknown, "U15", "The signature of the prepared operation is not at hand, so it was not checked.", "",
		"a signature", "none")
	if q == nil || j.refused() {
		return nil, j.report
	}
	out := &UnsignedQuote{view: q.view}
	for _, s := range q.operations {
		out.operations = append(out.operations, s.Digests())
	}
	return out, j.report
}

// WithoutHistory corrects a report that was made with NoHistory: what only the journal knows did not pass and is no
// fact, it is Unknown. That is whether a quote id is new (Q1), whether something was sent to a recipient before (V4),
// and what else was spent within a day (Y5).
func WithoutHistory(r Report) Report {
	out := Report{Reasons: slices.Clone(r.Reasons)}
	for i, x := range out.Reasons {
		if x.Code == "V4" && x.Level == Warn {
			out.Reasons[i].Level, out.Reasons[i].Title = Unknown,
				"Whether something was sent to this address before is not known here."
			if x.Title == FirstPayments {
				out.Reasons[i].Title = "Whether something was sent to these addresses before is not known here."
			}
		}
	}
	for _, c := range r.Passed {
		switch c {
		case (Check{"Q1", "the quote id is new"}):
			out.Reasons = append(out.Reasons, Reason{Code: "Q1", Level: Unknown,
				Title: "Whether the quote id was met before is not known here."})
		case (Check{"Y5", "what is spent within a day is within your policy"}):
			out.Reasons = append(out.Reasons, Reason{Code: "Y5", Level: Unknown,
				Title: "What else was spent within a day is not known here: only these documents were counted."})
		default:
			out.Passed = append(out.Passed, c)
		}
	}
	return out
}
