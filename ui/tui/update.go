package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/config"
	"coffer/ui/tui/internal/job"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

const (
	toastTime   = 4 * time.Second
	toastLong   = 8 * time.Second
	toastOwn    = 300 * time.Millisecond // an older remark stays with its screen when another one opens
	quitTime    = toastLong              // the answer counts while the question is shown
	shortestNap = 250 * time.Millisecond // at most four drawings a second by time alone
)

// Update handles one message and schedules the next wake-up.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	before := m.seen()
	cmd := m.handle(msg)
	if id := m.seen(); id != before && id != "" {
		cmd = tea.Batch(cmd, m.screens[id].Update(screen.ShownMsg{}))
	}
	return m, tea.Batch(cmd, m.nap())
}

// seen is the screen that is on the terminal; empty: something of the shell is over it.
func (m *Model) seen() screen.ID {
	if m.help.open || m.naming.open || m.palette.IsOpen() || m.tooSmall() {
		return ""
	}
	return m.activeID()
}

func (m *Model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		w, h := m.body()
		return m.broadcast(screen.ResizedMsg{W: w, H: h})
	case tea.ColorProfileMsg:
		if !m.opt.NoColor {
			m.profile = msg.Profile
		}
		m.retheme()
	case tea.BackgroundColorMsg:
		m.ground, m.blank = theme.OnLight, false
		if msg.IsDark() {
			m.ground = theme.OnDark
		}
		m.retheme()
	case patienceMsg:
		m.blank = false
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.PasteMsg:
		return m.paste(msg)
	case tea.MouseMsg:
		return m.mouse(msg)
	case job.SuspendMsg:
		return m.suspend(msg)
	case job.ResumedMsg:
		return m.resumed(msg)
	case wokeMsg:
		if msg.gen == m.wakeGen {
			m.wakeAt = time.Time{}
		}
	case screen.OpenMsg:
		return m.opened(msg)
	case screen.BackMsg:
		m.back(msg.From)
	case screen.ToastMsg:
		m.show(msg)
	case screen.EndedMsg:
		return m.notify(msg)
	case screen.CopyMsg:
		return m.copyText(msg)
	case screen.SwitchMsg:
		return m.leaveFor(msg)
	case leaveMsg:
		return m.leave(msg)
	case config.UI:
		return m.apply(msg)
	case screen.TotalChangedMsg:
		m.total = msg
	case screen.HideMsg:
		return m.hide()
	case screen.NameMsg:
		m.nameIt(msg.Address)
	case namedMsg:
		return m.named(msg)
	default:
		return m.broadcast(msg)
	}
	return nil
}

func (m *Model) broadcast(msg tea.Msg) tea.Cmd {
	cmds := make([]tea.Cmd, 0, len(m.order))
	for _, id := range m.order {
		if cmd := m.screens[id].Update(msg); cmd != nil {
			cmds = append(cmds, cmd)
		}
	}
	return tea.Batch(cmds...)
}

// hide hides or shows amounts, on every screen.
func (m *Model) hide() tea.Cmd {
	m.hidden = !m.hidden
	text := "amounts are shown"
	if m.hidden {
		text = "amounts are hidden; " + m.shellKey("hide-amounts") + " shows them. A review always shows its amounts"
	}
	m.show(screen.ToastMsg{Text: text})
	return m.broadcast(screen.AmountsMsg{Hidden: m.hidden})
}

func (m *Model) opened(msg screen.OpenMsg) tea.Cmd {
	if m.screens[msg.Screen] == nil {
		m.warn("this program has no screen for that")
		return nil
	}
	if of := m.foreign(msg.Arg); of != "" {
		m.warn("this is of account " + of + ": switch to it first, " + m.shellKey("switch-account"))
		return nil
	}
	if m.toast.refusal || m.toast.Meaning == theme.None && m.ctx.Clock().Sub(m.toast.since) >= toastOwn {
		m.toast = toast{} // it belonged to the screen that is left
	}
	m.open(msg.Screen)
	return m.screens[msg.Screen].Update(screen.OpenedMsg{Arg: msg.Arg})
}

func (m *Model) show(t screen.ToastMsg) {
	d := toastTime
	if t.Meaning == theme.Danger || t.Meaning == theme.Warn {
		d = toastLong
	}
	now := m.ctx.Clock()
	m.toast = toast{ToastMsg: t, since: now, until: now.Add(d)}
}

// warn shows a remark of the shell itself.
func (m *Model) warn(text string) { m.show(screen.ToastMsg{Meaning: theme.Warn, Text: text}) }

// refuse says why a key does nothing here.
func (m *Model) refuse(why string) {
	m.warn(why)
	m.toast.refusal = true
}

func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	switch {
	case m.help.open, m.tooSmall():
		return nil
	case m.naming.open:
		return m.pressNaming(msg)
	case m.palette.IsOpen():
		m.palette.Update(msg)
		return nil
	}
	return m.hand(msg)
}

// nap schedules one wake-up for the next moment at which time alone changes the screen.
func (m *Model) nap() tea.Cmd {
	now := m.ctx.Clock()
	next := soonest(m.ageChanges(now), m.toast.until.Sub(now))
	if s, ok := m.active().(screen.Waker); ok {
		next = soonest(next, s.Wake(now))
	}
	if next <= 0 {
		return nil
	}
	next = max(next, shortestNap)
	at := now.Add(next)
	if !m.wakeAt.IsZero() && !m.wakeAt.After(at) && m.wakeAt.After(now) {
		return nil
	}
	m.wakeAt = at
	m.wakeGen++
	gen := m.wakeGen
	return tea.Tick(next, func(time.Time) tea.Msg { return wokeMsg{gen} })
}

// soonest is the smaller of two waits; a wait that is not positive does not count.
func soonest(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}
