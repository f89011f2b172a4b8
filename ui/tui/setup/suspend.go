package setup

import (
	"io"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/theme"
)

// suspendMsg asks for the program to be suspended. fromOutside: by a signal, not by a key.
type suspendMsg struct{ fromOutside bool }

// resumedMsg says that the program goes on. stopped is false when nobody could have continued a stopped program, so that it was not stopped.
type resumedMsg struct{ stopped bool }

// pause stands where the library expects a program that takes over the terminal.
type pause struct {
	stop    func() bool
	stopped bool
}

// Run stops the process and returns once it was continued.
func (p *pause) Run() error { p.stopped = p.stop(); return nil }

// SetStdin is not needed: nothing is read while the process is stopped.
func (*pause) SetStdin(io.Reader) {}

// SetStdout is not needed.
func (*pause) SetStdout(io.Writer) {}

// SetStderr is not needed.
func (*pause) SetStderr(io.Writer) {}

// suspend wipes every secret, then gives the terminal back and stops the process.
func (m *Model) suspend(msg suspendMsg) tea.Cmd {
	had := m.hasSecrets()
	m.wipe()
	switch {
	case m.busy != "" && m.step == stepSummary:
		m.cancel()
	case m.busy != "":
		m.calledOff()
	}
	if had && m.step > stepAPIKey && m.step < stepDone && m.busy == "" {
		m.goTo(stepAPIKey)
		m.note = note{theme.Warn, "the program was suspended, so the API key, the passphrase and the keys were wiped: give them again"}
	}
	if m.job == nil {
		return nil
	}
	p := &pause{stop: func() bool { return m.job.stop(msg.fromOutside) }}
	return tea.Exec(p, func(error) tea.Msg { return resumedMsg{p.stopped} })
}

func (m *Model) hasSecrets() bool {
	for _, s := range m.secrets {
		if !s.Empty() {
			return true
		}
	}
	return len(m.keys) > 0
}

func (m *Model) resumed(msg resumedMsg) tea.Cmd {
	if !msg.stopped {
		m.note = note{theme.Warn, "no shell here could bring the set-up back, so the secrets were wiped and it was not suspended"}
	}
	return tea.ClearScreen
}
