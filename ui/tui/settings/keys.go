package settings

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/config"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// shellOwner comes before the dot in the names of actions that work on every screen.
const shellOwner = "shell"

// ActionsOf lists the actions of one screen's keys. owner is its id, or "shell"; a key that signs, confirms or moves is
// listed as fixed.
func ActionsOf(owner, title string, keys []kit.Key) []Action {
	var out []Action
	for _, k := range keys {
		if len(k.Press) == 0 {
			continue
		}
		a := Action{Name: owner + "." + k.ActionName(), Screen: title, Words: k.Words(), Key: k.Press[0]}
		switch {
		case k.Careful:
			a.Fixed = "it signs or confirms, and keeps its key"
		case slices.Contains(config.FixedKeys(), k.Press[0]):
			a.Fixed = "this key has a fixed meaning"
		}
		if !slices.ContainsFunc(out, func(b Action) bool { return b.Name == a.Name }) {
			out = append(out, a)
		}
	}
	return out
}

// Collect lists the actions of the shell's and the screens' keys, in the order of the tabs. It asks the screens when
// the list opens.
func Collect(screens map[screen.ID]screen.Screen) func() []Action {
	return func() []Action {
		out := ShellActions()
		for _, id := range append(screen.Tabs(), screen.Overlays()...) {
			if s := screens[id]; s != nil {
				out = append(out, ActionsOf(string(id), s.Title(), s.Keys())...)
			}
		}
		return out
	}
}

// ShellActions lists the actions of the shell, the same as docs/configuration.md.
func ShellActions() []Action {
	var out []Action
	for _, a := range [][3]string{
		{"help", "?", "all keys of this screen"}, {"palette", ":", "go to or do"},
		{"hide-amounts", "h", "hide or show amounts"}, {"settings", ",", "settings"},
		{"wire", "W", "what went over the wire"}, {"mouse", "M", "mouse on or off"}, {"theme", "T", "next theme"},
		{"lock", "L", "lock the keys now"}, {"quit", "q", "quit"},
	} {
		out = append(out, Action{Name: shellOwner + "." + a[0], Screen: "everywhere", Words: a[2], Key: a[1]})
	}
	return out
}

func (m *Model) openKeys() {
	if m.deps.Actions != nil {
		m.actions = m.deps.Actions()
	}
	for _, name := range slices.Sorted(maps.Keys(m.ui.Keys)) { // of a state that no screen has now
		if !slices.ContainsFunc(m.actions, func(a Action) bool { return a.Name == name }) {
			owner, words, _ := strings.Cut(name, ".")
			m.actions = append(m.actions, Action{Name: name, Screen: owner, Words: words})
		}
	}
	m.page, m.wrong = pageKeys, ""
	m.sel[pageKeys] = 0
	m.filter.Set("")
	m.narrow()
}

// narrow applies the filter.
func (m *Model) narrow() {
	m.rows = m.rows[:0]
	want := strings.ToLower(m.filter.Value())
	for i, a := range m.actions {
		if want == "" || strings.Contains(strings.ToLower(a.Name+" "+a.Screen+" "+a.Words), want) {
			m.rows = append(m.rows, i)
		}
	}
	m.sel[pageKeys] = max(0, min(m.sel[pageKeys], len(m.rows)-1))
	m.text.Move(-1 << 20)
	m.reveal()
}

// key is the present key of an action.
func (m *Model) key(a Action) string { return cmp.Or(m.ui.Keys[a.Name], a.Key) }

func (m *Model) selected() (Action, bool) {
	if at := m.sel[pageKeys]; at < len(m.rows) {
		return m.actions[m.rows[at]], true
	}
	return Action{}, false
}

func (m *Model) pressKeys(key string) tea.Cmd {
	a, ok := m.selected()
	switch {
	case key == "/":
		m.typing = true
		m.filter.Focus()
	case !ok:
	case key == "enter" && a.Fixed != "":
		return screen.Toast(theme.Warn, a.Fixed)
	case key == "enter" && (m.deps.Save == nil || m.saving):
		return screen.Toast(theme.Warn, "nothing can be written just now")
	case key == "enter":
		m.waiting, m.wrong = true, ""
	case key == "x" && m.ui.Keys[a.Name] != "" && !m.saving && m.deps.Save != nil:
		ui := m.ui
		ui.Keys = maps.Clone(ui.Keys)
		delete(ui.Keys, a.Name)
		if other := m.holder(ui, a, a.Key); other != "" {
			m.wrong = a.Key + " is the key of " + other + ": give that one its own back first"
			return nil
		}
		return m.save(ui, "")
	}
	return nil
}

func (m *Model) pressFilter(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "enter":
		m.typing = false
		m.filter.Blur()
		return nil
	case "esc":
		m.typing = false
		m.filter.Blur()
		m.filter.Set("")
		m.narrow()
		return nil
	}
	if m.filter.Update(msg) {
		m.narrow()
	}
	return nil
}

// bind binds the pressed key to the selected action, unless another action has it.
func (m *Model) bind(pressed string) tea.Cmd {
	a, ok := m.selected()
	if !ok || pressed == "esc" {
		m.waiting = false
		return nil
	}
	if pressed == m.key(a) {
		m.waiting = false
		return nil
	}
	ui := m.ui
	ui.Keys = maps.Clone(ui.Keys)
	if ui.Keys == nil {
		ui.Keys = map[string]string{}
	}
	ui.Keys[a.Name] = pressed
	if pressed == a.Key {
		delete(ui.Keys, a.Name)
	}
	if err := config.CheckUI(ui); err != nil {
		m.wrong = pressed + ": " + fieldProblem(err) + ". Press another, or esc"
		return nil
	}
	if other := m.holder(ui, a, pressed); other != "" {
		m.wrong = pressed + " is the key of " + other + " already. Press another, or esc"
		return nil
	}
	m.waiting = false
	return m.save(ui, "")
}

// holder names the action that has a key under the choices, on the same screen or on every screen.
func (m *Model) holder(ui config.UI, of Action, key string) string {
	owner, _, _ := strings.Cut(of.Name, ".")
	for _, a := range m.actions {
		other, _, _ := strings.Cut(a.Name, ".")
		if a.Name == of.Name || other != owner && other != shellOwner && owner != shellOwner {
			continue
		}
		if cmp.Or(ui.Keys[a.Name], a.Key) == key {
			return a.Words + " (" + a.Screen + ")"
		}
	}
	return ""
}

func (m *Model) keysKeys() []kit.Key {
	a, ok := m.selected()
	return []kit.Key{
		kit.NewKey("give it another key", "enter").Named("rebind").OffWhen(!ok, "nothing is selected"),
		kit.NewKey("its own key back", "x").Named("unbind").OffWhen(!ok ||
			m.ui.Keys[a.Name] == "", "this action has the key that it comes with"),
		kit.NewKey("filter", "/"), kit.NewKey("back", "esc"),
	}
}
