package builder

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/ui/compose"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

var update = flag.Bool("update", false, "write golden screens")

const (
	account = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	payee   = "0x00C071dB63c5c4bD094C6cc715fd1D622D6Fd5a6"
	usdc    = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	router  = "0x0AD63E341d6cA640c84993e15051febf742E1feF"
)

// rig is a builder driven without a program.
type rig struct {
	t    testing.TB
	s    *Screen
	now  time.Time
	w, h int
	sent []tea.Msg
	look theme.Theme
}

func cat(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// balances are 25 USDC on Base and 2250 on other chains.
func balances(c *catalog.Catalog) api.AggregatedBalance {
	agg, _ := c.Aggregate("ob:usdc")
	one := api.AggregateBalance{AggregatedAssetID: "ob:usdc"}
	for _, e := range agg.Entities {
		v := "0"
		switch e.Asset.Chain {
		case caip.EVM(8453):
			v = "25000000"
		case caip.EVM(10):
			v = "1500000000"
		case caip.EVM(42161):
			v = "750000000"
		}
		one.IndividualAssetBalances = append(one.IndividualAssetBalances,
			api.AssetBalance{AssetType: e.Asset.String(), Balance: v})
	}
	return api.AggregatedBalance{BalanceByAggregatedAsset: []api.AggregateBalance{one}}
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, look: theme.New(true, colorprofile.NoTTY, false),
		now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), w: 80, h: 19}
	c := cat(t)
	ctx := screen.Context{
		Catalog: c, Clock: func() time.Time { return r.now },
		Network: network.Descriptor{ID: "0x" + strings.Repeat("ab", 32)},
		Accounts: []api.Account{{Type: api.AccountKernelV31, SignerAddress: strings.ToLower(payee),
			AccountAddress: account, DeploymentType: api.DeploymentERC4337}},
	}
	r.s = New(ctx, Deps{
		Balances: func(context.Context) (api.AggregatedBalance, error) { return balances(c), nil },
		Book:     []compose.Contact{{Name: "Demo payee", Address: payee}},
	})
	r.do(r.s.Init())
	return r
}

func (r *rig) do(cmd tea.Cmd) {
	for _, m := range tuitest.Messages(cmd) {
		switch m.(type) {
		case balancesMsg, watchedMsg, keptMsg, saveDueMsg, savedMsg, importedMsg, exportedMsg:
			r.do(r.s.Update(m))
			continue
		}
		r.sent = append(r.sent, m)
	}
}

func keyOf(name string) tea.KeyPressMsg {
	switch name {
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "tab":
		return tea.KeyPressMsg{Code: tea.KeyTab}
	case "shift+tab":
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	case "up":
		return tea.KeyPressMsg{Code: tea.KeyUp}
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	case "backspace":
		return tea.KeyPressMsg{Code: tea.KeyBackspace}
	case "ctrl+t":
		return tea.KeyPressMsg{Code: 't', Mod: tea.ModCtrl}
	case "ctrl+u":
		return tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl}
	case "ctrl+r", "ctrl+x", paneKey:
		return tea.KeyPressMsg{Code: rune(name[5]), Mod: tea.ModCtrl}
	case "ctrl+k":
		return tea.KeyPressMsg{Code: 'k', Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

func (r *rig) press(names ...string) *rig {
	for _, n := range names {
		r.do(r.s.Update(keyOf(n)))
	}
	return r
}

func (r *rig) typeText(text string) *rig {
	for _, c := range text {
		r.press(string(c))
	}
	return r
}

func (r *rig) paste(text string) *rig { r.do(r.s.Update(tea.PasteMsg{Content: text})); return r }

// on puts the focus on a row and edits it.
func (r *rig) on(id string) *rig {
	r.s.leaveField()
	r.s.focus = id
	if got := r.s.current().id; got != id {
		r.t.Fatalf("there is no row %s", id)
	}
	r.s.edit()
	return r
}

func (r *rig) fill(id, text string) *rig { return r.on(id).typeText(text) }

func (r *rig) view() string {
	v, _, _, _ := kit.TakeCursor(r.s.View(screen.Frame{W: r.w, H: r.h, Theme: r.look, Now: r.now}))
	return v
}

func (r *rig) frozen() intent.Intent {
	r.t.Helper()
	in, ok := r.s.freeze()
	if !ok {
		r.t.Fatalf("mistakes: %v %v", r.s.mistakes(), r.s.general)
	}
	return in
}

func (r *rig) golden(name string) {
	r.t.Helper()
	th := r.look
	var b strings.Builder
	for _, l := range strings.Split(kit.Box(r.view(), r.w, r.h)+"\n"+
		kit.KeyLine(th, r.s.Keys(), r.w, tuitest.MoreKey(r.s)), "\n") {
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	if string(want) != b.String() {
		r.t.Errorf("%s differs:\n%s", name, b.String())
	}
}

func mustHex(t testing.TB, text string) []byte {
	t.Helper()
	b, problem := compose.Bytes(text)
	if problem != "" {
		t.Fatal(problem)
	}
	return b
}
