package accounts

import (
	"github.com/charmbracelet/colorprofile"

	"coffer/config"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// View draws the body.
func (m *Model) View(f screen.Frame) string {
	lines, _, _ := m.lines(f.Theme, f.W)
	fits := m.text.Fill(lines, f.H) == f.H
	body := m.text.View(f.W)
	if !fits {
		body = kit.Lines(body, kit.Fit("  "+f.Theme.Dim.Render(m.text.MoreBy(f.Theme, "space")), f.W))
	}
	for _, open := range []*kit.Choice{m.switching, m.accepting, m.people} {
		if open.IsOpen() {
			body = open.Over(f.Theme, body, f.W, f.H)
		}
	}
	return body
}

// reveal scrolls the selected account into view.
func (m *Model) reveal() {
	if m.h == 0 {
		return
	}
	lines, at, end := m.lines(theme.New(true, colorprofile.NoTTY, false), m.w)
	if m.sel == 0 {
		at = 0
	}
	m.text.Fill(lines, m.h)
	m.text.Reveal(at, end)
}

// The label columns of an account, of a gas tank and of the rest. With the first one an address and its remark fit on
// one line of 80 cells.
const (
	accountW = 10
	tankW    = 18
	labelW   = 12
)

// fact is one line of an account or of the network: a label, its text, and a remark with a meaning.
type fact struct {
	label string
	spans []kit.Span
}

func plain(label, value string) fact { return fact{label, []kit.Span{kit.Plain(value)}} }

// title names an account: what the person calls it, its kind, and, where there is a choice, which one is in use.
func (m *Model) title(th theme.Theme, mark string, a present.Own) string {
	text := mark + " " + th.Strong.Render(typeWords(a.Type))
	if a.Name != "" {
		text = mark + " " + th.Strong.Render(present.Clean(a.Name, config.MaxAccountName)) + "  " +
			th.Dim.Render(typeWords(a.Type))
	}
	if a.Used && a.IsEVM() && len(present.Choices(m.own)) > 0 {
		text += "  " + th.Good.Render("in use "+th.Signs.Good)
	}
	return text
}

// lines is the whole text, and the first and last line of the selected account.
func (m *Model) lines(th theme.Theme, w int) (lines []string, at, end int) {
	write := func(labels int, facts ...fact) {
		for _, x := range facts {
			lines = append(lines, kit.Row(th, w-2, 4, labels, x.label, x.spans...)...)
		}
	}
	lines = append(lines, kit.Sides("  "+th.Strong.Render("Accounts"),
		th.Dim.Render("profile "+present.Clean(m.ctx.Profile, 40)+" "), w), "")
	m.starts = m.starts[:0]
	for i, a := range m.own {
		m.starts = append(m.starts, len(lines))
		mark := " "
		if i == m.sel {
			mark, at = th.Accent.Render(th.Signs.Cursor), len(lines)
		}
		lines = append(lines, m.title(th, mark, a))
		write(accountW, m.account(th, a.Account)...)
		if i == m.sel {
			end = len(lines)
		}
		lines = append(lines, "")
	}
	m.starts = append(m.starts, len(lines))
	if len(m.own) == 0 {
		lines = append(lines, "  This profile has no account yet.", "")
	}
	if m.deps.Tank != nil {
		lines = append(lines, "  "+th.Strong.Render("Gas tank"))
		write(tankW, m.tankFacts(th)...)
		lines = append(lines, "")
	}
	if state := m.lockState(); state != nil {
		lines = append(lines, "  "+th.Strong.Render("Keys"))
		write(labelW, state...)
		lines = append(lines, "")
	}
	lines = append(lines, m.listLines(th, w)...)
	lines = append(lines, m.profileLines(th, w)...)
	lines = append(lines, "  "+th.Strong.Render("Network"))
	write(labelW, plain("kind", kindWords(m.ctx.Network.Kind)), plain("fingerprint", m.ctx.Network.Fingerprint()),
		plain("chains", m.chainNames()), plain("service", m.service()))
	return lines, at, end
}
