// Package job suspends a Bubble Tea program the way a shell expects: on ctrl+z the whole job stops, on SIGTSTP from
// outside only this process. The program gives the terminal back first and takes it again when it is continued. On
// systems that do not suspend programs, Watch returns nil.
package job

import (
	"io"

	tea "charm.land/bubbletea/v2"
)

// SuspendMsg asks the event loop to suspend the program; the loop calls Job.Suspend after its own work, such as wiping
// keys. FromOutside: by a signal, not by a key.
type SuspendMsg struct{ FromOutside bool }

// ResumedMsg says that the program runs again. Stopped is false when no process could continue a stopped program, so
// that it did not stop.
type ResumedMsg struct{ Stopped bool }

// Suspend gives the terminal back, stops the process, takes the terminal again once it is continued, and answers with a
// ResumedMsg. The library runs it on the event loop, so nothing draws meanwhile.
func (j *Job) Suspend(msg SuspendMsg) tea.Cmd {
	p := &pause{stop: func() bool { return j.stop(msg.FromOutside) }}
	return tea.Exec(p, func(error) tea.Msg { return ResumedMsg{p.stopped} })
}

// pause fills the place of a program that takes over the terminal, for the library.
type pause struct {
	stop    func() bool
	stopped bool
}

// Run stops the process and returns once it is continued.
func (p *pause) Run() error { p.stopped = p.stop(); return nil }

// SetStdin does nothing: nothing reads while the process is stopped.
func (*pause) SetStdin(io.Reader) {}

// SetStdout does nothing.
func (*pause) SetStdout(io.Writer) {}

// SetStderr does nothing.
func (*pause) SetStderr(io.Writer) {}
