//go:build !unix

package setup

import tea "charm.land/bubbletea/v2"

// job is this process as the shell above it sees it; here nothing suspends programs.
type job struct{}

func watchJob(*tea.Program) *job { return nil }

func (*job) end() {}

func (*job) stop(bool) bool { return false }
