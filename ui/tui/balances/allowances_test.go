package balances

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"coffer/ui/present"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
)

const (
	allowedToken = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	someSpender  = "0x0AD63E341d6cA640c84993e15051febf742E1feF"
)

// someAllowances are one that was there before, one that was taken back, and one of an unknown asset.
func someAllowances() []present.Allowance {
	at, all := tuitest.Now().Add(-time.Hour), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	return []present.Allowance{
		{Asset: allowedToken, Spender: someSpender, Amount: all, State: present.AllowanceThere,
			Ran: true, Operation: "op-1", At: at},
		{Asset: allowedToken, Spender: tuitest.Signer, Amount: big.NewInt(250_500_000),
			State: present.AllowanceTakenBack, Operation: "op-2", At: at},
		{Asset: "eip155:5/erc20:" + someSpender, Spender: tuitest.Signer, Amount: big.NewInt(1),
			State: present.AllowanceRevoked, Ran: true, Operation: "op-3", At: at},
	}
}

// allowing is a screen with the page of allowances open.
func allowing(t *testing.T, w, h int, list []present.Allowance) *Model {
	t.Helper()
	ctx := twoAccounts(t)
	ctx.Names = func(address string) string {
		return map[string]string{someSpender: "Demo exchange"}[address]
	}
	m := New(ctx, &source{b: withSolana(t)}, Allowances(func() []present.Allowance { return list }))
	t.Cleanup(m.Close)
	m.Update(screen.ResizedMsg{W: w, H: h})
	m.Update(tuitest.Keys(m, "a")())
	return m
}

func TestGoldenAllowances(t *testing.T) {
	for name, size := range sizes() {
		t.Run(name, func(t *testing.T) {
			m := allowing(t, size[0], size[1], someAllowances())
			golden.RequireEqual(t, tuitest.Text(t, m, size[0], size[1]))
		})
	}
	t.Run("none", func(t *testing.T) {
		golden.RequireEqual(t, tuitest.Text(t, allowing(t, 80, 19, nil), 80, 19))
	})
}

// TestAnAllowanceIsRevokedThroughTheBuilder: enter prepares what the command `accounts allowances --revoke` runs.
func TestAnAllowanceIsRevokedThroughTheBuilder(t *testing.T) {
	m := allowing(t, 120, 35, someAllowances())
	open, ok := tuitest.Keys(m, "enter")().(screen.OpenMsg)
	arg, is := open.Arg.(review.EditArg)
	if !ok || !is || open.Screen != screen.Build || len(arg.Draft.Allowances) != 1 || len(arg.Draft.Calls) != 1 {
		t.Fatalf("%+v", open)
	}
	if a := arg.Draft.Allowances[0]; a.Amount != "0" || a.Spender != someSpender || a.AssetType != allowedToken {
		t.Errorf("%+v", a)
	}
	tuitest.Keys(m, "j", "j")
	toast, ok := tuitest.Keys(m, "enter")().(screen.ToastMsg)
	if k, _ := kit.FindKey(m.Keys(), "enter"); !ok || !strings.Contains(toast.Text, "on a known chain") || k.Off == "" {
		t.Errorf("an asset of no known chain is revoked: %+v", toast)
	}
	if c, ok := tuitest.Keys(m, "y")().(screen.CopyMsg); !ok || c.Text != tuitest.Signer {
		t.Errorf("%+v", c)
	}
	m.Update(screen.AmountsMsg{Hidden: true})
	if text := tuitest.Text(t, m, 120, 35); strings.Contains(text, "250.5") || strings.Contains(text, "UNLIMITED") {
		t.Errorf("a hidden amount is shown:\n%s", text)
	}
	if tuitest.Keys(m, "esc"); m.allowed.open {
		t.Error("esc does not go back")
	}
	tuitest.Keys(m, "a")
	if m.Update(screen.OpenedMsg{}); m.allowed.open {
		t.Error("the tab key does not show the balances")
	}
}

func TestEveryPaneOfTheAllowancesScrolls(t *testing.T) {
	m := allowing(t, 120, 6, someAllowances())
	text := func() string { return tuitest.Text(t, m, 120, 6) }
	tuitest.Keys(m, "tab")
	before, at := text(), m.allowed.table.Selected()
	if tuitest.Keys(m, "j"); text() == before || m.allowed.table.Selected() != at {
		t.Errorf("the details do not scroll:\n%s", text())
	}
	small := allowing(t, 60, 12, someAllowances())
	before = tuitest.Text(t, small, 60, 12)
	if tuitest.Keys(small, "pgdown"); tuitest.Text(t, small, 60, 12) == before || small.allowed.table.Selected() != 0 {
		t.Error("the details below the list do not scroll")
	}
	m.Update(screen.ClickMsg{X: 5, Y: 2})
	if tuitest.Keys(m, "j"); m.allowed.table.Selected() != at+2 {
		t.Errorf("line %d is selected", m.allowed.table.Selected())
	}
	if k, ok := kit.FindKey(loaded(t, twoAccounts(t), &source{b: withSolana(t)}).Keys(), "a"); !ok || k.Off == "" {
		t.Error("a program without a journal offers allowances")
	}
}
