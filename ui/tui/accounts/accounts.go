// Package accounts is the screen of the profile's accounts and of the network they live on: types, full addresses, what signs for each, the keys and
// whether they are locked, the network's identity and the service. It changes nothing. Everything on it comes from the profile, the network descriptor and
// the vault; whether an address follows from its keys is computed here and asked of nobody (TH-U1).
package accounts

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

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
	life context.Context
	stop context.CancelFunc
	gen  int
	keys map[string]bool // by address, whether the vault has its key; absent: not known
}

// lookedMsg says which keys the vault has.
type lookedMsg struct {
	gen  int
	keys map[string]bool
}

// New makes the screen.
func New(ctx screen.Context) *Model {
	life, stop := context.WithCancel(context.Background())
	return &Model{ctx: ctx, life: life, stop: stop}
}

// Title names the tab.
func (m *Model) Title() string { return "Accounts" }

// Init asks the vault which keys it has.
func (m *Model) Init() tea.Cmd { return m.look() }

// Close ends what is under way.
func (m *Model) Close() { m.stop() }

// Wake looks again whether the vault has locked by itself.
func (m *Model) Wake(time.Time) time.Duration {
	if m.ctx.Vault.Locked == nil || m.ctx.Vault.Locked() {
		return 0
	}
	return lookEvery
}

const lookEvery = 5 * time.Second

// look asks the vault for the key of every account. What it cannot tell, as while it is locked, stays unknown.
func (m *Model) look() tea.Cmd {
	if m.ctx.Vault.Has == nil {
		return nil
	}
	m.gen++
	gen, life, has, accounts := m.gen, m.life, m.ctx.Vault.Has, m.ctx.Accounts
	return func() tea.Msg {
		keys := map[string]bool{}
		for _, a := range accounts {
			if there, err := has(life, keyOf(a)); err == nil {
				keys[keyOf(a)] = there
			}
		}
		return lookedMsg{gen, keys}
	}
}

// Capturing is never true here.
func (m *Model) Capturing() bool { return false }

// Update handles one message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screen.ResizedMsg:
		m.w, m.h = msg.W, msg.H
		m.text.Resize(msg.H)
	case lookedMsg:
		if msg.gen == m.gen {
			m.keys = msg.keys
		}
	case screen.OpenedMsg, screen.LockedMsg, screen.ResumedMsg:
		return m.look()
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
	lines, _, _ := m.lines(f.Theme, f.W)
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
	lines, at, end := m.lines(theme.New(true, colorprofile.NoTTY, false), m.w)
	room := textRoom(len(lines), m.h)
	m.text.Resize(room)
	m.text.Keep(lines)
	top := m.text.Top()
	if end > top+room {
		m.text.Move(end - top - room)
	}
	if m.sel == 0 {
		at = 0
	}
	if at < m.text.Top() {
		m.text.Move(at - m.text.Top())
	}
}

// The label columns of an account and of the rest. With the first one an address and its remark stand on one line of 80 cells.
const (
	accountW = 10
	labelW   = 12
)

// fact is one line of an account or of the network: a label, its text, and a remark with a meaning.
type fact struct {
	label string
	spans []kit.Span
}

func plain(label, value string) fact { return fact{label, []kit.Span{kit.Plain(value)}} }

// lines is the whole text, and the lines at which the selected account starts and ends.
func (m *Model) lines(th theme.Theme, w int) (lines []string, at, end int) {
	write := func(labels int, facts ...fact) {
		for _, x := range facts {
			lines = append(lines, kit.Row(th, w-2, 4, labels, x.label, x.spans...)...)
		}
	}
	lines = append(lines, kit.Sides("  "+th.Strong.Render("Accounts"), th.Dim.Render("profile "+kit.Clean(m.ctx.Profile, 40)+" "), w), "")
	for i, a := range m.ctx.Accounts {
		mark := " "
		if i == m.sel {
			mark, at = th.Accent.Render(th.Signs.Cursor), len(lines)
		}
		lines = append(lines, mark+" "+th.Strong.Render(typeWords(a.Type)))
		write(accountW, m.account(th, a)...)
		if i == m.sel {
			end = len(lines)
		}
		lines = append(lines, "")
	}
	if len(m.ctx.Accounts) == 0 {
		lines = append(lines, "  This profile has no account yet.", "")
	}
	if state := m.lockState(th); state != nil {
		lines = append(lines, "  "+th.Strong.Render("Keys"))
		write(labelW, state...)
		lines = append(lines, "")
	}
	lines = append(lines, "  "+th.Strong.Render("Network"))
	write(labelW, plain("kind", kindWords(m.ctx.Network.Kind)), plain("fingerprint", m.ctx.Network.Fingerprint()), plain("chains", m.chainNames()), plain("service", m.service()))
	return lines, at, end
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
