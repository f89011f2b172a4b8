package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/screen"
)

// leaveMsg asks again to leave, after everything was saved; to is nil for the end of the program.
type leaveMsg struct {
	to    *screen.SwitchMsg
	asked time.Time
}

// quit ends the program; with unfinished work that cannot be saved only on the second request.
func (m *Model) quit() tea.Cmd {
	if save := m.saveFirst(nil); save != nil {
		return save
	}
	if !m.mayLeave("press again to quit") {
		return nil
	}
	return tea.Quit
}

// leaveFor ends the screens for another profile or for a set-up; with unfinished work that cannot be saved only on the
// second request.
func (m *Model) leaveFor(msg screen.SwitchMsg) tea.Cmd {
	if m.opt.Switch == nil {
		m.warn(m.opt.noSwitch())
		return nil
	}
	again, followed := "do it again to leave", []screen.ID(nil)
	if msg.Account != "" {
		if k, ok := m.screens[screen.Review].(screen.Keeper); ok && k.KeepOpen() != "" {
			m.saving = false
			m.warn(k.KeepOpen() + ": finish or leave it first")
			return nil
		}
		again, followed = "do it again to switch", []screen.ID{screen.Activity}
	}
	if save := m.saveFirst(&msg); save != nil {
		return save
	}
	if !m.mayLeave(again, followed...) {
		return nil
	}
	m.leaveView()
	if msg.Account != "" && m.opt.View != nil && m.opt.View.out != nil {
		m.opt.View.out.stay()
	}
	m.opt.Switch(msg)
	return tea.Quit
}

// saveFirst saves what the screens can save and then asks again with what comes next; nil when nothing is unsaved. A
// second request does not wait for a save that hangs.
func (m *Model) saveFirst(to *screen.SwitchMsg) tea.Cmd {
	if asked := m.quitWhy != nil && m.ctx.Clock().Sub(m.quitAsk) < quitTime; m.saving || asked {
		m.saving = false
		return nil
	}
	var saves []tea.Cmd
	for _, id := range m.order {
		if s, ok := m.screens[id].(screen.Saver); ok {
			if save := s.Save(); save != nil {
				saves = append(saves, save)
			}
		}
	}
	if len(saves) == 0 {
		return nil
	}
	m.saving = true
	return tea.Sequence(append(saves, screen.Send(leaveMsg{to, m.ctx.Clock()}))...)
}

// leave takes up a request to leave that waited for a save, unless that took so long that it is forgotten.
func (m *Model) leave(msg leaveMsg) tea.Cmd {
	if m.saving = m.ctx.Clock().Sub(msg.asked) < quitTime; !m.saving {
		return nil
	}
	if msg.to != nil {
		return m.leaveFor(*msg.to)
	}
	return m.quit()
}

const noSwitch = "this program shows one profile: quit, and start it with --profile"

func (o Options) noSwitch() string { return cmp.Or(o.NoSwitch, noSwitch) }

// mayLeave reports whether nothing is unfinished, or the person saw all of it a moment ago. Several screens may have
// unfinished work: one question names all of it and remembers what it named, so that two presses are enough. The work
// of the screens in but goes on.
func (m *Model) mayLeave(again string, but ...screen.ID) bool {
	now := m.ctx.Clock()
	if now.Sub(m.quitAsk) >= quitTime {
		m.quitWhy = nil
	}
	var all, untold []string
	for _, id := range m.order {
		k, ok := m.screens[id].(screen.Keeper)
		if !ok || slices.Contains(but, id) || k.KeepOpen() == "" {
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
