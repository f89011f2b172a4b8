package kit

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Press makes the message of a key from its name in the form of tea.KeyPressMsg.String, as a click on a key and a
// bound key need it.
func Press(name string) tea.KeyPressMsg {
	var mod tea.KeyMod
	for prefix, m := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift} {
		if rest := strings.Replace(name, prefix, "", 1); rest != name && rest != "" {
			mod, name = mod|m, rest
		}
	}
	if code, ok := codesOfKeys()[name]; ok {
		if name == "space" && mod == 0 {
			return tea.KeyPressMsg{Code: code, Text: " "}
		}
		return tea.KeyPressMsg{Code: code, Mod: mod}
	}
	var n rune
	if _, err := fmt.Sscanf(name, "f%d", &n); err == nil && n >= 1 && n <= 20 {
		return tea.KeyPressMsg{Code: tea.KeyF1 + n - 1, Mod: mod}
	}
	r := []rune(name)
	if mod != 0 {
		return tea.KeyPressMsg{Code: r[0], Mod: mod}
	}
	return tea.KeyPressMsg{Code: r[0], Text: name}
}

func codesOfKeys() map[string]rune {
	return map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "space": tea.KeySpace, "up": tea.KeyUp,
		"down": tea.KeyDown,
		"left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome,
		"end":       tea.KeyEnd,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "insert": tea.KeyInsert,
	}
}
