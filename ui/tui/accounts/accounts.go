// Package accounts is the screen of the profile's accounts and of their network: types, full addresses, the signer of
// each, the keys and whether they are locked, where the accounts exist already, the other profiles, the network's
// identity and the service. It changes nothing and leads to another profile, to the set-up of one and to the settings.
// Whether an address follows from its keys is computed here, without asking the service (TH-U1). Where an account is
// deployed is the word of the journal or the service, and labelled so.
package accounts

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/api/gastank"
	"coffer/api/network"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/verify"
)

// Deps are what the screen shows beside its context. The zero Deps belong to a program with one profile that does not
// ask about the chains.
type Deps struct {
	Profiles []Profile // the profiles of the configuration, in order, including the open one
	Setup    bool      // the program can set up another profile
	// States returns the known state of an account on each chain of the network. It is called from commands and may ask
	// the service. nil: nothing is known.
	States func(ctx context.Context, a api.Account) ([]OnChain, error)
	// Lists compares the service's chains and assets with those that this program ships and those it has seen before;
	// Accept trusts a change. Both are called from commands. nil: nothing is compared.
	Lists  func(ctx context.Context) (verify.AssetList, verify.Report, error)
	Accept func(verify.AssetChange) error
	// Tank reads what the gas tank of own nodes has. It is called from commands. nil: there is none.
	Tank func(ctx context.Context) (gastank.Report, error)
}

// Model is the screen.
type Model struct {
	ctx  screen.Context
	deps Deps
	own  []present.Own // the accounts of the profile
	sel  int
	text kit.Scroll
	w, h int
	life context.Context
	stop context.CancelFunc
	gen  int
	keys map[string]bool // by address, whether the vault has its key; absent: unknown

	states    map[string]state // by account; absent: not asked yet
	stateGen  int
	asking    bool
	switching *kit.Choice
	lists     listing
	listGen   int
	accepting *kit.Choice
	people    *kit.Choice // the contacts
	starts    []int       // the first line of each account in the last layout
	tank      tank
	hidden    bool // amounts are
}

// lookedMsg brings the keys that the vault has.
type lookedMsg struct {
	gen  int
	keys map[string]bool
}

// statedMsg brings the chains on which accounts exist.
type statedMsg struct {
	gen    int
	states map[string]state
}

// New makes the screen.
func New(ctx screen.Context, d Deps) *Model {
	life, stop := context.WithCancel(context.Background())
	m := &Model{ctx: ctx, deps: d, life: life, stop: stop, switching: kit.NewChoice("Switch to"),
		accepting: kit.NewChoice("Trust as it is now listed"), people: kit.NewChoice("Your contacts")}
	m.own = ctx.Owned()
	m.sel = max(0, slices.IndexFunc(m.own, func(a present.Own) bool { return a.Used }))
	m.people.Wide = true
	m.switching.Reasons = true
	return m
}

// Title names the tab.
func (m *Model) Title() string { return "Accounts" }

// Init asks the vault which keys it has, and compares the lists of the service.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.look(), m.compare()) }

// Close cancels what is in progress.
func (m *Model) Close() { m.stop() }

// Wake checks again whether the vault has locked by itself.
func (m *Model) Wake(time.Time) time.Duration {
	if m.ctx.Vault.Locked == nil || m.ctx.Vault.Locked() {
		return 0
	}
	return lookEvery
}

const lookEvery = 5 * time.Second

// look asks the vault for the key of every account. A key that it cannot answer for, as while it is locked, stays
// unknown.
func (m *Model) look() tea.Cmd {
	if m.ctx.Vault.Has == nil {
		return nil
	}
	m.gen++
	gen, life, has, accounts := m.gen, m.life, m.ctx.Vault.Has, m.own
	return func() tea.Msg {
		keys := map[string]bool{}
		for _, a := range accounts {
			if there, err := has(life, keyOf(a.Account)); err == nil {
				keys[keyOf(a.Account)] = there
			}
		}
		return lookedMsg{gen, keys}
	}
}

// Capturing reports whether a list is open.
func (m *Model) Capturing() bool {
	return m.switching.IsOpen() || m.accepting.IsOpen() || m.people.IsOpen()
}

// Listing reports whether a list is open; nothing else of this screen takes text.
func (m *Model) Listing() bool { return m.Capturing() }

// ask reads where the accounts exist already.
func (m *Model) ask() tea.Cmd {
	if m.deps.States == nil || m.asking {
		return nil
	}
	m.stateGen++
	m.asking = true
	gen, life, states, accounts := m.stateGen, m.life, m.deps.States, m.own
	return func() tea.Msg {
		out := map[string]state{}
		for _, a := range accounts {
			if a.Type == api.AccountSolana {
				continue
			}
			on, err := states(life, a.Account)
			out[a.AccountAddress] = state{on, err}
		}
		return statedMsg{gen, out}
	}
}

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
	case statedMsg:
		if msg.gen == m.stateGen {
			m.states, m.asking = msg.states, false
		}
	case listedMsg:
		return m.listed(msg)
	case acceptedMsg:
		return m.accepted(msg)
	case screen.OpenedMsg:
		if m.states == nil {
			return tea.Batch(m.look(), m.ask(), m.readTank())
		}
		return tea.Batch(m.look(), m.readTank())
	case screen.LockedMsg, screen.ResumedMsg:
		return m.look()
	case screen.BalancesChangedMsg: // an operation ran, which may have deployed an account
		if m.states != nil {
			return tea.Batch(m.ask(), m.readTank())
		}
	case screen.AmountsMsg:
		m.hidden = msg.Hidden
	case tankMsg:
		m.tank.take(msg)
	case screen.ClickMsg:
		m.click(msg)
	case tea.PasteMsg:
		return m.chosen(msg)
	case tea.KeyPressMsg:
		if m.Capturing() {
			return m.chosen(msg)
		}
		return m.press(msg.String())
	}
	return nil
}

// chosen passes a message to the open list.
func (m *Model) chosen(msg tea.Msg) tea.Cmd {
	switch {
	case m.switching.IsOpen():
		return m.choose(msg)
	case m.accepting.IsOpen():
		return m.accept(msg)
	case m.people.IsOpen():
		if it, ok := m.people.Update(msg); ok {
			return screen.Send(screen.NameMsg{Address: it.Value})
		}
	}
	return nil
}

// openPeople lists the contacts to change, and offers a new one.
func (m *Model) openPeople() {
	items := []kit.Item{{Label: "new contact"}}
	for _, c := range m.ctx.Contacts.Own() {
		items = append(items, kit.Item{Value: c.Address, Label: present.Clean(c.Name, 24), Note: c.Address})
	}
	m.people.Open(items, "")
}

// click selects the account under the mouse.
func (m *Model) click(at screen.ClickMsg) {
	if m.Capturing() {
		return
	}
	line := m.text.Top() + at.Y
	for i := len(m.starts) - 1; i >= 0; i-- {
		if line >= m.starts[i] {
			if i < len(m.own) {
				m.sel = i
			}
			return
		}
	}
}

func (m *Model) press(key string) tea.Cmd {
	switch key {
	case "enter":
		return screen.Send(screen.SwitchMsg{Account: m.own[m.sel].AccountAddress})
	case "down", "j":
		if m.sel >= len(m.own)-1 { // below the last account is text that cannot be selected
			m.text.Press(key)
			return nil
		}
		m.sel++
		m.reveal()
	case "up", "k":
		if m.sel == 0 {
			m.text.Press(key)
			return nil
		}
		m.sel--
		m.reveal()
	case "y":
		return screen.Copy("account address", present.Checksummed(m.own[m.sel].AccountAddress))
	case "Y":
		label, address := signer(m.own[m.sel].Account)
		return screen.Copy(label+" address", present.Checksummed(address))
	case "t":
		return screen.Copy("gas tank address", present.GasTank(m.ctx.Network))
	case "n":
		return screen.Copy("network id", m.ctx.Network.ID)
	case "p":
		m.openProfiles()
	case "+":
		return screen.Send(screen.SwitchMsg{Setup: true})
	case "o":
		return screen.Open(screen.Settings, nil)
	case "r":
		return tea.Batch(m.ask(), m.compare(), m.readTank())
	case "A":
		m.openChanges()
	case "c":
		m.openPeople()
	default:
		m.text.Press(key)
	}
	return nil
}

// Keys lists the keys that work now.
func (m *Model) Keys() []kit.Key {
	none := len(m.own) == 0
	noSigner := none
	if !none {
		_, address := signer(m.own[m.sel].Account)
		noSigner = address == ""
	}
	if m.switching.IsOpen() {
		return []kit.Key{kit.NewKey("switch", "enter"), kit.NewKey("choose", "up", "down"), kit.NewKey("stay", "esc")}
	}
	if m.accepting.IsOpen() {
		return []kit.Key{kit.NewKey("trust it", "enter").WithCare(), kit.NewKey("choose", "up", "down"),
			kit.NewKey("leave", "esc")}
	}
	if m.people.IsOpen() {
		return []kit.Key{kit.NewKey("change", "enter"), kit.NewKey("choose", "up", "down"), kit.NewKey("leave", "esc")}
	}
	keys := []kit.Key{kit.NewKey("copy address", "y").OffWhen(none, "this profile has no account")}
	if len(present.Choices(m.own)) > 0 {
		keys = append([]kit.Key{m.useKey()}, keys...)
	}
	keys = append(keys, m.profileKeys()...)
	if m.deps.Tank != nil {
		keys = append(keys, kit.NewKey("copy gas tank", "t").Explain("copy the address of the gas tank"))
	}
	return append(keys,
		kit.NewKey("contacts", "c").Explain("your contacts: add, rename, remove").OffWhen(m.ctx.Contacts.Save == nil,
			"this program keeps no contacts"),
		kit.NewKey("copy signer", "Y").OffWhen(noSigner, "this account has no separate signer"),
		kit.NewKey("copy network id", "n").OffWhen(m.ctx.Network.ID == "", "this profile has no network id"),
		kit.NewKey("ask where accounts exist", "r").Named("refresh").OffWhen(m.deps.States == nil ||
			none, "this program does not ask about the chains").Hidden(),
		kit.NewKey("accept a changed asset", "A").Named("accept-asset").OffWhen(len(m.acceptable()) == 0 ||
			m.deps.Accept == nil, "no asset changed that could be accepted").Hidden(),
		kit.NewKey("account up", "up", "k").Hidden(),
		kit.NewKey("account down", "down", "j").Hidden(),
		kit.NewKey("scroll up", "pgup").Hidden(),
		kit.NewKey("scroll down", "pgdown", "space").Hidden())
}

// useKey uses the selected account from now on.
func (m *Model) useKey() kit.Key {
	a := m.own[m.sel]
	k := kit.NewKey("use it", "enter").Named("use-account").Explain("use the selected account from now on")
	return k.OffWhen(a.Used && a.IsEVM(), "this account is in use").
		OffWhen(!a.IsEVM(), "the Solana account is used beside every EVM account")
}

// signer is the signer of an account, and its label.
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
	return "Unknown account type: " + present.Clean(t, 40)
}

func kindWords(k network.Kind) string {
	switch k {
	case network.Embedded:
		return "EMBEDDED: chains inside this program, play money"
	case network.Lab:
		return "LAB: test chains elsewhere, play money"
	case network.Test:
		return "TEST: public test networks, coins without worth"
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
	return present.Clean(m.ctx.BaseURL, 200)
}
