package tui

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api/network"
	"coffer/ui/present"
	"coffer/ui/tui/internal/term"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// View draws the whole terminal.
func (m *Model) View() tea.View {
	title := "coffer " + present.Clean(m.ctx.Profile, 40) + " (" + present.KindWord(m.ctx.Network.Kind) + ")"
	v := term.View(m.theme, title, m.content(), !m.help.open)
	if m.mouseOn && !m.tooSmall() {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

func (m *Model) content() string {
	if m.w == 0 || m.h == 0 || m.blank {
		return "" // the size is unknown yet, or the background
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
	case m.naming.open:
		body, _, _, _ = kit.TakeCursor(body)
		body = m.naming.view(m.theme, m.ctx.Contacts.Whose, body, w, h)
	case m.palette.IsOpen():
		body = m.palette.Over(m.theme, body, w, h)
	}
	rule := m.theme.Rule.Render(kit.Rule(m.theme.Signs.Rule, w))
	last := rule
	if toast := m.toastLines(w); len(toast) > 0 {
		above := len(toast) - 1
		last = toast[above]
		body = kit.Overlay(body, strings.Join(toast[:above], "\n"), 0, h-above)
	}
	return kit.Lines(m.headLine(w), kit.Fit(m.tabLayout(w).b.String(), w), rule, body, last, m.keyLine(w))
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

// badge is loud for everything that is not certainly play money.
func (m *Model) badge() string {
	switch m.ctx.Network.Kind {
	case network.Embedded:
		return m.theme.BadgeEmbedded.Render(" EMBEDDED ")
	case network.Lab:
		return m.theme.BadgeLab.Render(" LAB ")
	case network.Test:
		return m.theme.BadgeTest.Render(" ! TEST ! ")
	}
	return m.theme.BadgeReal.Render(" ! REAL ! ")
}

func (m *Model) headLine(w int) string {
	line, _, _ := m.head(w)
	return line
}

// head is the first line, and the place of the account in it. A name of the account never goes: with several accounts
// it says which one is used.
func (m *Model) head(w int) (line string, at, width int) {
	th := m.theme
	left := " " + th.Strong.Render("coffer") + " " + m.badge() + " "
	if m.opt.Replay {
		left += th.BadgeLab.Render(" REPLAY ") + " "
	}
	profile := present.Clean(m.ctx.Profile, 24)
	right := m.totalText() + " "
	room := w - present.Width(left+profile) - present.Width(right) - 4
	who := m.who(nameW + 4)
	for _, facts := range m.facts() {
		about := who
		switch {
		case who == "":
			about = th.Dim.Render(facts)
		case facts != "":
			about += "  " + th.Dim.Render(facts)
		}
		if present.Width(about) <= room {
			return kit.Sides(left+profile+"  "+about, right, w), present.Width(left+profile) + 2, present.Width(about)
		}
	}
	if who == "" {
		return kit.Sides(left+profile, right, w), 0, 0
	}
	if room < nameW/2 { // the name of the account before that of the profile
		room += present.Width(profile) + 2
		profile = ""
	} else {
		profile += "  "
	}
	who = m.who(room)
	return kit.Sides(left+profile+who, right, w), present.Width(left + profile), present.Width(who)
}

// facts describe the account and the way to the service in few words, the fullest first.
func (m *Model) facts() []string {
	host, some := m.via()
	if len(m.ctx.Accounts) == 0 {
		return []string{host, some, ""}
	}
	address := m.ctx.Accounts[0].AccountAddress
	full, short := present.Address(address), present.ShortID(present.Checksummed(address))
	if host == "" {
		return []string{full, short, ""}
	}
	return []string{full + "  " + host, short + "  " + host, short + "  " + some, some, ""}
}

// via describes the proxy between the program and the service, with and without its host. It shows no user name or
// password of the proxy's address.
func (m *Model) via() (host, some string) {
	proxy := m.ctx.Settings.Proxy
	if proxy == "" {
		return "", ""
	}
	if u, err := url.Parse(proxy); err == nil && u.Host != "" {
		proxy = u.Host
	} else if at := strings.LastIndexByte(proxy, '@'); at >= 0 {
		proxy = proxy[at+1:]
	}
	return "via proxy " + present.Clean(proxy, 40), "via proxy"
}

// ageChanges is the time until the text of the total's age changes; 0: never by time alone.
func (m *Model) ageChanges(now time.Time) time.Duration {
	if m.total.Stale {
		return kit.AgeChanges(now, m.total.At)
	}
	return kit.DataAgeChanges(now, m.total.At)
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
	total := th.Strong.Render(present.USD(t.Micro))
	switch {
	case m.hidden:
		total = kit.Masked(th)
	case t.Scrambled:
		total = th.Say(theme.Warn, "scrambled") + " " + total
	}
	age := th.Dim.Render(kit.FitRight(kit.DataAge(m.ctx.Clock(), t.At), 10))
	if t.Stale {
		return total + "  " + th.Say(theme.Warn, kit.Age(m.ctx.Clock(), t.At))
	}
	return total + age
}

// toastMost is the maximum number of lines of a toast.
const toastMost = 4

// toastLines is the toast. Its last line takes the place of the lower rule, so that nothing moves when a toast appears;
// the others cover the end of the body. Over a review it has one line, so that it never covers the figures to decide
// on.
func (m *Model) toastLines(w int) []string {
	if m.toast.Text == "" || !m.ctx.Clock().Before(m.toast.until) {
		return nil
	}
	th := m.theme
	style, text := th.Style(m.toast.Meaning), present.Clean(m.toast.Text, 400)
	one := style.Render(text)
	spans := []kit.Span{style.Span(text)}
	if m.toast.Meaning != theme.None {
		one = th.Mark(m.toast.Meaning) + " " + one
		spans = append([]kit.Span{style.Span(th.Sign(m.toast.Meaning) + " ")}, spans...)
	}
	if present.Width(one)+1 < w {
		return []string{kit.Fit(" "+one, w)}
	}
	lines := kit.Prose(w-1, 1, spans...)
	switch {
	case m.activeID() == screen.Review && len(lines) > 1:
		return []string{kit.Fit(lines[0], w-2) + th.Signs.More + " "}
	case len(lines) > toastMost:
		lines = append(lines[:toastMost-1], kit.Fit(lines[toastMost-1], w-2)+th.Signs.More)
	}
	for i := range lines {
		lines[i] = kit.Fit(lines[i], w)
	}
	return lines
}

func (m *Model) keyLine(w int) string {
	keys, _ := m.lineKeys()
	return kit.KeyLine(m.theme, keys, w, m.helpKey())
}

// helpKey is the key that lists all keys now, "" while a panel of the shell has the keyboard. While a screen has the
// keyboard, a key that is text types.
func (m *Model) helpKey() string {
	switch {
	case m.help.open || m.naming.open || m.palette.IsOpen():
		return ""
	case m.active().Capturing():
		return kit.HelpTyping
	}
	return m.shellKey("help")
}

// lineKeys are the keys of the last line, and the map back to the screen's own keys.
func (m *Model) lineKeys() ([]kit.Key, back) {
	switch {
	case m.help.open:
		return []kit.Key{kit.NewKey("close help", "esc"), kit.NewKey("names of the keys", "n"),
			kit.NewKey(m.help.other(), "t"), {Press: []string{"down", "up"},
				Show: m.theme.Signs.Up + "/" + m.theme.Signs.Down, Label: "scroll"}}, nil
	case m.naming.open:
		return m.namingKeys(), nil
	case m.palette.IsOpen():
		return []kit.Key{kit.NewKey("do it", "enter"), {Press: []string{"down", "up"},
			Show: m.theme.Signs.Up + "/" + m.theme.Signs.Down, Label: "choose"}, kit.NewKey("leave", "esc")}, nil
	}
	return m.screenKeys()
}
