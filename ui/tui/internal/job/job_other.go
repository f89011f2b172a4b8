//go:build !unix

package job

import tea "charm.land/bubbletea/v2"

// Job is empty: this system does not suspend programs.
type Job struct{}

// Watch returns nil.
func Watch(*tea.Program, func()) *Job { return nil }

// End does nothing.
func (*Job) End() {}

func (*Job) stop(bool) bool { return false }
