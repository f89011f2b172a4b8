//go:build !unix

package tui

import tea "charm.land/bubbletea/v2"

// job is empty: this system does not suspend programs.
type job struct{}

func watchJob(*tea.Program, func()) *job { return nil }

func (*job) end() {}

func (*job) stop(bool) bool { return false }
