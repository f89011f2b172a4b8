package present

import (
	"context"
	"errors"
	"time"

	"coffer/wallet/consent"
	"coffer/wallet/flow"
)

// Driven is an operation that a front end leads through its reviews; *flow.Operation is one. Every method but ID and
// Snapshot may take long.
type Driven interface {
	ID() string
	Snapshot() flow.Snapshot
	Prepare(ctx context.Context) (flow.Snapshot, error)
	Quote(ctx context.Context) (flow.Snapshot, error)
	SignPrepared(ctx context.Context, c consent.Consent) (flow.Snapshot, error)
	Requote(ctx context.Context) (flow.Snapshot, error)
	Renew(ctx context.Context) (flow.Snapshot, error)
	Execute(ctx context.Context, c consent.Consent, progress func(flow.Event)) (flow.Snapshot, error)
	Watch(ctx context.Context, progress func(flow.Snapshot)) (flow.Snapshot, error)
	Abandon() error
}

// Stage is what an operation waits for.
type Stage int

// The stages.
const (
	StageProblem Stage = iota // a step failed and may be tried again
	StageReview1
	StageReview2
	StageRefused // a check refused
	StageGone    // sent, or ended
)

// StageOf is the stage of an operation by its snapshot.
func StageOf(x flow.Snapshot) Stage {
	switch x.State {
	case flow.StateReview1:
		if x.Review1 != nil && !x.Report1.Refused() {
			return StageReview1
		}
		return StageRefused
	case flow.StateReview2:
		if x.Review2 != nil && !x.Report2.Refused() {
			return StageReview2
		}
		return StageRefused
	case flow.StateRefused:
		return StageRefused
	case flow.StateQuoting:
		if errors.Is(x.Err, flow.ErrRefused) {
			return StageRefused
		}
	case flow.StateExecuting, flow.StateAccepted, flow.StateUnknown, flow.StateDone, flow.StateFailed,
		flow.StateNotExecuted, flow.StateAbandoned:
		return StageGone
	}
	return StageProblem
}

// Deadline is the moment after which a review of an operation cannot be confirmed; zero: unknown.
func Deadline(x flow.Snapshot, r consent.Review) time.Time {
	switch {
	case !x.Deadline.IsZero():
		return x.Deadline
	case r.Quote != nil:
		return r.Quote.Expires
	case r.Call != nil:
		return r.Call.Window.Until
	}
	return time.Time{}
}

// WasSigned reports what was signed of an operation: something, which may also have been sent, and a payment.
func WasSigned(x flow.Snapshot) (something, payment bool) {
	first := Review{Review: x.Under(false)}.First()
	return x.SignaturesDone > 0 || x.BodyHash != "",
		x.SignaturesDone > first && (x.Intent.Exchanges() || x.Review1 != nil)
}
