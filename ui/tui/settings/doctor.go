package settings

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/doctor"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// openDoctor runs every check of the doctor.
func (m *Model) openDoctor() tea.Cmd {
	if m.deps.Doctor == nil {
		return screen.Toast(theme.Warn, m.noDoctor())
	}
	m.page = pageDoctor
	m.text.Move(-1 << 20)
	return m.ask()
}

// noDoctor says why the doctor cannot run.
func (m *Model) noDoctor() string {
	if m.ctx.NoFiles != "" {
		return "the doctor looks at the machine on which this program runs, and that is not yours"
	}
	return "this program has no doctor"
}

func (m *Model) ask() tea.Cmd {
	m.gen++
	m.asking, m.askedAt = true, m.ctx.Clock()
	gen, life, look, t := m.gen, m.life, m.deps.Doctor, m.terminal()
	return func() tea.Msg { return foundMsg{gen, look(life, t)} }
}

// terminal describes the terminal as far as it is known.
func (m *Model) terminal() doctor.Terminal {
	var t doctor.Terminal
	if m.deps.Getenv != nil {
		t = doctor.TerminalOf(m.deps.Getenv)
	}
	t.ASCII, t.Colors = m.look.ASCII, ColourWords(m.look.Profile)
	if m.w > 0 {
		t.Width, t.Height = m.w, m.h+shellLines
	}
	t.MinW, t.MinH = 60, 20
	return t
}

// shellLines is the number of lines that the shell draws around the body.
const shellLines = 5

func (m *Model) pressDoctor(key string) tea.Cmd {
	switch key {
	case "esc":
		return m.back()
	case "r":
		if !m.asking {
			return m.ask()
		}
	case "y":
		if m.deps.Report == nil || m.found == nil {
			return nil
		}
		return screen.Copy("doctor's report", m.deps.Report(m.found))
	default:
		m.text.Press(key)
	}
	return nil
}

// doctorLines shows the doctor's findings.
func (m *Model) doctorLines(th theme.Theme, w int) []string {
	state := ""
	switch {
	case m.asking:
		state = "looking" + th.Signs.More
	case !m.askedAt.IsZero():
		state = "looked " + kit.Age(m.ctx.Clock(), m.askedAt)
	}
	lines := []string{kit.Sides("  "+th.Strong.Render("Does everything work?"), th.Dim.Render(state+" "), w)}
	if m.found == nil {
		return append(lines, "", "  The service, the keys, the files and the terminal are being looked at.")
	}
	bad, warn, unknown := 0, 0, 0
	for _, f := range m.found {
		switch f.Level {
		case doctor.Bad:
			bad++
		case doctor.Warn:
			warn++
		case doctor.Unknown:
			unknown++
		}
	}
	sum := th.Mark(theme.Good) + " nothing is wrong"
	switch {
	case bad > 0:
		sum = th.Mark(theme.Danger) + " " + present.Plural(bad, "thing is wrong", "things are wrong")
	case warn > 0:
		sum = th.Mark(theme.Warn) + " " + present.Plural(warn, "thing to look at", "things to look at")
	}
	if unknown > 0 {
		sum += ", " + strconv.Itoa(unknown) + " not checked"
	}
	lines = append(lines, "  "+sum)
	area := ""
	for _, f := range m.found {
		if f.Area != area {
			area = f.Area
			lines = append(lines, "", "  "+th.Strong.Render(area))
		}
		meaning := meanings(f.Level)
		lines = append(lines, kit.Row(th, w-1, 4, labelW, f.Name,
			kit.Noted(th, meaning, present.Clean(f.Text, 600))...)...)
		if f.Todo != "" {
			lines = append(lines, kit.Prose(w-1, 6+labelW,
				th.Dim.Span(present.Clean(f.Todo, 600)))...)
		}
	}
	return lines
}

func meanings(l doctor.Level) theme.Meaning {
	switch l {
	case doctor.Good:
		return theme.Good
	case doctor.Warn:
		return theme.Warn
	case doctor.Bad:
		return theme.Danger
	}
	return theme.Unknown
}
