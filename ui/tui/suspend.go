package tui

import (
	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/internal/job"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// suspend locks, then suspends the program.
func (m *Model) suspend(msg job.SuspendMsg) tea.Cmd {
	if m.job == nil {
		return nil
	}
	told := m.broadcast(screen.SuspendedMsg{}) // first, so that a vault that is being opened does not end up open
	if m.opt.Suspended != nil {
		m.opt.Suspended()
	}
	return tea.Sequence(told, m.job.Suspend(msg))
}

// resumed draws everything anew: the content of the terminal is unknown now.
func (m *Model) resumed(msg job.ResumedMsg) tea.Cmd {
	if !msg.Stopped {
		m.warn("no shell here could bring Coffer back, so it was locked and not suspended")
	}
	return tea.Sequence(m.broadcast(screen.ResumedMsg{}), tea.ClearScreen, tea.RequestBackgroundColor)
}

// lock wipes the keys from memory now. A profile without a vault never calls it.
func (m *Model) lock() tea.Cmd {
	m.ctx.Vault.Lock()
	m.show(screen.ToastMsg{Meaning: theme.Good, Text: "locked: the next signature asks for the passphrase"})
	return m.broadcast(screen.LockedMsg{})
}
