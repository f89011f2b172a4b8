package flow

import (
	"time"

	"coffer/api"
	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// State is where an operation stands.
type State string

// The states. Review1 and Review2 wait for the user; Refused, Done, Failed, NotExecuted and Abandoned are ends; Unknown
// means that an execute request may have arrived and its outcome must be asked for, never sent again.
const (
	StateDraft       State = "draft"
	StatePreparing   State = "preparing"
	StateReview1     State = "review 1"
	StateRefused     State = "refused"
	StateQuoting     State = "quoting"
	StateReview2     State = "review 2"
	StateSigning     State = "signing"
	StateExecuting   State = "executing"
	StateAccepted    State = "accepted"
	StateDone        State = "done"
	StateFailed      State = "failed"
	StateNotExecuted State = "not executed"
	StateAbandoned   State = "abandoned"
	StateUnknown     State = "outcome unknown"
)

// Terminal reports whether nothing more happens to the operation.
func (s State) Terminal() bool {
	switch s {
	case StateDone, StateFailed, StateNotExecuted, StateAbandoned:
		return true
	}
	return false
}

// Snapshot is the operation as a screen shows it. It shares nothing that changes.
//
// Review1 and Report1 belong to the prepared operation, Review2 and Report2 to the quote; a report with refusals comes
// without its review. Previous is the view of the quote before the last Requote or Renew; a swap or a transfer has
// Review2 and Report2 only. SignaturesTotal counts what is known so far: 1 in a draft, then the signatures of the
// prepared operation, a delegation among them, then those of the quote as well. Deadline is the moment, by the local
// clock and corrected by the service's, after which the review that waits can no longer be confirmed. Problem is Err in
// plain words; both are empty when the last step went well. BodyHash is the SHA-256 of the execute body that was sent,
// in hex.
type Snapshot struct {
	ID       string
	State    State
	Started  time.Time
	Intent   intent.Draft
	Review1  *verify.PreparedView
	Report1  verify.Report
	Review2  *verify.QuoteView
	Report2  verify.Report
	Previous *verify.QuoteView
	Quoted   time.Time // when the quote under review came, by the local clock
	Deadline time.Time
	// a signed call for which there is no time left to ask for a quote: it can be prepared again, or abandoned
	Over            bool
	Stuck           bool // its record does not hold: it can only be abandoned
	QuoteID         string
	Paid            bool // payments of a call were signed, for this quote or an earlier one
	SignaturesDone  int
	SignaturesTotal int
	Said            bool // the end is what the service says; nothing on this machine proves it
	Status          api.ExecutionStatus
	StatusAt        time.Time
	// what own nodes see of it: when the status last changed, and now and then while the service does not answer
	Became   []verify.Became
	Skew     time.Duration // service clock minus local clock
	BodyHash string
	Err      error
	Problem  string
	// it was sent, has no end, and the time after which its payments can be taken back is over; Problem says what to do
	Overdue bool
}

// Under is the review that waits for consent: of the quote, or of the prepared operation.
func (s Snapshot) Under(quote bool) consent.Review {
	r := consent.Review{Intent: s.Intent, Call: s.Review1, Report: s.Report1}
	if s.Intent.Kind == intent.KindSwap || s.Intent.Kind == intent.KindTransfer {
		r.Call = nil
	}
	if quote {
		r.Quote, r.Report, r.At = s.Review2, s.Report2, s.Quoted
	}
	return r
}

// The kinds of events of one execute.
const (
	EventSigned    = "signed"
	EventJournaled = "journaled"
	EventSent      = "sent"
	EventAccepted  = "accepted"
)

// Event is one step of an execute as it happens. Index counts signatures from 1 over all signatures of the operation, a
// delegation being one of its own; Chain is CAIP-2.
type Event struct {
	Kind  string
	Index int
	Chain string
	At    time.Time
}
