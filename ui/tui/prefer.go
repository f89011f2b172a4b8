package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"coffer/config"
	"coffer/ui/tui/internal/term"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// apply adopts new choices of the person at run time, such as those that the settings have just saved.
func (m *Model) apply(ui config.UI) tea.Cmd {
	before := m.opt.UI
	m.opt.UI = ui
	m.look = term.Look(ui)
	m.mouseOn = ui.MouseOn(m.opt.remote())
	m.keys = newKeymap(ui.Keys)
	m.retheme()
	m.checkKeys()
	if ui.HideAmounts != before.HideAmounts && ui.HideAmounts != m.hidden {
		return m.hide()
	}
	return nil
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
