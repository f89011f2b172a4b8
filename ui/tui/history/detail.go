package history

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/compose"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// mask says how figures are written now.
func (m *Model) mask(th theme.Theme) mask { return kit.Shown(th, m.hidden) }

// stillMsg says that a time has passed since a move of the selection.
type stillMsg struct{ move int }

// moved notes the newly selected record. Its details are shown once the selection holds still, so that a held key does
// not draw the details of every record that it passes.
func (m *Model) moved() tea.Cmd {
	m.touched = true
	m.remember()
	m.moves++
	m.still = false
	return m.later(stillFor, stillMsg{m.moves})
}

// showDetails shows the details of the selected record. Those of another record start at their top.
func (m *Model) showDetails() {
	if m.detailed == nil || m.chosen == nil || m.detailed.id != m.chosen.id {
		m.pane.Set(nil)
	}
	m.detailed, m.still = m.chosen, true
	m.detailTop, _ = m.table.Window()
}

// beside is the body of the details beside the list. Until new details are shown, the old ones move with the rows below
// the list's titles: lines that move as a whole are scrolled by the terminal and not drawn again.
func (m *Model) beside(w int) string {
	top, _ := m.table.Window()
	body := m.pane.View(w)
	if top == m.detailTop {
		return body
	}
	lines := strings.Split(body, "\n")
	moved := make([]string, len(lines))
	for i := range moved {
		switch from := i + top - m.detailTop; {
		case i == 0:
			moved[i] = lines[0]
		case from > 0 && from < len(lines):
			moved[i] = lines[from]
		}
	}
	return strings.Join(moved, "\n")
}

// detailLines is everything about the record whose details are shown, in lines of at most w cells.
func (m *Model) detailLines(th theme.Theme, now time.Time, w int) []string {
	if m.detailed == nil || w < 20 {
		return nil
	}
	m.fields = m.fieldsOf(th, m.detailed, now, w-gutter)
	var out []string
	for i, f := range m.fields {
		for k, l := range f.lines {
			switch {
			case !m.inside || i != m.field:
				out = append(out, "  "+l)
			case k == 0:
				out = append(out, th.Selected.Over(th.Accent.Render(th.Signs.Cursor)+" "+kit.Fit(l, w-gutter)))
			default:
				out = append(out, th.Selected.Over("  "+kit.Fit(l, w-gutter)))
			}
		}
	}
	return out
}

// enter gives the details the keyboard.
func (m *Model) enter() {
	m.details, m.inside, m.touched, m.field = true, true, true, -1
	m.resize(m.w, m.h)
	m.table.Select(m.table.Selected())
	m.showDetails()
	m.layFields()
	m.nextField(1)
}

// layFields computes the fields for keys that come before the next drawing.
func (m *Model) layFields() {
	m.pane.Keep(m.detailLines(m.theme, m.ctx.Clock(), m.paneW()))
}

// paneW is the width of the details.
func (m *Model) paneW() int {
	if w := m.panes(); len(w) > 1 {
		return w[1]
	}
	return m.w - 2
}

// nextField moves to the next field that can be copied.
func (m *Model) nextField(step int) {
	for i := m.field + step; i >= 0 && i < len(m.fields); i += step {
		if m.fields[i].copy != "" {
			m.field = i
			break
		}
	}
	m.showField()
}

// showField scrolls the selected field into view.
func (m *Model) showField() {
	if m.field < 0 || m.field >= len(m.fields) {
		return
	}
	from := 0
	for _, f := range m.fields[:m.field] {
		from += len(f.lines)
	}
	to := from + len(m.fields[m.field].lines)
	if over := to - m.pane.Top() - m.paneH; over > 0 {
		m.pane.Move(over)
	}
	if from < m.pane.Top() {
		m.pane.Move(from - m.pane.Top())
	}
	if m.field == m.firstField() {
		m.pane.Move(-m.pane.Top()) // what is above it cannot be selected
	}
}

func (m *Model) firstField() int {
	return slices.IndexFunc(m.fields, func(f field) bool { return f.copy != "" })
}

// pressInside handles a key while the details have the keyboard.
func (m *Model) pressInside(key string) tea.Cmd {
	m.layFields()
	switch key {
	case "up", "k":
		m.nextField(-1)
	case "down", "j":
		m.nextField(1)
	case "g", "home":
		m.field = -1
		m.nextField(1)
	case "G", "end":
		m.field = len(m.fields)
		m.nextField(-1)
	case "J":
		m.pane.Move(1)
	case "K":
		m.pane.Move(-1)
	case "pgdown", "pgup", "space":
		m.pane.Press(key)
	case "esc", "left", "enter", "tab", "shift+tab":
		m.inside = false
	case "y":
		return m.copyField()
	case "p":
		return m.printReceipt()
	case screen.NameKey:
		return m.ctx.Name(m.payee())
	}
	return nil
}

// payee is the address in the selected field of the details; else whom the selected record paid, and of a record that
// this wallet did not sign its recipient. None of the person's own accounts is one.
func (m *Model) payee() string {
	w := compose.World{Accounts: m.ctx.Accounts}
	if m.inside && m.field >= 0 && m.field < len(m.fields) {
		if a := w.Nameable(m.fields[m.field].copy); a != "" && !w.Own(a) {
			return a
		}
	}
	if m.chosen == nil {
		return ""
	}
	to := w.Nameable(cmp.Or(m.ctx.Payee(m.chosen.id), address(m.chosen.recipient.Value())))
	if w.Own(to) {
		return ""
	}
	return to
}

func (m *Model) copyField() tea.Cmd {
	if m.field < 0 || m.field >= len(m.fields) {
		return nil
	}
	f := m.fields[m.field]
	if f.money && m.hidden {
		return screen.Toast(theme.Warn, "amounts are hidden; h shows them")
	}
	return screen.Copy(f.name, f.copy)
}
