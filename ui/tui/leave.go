package tui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/screen"
)

// quit ends the program; with unfinished work only on the second request.
func (m *Model) quit() tea.Cmd {
	if !m.mayLeave("press again to quit") {
		return nil
	}
	return tea.Quit
}

// leaveFor ends the screens for another profile or for a set-up; with unfinished work only on the second request.
func (m *Model) leaveFor(msg screen.SwitchMsg) tea.Cmd {
	if m.opt.Switch == nil {
		m.warn(m.opt.noSwitch())
		return nil
	}
	if !m.mayLeave("do it again to leave") {
		return nil
	}
	m.opt.Switch(msg)
	return tea.Quit
}

const noSwitch = "this program shows one profile: quit, and start it with --profile"

func (o Options) noSwitch() string { return cmp.Or(o.NoSwitch, noSwitch) }

// mayLeave reports whether nothing is unfinished, or the person saw all of it a moment ago. Several screens may have
// unfinished work: one question names all of it and remembers what it named, so that two presses are enough.
func (m *Model) mayLeave(again string) bool {
	now := m.ctx.Clock()
	if now.Sub(m.quitAsk) >= quitTime {
		m.quitWhy = nil
	}
	var all, untold []string
	for _, id := range m.order {
		k, ok := m.screens[id].(screen.Keeper)
		if !ok || k.KeepOpen() == "" {
			continue
		}
		why := k.KeepOpen()
		all = append(all, why)
		if !slices.Contains(m.quitWhy, why) {
			untold = append(untold, why)
		}
	}
	if len(untold) == 0 {
		return true
	}
	m.quitAsk, m.quitWhy = now, append(m.quitWhy, untold...)
	m.warn(strings.Join(append(all, again), "; "))
	return false
}
