// Package accounts is the screen of the profile's accounts and of the network they live on: types, full addresses, the network's identity and
// the service. It reads nothing and changes nothing; everything on it comes from the profile and the network descriptor.
package accounts

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/api/network"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// Model is the screen.
type Model struct {
	ctx  screen.Context
	sel  int
	text kit.Scroll
	w, h int
}

// New makes the screen.
func New(ctx screen.Context) *Model { return &Model{ctx: ctx} }

// Title names the tab.
func (m *Model) Title() string { return "Accounts" }

// Init does nothing: there is nothing to read.
func (m *Model) Init() tea.Cmd { return nil }

// Close does nothing.
func (m *Model) Close() {}

// Capturing is never true here.
func (m *Model) Capturing() bool { return false }

// Update handles one message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screen.ResizedMsg:
		m.w, m.h = msg.W, msg.H
		m.text.Resize(msg.H)
	case tea.KeyPressMsg:
		return m.press(msg.String())
	}
	return nil
}

func (m *Model) press(key string) tea.Cmd {
	switch key {
	case "down", "j":
		m.sel = min(m.sel+1, max(0, len(m.ctx.Accounts)-1))
		m.reveal()
	case "up", "k":
		m.sel = max(0, m.sel-1)
		m.reveal()
	case "y":
		return screen.Copy("account address", kit.Checksummed(m.ctx.Accounts[m.sel].AccountAddress))
	case "Y":
		label, address := signer(m.ctx.Accounts[m.sel])
		return screen.Copy(label+" address", kit.Checksummed(address))
	case "n":
		return screen.Copy("network id", m.ctx.Network.ID)
	default:
		m.text.Press(key)
	}
	return nil
}

// Keys lists what works now.
func (m *Model) Keys() []kit.Key {
	none := len(m.ctx.Accounts) == 0
	noSigner := none
	if !none {
		_, address := signer(m.ctx.Accounts[m.sel])
		noSigner = address == ""
	}
	return []kit.Key{
		kit.NewKey("copy address", "y").OffWhen(none, "this profile has no account"),
		kit.NewKey("copy signer", "Y").OffWhen(noSigner, "this account has no separate signer"),
		kit.NewKey("copy network id", "n").OffWhen(m.ctx.Network.ID == "", "this profile has no network id"),
		kit.NewKey("account up", "up", "k").Hidden(),
		kit.NewKey("account down", "down", "j").Hidden(),
		kit.NewKey("scroll up", "pgup").Hidden(),
		kit.NewKey("scroll down", "pgdown").Hidden(),
	}
}

// View draws the body.
func (m *Model) View(f screen.Frame) string {
	lines, _ := m.lines(f.Theme, f.W)
	room := textRoom(len(lines), f.H)
	m.text.Resize(room)
	m.text.Keep(lines)
	if room == f.H {
		return m.text.View(f.W)
	}
	return kit.Lines(m.text.View(f.W), kit.Fit("  "+f.Theme.Dim.Render(m.text.More(f.Theme)), f.W))
}

// textRoom is the height of the text in a body of h lines: the last one says that there is more when not all lines fit.
func textRoom(lines, h int) int {
	if lines <= h {
		return h
	}
	return max(1, h-1)
}

// reveal scrolls the selected account into view.
func (m *Model) reveal() {
	if m.h == 0 {
		return
	}
	lines, at := m.lines(theme.Theme{}, m.w)
	room := textRoom(len(lines), m.h)
	m.text.Resize(room)
	m.text.Keep(lines)
	top := m.text.Top()
	if end := at + accountLines; end > top+room {
		m.text.Move(end - top - room)
	}
	if m.sel == 0 {
		at = 0
	}
	if at < m.text.Top() {
		m.text.Move(at - m.text.Top())
	}
}

const (
	labelW       = 12
	accountLines = 4
)

// lines is the whole text, and the line at which the selected account starts.
func (m *Model) lines(th theme.Theme, w int) (lines []string, at int) {
	fact := func(label, value string) {
		for i, part := range kit.Wrap(value, max(10, w-labelW-6)) {
			if i > 0 {
				label = ""
			}
			lines = append(lines, "    "+th.Dim.Render(kit.Fit(label, labelW))+part)
		}
	}
	lines = append(lines, kit.Sides("  "+th.Strong.Render("Accounts"), th.Dim.Render("profile "+kit.Clean(m.ctx.Profile, 40)+" "), w), "")
	for i, a := range m.ctx.Accounts {
		mark := " "
		if i == m.sel {
			mark, at = th.Accent.Render(th.Signs.Cursor), len(lines)
		}
		lines = append(lines, mark+" "+th.Strong.Render(typeWords(a.Type)))
		fact("address", kit.Address(a.AccountAddress))
		if label, address := signer(a); address != "" {
			fact(label, kit.Address(address))
		}
		if a.AdminAddress != "" {
			fact("admin", kit.Address(a.AdminAddress))
		}
		lines = append(lines, "")
	}
	if len(m.ctx.Accounts) == 0 {
		lines = append(lines, "  This profile has no account yet.", "")
	}
	lines = append(lines, "  "+th.Strong.Render("Network"))
	fact("kind", kindWords(m.ctx.Network.Kind))
	fact("fingerprint", m.ctx.Network.Fingerprint())
	fact("chains", m.chainNames())
	fact("service", m.service())
	return lines, at
}

// signer is who signs for an account, and what to call it.
func signer(a api.Account) (label, address string) {
	if a.SessionAddress != "" {
		return "session", a.SessionAddress
	}
	return "signer", a.SignerAddress
}

func typeWords(t string) string {
	switch t {
	case api.AccountKernelV31:
		return "Smart account (" + t + ")"
	case api.AccountKernelV33:
		return "Delegated account, EIP-7702 (" + t + ")"
	case api.AccountRoleBased:
		return "Account with session and admin keys (" + t + ")"
	case api.AccountSolana:
		return "Solana account"
	}
	return "Unknown account type: " + kit.Clean(t, 40)
}

func kindWords(k network.Kind) string {
	switch k {
	case network.Embedded:
		return "EMBEDDED: chains inside this program, play money"
	case network.Lab:
		return "LAB: test chains of a service that someone runs, play money"
	case network.Real:
		return "REAL: real chains, real money"
	}
	return "unknown: treat it as real money"
}

func (m *Model) chainNames() string {
	var names []string
	for _, c := range m.ctx.Catalog.Chains() {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

func (m *Model) service() string {
	if m.ctx.Network.Kind == network.Embedded {
		return "inside this program; nothing leaves the machine"
	}
	return kit.Clean(m.ctx.BaseURL, 200)
}
