package tui

import (
	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// wheelLines is how far one step of the wheel moves.
const wheelLines = 3

// careful reports whether only the keyboard presses a key of the active screen, because it signs or confirms. On a
// review that covers the key that signs and the key that ends typing, whatever the screen says of them.
func (m *Model) careful(k kit.Key) bool {
	return k.Careful || m.activeID() == screen.Review && (k.Match("y") || m.active().Capturing() && k.Match("enter"))
}

// mouse handles the mouse. A click never signs and never confirms.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	if !m.mouseOn || m.tooSmall() || m.w == 0 {
		return nil
	}
	at := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		m.touch()
		return m.wheel(at.Button)
	case tea.MouseClickMsg:
		if at.Button != tea.MouseLeft {
			return nil
		}
		m.touch()
		return m.click(at.X, at.Y)
	}
	return nil
}

// wheel moves the part with the keyboard focus, through its own keys.
func (m *Model) wheel(b tea.MouseButton) tea.Cmd {
	name := "down"
	switch b {
	case tea.MouseWheelUp:
		name = "up"
	case tea.MouseWheelDown:
	default:
		return nil
	}
	var cmds []tea.Cmd
	for range wheelLines {
		switch {
		case m.help.open:
			m.help.press(name)
		case m.naming.open:
		case m.palette.IsOpen():
			m.palette.Update(kit.Press(name))
		default:
			cmds = append(cmds, m.hand(kit.Press(name)))
		}
	}
	return tea.Batch(cmds...)
}

func (m *Model) click(x, y int) tea.Cmd {
	w, h := m.body()
	switch {
	case y == m.h-1:
		return m.clickKeys(x)
	case m.help.open, m.naming.open:
		return nil
	case m.palette.IsOpen():
		return m.choose(m.palette.ClickOver(x, y-chromeTop, w, h))
	case y == 0:
		if _, at, n := m.head(w); x >= at && x < at+n && len(m.choices()) > 0 {
			return m.openAccounts()
		}
		return nil
	case y == 1:
		return m.clickTabs(x, w)
	case y >= chromeTop && y < chromeTop+h:
		return m.hand(screen.ClickMsg{X: x, Y: y - chromeTop})
	}
	return nil
}

// clickKeys presses the key at x in the key line.
func (m *Model) clickKeys(x int) tea.Cmd {
	keys, to := m.lineKeys()
	for _, s := range kit.KeySpots(m.theme, keys, m.w, m.helpKey()) {
		if x < s.X || x >= s.X+s.W {
			continue
		}
		if s.Key < 0 {
			return m.run("help")
		}
		return m.clickKey(keys[s.Key], to)
	}
	return nil
}

func (m *Model) clickKey(k kit.Key, to back) tea.Cmd {
	if len(k.Press) == 0 {
		return nil
	}
	msg := kit.Press(k.Press[0])
	switch {
	case m.help.open:
		m.help.press(k.Press[0])
		return nil
	case m.naming.open:
		return m.pressNaming(msg)
	case m.palette.IsOpen():
		return m.choose(m.palette.Update(msg))
	case k.Off == "" && m.careful(original(k, to)):
		m.warn("a click never signs: press " + k.Name(m.theme) +
			" on the keyboard")
		return nil
	}
	return m.pressScreen(k, k.Press[0], msg, to)
}

// original is the key under the names that its screen knows.
func original(k kit.Key, to back) kit.Key {
	press := make([]string, 0, len(k.Press)+1)
	for _, p := range k.Press {
		if orig, ok := to[p]; ok {
			p = orig
		}
		press = append(press, p)
	}
	k.Press = press
	return k
}

// clickTabs opens the tab at x, or presses the hint there. A screen on top of a tab that takes typing, such as a
// passphrase, stays in front.
func (m *Model) clickTabs(x, w int) tea.Cmd {
	line := m.tabLayout(w)
	for _, s := range line.spots {
		if x < s.x || x >= s.x+s.w {
			continue
		}
		if s.hint == "" {
			if len(m.over[m.tab]) > 0 && m.active().Capturing() {
				m.warn("leave what you are typing first: esc")
				return nil
			}
			return m.opened(screen.OpenMsg{Screen: s.tab})
		}
		if s.hint == hintHelp || s.hint == hintPalette {
			return m.run(s.hint)
		}
		keys, to := m.screenKeys()
		if k, ok := kit.FindKey(keys, s.hint); ok {
			return m.clickKey(k, to)
		}
	}
	return nil
}

func (m *Model) mouseKey() kit.Key {
	k := kit.NewKey("mouse on", "M").Named("mouse").Explain("mouse on: clicks and the wheel work here")
	if m.mouseOn {
		k.Label, k.More = "mouse off", "mouse off: the terminal selects text again"
	}
	return k
}

// switchMouse turns the mouse on or off while the program runs.
func (m *Model) switchMouse() tea.Cmd {
	m.mouseOn = !m.mouseOn
	text := "the mouse is off: select text as in any program; " + m.shellKey("mouse") + " turns it on"
	if m.mouseOn {
		text = "the mouse is on; most terminals select text while shift is held"
	}
	m.show(screen.ToastMsg{Text: text})
	return nil
}
