package tui

import (
	"strings"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// tabLine is the second line with its clickable places.
type tabLine struct {
	b     strings.Builder
	used  int
	spots []tabSpot
}

// tabSpot is a tab, or the key of a hint.
type tabSpot struct {
	x, w int
	tab  screen.ID
	hint string
}

// The hints of the shell; any other hint is a key of the screen.
const (
	hintHelp    = "help"
	hintPalette = "palette"
)

func (l *tabLine) write(s theme.Style, text string) {
	s.Write(&l.b, text)
	l.used += present.Width(text)
}

// tabLayout lays out the second line: the tabs and the hints. In a narrow terminal the hints go first, the last one
// before the others because the key line ends with it, then the names of the other tabs.
func (m *Model) tabLayout(w int) *tabLine {
	hints := m.hints()
	for _, named := range []bool{true, false} {
		most := len(hints) // the most hints that may go
		if named && len(m.over[m.tab]) > 0 {
			most-- // the line names the active tab in words: the names of the others go before the first hint
		}
		for skip := range most + 1 {
			l := m.tabNames(named)
			room := w - l.used - 1
			for _, h := range hints[:len(hints)-skip] {
				room -= h.width() + len(hintGap)
			}
			if room < -len(hintGap) || skip == len(hints) && l.used-1 > w {
				continue
			}
			l.fill(room + len(hintGap))
			for i, h := range hints[:len(hints)-skip] {
				if i > 0 {
					l.write(theme.Style{}, hintGap)
				}
				l.spots = append(l.spots, tabSpot{x: l.used, w: h.width(), hint: h.press})
				l.write(m.theme.Accent, h.key)
				l.write(m.theme.Dim, " "+h.label)
			}
			return l
		}
	}
	return m.tabNames(false)
}

const hintGap = "  "

func (l *tabLine) fill(n int) { l.write(theme.Style{}, strings.Repeat(" ", max(0, n))) }

// hint is a key on the right of the tabs, as it is written and as it is pressed.
type hint struct{ key, label, press string }

func (h hint) width() int { return present.Width(h.key) + 1 + present.Width(h.label) }

func (m *Model) hints() []hint {
	if m.active().Capturing() {
		return []hint{{kit.HelpTyping, "help", hintHelp}}
	}
	var out []hint
	if key := m.shellKey("palette"); key != "" {
		out = append(out, hint{key, "act", hintPalette})
	}
	shown, _ := m.screenKeys()
	for i, k := range m.active().Keys() {
		if k.Match("/") {
			key := shown[i]
			out = append(out, hint{kit.Key{Press: key.Press[:1]}.Name(m.theme), "filter", key.Press[0]})
			break
		}
	}
	return append(out, hint{m.shellKey("help"), "help", hintHelp})
}

// tabNames writes the tabs and the screen on top; the names of inactive tabs only when named.
func (m *Model) tabNames(named bool) *tabLine {
	th := m.theme
	l := &tabLine{}
	for _, id := range m.tabs {
		name := number(id) + " " + m.screens[id].Title()
		at := l.used
		switch id {
		case m.tab:
			l.write(th.Accent.And(th.Strong), th.Signs.Cursor+name)
			l.spots = append(l.spots, tabSpot{x: at, w: l.used - at, tab: id})
			for _, over := range m.over[m.tab] {
				l.write(theme.Style{}, " ")
				l.write(th.Dim, th.Signs.Cursor)
				l.write(theme.Style{}, " ")
				l.write(th.Strong, m.screens[over].Title())
			}
		default:
			if !named {
				name = number(id)
			}
			l.write(theme.Style{}, " ")
			l.write(th.Dim, name)
			l.spots = append(l.spots, tabSpot{x: at, w: l.used - at, tab: id})
		}
		l.write(theme.Style{}, " ")
	}
	return l
}
