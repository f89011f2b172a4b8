package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"coffer/config"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// apply adopts new choices of the person at run time, such as those that the settings have just saved.
func (m *Model) apply(ui config.UI) tea.Cmd {
	before := m.opt.UI
	m.opt.UI = ui
	m.look = lookOf(ui)
	m.mouseOn = ui.MouseOn(m.opt.remote())
	m.keys = newKeymap(ui.Keys)
	m.retheme()
	m.checkKeys()
	if ui.HideAmounts != before.HideAmounts && ui.HideAmounts != m.hidden {
		return m.hide()
	}
	return nil
}

func lookOf(ui config.UI) theme.Look {
	look := theme.Look{Name: ui.Theme}
	if look.Name == "" {
		look.Name = theme.Auto
	}
	if len(ui.Colors) > 0 {
		look.Colors = make(map[string]string, len(ui.Colors))
		for name, c := range ui.Colors {
			look.Colors[name] = string(c)
		}
	}
	return look
}

// use switches the theme until the program ends.
func (m *Model) use(name string) tea.Cmd {
	m.look.Name = name
	m.retheme()
	m.show(screen.ToastMsg{Text: "theme " + name + ", " + themeNotes(name) +
		"; the configuration names the one for good"})
	return nil
}

func (m *Model) nextTheme() tea.Cmd {
	names := theme.Names()
	return m.use(names[(slices.Index(names, m.look.Name)+1)%len(names)])
}
