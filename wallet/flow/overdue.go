package flow

import (
	"time"

	"coffer/wallet/verify"
)

// refundFrom is when anyone may trigger the refund of every payment of a quote, in Unix seconds; 0 when it is not
// known.
func refundFrom(v verify.QuoteView) int64 {
	last := int64(0)
	for _, l := range v.Legs {
		if !l.RefundAfter.IsZero() {
			last = max(last, l.RefundAfter.Unix())
		}
	}
	return last
}

// overdueWords says what a person can do about an operation that is still pending after its payments can be taken back;
// before, nothing. Both clocks decide.
func (o *Operation) overdueWords() Snapshot {
	from := time.Unix(o.refund, 0)
	if o.refund == 0 || !o.f.earliest().After(from) {
		return o.update(func(s *Snapshot) { s.Overdue = false })
	}
	return o.update(func(s *Snapshot) {
		s.Overdue = true
		s.Problem = "The service has not ended it, although its payments can be refunded since " +
			from.UTC().Format("2 January 2006, 15:04:05 UTC") + ". Ask the operator of the service; " +
			"anyone may trigger the refund of what the escrow still holds, on that chain."
	})
}
