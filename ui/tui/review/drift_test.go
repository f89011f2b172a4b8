package review

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"coffer/ui/internal/reviewtest"
	"coffer/ui/present"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
)

// The screens show every fact of a review, in two columns, in one, and on the smallest terminal.
func TestTheScreensShowEveryFact(t *testing.T) {
	for _, w := range []int{120, 80, 60} {
		reviewtest.Drift(t, func(c reviewtest.Case) (string, []string, string) {
			s := New(screen.Context{Catalog: cat(t), Clock: reviewtest.Begin}, Deps{TypeFrom: consent.TypeFrom()})
			s.phase, s.snap = phaseReview1, flow.Snapshot{Intent: c.Review.Intent, Review1: c.Review.Call,
				Report1: c.Review.Report, Previous: c.Previous}
			s.snap.Deadline = reviewtest.Begin().Add(1)
			if c.Review.Quote != nil {
				s.phase, s.snap.Review2, s.snap.Report2 = phaseReview2, c.Review.Quote, c.Review.Report
			}
			f := screen.Frame{W: w, H: 20, Theme: theme.New(true, colorprofile.NoTTY, false), Now: reviewtest.Begin()}
			read := func(opened map[string]bool) string {
				var text, side []string
				s.unfolded = opened
				lines, _ := s.mainLines(f, w, 20)
				for _, l := range lines {
					left, right, two := strings.Cut(l, f.Theme.Signs.Divider)
					if text = append(text, left); two {
						side = append(side, right)
					}
				}
				return strings.Join(append(text, side...), "\n")
			}
			text, shown := read(nil), s.shown
			behind := append(s.lines(f, present.Inspect(s.about())),
				s.lines(f, present.Checks(c.Review.Report))...)
			return text, shown, read(map[string]bool{"a": true, "o": true}) + strings.Join(behind, "\n")
		})
	}
}
