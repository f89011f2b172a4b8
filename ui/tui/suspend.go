package tui

import (
	"io"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// suspendMsg asks for the program to be suspended. fromOutside: by a signal, not by a key.
type suspendMsg struct{ fromOutside bool }

// resumedMsg says that the program goes on. stopped is false when there is nobody who could continue a stopped program, so that it was not stopped.
type resumedMsg struct{ stopped bool }

// suspend locks, then gives the terminal back, stops the process, and takes the terminal again once it is continued. The library runs it on the event
// loop, so nothing draws meanwhile.
func (m *Model) suspend(msg suspendMsg) tea.Cmd {
	if m.job == nil {
		return nil
	}
	told := m.broadcast(screen.SuspendedMsg{}) // first, so that a vault that is just being opened is not open afterwards
	if m.opt.Suspended != nil {
		m.opt.Suspended()
	}
	p := &pause{stop: func() bool { return m.job.stop(msg.fromOutside) }}
	return tea.Sequence(told, tea.Exec(p, func(error) tea.Msg { return resumedMsg{p.stopped} }))
}

// resumed draws everything anew: what stands in the terminal now is not known.
func (m *Model) resumed(msg resumedMsg) tea.Cmd {
	if !msg.stopped {
		m.show(screen.ToastMsg{Meaning: theme.Warn, Text: "no shell here could bring Coffer back, so it was locked and not suspended"})
	}
	return tea.Sequence(m.broadcast(screen.ResumedMsg{}), tea.ClearScreen, tea.RequestBackgroundColor)
}

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

// lock wipes the keys from memory now. It is not called in a profile without a vault.
func (m *Model) lock() tea.Cmd {
	m.ctx.Vault.Lock()
	m.show(screen.ToastMsg{Meaning: theme.Good, Text: "locked: the next signature asks for the passphrase"})
	return m.broadcast(screen.LockedMsg{})
}
