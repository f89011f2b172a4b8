package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// The prefixes of a palette line's value.
const (
	paletteOpen    = "open "
	palettePress   = "press " // the screen, a space, the key that the screen knows
	paletteDo      = "do "
	paletteTheme   = "theme "
	paletteProfile = "profile "
)

// recentLines is the number of palette lines that the program remembers while it runs.
const recentLines = 8

func (m *Model) openPalette() tea.Cmd {
	m.palette.Open(m.paletteItems(), "")
	return nil
}

// paletteItems lists the screens, the keys of the active screen, and the actions of the shell; recently used ones come
// first.
func (m *Model) paletteItems() []kit.Item {
	items := m.openItems()
	items = append(items, m.screenItems()...)
	items = append(items, m.shellItems()...)
	items = append(items, m.themeItems()...)
	items = append(items, m.profileItems()...)
	at := make([]int, 0, len(m.recent))
	for _, value := range m.recent {
		if i := slices.IndexFunc(items, func(it kit.Item) bool { return it.Value == value }); i >= 0 {
			at = append(at, i)
		}
	}
	out := make([]kit.Item, 0, len(items))
	for _, i := range at {
		out = append(out, items[i])
	}
	for i, it := range items {
		if !slices.Contains(at, i) {
			out = append(out, it)
		}
	}
	return out
}

func (m *Model) openItems() []kit.Item {
	var items []kit.Item
	for _, id := range m.order {
		name := string(id)
		switch {
		case slices.Contains(m.tabs, id):
			name = "open-" + name
		case id != screen.Settings && id != screen.Wire:
			continue // a review needs a subject to open
		}
		it := kit.Item{Value: paletteOpen + string(id), Label: "open " + m.screens[id].Title(), Note: m.shellKey(name)}
		if id == screen.Wire {
			it.Label += " (what went over the wire)"
		}
		if m.activeID() == id {
			it.Off = "you are there"
		}
		items = append(items, it)
	}
	return items
}

func (m *Model) screenItems() []kit.Item {
	id := m.activeID()
	own := m.active().Keys()
	shown, _ := m.screenKeys()
	items := make([]kit.Item, 0, len(own))
	for i, k := range shown {
		if len(k.Press) == 0 {
			continue
		}
		it := kit.Item{Value: palettePress + string(id) + " " + own[i].Press[0], Label: k.Words(),
			Note: k.Name(m.theme), Off: k.Off}
		if it.Off == "" && m.careful(own[i]) {
			it.Off = "press " + it.Note + " yourself: a list never signs"
		}
		items = append(items, it)
	}
	return items
}

func (m *Model) shellItems() []kit.Item {
	var items []kit.Item
	own := m.active().Keys()
	for _, k := range m.shellKeys() {
		name := k.ActionName()
		if _, shadowed := kit.FindKey(own, k.Press[0]); shadowed && name == "hide-amounts" {
			continue // the screen lists it as its own
		}
		if strings.HasPrefix(name, "open-") || slices.Contains([]string{"palette", string(screen.Settings),
			string(screen.Wire)}, name) {
			continue
		}
		items = append(items, kit.Item{Value: paletteDo + name, Label: k.Label, Note: k.Name(m.theme), Off: k.Off})
	}
	return items
}

func (m *Model) themeItems() []kit.Item {
	var items []kit.Item
	for _, name := range theme.Names() {
		it := kit.Item{Value: paletteTheme + name, Label: "theme " + name, Note: themeNotes(name)}
		if name == m.look.Name {
			it.Off = "this is the theme now"
		}
		items = append(items, it)
	}
	return items
}

func themeNotes(name string) string {
	switch name {
	case theme.Dark:
		return "for a dark background"
	case theme.Light:
		return "for a light background"
	case theme.Contrast:
		return "few colours, strong ones"
	}
	return "as the terminal says"
}

func (m *Model) profileItems() []kit.Item {
	var items []kit.Item
	for _, name := range m.opt.Profiles {
		it := kit.Item{Value: paletteProfile + name, Label: "switch to profile " + present.Clean(name, 40)}
		switch {
		case name == m.ctx.Profile:
			it.Off = "this profile is open"
		case m.opt.Switch == nil:
			it.Off = m.opt.noSwitch()
		}
		items = append(items, it)
	}
	return items
}

// choose runs a line of the palette.
func (m *Model) choose(it kit.Item, chosen bool) tea.Cmd {
	if !chosen {
		return nil
	}
	m.recent = append([]string{it.Value}, slices.DeleteFunc(m.recent, func(v string) bool { return v == it.Value })...)
	m.recent = m.recent[:min(len(m.recent), recentLines)]
	kind, rest, _ := strings.Cut(it.Value, " ")
	switch kind + " " {
	case paletteOpen:
		return m.opened(screen.OpenMsg{Screen: screen.ID(rest)})
	case paletteDo:
		return m.run(rest)
	case paletteTheme:
		return m.use(rest)
	case paletteProfile:
		return m.leaveFor(screen.SwitchMsg{Profile: rest})
	}
	id, key, _ := strings.Cut(rest, " ")
	if screen.ID(id) != m.activeID() { // the screen changed under the list
		return nil
	}
	if k, ok := kit.FindKey(m.active().Keys(), key); !ok || k.Off != "" || m.careful(k) {
		return nil
	}
	return m.hand(kit.Press(key))
}
