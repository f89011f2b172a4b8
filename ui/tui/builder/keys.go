package builder

import (
	"coffer/ui/compose"
	"coffer/ui/tui/kit"
)

// Keys lists the keys that work now.
func (s *Screen) Keys() []kit.Key {
	switch {
	case s.prompt.open:
		return []kit.Key{kit.NewKey("go on", "enter"), kit.NewKey("leave", "esc")}
	case s.choice.IsOpen():
		return []kit.Key{kit.NewKey("choose", "enter"), kit.NewKey("up and down", "up", "down"),
			kit.NewKey("leave", "esc")}
	case s.reading():
		return summaryKeys()
	}
	if r := s.current(); r.takesText() {
		return s.textKeys(r)
	}
	keys := []kit.Key{s.enterKey(s.current()), {Press: []string{"r", "ctrl+r"}, Show: "r", Label: "review"}}
	if s.form == formCalls {
		keys = s.callKeys(keys)
	} else {
		x := s.x[s.form]
		keys = append(keys,
			kit.NewKey("max", "m").Explain("take everything that is there").OffWhen(x.Pay == "",
				"choose an asset first").OffWhen(x.Pay != "" &&
				s.Everything(x) == nil, "the balance is not known, so everything is not known either"))
		if s.current().id == compose.IDInterface {
			keys = append(keys, removeKey())
		}
	}
	return append(append(append(keys, s.formKeys()...), s.paneKeys()...), moveKeys()...)
}

// enterKey says what enter does on a row.
func (s *Screen) enterKey(r row) kit.Key {
	label := "choose"
	switch {
	case r.field != nil && s.editing && !r.listed():
		label = "next"
	case r.field != nil && !r.listed():
		label = "edit"
	case r.node != nil && r.node.IsList():
		label = "add item"
	case r.press != nil:
		label = "do it"
	case r.head():
		label = "go on"
	}
	return kit.NewKey(label, "enter").Named("edit-or-choose")
}

// textKeys lists the keys of a row that takes text: none of them is text.
func (s *Screen) textKeys(r row) []kit.Key {
	keys := []kit.Key{
		s.enterKey(r), kit.NewKey("leave field", "esc").Explain(
			"leave the field: single keys work again, also digits, : and ?"),
		kit.NewKey("review", "ctrl+r").Named("review-from-field"),
	}
	if r.field != nil {
		keys = append(keys, kit.NewKey("clear", "ctrl+u").Explain("clear up to the cursor"))
	}
	if r.items != nil {
		keys = append(keys, kit.NewKey("list", "ctrl+k"))
	}
	if r.node != nil && r.node.CanUnits() {
		off := !s.target(r.of).Known && !r.node.Units
		keys = append(keys, kit.NewKey("units", "ctrl+t").OffWhen(off,
			"the target is no known token: its decimals are not known"))
	}
	if s.removable(r) {
		keys = append(keys, kit.NewKey("remove", "ctrl+x").Named("remove-from-field"))
	}
	keys = append(s.ctx.Naming(keys, s.nameable(r)), s.paneKeys()...)
	return append(keys, kit.NewKey("next field", "tab", "down").Hidden(),
		kit.NewKey("field before", "shift+tab", "up").Hidden())
}

func removeKey() kit.Key { return kit.Key{Press: []string{"x", "ctrl+x"}, Show: "x", Label: "remove"} }

// callKeys lists the keys of the form of calls.
func (s *Screen) callKeys(keys []kit.Key) []kit.Key {
	r := s.current()
	if s.b.Empty() {
		keys = append(keys, kit.NewKey("fill in a trial call", "d").OffWhen(!s.hasTrial(),
			"this profile has no trial call"))
	}
	if s.offersAllowance(r) {
		keys = append([]kit.Key{kit.NewKey("move to allow", "a")}, keys...)
	}
	if r.node != nil && r.node.IsList() {
		keys = append(keys, kit.NewKey("add item", "+").Hidden())
	}
	if s.b.Own {
		keys = append(keys, kit.NewKey("follow the calls", "f"))
	}
	return append(keys, kit.NewKey("new call", "n"), removeKey(), kit.NewKey("copy call", "p"),
		kit.NewKey("call up", "K", "shift+up").Hidden(), kit.NewKey("call down", "J", "shift+down").Hidden())
}

// formKeys lists the keys that choose a form and save it.
func (s *Screen) formKeys() []kit.Key {
	var keys []kit.Key
	for _, f := range forms() {
		if f.form != s.form {
			keys = append(keys, kit.NewKey(f.name, f.key).Explain(f.does))
		}
	}
	return append(keys,
		kit.NewKey("open", "o").Explain("open a template, a file, a pasted document or a list of payouts (CSV)"),
		kit.NewKey("save", "s").Explain("save the form as a template"),
		kit.NewKey("export", "e").Explain("write an intent or a Safe batch to a file").OffWhen(s.ctx.Export == nil,
			s.ctx.WhyNoFiles("this program cannot export")),
		kit.NewKey("bring back", "U").Explain("bring back what was cleared, removed or replaced").Hidden(),
		kit.NewKey("clear everything", "X").Hidden())
}

func moveKeys() []kit.Key {
	return []kit.Key{
		kit.NewKey("next field", "tab", "down", "j").Hidden(),
		kit.NewKey("field before", "shift+tab", "up", "k").Hidden(),
		kit.NewKey("page down", "pgdown", "space").Hidden(), kit.NewKey("page up", "pgup").Hidden(),
		kit.NewKey("first field", "g", "home").Hidden(), kit.NewKey("last field", "G", "end").Hidden(),
	}
}

func (s *Screen) offersAllowance(r row) bool {
	if r.of == nil {
		return false
	}
	_, _, name := r.of.Approval(s.target(r.of))
	return name == "approve"
}
