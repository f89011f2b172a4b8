package review

import (
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// The shares of a wide screen: the review, and what is beside it.
const (
	reviewShare = 5
	besideShare = 3
)

// wireKey opens what went over the wire.
const wireKey = "w"

// besideFolds are the letters of the folds that a second pane has: those of the checks, the arithmetic, and the
// differences from the last quote.
func besideFolds() []string { return []string{"c", present.ArithmeticKey, present.SinceKey} }

// twoPanes draws the review and beside it what explains it, in f.H-2 lines. What has to be read is in the first pane
// alone. It reports false where there is room for the review only: on a narrow screen, and where its text fits into the
// whole width and not beside something.
func (s *Screen) twoPanes(f screen.Frame) (body string, ok bool) {
	w, h := kit.PaneWidths(f.W, reviewShare, besideShare), f.H-2
	if s.panes = 1; len(w) < 2 || h < 3 {
		return "", false
	}
	lines, need := s.mainLines(f, w[0], h-1, true)
	if need > h-1 {
		shown := s.shown
		if _, whole := s.mainLines(f, f.W, h, false); whole <= h {
			return "", false
		}
		s.shown = shown
	}
	s.panes = 2
	text := &s.text[pageMain]
	text.Resize(h - 1)
	text.KeepFirst(lines, need)
	s.revealed(text)
	left := kit.Pane{W: w[0], Body: text.View(w[0])}
	right := kit.Pane{W: w[1], Body: s.side.Body(f.Theme, s.besideLines(f, w[1]), w[1], h-1)}
	if s.focus.In(len(w)) > 0 {
		right.Title = "Details"
	}
	return kit.Beside(f.Theme, h, s.focus.In(len(w)), left, right), true
}

// revealed scrolls to a fold that was just opened.
func (s *Screen) revealed(text *kit.Scroll) {
	if s.reveal {
		s.reveal = false
		text.Press("G")
	}
}

// besideLines is what is beside a review, in w cells. A section is in full where its fold is open.
func (s *Screen) besideLines(f screen.Frame, w int) []string {
	l, r := layout{th: f.Theme, w: w - 1}, s.about()
	if s.phase == phaseReview2 && s.expired(f.Now) {
		l.th = greyed(f.Theme)
	}
	var out []string
	folds := reviewed(r).Folds()
	for _, x := range present.Beside(r) {
		title, page := l.th.Strong.Render(x.Title), x.Page
		if fold, ok := foldOf(folds, x.Key); ok && !fold.Open {
			sign := l.th.Signs.Closed
			if s.unfolded[x.Key] {
				sign, page = l.th.Signs.Open, fold.Inside.Without(0)
			}
			title = l.th.Dim.Render(sign+" "+x.Key+" ") + title
		}
		if len(out) > 0 {
			out = append(out, "")
		}
		out = append(append(out, " "+title), l.page(page)...)
	}
	return out
}

// foldOf is the fold with a letter.
func foldOf(folds []present.Block, key string) (present.Fold, bool) {
	for _, b := range folds {
		if b.Fold.Key == key {
			return b.Fold, true
		}
	}
	return present.Fold{}, false
}
