package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/api/network"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// View draws the whole terminal.
func (m *Model) View() tea.View {
	v := tea.View{AltScreen: true, WindowTitle: "coffer " + kit.Clean(m.ctx.Profile, 40) + " (" + badgeText(m.ctx.Network.Kind) + ")"}
	content, x, y, ok := kit.TakeCursor(m.content())
	if ok && !m.help.open {
		v.Cursor = tea.NewCursor(x, y)
		v.Cursor.Blink = false
	}
	if m.theme.ASCII {
		content = foldASCII(content, m.theme.Signs.More)
	}
	v.SetContent(content)
	return v
}

func (m *Model) content() string {
	if m.w == 0 || m.h == 0 {
		return "" // the size is not known yet
	}
	if m.tooSmall() {
		return m.smallView()
	}
	w, h := m.body()
	now := m.ctx.Clock()
	body := kit.Box(m.active().View(screen.Frame{W: w, H: h, Theme: m.theme, Now: now}), w, h)
	switch {
	case m.help.open:
		body = m.help.view(m.theme, body, w, h)
	case m.palette.IsOpen():
		body, _, _, _ = kit.TakeCursor(body)
		pw := min(w-4, 60)
		body = kit.Over(body, m.palette.View(m.theme, pw, h-2), pw, w, 1)
	}
	rule := m.theme.Rule.Render(kit.Rule(m.theme.Signs.Rule, w))
	return kit.Lines(m.headLine(w), m.tabLine(w), rule, body, m.toastLine(rule, w), m.keyLine(w))
}

func (m *Model) smallView() string {
	lines := []string{
		"This window is too small.",
		fmt.Sprintf("It has %d×%d cells, coffer needs %d×%d.", m.w, m.h, MinWidth, MinHeight),
		"Make it larger: nothing is lost.",
		"q quit",
	}
	return kit.Box(strings.Join(lines[:min(len(lines), max(1, m.h))], "\n"), m.w, m.h)
}

func badgeText(k network.Kind) string {
	switch k {
	case network.Embedded:
		return "EMBEDDED"
	case network.Lab:
		return "LAB"
	}
	return "REAL"
}

// badge is loud for everything that is not known to be play money.
func (m *Model) badge() string {
	switch m.ctx.Network.Kind {
	case network.Embedded:
		return m.theme.BadgeEmbedded.Render(" EMBEDDED ")
	case network.Lab:
		return m.theme.BadgeLab.Render(" LAB ")
	}
	return m.theme.BadgeReal.Render(" ! REAL ! ")
}

func (m *Model) headLine(w int) string {
	th := m.theme
	left := " " + th.Strong.Render("coffer") + " " + m.badge() + " " + kit.Clean(m.ctx.Profile, 24)
	right := m.totalText() + " "
	if len(m.ctx.Accounts) > 0 {
		address := m.ctx.Accounts[0].AccountAddress
		full, short := kit.Address(address), kit.ShortID(kit.Checksummed(address), th.Signs.More)
		room := w - kit.Width(left) - kit.Width(right) - 4
		switch {
		case room >= kit.Width(full):
			left += "  " + th.Dim.Render(full)
		case room >= kit.Width(short):
			left += "  " + th.Dim.Render(short)
		}
	}
	return kit.Sides(left, right, w)
}

// totalText is the total and its age; the age is marked when the last reading failed.
func (m *Model) totalText() string {
	th, t := m.theme, m.total
	if t.At.IsZero() {
		if t.Stale {
			return th.Mark(theme.Warn) + " no data yet"
		}
		return th.Dim.Render("reading balances")
	}
	total := th.Strong.Render(kit.USD(t.Micro))
	if m.hidden {
		total = kit.Masked(th)
	}
	age := th.Dim.Render(kit.FitRight(kit.Age(m.ctx.Clock(), t.At), 10))
	if t.Stale {
		return total + "  " + th.Mark(theme.Warn) + " " + th.Warn.Render(kit.Age(m.ctx.Clock(), t.At))
	}
	return total + age
}

// tabLine shows where one is. In a narrow terminal the hints on the right go first, then the names of the other tabs.
func (m *Model) tabLine(w int) string {
	th := m.theme
	help := th.Accent.Render("?") + th.Dim.Render(" help ")
	hints := []string{help, ""}
	if _, ok := kit.FindKey(m.active().Keys(), "/"); ok {
		hints = append([]string{th.Accent.Render("/") + th.Dim.Render(" filter  ") + help}, hints...)
	}
	for _, named := range []bool{true, false} {
		left := m.tabNames(named)
		for _, right := range hints {
			if kit.Width(left)+kit.Width(right) < w {
				return kit.Sides(left, right, w)
			}
		}
	}
	return kit.Fit(m.tabNames(false), w)
}

// tabNames writes the tabs and what is open on top; the names of inactive tabs only when named.
func (m *Model) tabNames(named bool) string {
	th := m.theme
	var b strings.Builder
	for _, id := range m.tabs {
		name := number(id) + " " + m.screens[id].Title()
		switch {
		case id == m.tab:
			b.WriteString(th.Accent.And(th.Strong).Render(th.Signs.Cursor + name))
			for _, over := range m.over[m.tab] {
				b.WriteString(" " + th.Dim.Render(th.Signs.Cursor) + " " + th.Strong.Render(m.screens[over].Title()))
			}
		case named:
			b.WriteString(" " + th.Dim.Render(name))
		default:
			b.WriteString(" " + th.Dim.Render(number(id)))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// toastLine is the lower rule, or the toast in its place: nothing moves when one appears.
func (m *Model) toastLine(rule string, w int) string {
	if m.toast.Text == "" || !m.ctx.Clock().Before(m.toast.until) {
		return rule
	}
	th := m.theme
	mark := ""
	if m.toast.Meaning != theme.None {
		mark = th.Mark(m.toast.Meaning) + " "
	}
	text := " " + mark + th.Style(m.toast.Meaning).Render(kit.Clean(m.toast.Text, 400))
	return kit.Fit(text, w)
}

func (m *Model) keyLine(w int) string {
	switch {
	case m.help.open:
		return kit.KeyLine(m.theme, []kit.Key{kit.NewKey("close help", "esc"), kit.NewKey("scroll", "up", "down")}, w)
	case m.palette.IsOpen():
		return kit.KeyLine(m.theme, []kit.Key{kit.NewKey("do it", "enter"), kit.NewKey("choose", "up", "down"), kit.NewKey("leave", "esc")}, w)
	}
	return kit.KeyLine(m.theme, m.active().Keys(), w)
}

// foldASCII replaces what is left of other characters, such as names that a service sent, by one ? a cell. The mark of a cut keeps its meaning.
func foldASCII(s, more string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r == '…':
			b.WriteString(more)
		default:
			b.WriteString(strings.Repeat("?", kit.Width(string(r))))
		}
	}
	return b.String()
}
