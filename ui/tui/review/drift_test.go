package review

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"coffer/ui/internal/reviewtest"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
)

// apart is the text of lines with a divider in them, one column after the other.
func apart(lines []string, divider string) string {
	var text []string
	for at := 0; ; at++ {
		more := false
		for _, l := range lines {
			if parts := strings.Split(l, divider); at < len(parts) {
				text, more = append(text, parts[at]), true
			}
		}
		if !more {
			return strings.Join(text, "\n")
		}
	}
}

// The screens show every fact of a review, in two columns and panes, in one, and on the smallest terminal.
func TestTheScreensShowEveryFact(t *testing.T) {
	for _, w := range []int{200, 120, 60} { // side by side beside a pane, one below the other beside it, alone
		reviewtest.Drift(t, func(c reviewtest.Case) (string, []string, string) {
			s := New(screen.Context{Catalog: cat(t), Clock: reviewtest.Begin}, Deps{TypeFrom: consent.TypeFrom()})
			s.phase, s.snap = phaseReview1, flow.Snapshot{Intent: c.Review.Intent, Review1: c.Review.Call,
				Report1: c.Review.Report, Previous: c.Previous}
			s.snap.Deadline = reviewtest.Begin().Add(1)
			s.previous = c.Previous
			if c.Review.Quote != nil {
				s.phase, s.snap.Review2, s.snap.Report2 = phaseReview2, c.Review.Quote, c.Review.Report
			}
			f := screen.Frame{W: w, H: 20, Theme: theme.New(true, colorprofile.NoTTY, false), Now: reviewtest.Begin()}
			read := func(opened map[string]bool) string {
				s.unfolded = opened
				widths := kit.PaneWidths(w, reviewShare, besideShare)
				lines, _ := s.mainLines(f, widths[0], 20, len(widths) > 1)
				if len(widths) > 1 && opened != nil {
					lines = append(lines, s.besideLines(f, widths[1])...)
				}
				return apart(lines, f.Theme.Signs.Divider)
			}
			text, shown := read(nil), s.shown
			behind := append(s.lines(f, present.Inspect(s.about())),
				s.lines(f, present.Checks(c.Review.Report))...)
			return text, shown, read(map[string]bool{"a": true, "o": true, "d": true}) + strings.Join(behind, "\n")
		})
	}
}
