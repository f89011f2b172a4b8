// Package job suspends a Bubble Tea program as a shell expects it: on ctrl+z the whole job stops, on SIGTSTP from outside this process alone. The program gives
// the terminal back first and takes it again when it is continued. Not on systems that do not suspend programs: Watch returns nil there.
package job

import (
	"io"

	tea "charm.land/bubbletea/v2"
)

// SuspendMsg asks the event loop for the program to be suspended; what it wants to do first, such as wiping keys, comes before Job.Suspend. FromOutside: by a
// signal, not by a key.
type SuspendMsg struct{ FromOutside bool }

// ResumedMsg says that the program goes on. Stopped is false when there is nobody who could continue a stopped program, so that it was not stopped.
type ResumedMsg struct{ Stopped bool }

// Suspend gives the terminal back, stops the process, takes the terminal again once it is continued, and answers with a ResumedMsg. The library runs it on the
// event loop, so nothing draws meanwhile.
func (j *Job) Suspend(msg SuspendMsg) tea.Cmd {
	p := &pause{stop: func() bool { return j.stop(msg.FromOutside) }}
	return tea.Exec(p, func(error) tea.Msg { return ResumedMsg{p.stopped} })
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
