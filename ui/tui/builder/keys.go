package builder

import "coffer/ui/tui/kit"

// Keys are the keys that work here now.
func (s *Screen) Keys() []kit.Key {
	switch {
	case s.choice.IsOpen():
		return []kit.Key{kit.NewKey("choose", "enter"), kit.NewKey("up and down", "up", "down"), kit.NewKey("leave", "esc")}
	case s.editing:
		keys := []kit.Key{kit.NewKey("next", "tab"), kit.NewKey("back", "shift+tab"), kit.NewKey("stop typing", "esc").Explain("stop typing, then single keys work"), kit.NewKey("clear", "ctrl+u").Explain("clear up to the cursor")}
		if s.current().items != nil {
			keys = append(keys, kit.NewKey("list", "ctrl+k"))
		}
		return keys
	}
	r := s.current()
	keys := []kit.Key{kit.NewKey("edit or choose", "enter"), kit.NewKey("review", "r")}
	if s.b.empty() {
		keys = append(keys, kit.NewKey("fill in a trial call", "d").OffWhen(len(s.deps.Book) == 0, "this profile has no trial call"))
	}
	if s.offersAllowance(r) {
		keys = append([]kit.Key{kit.NewKey("move to allow", "a")}, keys...)
	}
	if r.node != nil && r.node.isArray() {
		keys = append(keys, kit.NewKey("add item", "+"))
	}
	if r.node != nil && r.node.canUnits() {
		keys = append(keys, kit.NewKey("units", "u").OffWhen(s.b.decimals(s.ctx.Catalog, s.b.calls[r.call]) < 0 && !r.node.units, "the target is no known token: its decimals are not known"))
	}
	if s.b.own {
		keys = append(keys, kit.NewKey("follow the calls", "t"))
	}
	return append(keys,
		kit.NewKey("new call", "n"), kit.NewKey("remove", "x"),
		kit.NewKey("copy call", "p"), kit.NewKey("call up", "K", "shift+up").Hidden(), kit.NewKey("call down", "J", "shift+down").Hidden(),
		kit.NewKey("clear everything", "X").Hidden(), kit.NewKey("next field", "tab", "down", "j").Hidden(), kit.NewKey("field before", "shift+tab", "up", "k").Hidden(),
		kit.NewKey("type into the field", "i").Hidden(), kit.NewKey("page down", "pgdown", "space").Hidden(), kit.NewKey("page up", "pgup").Hidden(),
		kit.NewKey("first field", "g", "home").Hidden(), kit.NewKey("last field", "G", "end").Hidden())
}

func (s *Screen) offersAllowance(r row) bool {
	if r.call < 0 {
		return false
	}
	_, _, name := s.b.calls[r.call].approval(s.b.decimals(s.ctx.Catalog, s.b.calls[r.call]))
	return name == "approve"
}
