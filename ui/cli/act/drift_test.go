package act

import (
	"testing"

	"coffer/ui/internal/reviewtest"
	"coffer/wallet/flow"
)

// The rows of the commands print every fact of a review.
func TestTheRowsPrintEveryFact(t *testing.T) {
	r := newRig(t)
	r.run("accounts") // opens the session
	reviewtest.Drift(t, func(c reviewtest.Case) (string, []string, string) {
		x := flow.Snapshot{Intent: c.Review.Intent, Review1: c.Review.Call, Report1: c.Review.Report,
			Previous: c.Previous}
		second := c.Review.Quote != nil
		if second {
			x.Review2, x.Report2 = c.Review.Quote, c.Review.Report
		}
		text, shown := r.s.reviewText(x, second, 0)
		return text, shown, ""
	})
}
