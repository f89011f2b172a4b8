package settings

import (
	"errors"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"coffer/config"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

const labelW = 14

// View draws the body.
func (m *Model) View(f screen.Frame) string {
	m.look = f.Theme
	lines, _, _ := m.lines(f.Theme, f.W)
	body := m.text.Body(f.Theme, lines, f.W, f.H)
	if m.choice.IsOpen() {
		body = m.choice.Over(f.Theme, body, f.W, f.H)
	}
	return kit.Box(body, f.W, f.H)
}

// layout lays out the text and returns the first and last line of the selected row.
func (m *Model) layout() (from, to int) {
	lines, from, to := m.lines(theme.New(true, colorprofile.NoTTY, false), m.w)
	m.text.Fill(lines, m.h)
	return from, to
}

// reveal scrolls the selected row into view.
func (m *Model) reveal() {
	if m.h == 0 || m.page == pageDoctor {
		return
	}
	from, to := m.layout()
	if m.sel[m.page] == 0 {
		from = 0
	}
	m.text.Reveal(from, to)
}

// lines is the whole text, and the first and last line of the selected row.
func (m *Model) lines(th theme.Theme, w int) (lines []string, from, to int) {
	m.starts = m.starts[:0]
	switch m.page {
	case pageKeys:
		return m.keyLines(th, w)
	case pageDoctor:
		return m.doctorLines(th, w), 0, 0
	}
	lines = []string{kit.Sides("  "+th.Strong.Render("Settings"), th.Dim.Render(present.Clean(m.deps.Config, 200)+" "),
		w),
		""}
	for i, it := range m.items() {
		selected := i == m.sel[pageMain]
		m.starts = append(m.starts, len(lines))
		if selected {
			from = len(lines)
		}
		lines = append(lines, m.itemLines(th, it, selected, w)...)
		if selected {
			to = len(lines)
		}
	}
	for _, s := range m.sections(th) {
		lines = append(lines, "", "  "+th.Strong.Render(s.title))
		for _, f := range s.facts {
			lines = append(lines, kit.Row(th, w-1, 4, labelW, f.label, f.spans...)...)
		}
	}
	return lines, from, to
}

func (m *Model) itemLines(th theme.Theme, it item, selected bool, w int) []string {
	mark, style := "  ", th.Text
	if selected {
		mark, style = th.Accent.Render(th.Signs.Cursor)+" ", th.Strong
	}
	if it.id == idDust && m.editing {
		line := "  " + mark + th.Accent.Render(kit.Fit(it.label, labelW)) + "$ " + m.field.Text(th, 18)
		out := []string{line}
		return append(out, m.wrongLines(th, w)...)
	}
	text := it.shown
	if it.note != "" {
		text += th.Dim.Render(" (" + it.note + ")")
	}
	out := []string{kit.Fit("  "+mark+th.Dim.Render(kit.Fit(it.label, labelW))+style.Render(it.shown)+
		strings.TrimPrefix(text, it.shown), w)}
	if selected {
		out = append(out, m.wrongLines(th, w)...)
	}
	return out
}

func (m *Model) wrongLines(th theme.Theme, w int) []string {
	if m.wrong == "" {
		return nil
	}
	return kit.Prose(w-1, 4+labelW, kit.Marked(th, theme.Danger, m.wrong)...)
}

// keyLines lists the actions of the keys.
func (m *Model) keyLines(th theme.Theme, w int) (lines []string, from, to int) {
	right := present.Plural(len(m.rows), "action", "actions") + " "
	lines = append(lines, kit.Sides("  "+th.Strong.Render("What keys do"), th.Dim.Render(right), w))
	if m.typing || m.filter.Value() != "" {
		lines = append(lines, "  "+th.Dim.Render(kit.FilterPrefix)+m.filter.Text(th, max(10, w-6)))
	} else {
		lines = append(lines, "")
	}
	screenName := ""
	for at, i := range m.rows {
		a := m.actions[i]
		if a.Screen != screenName {
			screenName = a.Screen
			lines = append(lines, "  "+th.Dim.Render(present.Clean(a.Screen, 40)))
		}
		selected := at == m.sel[pageKeys]
		m.starts = append(m.starts, len(lines))
		if selected {
			from = len(lines)
		}
		lines = append(lines, m.actionLine(th, a, selected, w))
		if selected {
			lines = append(lines, m.wrongLines(th, w)...)
			to = len(lines)
		}
	}
	if len(m.rows) == 0 {
		lines = append(lines, "  nothing matches")
	}
	return lines, from, to
}

func (m *Model) actionLine(th theme.Theme, a Action, selected bool, w int) string {
	const keyW = 12
	own := m.ui.Keys[a.Name]
	key := kit.Key{Press: []string{m.key(a)}}.Name(th)
	words := present.Clean(a.Words, 200)
	note := present.Clean(a.Name, 80)
	switch {
	case selected && m.waiting:
		key, words = "…", "press the new key, or esc"
	case own != "" && a.Key != "":
		words += " (comes with " + a.Key + ")"
	case a.Fixed != "":
		words += " (fixed)"
	}
	mark, style := "  ", th.Accent
	if selected {
		mark = th.Accent.Render(th.Signs.Cursor) + " "
	}
	if a.Fixed != "" {
		style = th.Dim
	}
	if own != "" {
		key += " " + th.Signs.Good
	}
	left := "  " + mark + style.Render(kit.Fit(key, keyW)) + words
	if present.Width(left)+present.Width(note)+3 > w {
		return kit.Fit(left, w)
	}
	return kit.Sides(left, th.Dim.Render(note+" "), w)
}

// fieldProblem describes what is wrong with an entry, without the place in the file.
func fieldProblem(err error) string {
	var broken *config.Error
	if errors.As(err, &broken) {
		return present.Clean(broken.Problem, 300)
	}
	return problem(err)
}
