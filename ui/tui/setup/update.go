package setup

import (
	"context"
	"maps"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/internal/job"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

// Update handles one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) { return m, m.handle(msg) }

func (m *Model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.ColorProfileMsg:
		m.colours = msg.Profile
		m.retheme()
	case tea.BackgroundColorMsg:
		if m.ground = theme.OnLight; msg.IsDark() {
			m.ground = theme.OnDark
		}
		m.retheme()
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.PasteMsg:
		m.pasted(msg)
	case job.SuspendMsg:
		return m.suspend(msg)
	case job.ResumedMsg:
		if !msg.Stopped {
			m.note = note{theme.Warn,
				"no shell here could bring the set-up back, so the secrets were wiped and it was not suspended"}
		}
		return tea.ClearScreen
	case namedMsg:
		m.names = msg.names
		if m.value(rowNodes) == "" {
			m.fields[rowNodes].Set(msg.nodes)
		}
	case lookedMsg:
		if msg.path == m.value(rowNetwork) {
			m.looked = msg.looked
		}
	case steppedMsg:
		return m.stepped(msg)
	case foundMsg:
		m.foundAll(msg)
	case madeMsg:
		m.made(msg)
	}
	return nil
}

func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch key {
	case "ctrl+c":
		return m.quit()
	case "ctrl+z":
		return m.suspend(job.SuspendMsg{})
	}
	if m.w > 0 && (m.w < minWidth || m.h < minHeight) {
		return nil
	}
	if m.help {
		m.pressHelp(key)
		return nil
	}
	switch key {
	case "f1":
		m.showHelp()
		return nil
	case "esc":
		return m.back()
	case "pgup", "pgdown":
		m.scroll.Press(key)
		return nil
	}
	if m.busy != "" {
		return nil
	}
	m.leave = time.Time{}
	switch key {
	case "up", "shift+tab":
		return m.move(-1)
	case "down", "tab":
		return m.move(1)
	case "enter":
		return m.enter(msg.IsRepeat)
	case "?":
		if r := m.current(); r.field == nil && r.secret == nil {
			m.showHelp()
			return nil
		}
	}
	m.edit(msg)
	return nil
}

// move gives another row the keyboard.
func (m *Model) move(by int) tea.Cmd {
	m.at[m.step] = max(0, min(m.at[m.step]+by, len(m.rows())-1))
	m.focus()
	m.reveal()
	return m.lookAtNetwork()
}

// enter goes to the next row, makes a choice, or presses a button.
func (m *Model) enter(repeated bool) tea.Cmd {
	r := m.current()
	switch {
	case !m.inSight():
		m.reveal()
		return nil
	case r.off != "":
		m.refuse(r)
		return nil
	case r.button && repeated:
		return nil
	case r.button:
		return m.button(r)
	case r.group != "":
		m.pick(r)
		for m.current().group == r.group && m.at[m.step] < len(m.rows())-1 {
			m.at[m.step]++
		}
		m.focus()
		m.reveal()
		return nil
	}
	return m.move(1)
}

// edit passes a key to the row with the keyboard.
func (m *Model) edit(msg tea.KeyPressMsg) {
	r := m.current()
	delete(m.wrong, r.id)
	switch {
	case r.field != nil:
		r.field.Update(msg)
	case r.secret != nil:
		r.secret.Update(msg)
		secretWords(r)
	case r.group != "" && msg.String() == "space":
		if r.off != "" {
			m.refuse(r)
			return
		}
		m.pick(r)
	}
}

// refuse says why a row cannot be chosen now, and scrolls that into sight.
func (m *Model) refuse(r row) {
	m.note = note{theme.Warn, r.off}
	lines, from, _ := m.lines()
	m.scroll.Fill(lines, m.h-chrome)
	m.scroll.Reveal(from, len(lines))
}

// pasted passes a paste to the row with the keyboard; it presses nothing. A key of several lines, such as a keystore
// file, becomes one line with the same meaning.
func (m *Model) pasted(msg tea.PasteMsg) {
	r := m.current()
	if m.busy != "" || m.help {
		return
	}
	delete(m.wrong, r.id)
	switch {
	case r.id == rowReal:
		m.wrong[rowReal] = "type it; a paste does not count"
	case r.field != nil:
		r.field.Update(msg)
	case r.secret != nil:
		if r.id == rowKeyText && strings.ContainsAny(msg.Content, "\r\n\t") {
			msg.Content = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t",
				" ").Replace(strings.TrimSpace(msg.Content))
		}
		r.secret.Update(msg)
		secretWords(r)
	}
}

// secretWords says what a hidden field that takes no passphrase did not accept.
func secretWords(r row) {
	switch {
	case r.secret.Error == "":
	case r.id == rowKeyText:
		r.secret.Error = "that is too long for here: put it into a file that only you can read, and choose that above"
	case r.id == rowAPIKey:
		r.secret.Error = "that is no API key: it is one short line"
	}
}

// pick makes a choice.
func (m *Model) pick(r row) {
	if m.picks[r.group] == r.value {
		return
	}
	m.picks[r.group], m.note = r.value, note{}
	maps.DeleteFunc(m.wrong, func(id, _ string) bool { return strings.HasPrefix(id, r.group+"=") })
	if r.group == storeGroup {
		m.probed = ""
		if !m.passphrased() {
			m.secrets[rowPass].Wipe()
			m.secrets[rowAgain].Wipe()
		}
	}
	m.focus()
}

// leaveTime is how long the question about leaving is shown.
const leaveTime = 4 * time.Second

// back cancels what is in progress, goes a step back, or leaves. Entered text stays.
func (m *Model) back() tea.Cmd {
	switch {
	case m.busy != "" && m.step == stepSummary:
		m.cancel() // the answer reports the outcome
	case m.busy != "":
		m.calledOff()
		if m.step == stepCheck || m.step == stepFound {
			m.note = note{}
			m.goTo(m.beside(-1))
		}
	case m.step == stepDone:
		return m.quit()
	case m.step > stepName:
		m.note = note{}
		m.goTo(m.beside(-1))
	default:
		now := m.opt.Clock()
		if !m.leave.IsZero() && now.Sub(m.leave) < leaveTime {
			return m.quit()
		}
		m.leave = now
		m.note = note{theme.Warn, "press esc again to leave; nothing is written"}
	}
	return nil
}

// calledOff cancels what is in progress; its answer is dropped.
func (m *Model) calledOff() {
	if m.cancel != nil {
		m.cancel()
	}
	m.gen++
	m.busy = ""
	m.note = note{theme.Warn, "called off"}
}

func (m *Model) quit() tea.Cmd {
	m.stop()
	m.wipe()
	return tea.Quit
}

// begin starts work that takes time; run gets a context that esc cancels, and the generation of its answer.
func (m *Model) begin(what string, run func(ctx context.Context, gen int) tea.Msg) tea.Cmd {
	if m.cancel != nil {
		m.cancel()
	}
	ctx, cancel := context.WithCancel(m.life)
	m.gen++
	m.cancel, m.busy, m.note = cancel, what, note{}
	gen := m.gen
	return func() tea.Msg { defer cancel(); return run(ctx, gen) }
}

// button presses the button of a row.
func (m *Model) button(r row) tea.Cmd {
	m.wrong = map[string]string{}
	switch {
	case r.id == rowAgainCheck && m.step == stepFound:
		return m.tryNodes()
	case r.id == rowAgainCheck:
		return m.check()
	case m.step == stepDone:
		m.result = m.value(rowName)
		return m.quit()
	case m.step == stepSummary:
		return m.write()
	}
	if !m.complete() {
		m.toWrong()
		return nil
	}
	return m.advance()
}

// toWrong moves the keyboard to the first row with an error.
func (m *Model) toWrong() {
	for i, r := range m.rows() {
		if m.wrong[r.id] != "" {
			m.at[m.step] = i
			break
		}
	}
	m.focus()
	m.reveal()
}

// stepped takes the outcome of a step: errors at their rows, or the next step.
func (m *Model) stepped(msg steppedMsg) tea.Cmd {
	if msg.gen != m.gen {
		for _, k := range msg.keys {
			k.Key.Wipe()
		}
		return nil
	}
	m.busy, m.note = "", msg.note
	if msg.take != nil {
		msg.take(m)
	}
	if len(msg.wrong) > 0 || msg.stay {
		m.wrong = msg.wrong
		m.toWrong()
		return nil
	}
	m.goTo(m.beside(1))
	switch m.step {
	case stepCheck:
		return m.check()
	case stepFound:
		return m.tryNodes()
	}
	return nil
}

// keyLine lists the keys that work now.
func (m *Model) keyLine() []kit.Key {
	back := "back"
	if m.step == stepName {
		back = "leave"
	}
	if m.help {
		return m.helpKeys()
	}
	if m.busy != "" {
		return []kit.Key{kit.NewKey("call off", "esc"), kit.NewKey("leave, nothing written", "ctrl+c")}
	}
	if m.step == stepDone {
		return []kit.Key{kit.NewKey("open the dashboard", "enter"), kit.NewKey("leave", "ctrl+c", "esc")}
	}
	r := m.current()
	does := "next"
	switch {
	case r.button:
		does = r.label
	case r.group != "":
		does = "choose"
	}
	help := kit.NewKey("help", "?")
	if r.field != nil || r.secret != nil {
		help = kit.NewKey("help", "f1")
	}
	return []kit.Key{kit.NewKey(does, "enter"), kit.NewKey("move", "up", "down"), kit.NewKey(back, "esc"), help,
		kit.NewKey("leave, nothing written", "ctrl+c")}
}
