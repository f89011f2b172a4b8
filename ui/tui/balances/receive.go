package balances

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/qr"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// receiving is the panel that shows an address, or a payment request to it.
type receiving struct {
	open    bool
	account int        // the account whose address is shown
	asking  *kit.Field // what is asked for, as typed; nil before the first use
	asked   *compose.Asked
}

// chooseAccount starts with the account of the selected line.
func (m *Model) chooseAccount() {
	r, _ := m.current()
	for i, a := range m.ctx.Accounts {
		if r.address != "" && present.Checksummed(a.AccountAddress) == r.address {
			m.receive.account = i
		}
	}
}

// typing reports whether the field of the panel has the keyboard.
func (p *receiving) typing() bool { return p.open && p.asking != nil && p.asking.Focused() }

// startAsking gives the keyboard to the field, with what was typed before.
func (p *receiving) startAsking() {
	if p.asking == nil {
		p.asking = kit.NewField("Ask for", 120)
		p.asking.Empty = "25 usdc on base"
	}
	p.asking.Error = ""
	p.asking.Focus()
}

// turn shows the account n places further on, without a request: that was to the one before.
func (m *Model) turn(n int) {
	all := len(m.ctx.Accounts)
	m.receive.account, m.receive.asked = (m.receive.account+n+all)%all, nil
}

func (m *Model) pressReceive(key string) tea.Cmd {
	p := &m.receive
	switch key {
	case "a":
		p.startAsking()
	case "y":
		if p.asked != nil {
			return screen.Copy("payment request", p.asked.URI)
		}
		return screen.Copy("account address", present.Checksummed(m.ctx.Accounts[p.account].AccountAddress))
	case "right":
		m.turn(1)
	case "left":
		m.turn(-1)
	case "esc", "r", "q", "enter":
		if p.asked != nil && key == "esc" {
			p.asked = nil
			return nil
		}
		p.open, p.asked = false, nil
	}
	return nil
}

// typeAsking handles a key or a paste in the field.
func (m *Model) typeAsking(msg tea.Msg) {
	p := &m.receive
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch key.String() {
		case "enter":
			m.ask()
			return
		case "esc":
			p.asking.Blur()
			return
		}
	}
	if p.asking.Update(msg) {
		p.asking.Error = ""
	}
}

// ask makes the request that was typed, to the account that is shown where that lives on the chain; nothing typed means
// the address alone.
func (m *Model) ask() {
	p := &m.receive
	p.asked = nil
	if strings.TrimSpace(p.asking.Value()) == "" {
		p.asking.Blur()
		return
	}
	accounts := append(slices.Clone(m.ctx.Accounts[p.account:]), m.ctx.Accounts[:p.account]...)
	a, problem := compose.ReadAsking(p.asking.Value())
	if problem == "" {
		var asked compose.Asked
		w := compose.World{Catalog: m.ctx.Catalog, Accounts: accounts, Clock: m.ctx.Clock}
		if asked, problem = w.Ask(m.ctx.Network, accounts, a); problem == "" {
			p.asked = &asked
			p.account = slices.Index(m.ctx.Accounts, asked.Account)
			p.asking.Blur()
			return
		}
	}
	p.asking.Error = problem
}

const (
	receiveGap  = 3
	receiveText = 21 // the narrowest text beside a code: four groups of an address
)

// receiveView shows the whole address, or the request and the address, its code when there is room for one, and what
// may be sent there.
func (m *Model) receiveView(f screen.Frame) string {
	foot := m.askingLines(f.Theme, f.W-3)
	f.H -= len(foot)
	a := m.ctx.Accounts[m.receive.account]
	code, note := m.code(f, a)
	if code == nil {
		if len(foot) > 0 {
			note = ""
		}
		return m.indented(append(tight(m.receiveText(f.Theme, a, f.W-4, note), f.H), foot...))
	}
	room := present.Width(code[0]) + receiveGap
	text := m.receiveText(f.Theme, a, f.W-2-room-1, "")
	out := make([]string, 0, f.H)
	for i := range max(len(code), len(text)) {
		left, beside := strings.Repeat(" ", room-receiveGap), ""
		if i < len(code) {
			left = code[i]
		}
		if i < len(text) {
			beside = text[i]
		}
		out = append(out, left+strings.Repeat(" ", receiveGap)+beside)
	}
	return m.indented(append(out, foot...))
}

// askingLines is the field and its note while it has the keyboard.
func (m *Model) askingLines(th theme.Theme, w int) []string {
	if !m.receive.typing() {
		return nil
	}
	const label = 9
	field := m.receive.asking
	out := []string{"", field.View(th, w, label)}
	if note := field.Note(th, w, label); note != "" {
		out = append(out, note)
	}
	return out
}

func (m *Model) indented(lines []string) string { return "  " + strings.Join(lines, "\n  ") }

// code draws the request or the address with the widest quiet zone that fits beside the text, which is never cut for
// it. Without room it returns nil and the reason.
func (m *Model) code(f screen.Frame, a api.Account) (lines []string, note string) {
	content := present.Checksummed(a.AccountAddress)
	if m.receive.asked != nil {
		content = m.receive.asked.URI
	}
	q, err := qr.New(content)
	if err != nil {
		return nil, "This is too long for a QR code" + instead
	}
	look := f.Theme.QR()
	var wide, high int
	for _, quiet := range []int{4, 2} {
		w, h := q.Room(look, quiet)
		side := f.W - 2 - w - receiveGap - 1
		if wide = max(0, receiveText-side); wide == 0 {
			h = max(h, len(m.receiveText(f.Theme, a, side, "")))
		}
		if high = max(0, h-f.H); wide == 0 && high == 0 {
			return q.Lines(look, quiet), ""
		}
	}
	return nil, "This window is too small for the QR code: it needs " + more(wide, high) + instead
}

// instead ends the reason why there is no code.
const instead = ". Copy the text instead."

// tight leaves out blank lines, the last ones first, as far as the text needs it to fit into h lines: what has money at
// stake, and why there is no code, come last.
func tight(lines []string, h int) []string {
	for i := len(lines) - 1; i > 0 && len(lines) > h; i-- {
		if lines[i] == "" {
			lines = slices.Delete(lines, i, i+1)
		}
	}
	return lines
}

// more says by how much the window is too small.
func more(wide, high int) string {
	var out []string
	if wide > 0 {
		out = append(out, present.Plural(wide, "more column", "more columns"))
	}
	if high > 0 {
		out = append(out, present.Plural(high, "more line", "more lines"))
	}
	return strings.Join(out, " and ")
}

// receiveText is the text beside the code, or alone, in w cells.
func (m *Model) receiveText(th theme.Theme, a api.Account, w int, note string) []string {
	right := present.AccountType(a.Type)
	if n := len(m.ctx.Accounts); n > 1 {
		right = kit.Count(m.receive.account+1, n) + ", " + right
	}
	lines := []string{th.Strong.Render("Receive") + "  " + th.Dim.Render(right), ""}
	asked := m.receive.asked
	if asked != nil {
		for _, l := range kit.Wrap("Payment request: "+asked.Says()+".", w) {
			lines = append(lines, th.Strong.Render(l))
		}
		lines = append(lines, "")
		lines = append(lines, kit.Wrap(asked.URI, w)...)
		lines = append(lines, "")
	}
	for _, l := range groups(present.Address(a.AccountAddress), w) {
		lines = append(lines, th.Strong.Render(l))
	}
	warn := func(s string) {
		for i, l := range kit.Wrap(s, w-2) {
			sign := "  "
			if i == 0 {
				sign = th.Mark(theme.Warn) + " "
			}
			lines = append(lines, sign+th.Warn.Render(l))
		}
	}
	lines = append(lines, "")
	if asked != nil {
		lines = append(lines, kit.Wrap(present.Requests(a), w)...)
	} else {
		lines = append(lines, kit.Wrap(present.ReceiveOn(m.ctx.Catalog, m.ctx.Network, a), w)...)
	}
	lines = append(lines, "")
	if care, lost := present.ReceiveCare(m.ctx.Network.Kind); lost {
		warn(care)
	} else {
		lines = append(lines, kit.Wrap(care, w)...)
	}
	if note != "" {
		lines = append(lines, "")
		warn(note)
	}
	return lines
}

// groups splits an address into lines of the same number of groups, in as few lines as w cells allow.
func groups(address string, w int) []string {
	words := strings.Fields(address)
	lines := len(kit.Wrap(address, w))
	each := (len(words) + lines - 1) / lines
	var out []string
	for part := range slices.Chunk(words, each) {
		out = append(out, strings.Join(part, " "))
	}
	return out
}
