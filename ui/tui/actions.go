package tui

import (
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/internal/job"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// action is something that the shell does on every screen.
type action struct {
	kit.Key
	do func() tea.Cmd
}

// actions lists the actions of the shell, in the order of the help. A key of the active screen takes precedence over
// one of the shell.
func (m *Model) actions() []action {
	out := make([]action, 0, len(m.tabs)+10)
	for _, id := range m.tabs {
		out = append(out, action{kit.NewKey(m.screens[id].Title(), number(id)).Named("open-" + string(id)),
			m.opener(id)})
	}
	out = append(out,
		action{kit.NewKey("all keys of this screen", "?",
			"f1").Explain("all keys of this screen; f1 also while typing").Named("help"),
			func() tea.Cmd { m.help.show(m); return nil }},
		action{kit.NewKey("go to or do", ":", "ctrl+p").Named("palette"), m.openPalette},
		action{m.accountKey(), m.openAccounts},
		action{kit.NewKey("hide or show amounts", "h").Named("hide-amounts"), m.hide})
	for _, o := range []struct {
		id    screen.ID
		label string
		key   string
	}{{screen.Settings, "settings", ","}, {screen.Wire, "what went over the wire", "W"}} {
		if m.screens[o.id] != nil {
			out = append(out, action{kit.NewKey(o.label, o.key).Named(string(o.id)), m.opener(o.id)})
		}
	}
	out = append(out,
		action{m.mouseKey(), m.switchMouse},
		action{kit.NewKey("next theme", "T").Named("theme"), m.nextTheme},
		action{kit.NewKey("lock the keys now", "L").Named("lock").OffWhen(m.ctx.Vault.Lock == nil, noVault), m.lock})
	if m.job != nil {
		out = append(out, action{kit.NewKey("lock and suspend",
			"ctrl+z").Explain("lock and suspend; fg in the shell brings it back").Named("suspend"),
			func() tea.Cmd { return m.suspend(job.SuspendMsg{}) }})
	}
	return append(out, action{kit.NewKey("quit", "q", "ctrl+c").Named("quit"), m.quit})
}

const noVault = "the keys of this profile are not kept in a vault: there is nothing to lock"

func (m *Model) opener(id screen.ID) func() tea.Cmd {
	return func() tea.Cmd { return m.opened(screen.OpenMsg{Screen: id}) }
}

// shellKeys are the keys of the shell's actions, as the person has configured them.
func (m *Model) shellKeys() []kit.Key {
	actions := m.actions()
	keys := make([]kit.Key, len(actions))
	for i, a := range actions {
		keys[i] = a.Key
	}
	keys, _ = m.keys.translate(shellOwner, keys)
	return keys
}

// screenKeys are the keys of the active screen as the person has configured them, and the map back to the screen's own
// keys.
func (m *Model) screenKeys() ([]kit.Key, back) {
	return m.keys.translate(string(m.activeID()), m.active().Keys())
}

// shellKey writes the key of one of the shell's actions, such as "?" for "help".
func (m *Model) shellKey(name string) string {
	for _, k := range m.shellKeys() {
		if k.ActionName() == name && len(k.Press) > 0 {
			return kit.Key{Press: k.Press[:1]}.Name(m.theme)
		}
	}
	return ""
}

// run runs one of the shell's actions, or says why it cannot.
func (m *Model) run(name string) tea.Cmd {
	for _, a := range m.actions() {
		if a.ActionName() != name {
			continue
		}
		if a.Off != "" {
			m.refuse(a.Off)
			return nil
		}
		return a.do()
	}
	return nil
}

// number is the key of a tab. It does not depend on which other tabs are present.
func number(id screen.ID) string { return strconv.Itoa(slices.Index(screen.Tabs(), id) + 1) }

// checkKeys checks the configured keys once, at the start, and reports those that are not used.
func (m *Model) checkKeys() {
	if len(m.keys.want) == 0 {
		return
	}
	var names []string
	for _, k := range m.shellKeys() {
		names = append(names, k.ActionName())
	}
	for _, action := range m.keys.unmet(shellOwner) {
		m.keys.refuse(shellOwner, action, "the shell has no such action", nearest(action, names))
	}
	for _, id := range m.order {
		m.checkScreen(id)
	}
	bad := m.keys.problems()
	if len(bad) == 0 {
		return
	}
	text := "[ui.keys] " + bad[0]
	if len(bad) > 1 {
		text = fmt.Sprintf("[ui.keys] has %d mistakes (%s, then n, lists them): %s", len(bad), m.shellKey("help"),
			bad[0])
	}
	m.warn(text)
}

func (m *Model) checkScreen(id screen.ID) {
	keys, _ := m.keys.translate(string(id), m.screens[id].Keys())
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.ActionName()
		for action, key := range m.keys.want[shellOwner] {
			if k.Match(key) {
				m.keys.refuse(shellOwner, action, fmt.Sprintf("on %s, %s is the key of %s", m.screens[id].Title(), key,
					names[i]), "")
			}
		}
	}
	// it may come with another state of the screen, unless it looks like a typo
	for _, action := range m.keys.unmet(string(id)) {
		if near := nearest(action, names); near != "" {
			m.keys.refuse(string(id), action, "there is no such action", near)
		}
	}
}

func (k *keymap) refuse(owner, action, why, near string) {
	if near != "" {
		why += ": is it " + owner + "." + near + "?"
	}
	k.refused[owner+"."+action] = why
}

// problems lists the configured keys that are not used, and why.
func (k *keymap) problems() []string {
	out := make([]string, 0, len(k.refused))
	for name, why := range k.refused {
		out = append(out, name+": "+why)
	}
	slices.Sort(out)
	return out
}
