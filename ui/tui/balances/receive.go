package balances

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/api/network"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// chooseAccount starts with the account of the selected line.
func (m *Model) chooseAccount() {
	r, _ := m.current()
	for i, a := range m.ctx.Accounts {
		if r.address != "" && present.Checksummed(a.AccountAddress) == r.address {
			m.account = i
		}
	}
}

func (m *Model) pressReceive(key string) tea.Cmd {
	n := len(m.ctx.Accounts)
	switch key {
	case "y":
		return screen.Copy("account address", present.Checksummed(m.ctx.Accounts[m.account].AccountAddress))
	case "right":
		m.account = (m.account + 1) % n
	case "left":
		m.account = (m.account + n - 1) % n
	case "esc", "r", "q", "enter":
		m.receive = false
	}
	return nil
}

const (
	receiveGap  = 3
	receiveText = 21 // the narrowest text beside a code: four groups of an address
)

// receiveView shows the whole address, its code when there is room for one, and the assets that may be sent there.
func (m *Model) receiveView(f screen.Frame) string {
	a := m.ctx.Accounts[m.account]
	code, note := m.code(f, a)
	if code == nil {
		return m.indented(m.receiveText(f.Theme, a, f.W-4, note))
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
	return m.indented(out)
}

func (m *Model) indented(lines []string) string { return "  " + strings.Join(lines, "\n  ") }

// code draws the address with the widest quiet zone that fits beside the text, which is never cut for it. Without room
// it returns nil and the reason.
func (m *Model) code(f screen.Frame, a api.Account) (lines []string, note string) {
	q, err := kit.NewQR(present.Checksummed(a.AccountAddress))
	if err != nil {
		return nil, "This address is too long for a QR code."
	}
	var wide, high int
	for _, quiet := range []int{4, 2} {
		w, h := q.Room(f.Theme, quiet)
		side := f.W - 2 - w - receiveGap - 1
		if wide = max(0, receiveText-side); wide == 0 {
			h = max(h, len(m.receiveText(f.Theme, a, side, "")))
		}
		if high = max(0, h-f.H); wide == 0 && high == 0 {
			return q.Lines(f.Theme, quiet), ""
		}
	}
	return nil, "This window is too small for the QR code: it needs " + more(wide, high) + "."
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
		right = kit.Count(m.account+1, n) + ", " + right
	}
	lines := []string{th.Strong.Render("Receive") + "  " + th.Dim.Render(right), ""}
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
	lines = append(lines, kit.Wrap(m.senders(a), w)...)
	lines = append(lines, "")
	switch m.ctx.Network.Kind {
	case network.Embedded:
		warn("These chains live inside this program. Real coins sent to this address are lost.")
	case network.Lab:
		warn("These are test chains of a lab. Real coins sent to this address are lost.")
	default:
		lines = append(lines, kit.Wrap("Compare the whole address before you send to it.", w)...)
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

// senders names the chains on which the account can receive: those of the catalog that the network runs.
func (m *Model) senders(a api.Account) string {
	if !a.IsEVM() {
		return "Send to it on " + m.ctx.Catalog.Solana().Name +
			" only: its coin and its tokens. It is no address on other chains."
	}
	var names []string
	for _, c := range m.ctx.Catalog.Chains() {
		if run := m.ctx.Network.Chains; len(run) == 0 || slices.Contains(run, c.Chain.String()) {
			names = append(names, c.Name)
		}
	}
	return "Send to it on these chains only: " + strings.Join(names, ", ") + ". The address is the same on each."
}
