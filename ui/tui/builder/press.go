package builder

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// press handles a key while no text field has the keyboard.
func (s *Screen) press(m tea.KeyPressMsg) tea.Cmd {
	if r := s.current(); r.takesText() {
		return s.pressText(m, r)
	}
	key := m.String()
	if k, ok := kit.FindKey(s.Keys(), key); ok && k.Off != "" {
		return screen.Toast(theme.Warn, k.Off)
	}
	if cmd, taken := s.pressForm(key); taken {
		return cmd
	}
	r := s.current()
	switch key {
	case "j", "k", "g", "G", "space":
		key = map[string]string{"j": "down", "k": "up", "g": "home", "G": "end", "space": "pgdown"}[key]
	case "r", "ctrl+r":
		return s.review()
	}
	if s.walk(key) {
		return nil
	}
	if key == "enter" {
		return s.enter(r)
	}
	return s.change(key, r)
}

// walk moves the focus.
func (s *Screen) walk(key string) bool {
	switch key {
	case "down":
		s.step(1, false)
	case "up":
		s.step(-1, false)
	case "tab":
		s.step(1, true)
	case "shift+tab":
		s.step(-1, true)
	case "home":
		s.step(-1_000_000, false)
	case "end":
		s.step(1_000_000, false)
	case "pgdown":
		s.step(8, false)
	case "pgup":
		s.step(-8, false)
	default:
		return false
	}
	return true
}

// pressForm handles the keys that work on every form: choosing a form, and saving it.
func (s *Screen) pressForm(key string) (cmd tea.Cmd, taken bool) {
	for _, f := range forms() {
		if f.key == key {
			s.show(f.form)
			return nil, true
		}
	}
	switch key {
	case "s":
		return s.askTemplate(), true
	case "o":
		return s.openTemplates(), true
	case "e":
		return s.askExport(), true
	case "U":
		return s.undo(), true
	case "X":
		s.remember()
		s.touched()
		s.clear()
		s.note = remark(compose.None, "The form is empty; U brings back what was there")
		return nil, true
	}
	return nil, false
}

// change handles the keys that change the shown form.
func (s *Screen) change(key string, r row) tea.Cmd {
	if s.form != formCalls {
		switch {
		case key == "m":
			return s.takeMax()
		// x where no text is taken, ctrl+x everywhere
		case (key == "x" || key == "ctrl+x") && r.id == compose.IDInterface:
			s.touched()
			s.x[s.form].V1 = false
		}
		return nil
	}
	i := max(0, slices.Index(s.b.Calls, r.of))
	switch key {
	case "d":
		if s.b.Empty() {
			return s.trialCall()
		}
		return nil
	case "n":
		s.tried = false // what is empty in a new call is no mistake yet
		s.focus = compose.IDTo(s.b.Add(len(s.b.Calls) - 1))
		s.edit()
	case "p":
		s.focus = compose.IDCall(s.b.Duplicate(i))
	case "shift+up", "K":
		s.focus = compose.IDCall(s.b.Move(i, -1))
	case "shift+down", "J":
		s.focus = compose.IDCall(s.b.Move(i, 1))
	case "x", "ctrl+x":
		return s.takeAway(r)
	case "a":
		before, n := s.before, len(s.b.Allow)
		s.remember()
		s.touched()
		cmd := s.toAllowance(i)
		if len(s.b.Allow) == n {
			s.before = before
		}
		return cmd
	case "+":
		s.addItem(r.node)
	case "f":
		s.b.Own, s.b.Needs = false, nil
		s.focus = compose.IDNeeds
	default:
		return nil
	}
	s.touched()
	return nil
}

// takeAway removes the focused part and keeps it for U.
func (s *Screen) takeAway(r row) tea.Cmd {
	before, had := s.before, s.changes
	s.remember()
	s.touched()
	if cmd := s.remove(r); cmd != nil { // there was nothing to remove
		s.before, s.changes = before, had
		return cmd
	}
	return screen.Toast(theme.None, "removed; U brings it back")
}

// enter opens the list of a row, edits its text, or runs its action.
func (s *Screen) enter(r row) tea.Cmd {
	switch {
	case r.items != nil && (r.field == nil || trim(*r.field) == "" || r.function() && !r.of.Raw):
		return s.list(r)
	case r.field != nil:
		s.edit()
	case r.press != nil:
		return r.press()
	default: // the head of a tuple: its first member comes next
		s.step(1, true)
	}
	return nil
}

// list opens the values that a row offers.
func (s *Screen) list(r row) tea.Cmd {
	if r.items == nil {
		return screen.Toast(theme.None, "this field has no list")
	}
	current := r.value
	if r.field != nil {
		current = *r.field
	}
	title := r.title
	if title == "" {
		title = strings.TrimSpace("Choose " + r.label)
	}
	s.openList(title, r.items(), current, r.take)
	switch {
	case r.typed != nil:
		s.typed, s.choice.Reads = r.typed, s.readFor(r)
	case r.field != nil:
		s.typed, s.choice.Reads = s.typeInto(r), s.readFor(r)
	}
	return nil
}

func (s *Screen) toggleUnits(r row) {
	if r.node == nil {
		return
	}
	if t := s.target(r.of); t.Known || r.node.Units {
		r.node.SetUnits(!r.node.Units && t.Known, t)
		if s.editing {
			s.editor.Set(*r.field)
		}
		s.touched()
	}
}

// maxItems bounds the items of an array in the form.
const maxItems = 256

func (s *Screen) addItem(n *compose.Arg) {
	if n == nil || !n.IsList() || len(n.Items) >= maxItems {
		return
	}
	n.Add()
	s.touched()
}

// remove removes the focused part: an array item, a required token, an allowance, or the call.
func (s *Screen) remove(r row) tea.Cmd {
	for i := range s.b.Needs {
		if strings.HasPrefix(r.id, compose.IDNeed(i, "")) {
			s.b.Needs = slices.Delete(s.b.Needs, i, i+1)
			s.focus = idAddNeed
			return nil
		}
	}
	for i := range s.b.Allow {
		if strings.HasPrefix(r.id, compose.IDAllowance(i, "")) {
			s.b.Allow = slices.Delete(s.b.Allow, i, i+1)
			s.focus = compose.IDAllow
			return nil
		}
	}
	if s.removeOverride(r.id) {
		return nil
	}
	switch r.id {
	case compose.IDAfter:
		s.b.After, s.b.Start.Preset = "", 0
		return nil
	case compose.IDInterface:
		s.b.V1 = false
		return nil
	}
	if r.of == nil {
		return screen.Toast(theme.None, "nothing to remove here")
	}
	if r.node != nil && s.removeItem(r) {
		return nil
	}
	s.focus = compose.IDCall(s.b.Remove(slices.Index(s.b.Calls, r.of)))
	return nil
}

// removeItem removes an element from the innermost array around the focused row.
func (s *Screen) removeItem(r row) bool {
	list, at := s.itemOf(r)
	if list == nil {
		return false
	}
	parent := compose.Find(r.of.Args, list)
	parent.Items = slices.Delete(parent.Items, at, at+1)
	s.focus = compose.IDArg(slices.Index(s.b.Calls, r.of), list)
	return true
}

// itemOf is the path of the innermost array around a row, and the index of its item; nil when there is no array.
func (s *Screen) itemOf(r row) (list []int, at int) {
	if r.node == nil {
		return nil, 0
	}
	var path []int
	compose.Walk(r.of.Args, func(p []int, n *compose.Arg) {
		if n == r.node {
			path = p
		}
	})
	for ; len(path) > 1; path = path[:len(path)-1] {
		list = path[:len(path)-1]
		if compose.Find(r.of.Args, list).IsList() {
			return list, path[len(path)-1]
		}
	}
	return nil, 0
}

// review freezes the form and hands it over. With a mistake it focuses the first one instead.
func (s *Screen) review() tea.Cmd {
	s.leaveField()
	in, ok := s.freeze()
	if ok {
		s.frozen = in.ID()
		s.changes++
		return screen.Open(screen.Review, review.StartArg{Intent: in})
	}
	return s.firstMistake()
}

// firstMistake focuses the first mistake and says how many there are.
func (s *Screen) firstMistake() tea.Cmd {
	wrong := s.mistakes()
	for _, r := range s.rows() {
		if wrong[r.id] != "" {
			s.focus = r.id
			return screen.Toast(theme.Warn, present.Plural(len(wrong), "field needs", "fields need")+
				" attention: the first one is marked")
		}
	}
	if len(s.general) > 0 {
		return screen.Toast(theme.Warn, s.general[0])
	}
	return nil
}
