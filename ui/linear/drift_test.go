package linear

import (
	"testing"

	"coffer/ui/internal/reviewtest"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
)

// The lines say every fact of a review, also narrow ones.
func TestTheLinesSayEveryFact(t *testing.T) {
	r := newRig(t)
	for _, w := range []int{78, 60} {
		reviewtest.Drift(t, func(c reviewtest.Case) (string, []string, string) {
			r.paper.take()
			x := flow.Snapshot{Intent: c.Review.Intent, Review1: c.Review.Call, Report1: c.Review.Report,
				Previous: c.Previous}
			st := stageReview1
			if c.Review.Quote != nil {
				x.Review2, x.Report2, st = c.Review.Quote, c.Review.Report, stageReview2
			}
			r.opts.Deps.TypeFrom, r.opts.Context.Clock = consent.TypeFrom(), reviewtest.Begin
			s := &reviewSession{session: &session{World: worldOf(r.opts), ctx: r.opts.Context, deps: r.opts.Deps,
				out: newPrinter(r.paper, w)}, snap: x}
			s.readOut(st)
			s.readRest(st)
			text := r.paper.take()
			s.inspect(st)
			s.explain(st)
			s.checks()
			return text, s.shown, r.paper.take()
		})
	}
}
