package setup

import "coffer/ui/tui/kit"

// showHelp opens the help over the step.
func (m *Model) showHelp() { m.help, m.terms, m.helped = true, false, kit.Scroll{} }

func (m *Model) pressHelp(key string) {
	switch key {
	case "esc", "?", "f1", "q", "enter":
		m.help = false
	case "t":
		m.terms, m.helped = !m.terms, kit.Scroll{}
	default:
		m.helped.Press(key)
	}
}

// helpKeys are the keys that work while the help is open.
func (m *Model) helpKeys() []kit.Key {
	other := "terms"
	if m.terms {
		other = "keys"
	}
	return []kit.Key{kit.NewKey("close", "esc"), kit.NewKey("scroll", "up", "down"), kit.NewKey(other, "t")}
}

// helpOver draws the help over a body.
func (m *Model) helpOver(body string) string {
	title, lines := "Keys of the set-up", func(w int) (lines []string) {
		for _, k := range allKeys() {
			lines = append(lines, kit.KeyHelp(m.theme, k, w)...)
		}
		return lines
	}
	if m.terms {
		title, lines = "Terms", func(w int) []string { return kit.Terms(m.theme, w) }
	}
	return kit.HelpPanel(m.theme, &m.helped, title, lines, body, m.w, m.h-chrome)
}

func allKeys() []kit.Key {
	return []kit.Key{
		kit.NewKey("choose, press a button, or go to the next row", "enter"),
		kit.NewKey("choose without going on", "space"),
		kit.NewKey("move between rows", "up", "down"),
		kit.NewKey("scroll", "pgup", "pgdown"),
		kit.NewKey("clear the field", "ctrl+u"),
		kit.NewKey("go a step back; what you entered stays", "esc"),
		kit.NewKey("leave; nothing is written", "ctrl+c"),
		kit.NewKey("this help; ? opens it where nothing is typed", "f1"),
		kit.NewKey("here: explain the terms", "t"),
	}
}
