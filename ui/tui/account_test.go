package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

const savings = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"

// withAccounts is the shell of a profile with two EVM accounts, its two unfinished screens, and what it switched to.
func withAccounts(t *testing.T, w, h int) (m *Model, review, activity *padScreen, to *screen.SwitchMsg) {
	t.Helper()
	o := options(t, sample(t))
	review, activity, to = &padScreen{title: "Review"}, &padScreen{title: "Activity"}, &screen.SwitchMsg{}
	o.beside(func(screen.Context) map[screen.ID]screen.Screen {
		return map[screen.ID]screen.Screen{screen.Review: review, screen.Activity: activity}
	})
	used := o.Context.Accounts[0]
	o.Context.Own = []present.Own{{Account: used, Name: "daily", Used: true, Default: true},
		{Account: api.Account{Type: api.AccountKernelV31, AccountAddress: savings}, Name: "rainy days"}}
	o.Switch = func(msg screen.SwitchMsg) { *to = msg }
	o.View = &View{}
	return started(t, o, w, h), review, activity, to
}

func TestGoldenAccountInTheFirstLine(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 40}, {200, 60}} {
		name := strings.ReplaceAll(sizeName(size), " ", "")
		if name == "" {
			name = "200x60"
		}
		t.Run(name, bubble(func(t *testing.T) {
			m, _, _, _ := withAccounts(t, size[0], size[1])
			press(m, "@")
			golden.RequireEqual(t, text(t, m))
		}))
	}
}

// With several accounts the first line names the one in use in every terminal, whatever else is there.
func TestD17_TheAccountInUseIsAlwaysNamed(t *testing.T) {
	bubble(func(t *testing.T) {
		for w := MinWidth; w <= 200; w++ {
			m, _, _, _ := withAccounts(t, w, MinHeight)
			m.ctx.Own[0].Name = "an account with a name" // the longest have 24 characters
			m.ctx.Profile, m.ctx.Settings.Proxy = "a-profile-with-a-name", "proxy.example:3128"
			head := strings.Split(text(t, m), "\n")[0]
			if !strings.Contains(head, "@ an acc") || !strings.Contains(head, "$4,952.22") {
				t.Errorf("%d: %q", w, head)
			}
		}
	})(t)
}

func TestD17_AnotherAccountIsChosenInTheFirstLine(t *testing.T) {
	bubble(func(t *testing.T) {
		m, _, activity, to := withAccounts(t, 120, 40)
		activity.keep = "an operation is under way" // it is followed on
		press(m, "4", "h")
		press(m, "@", "enter")
		if *to != (screen.SwitchMsg{}) || !m.palette.IsOpen() {
			t.Fatalf("the account in use was chosen: %+v", *to)
		}
		press(m, "esc")
		line, at, width := m.head(m.w)
		if width == 0 || !strings.Contains(line, "daily") {
			t.Fatalf("%q at %d", line, at)
		}
		drive(m, tea.MouseClickMsg{X: at - 1, Y: 0, Button: tea.MouseLeft})
		if m.palette.IsOpen() {
			t.Error("a click beside it opened the list")
		}
		drive(m, tea.MouseClickMsg{X: at, Y: 0, Button: tea.MouseLeft})
		if !strings.Contains(text(t, m), "Use the account") {
			t.Fatalf("a click opened nothing:\n%s", text(t, m))
		}
		press(m, "r", "a", "i", "n", "y")
		if cmd := m.choose(m.palette.Update(kit.Press("enter"))); cmd == nil || to.Account != savings {
			t.Fatalf("%+v", *to)
		}
		// the next run continues on this tab, with amounts hidden
		o := options(t, sample(t))
		o.View = m.opt.View
		next := started(t, o, 120, 40)
		if next.tab != screen.History || !next.hidden || strings.Contains(text(t, next), "$4,952.22") {
			t.Errorf("%s, %v:\n%s", next.tab, next.hidden, text(t, next))
		}
	})(t)
}

// A review is of one account: while it is open nothing switches.
func TestD17_AnOpenReviewKeepsItsAccount(t *testing.T) {
	bubble(func(t *testing.T) {
		m, review, _, to := withAccounts(t, 120, 40)
		for _, why := range []string{"a review is open; nothing is signed", "payments are being signed and sent"} {
			review.keep = why
			for range 3 { // asking again does not help
				drive(m, screen.SwitchMsg{Account: savings})
				if *to != (screen.SwitchMsg{}) || !strings.Contains(text(t, m), why+": finish or leave it") {
					t.Fatalf("%+v\n%s", *to, text(t, m))
				}
			}
		}
		review.keep = ""
		if m.leaveFor(screen.SwitchMsg{Account: savings}) == nil || to.Account != savings {
			t.Errorf("%+v", *to)
		}
	})(t)
}

// of is an operation of an account.
type of string

func (a of) Accounts() []api.Account {
	return []api.Account{{Type: api.AccountKernelV31, AccountAddress: string(a)},
		{Type: api.AccountSolana, AccountAddress: "GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ"}}
}

// What is reviewed and signed is of the account in the first line.
func TestD17_AnOperationOfAnotherAccountOpensNoReview(t *testing.T) {
	bubble(func(t *testing.T) {
		m, _, _, _ := withAccounts(t, 120, 40)
		drive(m, screen.OpenMsg{Screen: screen.Review, Arg: of(savings)})
		if m.activeID() == screen.Review || !strings.Contains(text(t, m),
			"this is of account rainy days: switch to it first, @") {
			t.Fatalf("%s\n%s", m.activeID(), text(t, m))
		}
		drive(m, screen.OpenMsg{Screen: screen.Review, Arg: of(strings.ToLower(tuitest.Account))})
		if m.activeID() != screen.Review {
			t.Errorf("its own operation does not open: %s", m.activeID())
		}
	})(t)
}

func TestD17_OneAccountIsNothingToChoose(t *testing.T) {
	bubble(func(t *testing.T) {
		m := started(t, options(t, sample(t)), 120, 40)
		before := strings.Split(text(t, m), "\n")[0]
		if press(m, "@"); m.palette.IsOpen() || !strings.Contains(text(t, m), "there is one EVM account") {
			t.Errorf("%s", text(t, m))
		}
		if strings.Contains(before, "@") {
			t.Errorf("%q", before)
		}
	})(t)
}
