package review

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

// rig is a screen with its fake, driven without a program.
type rig struct {
	t     testing.TB
	clock *clock
	op    *fakeOp
	s     *Screen
	w, h  int
	sent  []tea.Msg // requests of the screen to the shell
	due   []tea.Msg // what the screen waits for, newest last
}

func cat(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func anIntent(t testing.TB, now time.Time) intent.Intent {
	t.Helper()
	d := intent.Draft{
		Version: intent.Version, Network: hash(1), TargetChain: "eip155:8453", SlippageBps: 50,
		Accounts: []api.Account{{Type: api.AccountKernelV31, SignerAddress: strings.ToLower(payee),
			AccountAddress: strings.ToLower(account), DeploymentType: api.DeploymentERC4337}},
		Calls: []intent.Call{{To: usdc, Data: "0xa9059cbb" + strings.Repeat("00", 64),
			Function: "transfer(address to, uint256 amount)"}},
		TokensRequired: []api.TokenRequirement{{AssetType: baseUSDC().String(), Amount: "250500000"}},
	}
	in, err := intent.Freeze(d, api.Rules{Catalog: cat(t), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func newRig(t testing.TB) *rig {
	t.Helper()
	c := &clock{now: begin()}
	r := &rig{t: t, clock: c, op: newFake(c), w: 80, h: 19}
	ctx := screen.Context{Catalog: cat(t), Clock: c.Now}
	r.s = New(ctx, Deps{Start: func(_ context.Context, in intent.Intent) (Operation, error) {
		r.op.snap.Intent = in.Draft()
		if r.op.asked != nil {
			r.op.snap.Intent = *r.op.asked
		}
		return r.op, nil
	}, After: func(_ time.Duration, msg tea.Msg) tea.Cmd {
		r.due = append(r.due, msg)
		return nil
	}})
	return r
}

// openSwap opens a swap, which has one review only.
func (r *rig) openSwap() *rig {
	r.op.next = swapQuote(r.clock.now)
	r.do(r.s.Update(screen.OpenedMsg{Arg: StartArg{Intent: aSwap(r.t, r.clock.now)}}))
	return r
}

// open hands an intent over and runs everything until the screen waits.
func (r *rig) open() *rig {
	r.do(r.s.Update(screen.OpenedMsg{Arg: StartArg{Intent: anIntent(r.t, r.clock.now)}}))
	return r
}

// do runs commands and feeds their messages back until none is left.
func (r *rig) do(cmd tea.Cmd) {
	for _, m := range tuitest.Messages(cmd) {
		switch m.(type) {
		case startedMsg, steppedMsg, eventMsg, unlockedMsg, renewedMsg:
			r.do(r.s.Update(m))
		default:
			r.sent = append(r.sent, m)
		}
	}
}

func (r *rig) view() string {
	v := r.s.View(screen.Frame{W: r.w, H: r.h, Theme: theme.New(true, colorprofile.NoTTY, false), Now: r.clock.now})
	v, _, _, _ = kit.TakeCursor(v)
	return v
}

// settle draws once and waits out the grace period.
func (r *rig) settle() *rig { r.view(); r.clock.add(time.Second); return r }

// unfold opens every fold, and makes the screen high enough for them.
func (r *rig) unfold() *rig {
	r.h = 120
	return r.openFolds()
}

func (r *rig) openFolds() *rig {
	r.view()
	for _, key := range r.s.folds() {
		r.s.unfolded[key] = true
	}
	return r
}

// read scrolls to the end, drawing each screen.
func (r *rig) read() *rig {
	for range 200 {
		r.view()
		if r.s.text[pageMain].Below() == 0 {
			return r
		}
		r.press("space")
		r.clock.add(time.Second)
	}
	r.t.Fatal("the text has no end")
	return r
}

func keyOf(name string) tea.KeyPressMsg {
	switch name {
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "space":
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	case "ctrl+u":
		return tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

func (r *rig) press(names ...string) *rig {
	for _, n := range names {
		r.do(r.s.Update(keyOf(n)))
		r.clock.add(300 * time.Millisecond)
	}
	return r
}

func (r *rig) typeText(text string) *rig {
	for _, c := range text {
		r.press(string(c))
	}
	return r
}

// golden compares a whole screen with its accepted form: the body above the line of keys.
func (r *rig) golden(name string) {
	r.t.Helper()
	th := theme.New(true, colorprofile.NoTTY, false)
	var b strings.Builder
	for _, l := range strings.Split(kit.Box(r.view(), r.w, r.h)+"\n"+kit.KeyLine(th, r.s.Keys(), r.w, kit.Help), "\n") {
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
