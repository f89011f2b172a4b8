package accounts

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/gastank"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/ui/present"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

const (
	admin    = "0x00C071db63C5C4Bd094C6Cc715fd1d622D6fd5a6"
	cosigner = "0x1Be31A94361a391bBaFB2a4CCd704F57dc04d4bb"
	solana   = "GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ"
)

// sample has one account of each kind, at the addresses that its keys and the pins give.
func sample(t *testing.T) *Model {
	ctx := tuitest.Context(t)
	ctx.Network.Pins = network.Pins{
		Factory:            common.HexToAddress("0xaac5D4240AF87249B3f71BC8E4A2cae074A3E419"),
		KernelV31:          common.HexToAddress("0xBAC849bB641841b44E965fB01A4Bf5F074f84b4D"),
		ECDSAValidator:     common.HexToAddress("0x845ADb2C711129d4f3966735eD98a9F09fC4cE57"),
		RoleBasedValidator: common.HexToAddress("0x41D695Fa7dbb8Bb2edcd9DC1D8FDD0d1F1C19d9f"),
		CoSigner:           common.HexToAddress(cosigner),
	}
	p := ctx.Network.Pins
	key := common.HexToAddress(tuitest.Signer)
	at := func(initData []byte) string {
		return op.PredictAddress(p.Factory, p.KernelV31, initData, new(big.Int)).Hex()
	}
	ctx.Accounts[0].AccountAddress = at(op.InitDataECDSA(p.ECDSAValidator, key))
	ctx.Accounts = append(ctx.Accounts,
		api.Account{Type: api.AccountKernelV33, AccountAddress: tuitest.Signer, SignerAddress: tuitest.Signer,
			DeploymentType: api.DeploymentEIP7702},
		api.Account{Type: api.AccountRoleBased, AccountAddress: at(op.InitDataRoleBased(p.RoleBasedValidator, key,
			common.HexToAddress(admin), p.CoSigner)), SessionAddress: tuitest.Signer, AdminAddress: admin},
		api.Account{Type: api.AccountSolana, AccountAddress: solana})
	for i, name := range []string{"daily", "account 2", "treasury", ""} {
		ctx.Own = append(ctx.Own, present.Own{Account: ctx.Accounts[i], Name: name, Used: i == 0 || i == 3})
	}
	ctx.Accounts = []api.Account{ctx.Accounts[0], ctx.Accounts[3]}
	ctx.Vault = screen.Vault{
		Where: "an encrypted file", Locked: func() bool { return false }, Lock: func() {},
		Has: func(_ context.Context, a string) (bool, error) {
			if a == solana {
				return false, nil
			}
			return a == tuitest.Signer, nil
		},
	}
	m := New(ctx, Deps{})
	m.Update(m.Init()())
	return m
}

func TestGoldenScreens(t *testing.T) {
	for _, size := range []struct {
		name string
		w, h int
	}{{"60x20", 60, 15}, {"80x24", 80, 19}, {"120x40", 120, 35}, {"200x60", 200, 55}} {
		t.Run(size.name, func(t *testing.T) {
			m := sample(t)
			m.Update(screen.ResizedMsg{W: size.w, H: size.h})
			golden.RequireEqual(t, tuitest.Text(t, m, size.w, size.h))
		})
		t.Run("last account "+size.name, func(t *testing.T) {
			m := sample(t)
			m.Update(screen.ResizedMsg{W: size.w, H: size.h})
			tuitest.Keys(m, "down", "down", "down", "down")
			golden.RequireEqual(t, tuitest.Text(t, m, size.w, size.h))
		})
	}
}

// tanked is sample on own nodes, whose gas tank has what three chains say.
func tanked(t *testing.T) (*Model, *gastank.Report) {
	m := sample(t)
	n := &m.ctx.Network
	n.Version, n.Kind, n.Deployments = 2, network.Lab, nil
	n.Pins.Operator, n.Pins.Paymaster = common.HexToAddress(admin), network.Window()
	has, none, some, no := "1500000000000000000", "0", uint64(160), uint64(0)
	r := gastank.Report{Most: 100, Chains: []gastank.Chain{
		{ID: 8453, Name: "Base", Symbol: "ETH", Has: &has, Operations: &some, UnderWay: []string{"run 0xab"}},
		{ID: 10, Name: "Optimism", Symbol: "ETH", Problem: "no endpoint answers"},
		{ID: 137, Name: "Polygon", Symbol: "POL", Has: &none, Operations: &no},
	}, Paid: []gastank.Paid{{Account: m.own[0].AccountAddress, Operations: 3}}}
	m.deps.Tank = func(context.Context) (gastank.Report, error) { return r, nil }
	return m, &r
}

// apply brings a screen what its commands answer.
func apply(m *Model, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	msg := cmd()
	if all, ok := msg.(tea.BatchMsg); ok {
		for _, c := range all {
			apply(m, c)
		}
	} else {
		m.Update(msg)
	}
}

func TestGoldenGasTank(t *testing.T) {
	for _, size := range []struct {
		name string
		w, h int
	}{{"60x20", 60, 15}, {"80x24", 80, 19}, {"120x40", 120, 35}, {"200x60", 200, 55}} {
		t.Run(size.name, func(t *testing.T) {
			m, _ := tanked(t)
			m.own = m.own[:1]
			m.Update(screen.ResizedMsg{W: size.w, H: size.h})
			m.Update(m.readTank()())
			golden.RequireEqual(t, tuitest.Text(t, m, size.w, size.h))
		})
	}
}

// TestTheGasTankIsReadWhenTheScreenOpensAndAgainOnRequest: an error says so and hides nothing else, and an answer that
// comes after a later question is thrown away.
func TestTheGasTankIsReadWhenTheScreenOpensAndAgainOnRequest(t *testing.T) {
	m, r := tanked(t)
	say := func(want string) {
		t.Helper()
		if text := tuitest.Text(t, m, 120, 60); !strings.Contains(text, want) {
			t.Errorf("no %q:\n%s", want, text)
		}
	}
	say("the chains are being asked what it has")
	late := m.readTank()()
	apply(m, m.Update(screen.OpenedMsg{}))
	say("1.5 ETH, for about 160 operations")
	if msg := tuitest.Keys(m, "t")().(screen.CopyMsg); msg.Text != common.HexToAddress(admin).Hex() {
		t.Errorf("copied %q", msg.Text)
	}
	r.Chains = r.Chains[:1]
	m.Update(late)
	say("no endpoint answers")
	apply(m, tuitest.Keys(m, "r"))
	if text := tuitest.Text(t, m, 120, 60); strings.Contains(text, "no endpoint answers") {
		t.Errorf("it was not read again:\n%s", text)
	}
	m.Update(screen.AmountsMsg{Hidden: true})
	if text := tuitest.Text(t, m, 120, 60); strings.Contains(text, "1.5 ETH") {
		t.Errorf("hidden amounts are shown:\n%s", text)
	}
	m.deps.Tank = func(context.Context) (gastank.Report, error) { return gastank.Report{}, errors.New("gone") }
	apply(m, tuitest.Keys(m, "r"))
	say("what it has is not known: gone")
}

func TestD17_EnterUsesTheSelectedAccount(t *testing.T) {
	m := sample(t)
	key := func() kit.Key { k, _ := kit.FindKey(m.Keys(), "enter"); return k }
	if key().Off == "" {
		t.Error("the account in use is offered")
	}
	msg, ok := tuitest.Keys(m, "down", "down", "enter")().(screen.SwitchMsg)
	if !ok || key().Off != "" || msg.Account != m.own[2].AccountAddress || msg.Profile != "" || msg.Setup {
		t.Errorf("%+v", msg)
	}
	if tuitest.Keys(m, "down"); key().Off == "" {
		t.Error("the Solana account is offered")
	}
	m.own = m.own[2:]
	if m.sel = 0; key().Label != "" {
		t.Error("there is nothing to choose")
	}
}

func TestCopiesTheSelectedAccountChecksummed(t *testing.T) {
	m := sample(t)
	if msg := tuitest.Keys(m, "y")().(screen.CopyMsg); msg.Text != m.ctx.Accounts[0].AccountAddress {
		t.Errorf("copied %q", msg.Text)
	}
	if msg := tuitest.Keys(m, "down", "down", "Y")().(screen.CopyMsg); msg.Text != tuitest.Signer ||
		msg.What != "session address" {
		t.Errorf("copied %q as %q", msg.Text, msg.What)
	}
	if msg := tuitest.Keys(m, "n")().(screen.CopyMsg); msg.Text != m.ctx.Network.ID {
		t.Errorf("copied %q", msg.Text)
	}
}

func TestUnknownKindOfNetworkIsRealMoney(t *testing.T) {
	m := sample(t)
	m.ctx.Network.Kind = network.Kind("toy")
	if text := tuitest.Text(t, m, 120, 40); !strings.Contains(text, "treat it as real money") {
		t.Error(text)
	}
}

func TestProfileWithoutAccountsRefusesCopying(t *testing.T) {
	ctx := tuitest.Context(t)
	ctx.Accounts = nil
	m := New(ctx, Deps{})
	for _, k := range m.Keys() {
		if k.Match("y") && k.Off == "" {
			t.Error("y works without an account")
		}
	}
	if text := tuitest.Text(t, m, 80, 19); !strings.Contains(text, "has no account yet") {
		t.Error(text)
	}
}

// shown is the whole text as one line.
func shown(m *Model) string {
	lines, _, _ := m.lines(tuitest.Theme(), 120)
	return strings.Join(strings.Fields(ansi.Strip(strings.Join(lines, " "))), " ")
}

func TestU1AnAddressThatDoesNotFollowFromItsKeysIsSaidSo(t *testing.T) {
	m := sample(t)
	if got := strings.Count(shown(m), "✓ computed here"); got != 2 {
		t.Errorf("%d addresses are said to be computed:\n%s", got, shown(m))
	}
	other := "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	for i, want := range map[int]string{0: "it does NOT follow from the signer's key",
		1: "it is NOT the signer's own address",
		2: "it does not follow from these keys; that is so once the session key was replaced"} {
		m := sample(t)
		m.own[i].AccountAddress = other
		if !strings.Contains(shown(m), want) {
			t.Errorf("%q is missing:\n%s", want, shown(m))
		}
	}
	m.ctx.Network.Pins = network.Pins{}
	if !strings.Contains(shown(m), "not computed: this network pins no account factory") ||
		strings.Contains(shown(m), "✓ computed here") {
		t.Errorf("without pins:\n%s", shown(m))
	}
}

func TestEachKindSaysWhatSignsForIt(t *testing.T) {
	got := shown(sample(t))
	for _, want := range []string{"the signer's key signs each operation", "once on each chain the delegation",
		"the session key approves each operation", "its own key signs each payment"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
}

func TestK6TheLockIsShownAndKeysOfALockedVaultAreUnknown(t *testing.T) {
	m := sample(t)
	if got := shown(m); !strings.Contains(got, "unlocked until they are unused") ||
		strings.Count(got, "key here ✓") != 3 || strings.Count(got, "no key here !") != 1 {
		t.Errorf("unlocked:\n%s", got)
	}
	if m.Wake(tuitest.Now()) == 0 {
		t.Error("nobody looks whether the vault has locked by itself")
	}
	m.ctx.Vault.Locked = func() bool { return true }
	m.ctx.Vault.Has = func(context.Context, string) (bool, error) { return false, errors.New("locked") }
	m.Update(m.Update(screen.LockedMsg{})())
	if got := shown(m); !strings.Contains(got, "locked: the next signature asks for the passphrase") ||
		strings.Contains(got, "key here") {
		t.Errorf("locked:\n%s", got)
	}
	if m.Wake(tuitest.Now()) != 0 {
		t.Error("a locked vault is looked at again and again")
	}
	old := m.look()
	m.gen++
	m.Update(old())
	m.ctx.Vault = screen.Vault{}
	if m.look() != nil || strings.Contains(shown(m), "passphrase") {
		t.Error("a profile without a vault has a lock")
	}
}

// TestDownScrollsBelowTheLastAccount: what follows the accounts cannot be selected, and up on the first goes back.
func TestDownScrollsBelowTheLastAccount(t *testing.T) {
	m := sample(t)
	m.own = m.own[:1]
	w, h := 80, 12
	m.Update(screen.ResizedMsg{W: w, H: h})
	before := tuitest.Text(t, m, w, h)
	if !strings.Contains(before, "(space)") {
		t.Fatal(before)
	}
	for range 3 {
		tuitest.Keys(m, "down")
	}
	if after := tuitest.Text(t, m, w, h); after == before || m.text.Top() != 3 {
		t.Error(after)
	}
	for range 3 {
		tuitest.Keys(m, "up")
	}
	if tuitest.Text(t, m, w, h) != before {
		t.Error("up does not go back")
	}
}
