package setup

import (
	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/internal/job"
	"coffer/ui/tui/theme"
)

// suspend wipes every secret, then suspends the program.
func (m *Model) suspend(msg job.SuspendMsg) tea.Cmd {
	had := m.hasSecrets()
	m.wipe()
	switch {
	case m.busy != "" && m.step == stepSummary:
		m.cancel()
	case m.busy != "":
		m.calledOff()
	}
	if had && m.step > m.secretly() && m.step < stepDone && m.busy == "" {
		m.goTo(m.secretly())
		m.note = note{theme.Warn,
			"the program was suspended, so every secret and the keys were wiped: give them again"}
	}
	if m.job == nil {
		return nil
	}
	return m.job.Suspend(msg)
}

func (m *Model) hasSecrets() bool {
	for _, s := range m.secrets {
		if !s.Empty() {
			return true
		}
	}
	return len(m.keys) > 0
}
