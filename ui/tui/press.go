package tui

import (
	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/internal/job"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// press handles a key of the keyboard.
func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	m.touch()
	switch {
	case key == "ctrl+c":
		return m.quit()
	case key == "ctrl+z":
		return m.suspend(job.SuspendMsg{})
	case m.tooSmall():
		if key == "q" {
			return m.quit()
		}
		return nil
	case m.help.open:
		m.help.press(key)
		return nil
	case m.naming.open:
		return m.pressNaming(msg)
	case m.palette.IsOpen():
		return m.choose(m.palette.Update(msg))
	case key == "f1":
		m.help.show(m)
		return nil
	}
	keys, to := m.screenKeys()
	if m.active().Capturing() {
		if orig, ok := to[key]; ok && msg.Text == "" { // text is typed, whatever it is bound to
			return m.pass(msg, orig)
		}
		if list, ok := m.active().(screen.Lister); key == "ctrl+p" && len(m.over[m.tab]) == 0 &&
			(!ok || !list.Listing()) {
			return m.openPalette()
		}
		return m.hand(msg)
	}
	if k, ok := kit.FindKey(keys, key); ok {
		return m.pressScreen(k, key, msg, to)
	}
	for _, k := range m.shellKeys() {
		if k.Match(key) {
			return m.run(k.ActionName())
		}
	}
	orig, bound := to[key]
	if !bound {
		orig = key
	}
	return m.pass(msg, orig)
}

// touch tells the vault that the person is active.
func (m *Model) touch() {
	if m.ctx.Vault.Touch != nil {
		m.ctx.Vault.Touch()
	}
}

// pressScreen presses a key of the active screen, or says why it is off.
func (m *Model) pressScreen(k kit.Key, key string, msg tea.KeyPressMsg, to back) tea.Cmd {
	if k.Off != "" {
		m.refuse(k.Off)
		return nil
	}
	if orig, ok := to[key]; ok {
		return m.pass(msg, orig)
	}
	return m.hand(msg)
}

// pass gives the active screen the key that it knows; "" is a key that the person took away.
func (m *Model) pass(msg tea.KeyPressMsg, orig string) tea.Cmd {
	if orig == "" {
		return nil
	}
	if orig != msg.String() {
		repeated := msg.IsRepeat
		msg = kit.Press(orig)
		msg.IsRepeat = repeated
	}
	return m.hand(msg)
}

// hand passes the person's input to the active screen. A remark that the previous key did nothing is outdated by then.
func (m *Model) hand(msg tea.Msg) tea.Cmd {
	if m.toast.refusal {
		m.toast = toast{}
	}
	return m.active().Update(msg)
}
