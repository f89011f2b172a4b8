package builder

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/compose"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// pressText handles a key on a text row that is not being edited. Text starts the editing: it is appended to the
// present text, so that a slip loses nothing. In a row that takes text through its list, the list opens with it.
func (s *Screen) pressText(m tea.KeyPressMsg, r row) tea.Cmd {
	key := m.String()
	if cmd, taken := s.chord(key, r); taken {
		return cmd
	}
	switch {
	case s.walk(key):
		return nil
	case key == "enter":
		return s.enter(r)
	case r.field == nil && m.Text != "":
		return tea.Batch(s.list(r), s.choose(m))
	case r.field == nil:
		return nil
	}
	s.edit()
	return s.typeKey(m, r)
}

// pressEditing handles a key while a text field has the keyboard.
func (s *Screen) pressEditing(m tea.KeyPressMsg) tea.Cmd {
	r := s.current()
	if cmd, taken := s.chord(m.String(), r); taken {
		return cmd
	}
	switch m.String() {
	case "enter", "tab", "down":
		if m.String() == "enter" && r.listed() {
			return s.list(r)
		}
		s.step(1, true)
	case "shift+tab", "up":
		s.step(-1, true)
	default:
		return s.typeKey(m, r)
	}
	return nil
}

// typeKey puts a key or a paste into the field.
func (s *Screen) typeKey(m tea.Msg, r row) tea.Cmd {
	if r.field != nil && s.editor.Update(m) {
		*r.field = s.editor.Value()
		s.changed()
	}
	return nil
}

// chord handles the keys of a text row that are not text.
func (s *Screen) chord(key string, r row) (cmd tea.Cmd, taken bool) {
	switch key {
	case "esc":
		s.toKeys()
	case "ctrl+r":
		return s.review(), true
	case "ctrl+t":
		s.toggleUnits(r)
	case "ctrl+k":
		return s.list(r), true
	case "ctrl+x":
		if !s.removable(r) {
			return screen.Toast(theme.None, s.howToRemove(r)), true
		}
		s.stopEditing()
		return s.takeAway(r), true
	default:
		return nil, false
	}
	return nil, true
}

// toKeys moves to a row without text, where single keys work: the heading of the call, else the nearest such row above.
func (s *Screen) toKeys() {
	s.leaveField()
	if r := s.current(); r.of != nil {
		s.focus = compose.IDCall(slices.Index(s.b.Calls, r.of))
		return
	}
	to := ""
	for _, r := range s.rows() { // the first row of every form takes no text
		if r.id == s.focus {
			break
		}
		if r.id != "" && !r.takesText() {
			to = r.id
		}
	}
	s.focus = to
}

// removable reports whether a text row belongs to something that ctrl+x removes: an item, a token, an allowance,
// assumed state, a start time.
func (s *Screen) removable(r row) bool {
	if s.form != formCalls {
		return false
	}
	if list, _ := s.itemOf(r); list != nil || r.id == compose.IDAfter && s.b.After != "" {
		return true
	}
	for _, prefix := range []string{"need.", "allow.", "over."} {
		if strings.HasPrefix(r.id, prefix) {
			return true
		}
	}
	return false
}

func (s *Screen) howToRemove(r row) string {
	if r.of != nil {
		return "esc, then x, removes the call; ctrl+u clears the field"
	}
	return "ctrl+u clears the field"
}
