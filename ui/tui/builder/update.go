package builder

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// Update handles one message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case balancesMsg:
		s.loaded(m)
	case screen.AmountsMsg:
		s.hidden = m.Hidden
	case screen.BalancesChangedMsg:
		return s.load()
	case screen.OpenedMsg:
		return tea.Batch(s.load(), s.opened(m.Arg))
	case tea.PasteMsg:
		return s.paste(m)
	case tea.KeyPressMsg:
		if s.choice.IsOpen() {
			return s.choose(m)
		}
		if s.editing {
			return s.pressEditing(m)
		}
		return s.press(m)
	}
	return nil
}

func (s *Screen) opened(arg any) tea.Cmd {
	switch a := arg.(type) {
	case screen.AssetArg:
		return s.prefill(a)
	case review.EditArg:
		s.restore(a.Draft, a.Failures)
	}
	return nil
}

func (s *Screen) choose(msg tea.Msg) tea.Cmd {
	it, ok := s.choice.Update(msg)
	if !ok {
		return nil
	}
	s.touched()
	if s.take != nil {
		return s.take(it.Value)
	}
	return nil
}

// current is the focused row; when its id is gone, the first row that takes focus.
func (s *Screen) current() row {
	rows := s.rows()
	for _, r := range rows {
		if r.id == s.focus && r.id != "" {
			return r
		}
	}
	for _, r := range rows {
		if r.id != "" {
			s.focus = r.id
			return r
		}
	}
	return row{call: -1}
}

// step moves the focus by d rows; with edit a text row gets the keyboard.
func (s *Screen) step(d int, edit bool) {
	s.leaveField()
	rows := slices.DeleteFunc(s.rows(), func(r row) bool { return r.id == "" })
	at := 0
	for i, r := range rows {
		if r.id == s.focus {
			at = i
		}
	}
	at = max(0, min(len(rows)-1, at+d))
	s.focus = rows[at].id
	if edit && rows[at].field != nil {
		s.edit()
	}
}

// edit gives the focused text field the keyboard.
func (s *Screen) edit() {
	if r := s.current(); r.field != nil {
		s.editing = true
		r.field.Focus()
	}
}

func (s *Screen) stopEditing() {
	if r := s.current(); r.field != nil {
		r.field.Blur()
	}
	s.editing = false
}

// leaveField ends the editing of a field: names become addresses, call data that a known function fits becomes fields.
func (s *Screen) leaveField() {
	r := s.current()
	s.stopEditing()
	if r.field == nil {
		return
	}
	if r.address {
		if a := s.named(trim(r.field.Value())); a != "" {
			r.field.Set(kit.Checksummed(a))
		}
	}
	if r.call >= 0 && r.id == idData(r.call) {
		c := s.b.calls[r.call]
		if data, err := unhex(trim(c.data.Value())); err == nil && len(data) >= 4 && s.b.chainDecoded(s.ctx.Catalog, c, data) {
			s.focus = idSig(r.call)
		}
	}
	s.changed()
}

// changed brings what depends on a text up to date.
func (s *Screen) changed() {
	s.touched()
	for _, c := range s.b.calls {
		if !c.raw {
			_, known := s.b.tokenAt(s.ctx.Catalog, c.to.Value())
			c.readSignature(known)
		}
	}
}

// touched forgets what the service said about the form before: it is another one now.
func (s *Screen) touched() { s.told, s.general, s.frozen = nil, nil, "" }

func (s *Screen) paste(m tea.PasteMsg) tea.Cmd {
	if s.choice.IsOpen() {
		s.choice.Update(m)
		return nil
	}
	r := s.current()
	if r.call >= 0 && (r.id == idSig(r.call) || r.id == idData(r.call)) {
		if cmd, taken := s.takePaste(s.b.calls[r.call], m.Content); taken {
			s.touched()
			s.tidyFocus(r.call)
			return cmd
		}
	}
	if !s.editing {
		return screen.Toast(theme.None, "enter edits the field; then paste")
	}
	text := trim(m.Content)
	if len(text)+len(r.field.Value()) > maxText {
		return screen.Toast(theme.Warn, "that is too long for a field; nothing was pasted")
	}
	if r.field.Update(tea.PasteMsg{Content: text}) {
		s.changed()
	}
	return nil
}

// tidyFocus keeps the focus on the function after a paste changed what it is.
func (s *Screen) tidyFocus(i int) {
	s.stopEditing()
	if s.choice.IsOpen() {
		return
	}
	s.focus = idSig(i)
	if s.b.calls[i].raw {
		s.focus = idData(i)
	}
}

// pressEditing handles a key while a text field has the keyboard.
func (s *Screen) pressEditing(m tea.KeyPressMsg) tea.Cmd {
	r := s.current()
	switch m.String() {
	case "esc":
		s.leaveField()
	case "enter", "tab", "down":
		s.step(1, true)
	case "shift+tab", "up":
		s.step(-1, true)
	case "ctrl+t":
		s.toggleUnits(r)
	case "ctrl+k":
		return s.list(r)
	default:
		if r.field != nil && r.field.Update(m) {
			s.changed()
		}
	}
	return nil
}

// press handles a key while no text field has the keyboard.
func (s *Screen) press(m tea.KeyPressMsg) tea.Cmd {
	key := m.String()
	if k, ok := kit.FindKey(s.Keys(), key); ok && k.Off != "" {
		return screen.Toast(theme.Warn, k.Off)
	}
	r := s.current()
	switch key {
	case "down", "j":
		s.step(1, false)
	case "up", "k":
		s.step(-1, false)
	case "tab":
		s.step(1, true)
	case "shift+tab":
		s.step(-1, true)
	case "home", "g":
		s.step(-1_000_000, false)
	case "end", "G":
		s.step(1_000_000, false)
	case "pgdown", "space":
		s.step(8, false)
	case "pgup":
		s.step(-8, false)
	case "enter":
		return s.enter(r)
	case "i":
		s.edit()
	case "r":
		return s.review()
	default:
		return s.change(key, r)
	}
	return nil
}

// change handles the keys that change the batch.
func (s *Screen) change(key string, r row) tea.Cmd {
	i := max(0, r.call)
	switch key {
	case "d":
		if s.b.empty() {
			return s.trialCall()
		}
	case "n":
		s.focus = idTo(s.b.addCall(len(s.b.calls) - 1))
		s.edit()
	case "p":
		s.focus = idTo(s.b.duplicate(i))
	case "shift+up", "K":
		s.focus = idTo(s.b.move(i, -1))
	case "shift+down", "J":
		s.focus = idTo(s.b.move(i, 1))
	case "x":
		return s.remove(r)
	case "X":
		s.clear()
		s.frozen = ""
	case "a":
		return s.toAllowance(i)
	case "u":
		s.toggleUnits(r)
	case "+":
		s.addItem(r.node)
	case "t":
		s.followCalls()
	default:
		return nil
	}
	s.touched()
	return nil
}

// enter opens the list of a row, edits its text, or does what it says.
func (s *Screen) enter(r row) tea.Cmd {
	switch {
	case r.items != nil && (r.field == nil || trim(r.field.Value()) == "" || r.call >= 0 && r.id == idSig(r.call)):
		return s.list(r)
	case r.field != nil:
		s.edit()
	case r.press != nil:
		return r.press()
	}
	return nil
}

// list opens the values that a row offers.
func (s *Screen) list(r row) tea.Cmd {
	if r.items == nil {
		return screen.Toast(theme.None, "this field has no list")
	}
	current := ""
	if r.field != nil {
		current = r.field.Value()
	}
	title := strings.TrimSpace("Choose " + r.label)
	s.openList(title, r.items(), current, r.take)
	return nil
}

func (s *Screen) toggleUnits(r row) {
	if r.node == nil || r.call < 0 {
		return
	}
	if d := s.b.decimals(s.ctx.Catalog, s.b.calls[r.call]); d >= 0 || r.node.units {
		r.node.setUnits(!r.node.units && d >= 0, d)
	}
}

// maxItems bounds the items that can be added by hand.
const maxItems = 256

func (s *Screen) addItem(n *node) {
	if n == nil || !n.isArray() || len(n.items) >= maxItems {
		return
	}
	n.items = append(n.items, newNode(*n.param.Elem))
	s.touched()
}

// remove takes away what the focus is on: an array item, a required token, an allowance, or the call.
func (s *Screen) remove(r row) tea.Cmd {
	for i := range s.b.needs {
		if strings.HasPrefix(r.id, idNeed(i, "")) {
			s.b.removeNeed(i)
			s.focus = idAddNeed
			return nil
		}
	}
	for i := range s.b.allow {
		if strings.HasPrefix(r.id, idAllowRow(i, "")) {
			s.b.removeAllow(i)
			s.focus = idAllow
			return nil
		}
	}
	if s.removeKept(r.id) {
		return nil
	}
	if r.call < 0 {
		return screen.Toast(theme.None, "nothing to remove here")
	}
	if r.node != nil && s.removeItem(r) {
		return nil
	}
	s.focus = idTo(s.b.remove(r.call))
	return nil
}

// removeItem takes an element out of the innermost array that the focused row is in.
func (s *Screen) removeItem(r row) bool {
	c := s.b.calls[r.call]
	var path []int
	walk(c.args, func(p []int, n *node) {
		if n == r.node {
			path = p
		}
	})
	for len(path) > 1 {
		parent := find(c.args, path[:len(path)-1])
		if parent.isArray() {
			at := path[len(path)-1]
			parent.items = slices.Delete(parent.items, at, at+1)
			s.focus = idArg(r.call, path[:len(path)-1])
			return true
		}
		path = path[:len(path)-1]
	}
	return false
}

func (s *Screen) followCalls() {
	s.b.own, s.b.needs = false, nil
	s.focus = idNeeds
}

// review freezes what was typed and hands it over. With a mistake the focus goes to the first one.
func (s *Screen) review() tea.Cmd {
	s.leaveField()
	in, ok := s.freeze()
	if ok {
		s.frozen = in.ID()
		return screen.Open(screen.Review, review.StartArg{Intent: in})
	}
	wrong := s.mistakes()
	for _, r := range s.rows() {
		if wrong[r.id] != "" {
			s.focus = r.id
			return screen.Toast(theme.Warn, kit.Plural(len(wrong), "field needs", "fields need")+" attention: the first one is marked")
		}
	}
	if len(s.general) > 0 {
		return screen.Toast(theme.Warn, s.general[0])
	}
	return nil
}
