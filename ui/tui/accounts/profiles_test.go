package accounts

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/network"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// many is the sample in a program with several profiles that asks about the chains.
func many(t *testing.T) *Model {
	m := sample(t)
	m.ctx.Network.Pins.KernelV33 = common.HexToAddress("0xd6CEDDe84be40893d153Be9d467CD6aD37875b28")
	m.deps = Deps{
		Setup: true,
		Profiles: []Profile{
			{Name: "demo", Kind: network.Embedded, Keys: "nowhere"},
			{Name: "team", Kind: network.Lab, Service: "https://lab.invalid:8443/api", Keys: "in an encrypted file"},
			{Name: "savings", Kind: network.Real, Service: "https://wallet.example/api", Keys: "in the keyring",
				NoOwnAccount: true},
		},
		States: func(_ context.Context, a api.Account) ([]OnChain, error) {
			switch a.Type {
			case api.AccountRoleBased:
				return []OnChain{
					{Chain: "eip155:8453", Known: true, There: true, Session: tuitest.Signer, Admin: admin,
						ExitAt: time.Unix(1_800_000_000, 0)},
					{Chain: "eip155:10", Known: true, There: true, Session: cosigner, Admin: admin},
					{Chain: "eip155:1", Known: true},
				}, nil
			case api.AccountKernelV33:
				return []OnChain{{Chain: "eip155:8453", Known: true, There: true}, {Chain: "eip155:10"}}, nil
			}
			return []OnChain{{Chain: "eip155:8453", Known: true, There: true}, {Chain: "eip155:10"}}, nil
		},
	}
	m.Update(m.ask()())
	return m
}

func TestGoldenManyProfiles(t *testing.T) {
	for _, size := range []struct {
		name string
		w, h int
	}{{"80x24", 80, 19}, {"120x40", 120, 35}} {
		t.Run(size.name, func(t *testing.T) {
			m := many(t)
			m.Update(screen.ResizedMsg{W: size.w, H: size.h})
			t.Run("top", func(t *testing.T) { golden.RequireEqual(t, tuitest.Text(t, m, size.w, size.h)) })
			tuitest.Keys(m, "pgdown", "pgdown")
			t.Run("end", func(t *testing.T) { golden.RequireEqual(t, tuitest.Text(t, m, size.w, size.h)) })
		})
		t.Run("switch "+size.name, func(t *testing.T) {
			m := many(t)
			m.Update(screen.ResizedMsg{W: size.w, H: size.h})
			tuitest.Keys(m, "p")
			golden.RequireEqual(t, tuitest.Text(t, m, size.w, size.h))
		})
	}
}

func TestGoldenColours(t *testing.T) {
	for name, look := range map[string]theme.Theme{
		"dark":      theme.New(true, colorprofile.TrueColor, false),
		"light":     theme.New(false, colorprofile.TrueColor, false),
		"no colour": theme.New(true, colorprofile.ASCII, false),
	} {
		t.Run(name, func(t *testing.T) {
			m := many(t)
			m.Update(screen.ResizedMsg{W: 80, H: 40})
			golden.RequireEqual(t, m.View(screen.Frame{W: 80, H: 40, Theme: look, Now: tuitest.Now()}))
		})
	}
}

func TestSwitchingLeavesForAnotherProfileOnly(t *testing.T) {
	m := many(t)
	m.Update(screen.ResizedMsg{W: 80, H: 19})
	tuitest.Keys(m, "p")
	if !m.Capturing() {
		t.Fatal("the list has not the keyboard")
	}
	if cmd := tuitest.Keys(m, "enter"); cmd != nil {
		t.Error("it switched to the profile that is open")
	}
	if msg, ok := tuitest.Keys(m, "down", "enter")().(screen.SwitchMsg); !ok || msg.Profile != "team" || msg.Setup {
		t.Errorf("%+v", msg)
	}
	tuitest.Keys(m, "p")
	if cmd := tuitest.Keys(m, "down", "down", "enter"); cmd != nil {
		t.Error("it switched to a profile without an account")
	}
	tuitest.Keys(m, "esc")
	if m.Capturing() {
		t.Error("esc did not close the list")
	}
	if msg, ok := tuitest.Keys(m, "+")().(screen.SwitchMsg); !ok || !msg.Setup {
		t.Errorf("%+v", msg)
	}
	if msg, ok := tuitest.Keys(m, "o")().(screen.OpenMsg); !ok || msg.Screen != screen.Settings {
		t.Errorf("%+v", msg)
	}
}

func TestWithoutOtherProfilesTheKeysSayWhy(t *testing.T) {
	m := sample(t)
	for _, name := range []string{"p", "+", "r"} {
		if k, ok := kit.FindKey(m.Keys(), name); !ok || k.Off == "" {
			t.Errorf("%s works", name)
		}
	}
	if m.ask() != nil || m.stateFacts(tuitest.Theme(), m.ctx.Accounts[0]) != nil {
		t.Error("something is said about the chains")
	}
}

func TestRolesOnTheChainsAreComparedWithTheProfile(t *testing.T) {
	got := shown(many(t))
	for _, want := range []string{
		"✓ deployed on Base, Optimism", "not yet on Ethereum", "! Optimism: the session key is 0x",
		"not that of the profile", "! Base: announced; the admin operates alone from 2027-01-15",
		"✓ delegated on Base, to 0x", "? not known for Optimism: this wallet did nothing there",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	m := many(t)
	m.deps.States = func(context.Context, api.Account) ([]OnChain, error) { return nil, errors.New("no line") }
	m.Update(m.ask()())
	if got := shown(m); strings.Count(got, "? not known: no line") != 3 || strings.Contains(got, "deployed on") {
		t.Error(got)
	}
}

func TestAnOlderAnswerAboutTheChainsIsDropped(t *testing.T) {
	m := many(t)
	before := len(m.states)
	cmd := m.ask()
	m.asking = false
	m.ask()
	m.Update(statedMsg{gen: m.stateGen - 1, states: map[string]state{}})
	if len(m.states) != before || cmd == nil {
		t.Error("an older answer was taken")
	}
}

func TestAClickSelectsAnAccount(t *testing.T) {
	m := sample(t)
	m.Update(screen.ResizedMsg{W: 80, H: 19})
	tuitest.Text(t, m, 80, 19)
	m.Update(screen.ClickMsg{X: 4, Y: m.starts[2] + 1})
	if m.sel != 2 {
		t.Errorf("account %d", m.sel)
	}
	m.Update(screen.ClickMsg{X: 4, Y: 0})
	if m.sel != 2 {
		t.Error("a click beside the accounts selected one")
	}
}
