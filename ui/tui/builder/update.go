package builder

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/api/caip"
	"coffer/ui/compose"
	"coffer/ui/compose/payuri"
	"coffer/ui/present"
	"coffer/ui/tui/activity"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// Update handles one message, and has changes saved.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	cmd := s.handle(msg)
	if save := s.keepUp(); save != nil {
		return tea.Batch(cmd, save)
	}
	return cmd
}

func (s *Screen) handle(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case keptMsg:
		s.restoreKept(m)
	case saveDueMsg:
		return s.saveNow()
	case savedMsg:
		return s.wasSaved(m)
	case activity.TrackMsg:
		s.sent(m.Op)
	case importedMsg:
		return s.imported(m)
	case exportedMsg:
		return s.exported(m)
	case screen.ClickMsg:
		return s.click(m)
	case balancesMsg:
		s.loaded(m)
	case screen.AmountsMsg:
		s.Hidden = m.Hidden
	case screen.ContactsChangedMsg:
		s.Book = m.Book
	case screen.BalancesChangedMsg:
		return s.load()
	case screen.OpenedMsg:
		return tea.Batch(s.load(), s.watch(), s.opened(m.Arg))
	case watchedMsg:
		s.watchOnly = string(m)
	case tea.PasteMsg:
		return s.paste(m)
	case tea.KeyPressMsg:
		if s.prompt.open {
			return s.pressPrompt(m)
		}
		if s.choice.IsOpen() {
			return s.choose(m)
		}
		if m.String() == screen.NameKey {
			return s.ctx.Name(s.nameable(s.current()))
		}
		switch key := m.String(); {
		case s.reading() && key != "r" && key != "ctrl+r":
			s.pressSummary(key)
			return nil
		case s.reading():
			s.pane = 0
			return s.review()
		case key == paneKey:
			s.read()
			return nil
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
	case nil:
		if s.frozen != "" && !s.empty() {
			s.sayReviewed()
		}
	}
	return nil
}

func (s *Screen) sayReviewed() {
	s.note = remark(compose.Warn,
		"you already reviewed this order: look under Activity (3) before you send it again; X empties the form")
}

func (s *Screen) choose(msg tea.Msg) tea.Cmd {
	if it, ok := s.choice.Update(msg); ok {
		return s.chosen(it)
	}
	return nil
}

// chosen takes an item of the open list. If an empty text field that must be filled comes next, it gets the keyboard:
// the next digit is meant for it, not for the shell.
func (s *Screen) chosen(it kit.Item) tea.Cmd {
	if !s.looks {
		s.touched()
	}
	if s.take == nil {
		return nil
	}
	take, value := s.take, it.Value
	if text := s.choice.Text(); it.Typed != "" && text != "" && s.typed != nil {
		take, value = s.typed, text
	}
	cmd := take(value)
	if r := s.current(); r.field != nil && !r.optional && *r.field == "" && !s.choice.IsOpen() &&
		!s.prompt.open {
		s.edit()
	}
	return cmd
}

// nameable is the address in a row that can have a name of the person's; "" for none.
func (s *Screen) nameable(r row) string {
	if !r.address || r.field == nil {
		return ""
	}
	text := *r.field
	if s.editing {
		text = s.editor.Value()
	}
	return s.Nameable(text)
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
	return row{}
}

// step moves the focus by d rows; with edit, a text row gets the keyboard.
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
	for edit && rows[at].head() && at+d >= 0 && at+d < len(rows) {
		at += d // it takes no text and no choice, and further typing would act as keys
	}
	s.focus = rows[at].id
	if edit && rows[at].field != nil {
		s.edit()
	}
}

// edit gives the focused text field the keyboard.
func (s *Screen) edit() {
	if r := s.current(); r.field != nil {
		s.editing, s.editor = true, kit.NewField("", cmp.Or(r.limit, 100))
		s.editor.Empty = r.empty
		s.editor.Set(*r.field)
		s.editor.Focus()
	}
}

func (s *Screen) stopEditing() { s.editing = false }

// leaveField ends the editing of a field: names become addresses, and call data that fits a known function becomes
// fields.
func (s *Screen) leaveField() {
	if !s.editing {
		return
	}
	r := s.current()
	s.stopEditing()
	if r.field == nil {
		return
	}
	before := *r.field
	if r.address {
		a := s.Named(s.b.Chain, before)
		if r.id == compose.IDTarget {
			a = s.Person(before)
		}
		if a != "" {
			*r.field = a
		}
	}
	s.tidyField(r)
	changed := *r.field != before
	if c := r.of; r.function() && c.Raw {
		if data, problem := compose.Bytes(c.Data); problem == "" && len(data) >= 4 && c.TakeData(data, s.target(c)) {
			s.focusOn(c)
			changed = true
		}
	}
	if changed {
		s.changed()
	}
}

// changed updates what depends on a text.
func (s *Screen) changed() {
	s.touched()
	for _, c := range s.b.Calls {
		if !c.Raw {
			c.ReadSignature(s.target(c).Known)
		}
	}
}

// touched drops the service's answer about the previous form.
func (s *Screen) touched() {
	s.fieldErrors, s.general, s.frozen, s.note = nil, nil, "", caution{}
	s.changes++
}

// tidyField brings the text into the form's own notation: max becomes the balance, a symbol behind an amount goes, and
// an account with its chain (CAIP-10) becomes chain and address.
func (s *Screen) tidyField(r row) {
	text := trim(*r.field)
	switch {
	case r.id == compose.IDAmount && strings.EqualFold(text, "max"):
		x := s.x[s.form]
		if from, ok := s.Side(x.Pay); ok {
			if all := s.Everything(x); all != nil {
				x.Amount = compose.Whole(all.String(), from.Decimals)
			}
		}
	case r.id == compose.IDTarget && strings.Count(text, ":") == 2:
		s.tidyTarget(text)
	case r.node != nil && r.node.IsNumber():
		t := s.target(r.of)
		if number, unit := compose.SplitUnit(text); t.Known && unit != "" && strings.EqualFold(unit, t.Token.Symbol) &&
			r.node.CanUnits() {
			r.node.Units = true
			*r.field = number
		}
	}
}

func (s *Screen) tidyTarget(text string) {
	a, err := caip.ParseAccount(text)
	if err != nil {
		return
	}
	x := s.x[s.form]
	to, ok := s.Side(x.Receive)
	if !ok {
		return
	}
	if e, has := s.AssetOn(a.Chain, to.Agg.ID.String()); has {
		x.Receive, x.At = e.Asset.String(), caip.Chain{}
		x.To = present.Checksummed(a.Address)
	}
}

func (s *Screen) paste(m tea.PasteMsg) tea.Cmd {
	if s.prompt.open {
		s.pastePrompt(m.Content)
		return nil
	}
	s.pane = 0
	if payuri.Is(m.Content) {
		return s.takeRequest(m.Content)
	}
	if s.choice.IsOpen() {
		return s.pasteList(m.Content)
	}
	r := s.current()
	document := !s.editing && strings.HasPrefix(trim(m.Content), "[") ||
		!s.editing && strings.HasPrefix(trim(m.Content), "{")
	if r.of != nil && (document || r.function()) {
		if cmd, taken := s.takePaste(r.of, m.Content); taken {
			s.touched()
			s.tidyFocus(r.of)
			return cmd
		}
	}
	if !s.editing && (r.field == nil || document) {
		return screen.Toast(theme.None, "choose a field, then paste; o reads a file or a pasted document")
	}
	s.edit()
	text := trim(m.Content)
	if len(text)+len(*r.field) > compose.MaxText {
		return screen.Toast(theme.Warn, "that is too long for a field; nothing was pasted")
	}
	return s.typeKey(tea.PasteMsg{Content: text}, r)
}

// tidyFocus keeps the focus on the function after a paste replaced it.
func (s *Screen) tidyFocus(c *compose.Call) {
	s.stopEditing()
	if !s.choice.IsOpen() {
		s.focusOn(c)
	}
}
