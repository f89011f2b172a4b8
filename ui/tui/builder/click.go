package builder

import (
	tea "charm.land/bubbletea/v2"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// listTop is the first line of an open list in the body.
const listTop = 1

// listPlace is the column and the width of an open list in a body of w cells: all of a narrow one, so that no cut
// letters show beside the list.
func listPlace(w int) (left, wide int) {
	if w < 92 {
		return 0, w
	}
	wide = 76
	return (w - wide) / 2, wide
}

// click focuses the clicked row; a click on the focused row opens its list or its field. It never hands anything over:
// only a key opens Review.
func (s *Screen) click(m screen.ClickMsg) tea.Cmd {
	switch {
	case s.prompt.open:
		return nil
	case s.choice.IsOpen():
		if left, w := listPlace(s.width); m.X >= left && m.X < left+w {
			if it, ok := s.choice.Click(m.Y-listTop, len(s.hits)-listTop); ok {
				return s.chosen(it)
			}
		}
		return nil
	}
	pane, _ := kit.PaneAt(s.panes(), m.X)
	if s.pane = kit.Focus(pane); pane > 0 {
		s.leaveField()
		return nil
	}
	if m.Y == 0 {
		s.clickForm(m.X)
		return nil
	}
	if m.Y < 0 || m.Y >= len(s.hits) || s.hits[m.Y] == "" {
		return nil
	}
	id := s.hits[m.Y]
	again := id == s.current().id
	if again && s.editing {
		return nil
	}
	s.leaveField()
	for _, r := range s.rows() {
		if r.id != id {
			continue
		}
		s.focus = id
		if again && id != idReview {
			return s.enter(r)
		}
	}
	return nil
}

// clickForm chooses the form whose name in the first line was clicked.
func (s *Screen) clickForm(x int) {
	at := 1
	for _, f := range forms() {
		w := present.Width(f.label(s.form))
		if x >= at && x < at+w {
			s.show(f.form)
			return
		}
		at += w + formGap
	}
}
