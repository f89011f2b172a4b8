package tui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// shellKeys work on every screen unless a text field or a dialog has the keyboard.
func (m *Model) shellKeys() []kit.Key {
	keys := make([]kit.Key, 0, len(m.tabs)+4)
	for _, id := range m.tabs {
		keys = append(keys, kit.NewKey(m.screens[id].Title(), number(id)))
	}
	keys = append(keys,
		kit.NewKey("all keys of this screen; f1 also while typing", "?", "f1"),
		kit.NewKey("hide or show amounts", "h"),
		kit.NewKey("go to or do", ":", "ctrl+p"))
	keys = append(keys, m.lockKeys()...)
	return append(keys, kit.NewKey("quit", "q", "ctrl+c"))
}

func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if m.ctx.Vault.Touch != nil {
		m.ctx.Vault.Touch()
	}
	switch {
	case key == "ctrl+c":
		return m.quit()
	case key == "ctrl+z":
		return m.suspend(suspendMsg{})
	case m.tooSmall():
		if key == "q" {
			return m.quit()
		}
		return nil
	case m.help.open:
		m.help.press(key)
		return nil
	case m.palette.IsOpen():
		return m.choose(msg)
	case key == "f1":
		m.help.show(m)
		return nil
	case m.active().Capturing():
		return m.active().Update(msg)
	}
	if k, ok := kit.FindKey(m.active().Keys(), key); ok {
		if k.Off != "" {
			m.show(screen.ToastMsg{Meaning: theme.Warn, Text: k.Off})
			return nil
		}
		return m.active().Update(msg)
	}
	switch key {
	case "q":
		return m.quit()
	case "?":
		m.help.show(m)
		return nil
	case "h":
		return m.hide()
	case "L":
		return m.lock()
	case ":", "ctrl+p":
		m.palette.Open(m.paletteItems(), "")
		return nil
	}
	for _, id := range m.tabs {
		if key == number(id) {
			return m.opened(screen.OpenMsg{Screen: id})
		}
	}
	return m.active().Update(msg)
}

// number is the key of a tab. It is the same whether or not other tabs are there.
func number(id screen.ID) string { return strconv.Itoa(slices.Index(screen.Tabs(), id) + 1) }

// quit ends the program; with something unfinished only when asked twice.
func (m *Model) quit() tea.Cmd {
	now := m.ctx.Clock()
	for _, id := range m.order {
		k, ok := m.screens[id].(screen.Keeper)
		if !ok || k.KeepOpen() == "" {
			continue
		}
		if now.Sub(m.quitAsk) < quitTime {
			break
		}
		m.quitAsk = now
		m.show(screen.ToastMsg{Meaning: theme.Warn, Text: k.KeepOpen() + "; press again to quit"})
		return nil
	}
	return tea.Quit
}

const (
	paletteOpen  = "open "
	palettePress = "press "
)

// paletteItems lists the screens and what the active screen can do.
func (m *Model) paletteItems() []kit.Item {
	var items []kit.Item
	for _, id := range m.tabs {
		items = append(items, kit.Item{Value: paletteOpen + string(id), Label: "open " + m.screens[id].Title(), Note: number(id)})
	}
	for _, k := range m.active().Keys() {
		items = append(items, kit.Item{Value: palettePress + k.Press[0], Label: k.Words(), Note: k.Name(m.theme), Off: k.Off})
	}
	if _, own := kit.FindKey(m.active().Keys(), "h"); !own {
		items = append(items, kit.Item{Value: palettePress + "h", Label: "hide or show amounts", Note: "h"})
	}
	if m.ctx.Vault.Lock != nil {
		items = append(items, kit.Item{Value: palettePress + "L", Label: "lock the keys now", Note: "L"})
	}
	return append(items,
		kit.Item{Value: palettePress + "?", Label: "all keys of this screen", Note: "?"},
		kit.Item{Value: palettePress + "q", Label: "quit", Note: "q"})
}

func (m *Model) choose(msg tea.Msg) tea.Cmd {
	it, ok := m.palette.Update(msg)
	if !ok {
		return nil
	}
	if id, ok := strings.CutPrefix(it.Value, paletteOpen); ok {
		return m.opened(screen.OpenMsg{Screen: screen.ID(id)})
	}
	return m.press(keyPress(strings.TrimPrefix(it.Value, palettePress)))
}

// keyPress makes the message of a key from its name.
func keyPress(name string) tea.KeyPressMsg {
	var mod tea.KeyMod
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		mod, name = tea.ModCtrl, rest
	}
	switch name {
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter, Mod: mod}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape, Mod: mod}
	case "tab":
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: mod}
	case "space":
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " ", Mod: mod}
	case "up":
		return tea.KeyPressMsg{Code: tea.KeyUp, Mod: mod}
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown, Mod: mod}
	case "left":
		return tea.KeyPressMsg{Code: tea.KeyLeft, Mod: mod}
	case "right":
		return tea.KeyPressMsg{Code: tea.KeyRight, Mod: mod}
	case "pgup":
		return tea.KeyPressMsg{Code: tea.KeyPgUp, Mod: mod}
	case "pgdown":
		return tea.KeyPressMsg{Code: tea.KeyPgDown, Mod: mod}
	case "home":
		return tea.KeyPressMsg{Code: tea.KeyHome, Mod: mod}
	case "end":
		return tea.KeyPressMsg{Code: tea.KeyEnd, Mod: mod}
	}
	r := []rune(name)
	if mod != 0 {
		return tea.KeyPressMsg{Code: r[0], Mod: mod}
	}
	return tea.KeyPressMsg{Code: r[0], Text: name}
}
