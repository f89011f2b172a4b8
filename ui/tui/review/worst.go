package review

import (
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// worstRow is the worst case of review 2. It warns where more can leave than is paid.
func (s *Screen) worstRow(f screen.Frame, labels int) []string {
	v, first := s.snap.Review2, s.first()
	span := kit.Span{Text: present.WorstCase(s.ctx.Catalog, v, first)}
	if first != nil && len(v.Legs) > 0 {
		span.Text, span.Style = span.Text+" "+f.Theme.Sign(theme.Warn), f.Theme.Warn
	}
	return kit.Row(f.Theme, f.W-1, indent, labels, "Worst case", span)
}
