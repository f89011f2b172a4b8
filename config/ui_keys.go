package config

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// FixedKeys lists the keys whose meaning the file cannot change: those that move (arrows and vim's), go forward, go
// back, and end the program.
func FixedKeys() []string {
	return []string{
		"up", "down", "left", "right", "j", "k", "g", "G", "pgup", "pgdown", "home", "end", "enter", "tab", "shift+tab",
		"esc", "f1", "ctrl+c", "ctrl+z",
	}
}

// checkKey returns the fault in the name of a key, such as "R", "f4" or "ctrl+k".
func checkKey(name string) string {
	const form = `expected a key such as "R", "f4" or "ctrl+k"`
	if slices.Contains(FixedKeys(), name) {
		return "this key has a fixed meaning; choose another"
	}
	base, mods := name, 0
	for _, mod := range []string{"ctrl+", "alt+", "shift+"} {
		if rest, ok := strings.CutPrefix(base, mod); ok && rest != "" {
			base, mods = rest, mods+1
		}
	}
	r, size := utf8.DecodeRuneInString(base)
	switch {
	case namedKey(base):
		return ""
	case base == "" || size != len(base) || r == utf8.RuneError || !unicode.IsGraphic(r) || unicode.IsSpace(r) ||
		unicode.Is(unicode.M, r):
		return form
	case strings.Contains(name, "shift+"):
		return "write the character that appears, such as \"R\" for shift and r"
	case mods > 0 && (r > unicode.MaxASCII || unicode.IsUpper(r)):
		return form
	}
	return ""
}

// namedKey reports whether s is a key with a name instead of a character.
func namedKey(s string) bool {
	switch s {
	case "space", "backspace", "delete", "insert", "up", "down", "left", "right", "pgup", "pgdown", "home", "end",
		"tab", "enter":
		return true
	}
	n, err := strconv.Atoi(strings.TrimPrefix(s, "f"))
	return err == nil && s == "f"+strconv.Itoa(n) && n >= 1 && n <= 20
}
