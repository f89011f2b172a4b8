package settings

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"coffer/config"
	"coffer/ui/doctor"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// bench is the screen with its writes and its messages.
type bench struct {
	*testing.T
	m       *Model
	saved   []config.UI
	saveErr error
	found   []doctor.Finding
	asked   doctor.Terminal
	sent    []tea.Msg
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, found: []doctor.Finding{
		{Area: doctor.AreaService, Name: "reached", Text: "answered in 12 ms"},
		{Area: doctor.AreaService, Name: "API key", Level: doctor.Bad, Text: "not accepted (401)",
			Todo: "ask the operator for another key and store it: coffer keys api-key set"},
		{Area: doctor.AreaService, Name: "TLS", Text: "TLS 1.3, certificate by Coffer lab, until 2027-02-01"},
		{Area: doctor.AreaKeys, Name: "vault", Level: doctor.Warn, Text: "an encrypted file, not set up",
			Todo: "run: coffer keys init --profile demo"},
		{Area: doctor.AreaTerminal, Name: "clipboard", Level: doctor.Unknown, Text: "nobody can ask"},
	}}
	ctx := tuitest.Context(t)
	ctx.Vault = screen.Vault{Where: "an encrypted file", Locked: func() bool { return true }}
	ctx.Settings.Proxy = "proxy.example:3128"
	balances := []kit.Key{kit.NewKey("sort", "s").Named("sort"), kit.NewKey("filter", "/"),
		kit.NewKey("up", "up", "k").Hidden()}
	review := []kit.Key{kit.NewKey("sign", "y").WithCare()}
	b.m = New(ctx, Deps{
		Config: "/home/me/.config/coffer/config.toml", UI: config.UI{Theme: config.ThemeDark,
			Keys: map[string]string{"balances.sort": "o"}},
		Save: func(ui config.UI) error {
			if b.saveErr == nil {
				b.saved = append(b.saved, ui)
			}
			return b.saveErr
		},
		Actions: func() []Action {
			return append(append(ShellActions(), ActionsOf("balances", "Balances", balances)...),
				ActionsOf("review", "Review", review)...)
		},
		Paths: []Path{{"configuration", "/home/me/.config/coffer/config.toml"},
			{"journal", "/home/me/.local/state/coffer/demo"}},
		LockAfter: 5 * time.Minute, Service: "https://lab.invalid:8443/api", PolicyFile: "/home/me/policy.toml",
		Policy: func() ([]string, error) {
			return []string{"one operation spends at most $250", "no EIP-7702 delegation is signed"}, nil
		},
		Doctor: func(_ context.Context, term doctor.Terminal) []doctor.Finding { b.asked = term; return b.found },
		Report: func(found []doctor.Finding) string { return fmt.Sprintf("%d findings", len(found)) },
		Getenv: func(k string) string { return map[string]string{"TMUX": "x"}[k] },
	})
	t.Cleanup(b.m.Close)
	b.give(screen.ResizedMsg{W: 80, H: 19})
	b.give(screen.OpenedMsg{})
	return b
}

func (b *bench) give(msg tea.Msg) { b.run(b.m.Update(msg)) }

func (b *bench) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			b.run(c)
		}
	case savedMsg, limitsMsg, foundMsg:
		b.give(msg)
	case nil:
	default:
		b.sent = append(b.sent, msg)
	}
}

func (b *bench) keys(names ...string) {
	for _, n := range names {
		b.give(kit.Press(n))
	}
}

func (b *bench) text() string { b.Helper(); return tuitest.Text(b, b.m, 80, 19) }

// flat is the text as one line.
func (b *bench) flat() string { b.Helper(); return strings.Join(strings.Fields(b.text()), " ") }

// row moves to a row of the main page.
func (b *bench) row(id string) {
	b.Helper()
	b.keys("home")
	for i, it := range b.m.items() {
		if it.id == id {
			for range i {
				b.keys("down")
			}
			return
		}
	}
	b.Fatalf("no row %s", id)
}

func (b *bench) lastUI() (config.UI, bool) {
	for i := len(b.sent) - 1; i >= 0; i-- {
		if ui, ok := b.sent[i].(config.UI); ok {
			return ui, true
		}
	}
	return config.UI{}, false
}

func TestGoldenScreens(t *testing.T) {
	for _, size := range []struct {
		name string
		w, h int
	}{{"80x24", 80, 19}, {"120x40", 120, 35}, {"60x20", 60, 15}} {
		for _, page := range []struct {
			name string
			to   func(b *bench)
		}{
			{"main", func(*bench) {}}, {"end", func(b *bench) { b.keys("end") }},
			{"theme", func(b *bench) { b.keys("enter") }},
			{"keys", func(b *bench) { b.row(idKeys); b.keys("enter", "down", "down", "enter") }},
			{"doctor", func(b *bench) { b.keys("d") }},
		} {
			t.Run(page.name+" "+size.name, func(t *testing.T) {
				b := newBench(t)
				b.give(screen.ResizedMsg{W: size.w, H: size.h})
				page.to(b)
				golden.RequireEqual(t, tuitest.Text(t, b.m, size.w, size.h))
			})
		}
	}
}

func TestGoldenColours(t *testing.T) {
	for name, look := range map[string]theme.Theme{
		"dark":      theme.New(true, colorprofile.TrueColor, false),
		"light":     theme.New(false, colorprofile.TrueColor, false),
		"no colour": theme.New(true, colorprofile.ASCII, false),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.keys("d")
			golden.RequireEqual(t, b.m.View(screen.Frame{W: 80, H: 19, Theme: look, Now: tuitest.Now()}))
		})
	}
}

func TestAChoiceIsUsedOnceItIsWritten(t *testing.T) {
	b := newBench(t)
	b.row(idTheme)
	b.keys("enter", "down", "enter") // light
	if ui, ok := b.lastUI(); !ok || ui.Theme != config.ThemeLight || len(b.saved) != 1 ||
		b.saved[0].Keys["balances.sort"] != "o" {
		t.Errorf("%+v, %+v", b.saved, b.sent)
	}
	b.sent, b.saveErr = nil, &config.Error{Path: "config.toml",
		Problem: "this file is written in a form that is not changed by the program"}
	b.row(idMouse)
	b.keys("enter", "down", "down", "enter")
	if _, ok := b.lastUI(); ok || b.m.ui.Mouse != nil || !strings.Contains(b.flat(), "in a form that is not changed") {
		t.Errorf("%+v\n%s", b.sent, b.text())
	}
	b.saveErr = nil
	b.keys("enter", "down", "down", "enter")
	if ui, ok := b.lastUI(); !ok || ui.Mouse == nil || *ui.Mouse {
		t.Errorf("%+v", ui)
	}
	b.row(idHide)
	b.keys("enter", "esc")
	if n := len(b.saved); n != 2 {
		t.Errorf("%d writes after nothing was chosen", n)
	}
	b.keys("enter", "up", "enter")
	if ui, _ := b.lastUI(); !ui.HideAmounts {
		t.Errorf("%+v", ui)
	}
	b.row(idASCII)
	b.keys("enter", "up", "enter")
	if ui, _ := b.lastUI(); !ui.ASCII || !ui.HideAmounts || ui.Theme != config.ThemeLight {
		t.Errorf("%+v", ui)
	}
}

func TestR2CopiesAreTurnedOffAndOnAgain(t *testing.T) {
	b := newBench(t)
	b.row(idCopies)
	b.keys("enter", "down", "enter")
	if ui, ok := b.lastUI(); !ok || ui.Copies() || !strings.Contains(b.flat(), "off: nothing is sent to a clipboard") {
		t.Errorf("%+v\n%s", ui, b.text())
	}
	b.keys("enter", "up", "enter")
	if ui, ok := b.lastUI(); !ok || ui.Clipboard != nil ||
		!strings.Contains(b.flat(), "sent to the terminal's clipboard") {
		t.Errorf("%+v\n%s", ui, b.text())
	}
}

func TestNotificationsAreChosen(t *testing.T) {
	b := newBench(t)
	b.row(idNotify)
	b.keys("enter", "down", "down", "enter")
	if ui, ok := b.lastUI(); !ok || ui.Notify != config.NotifyDetails ||
		!strings.Contains(b.flat(), "with what it was") {
		t.Errorf("%+v\n%s", ui, b.text())
	}
	b.keys("enter", "up", "up", "enter")
	if ui, ok := b.lastUI(); !ok || ui.Notify != "" || !strings.Contains(b.flat(), "not over SSH") {
		t.Errorf("%+v\n%s", ui, b.text())
	}
}

func TestDustIsCheckedAtItsField(t *testing.T) {
	b := newBench(t)
	b.row(idDust)
	b.keys("enter")
	if !b.m.Capturing() {
		t.Fatal("the field has not the keyboard")
	}
	b.keys("ctrl+u")
	b.give(tea.PasteMsg{Content: "many"})
	b.keys("enter")
	if len(b.saved) > 0 || !strings.Contains(b.text(), "✗ expected an amount of USD") {
		t.Errorf("%+v\n%s", b.saved, b.text())
	}
	b.keys("ctrl+u", "$", "2", ".", "5", "enter")
	if len(b.saved) != 1 || b.saved[0].Dust != "2.5" || b.m.editing {
		t.Errorf("%+v", b.saved)
	}
	b.keys("enter", "7", "esc")
	if len(b.saved) != 1 || b.m.ui.Dust != "2.5" {
		t.Error("esc wrote something")
	}
}

func TestAKeyOfAnotherActionIsNotTaken(t *testing.T) {
	b := newBench(t)
	b.row(idKeys)
	b.keys("enter", "/", "s", "o", "r", "t", "enter")
	a, ok := b.m.selected()
	if !ok || a.Name != "balances.sort" || b.m.key(a) != "o" {
		t.Fatalf("%+v\n%s", a, b.text())
	}
	for pressed, why := range map[string]string{"/": "the key of filter", "q": "the key of quit (everywhere)",
		"j": "fixed meaning", "enter": "fixed meaning"} {
		b.keys("enter", pressed)
		if !b.m.waiting || len(b.saved) > 0 || !strings.Contains(b.flat(), why) {
			t.Errorf("%s: %s", pressed, b.text())
		}
		b.keys("esc")
	}
	b.keys("enter", "v")
	if ui, ok := b.lastUI(); !ok || ui.Keys["balances.sort"] != "v" {
		t.Errorf("%+v", ui)
	}
	if b.m.deps.UI.Keys["balances.sort"] != "o" {
		t.Error("the choices of before were changed in place")
	}
	b.keys("x")
	if ui, _ := b.lastUI(); len(ui.Keys) != 0 {
		t.Errorf("%+v", ui)
	}
	b.keys("enter", "s") // the key that it already has: nothing to write
	if n := len(b.saved); n != 2 || b.m.waiting {
		t.Errorf("%d writes", n)
	}
	b.keys("/", "esc", "/", "s", "i", "g", "n", "enter", "enter")
	if b.m.waiting {
		t.Error("the key that signs can be changed")
	}
}

func TestTheKeysOfEveryScreenAreListed(t *testing.T) {
	b := newBench(t)
	all := Collect(map[screen.ID]screen.Screen{screen.Settings: b.m})()
	names := map[string]bool{}
	for _, a := range all {
		if names[a.Name] || a.Key == "" {
			t.Errorf("%+v", a)
		}
		names[a.Name] = true
	}
	if !names["shell.palette"] || !names["settings.doctor"] || !names["settings.change"] {
		t.Errorf("%v", names)
	}
}

func TestAKeyIsNotGivenBackToTwoActions(t *testing.T) {
	b := newBench(t)
	b.m.ui.Keys = map[string]string{"balances.sort": "o", "balances.filter": "s"}
	b.row(idKeys)
	b.keys("enter", "/", "s", "o", "r", "t", "enter", "x")
	if len(b.saved) > 0 || !strings.Contains(b.flat(), "give that one its own back first") {
		t.Errorf("%+v\n%s", b.saved, b.text())
	}
}

func TestTheDoctorAnswersAndItsReportIsCopied(t *testing.T) {
	b := newBench(t)
	b.text()
	b.keys("d")
	text := b.text()
	for _, want := range []string{"1 thing is wrong, 1 not checked", "✗ not accepted (401)",
		"ask the operator for another key", "✓ TLS 1.3"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if b.asked.Colors != "true colour" || b.asked.Width != 80 || b.asked.Height != 24 || b.asked.Multiplexer != "tmux" {
		t.Errorf("%+v", b.asked)
	}
	b.keys("y")
	if msg, ok := b.sent[len(b.sent)-1].(screen.CopyMsg); !ok || msg.Text != "5 findings" {
		t.Errorf("%+v", b.sent)
	}
	b.found = b.found[:1]
	cmd := b.m.Update(kit.Press("r"))
	b.keys("esc")
	b.give(cmd())
	if b.m.page != pageMain || len(b.m.found) != 5 {
		t.Error("an answer that nobody waits for was taken")
	}
	b.give(screen.OpenedMsg{Arg: DoctorArg{}})
	if text := b.text(); !strings.Contains(text, "nothing is wrong") {
		t.Error(text)
	}
	b.keys("esc", "esc")
	if _, ok := b.sent[len(b.sent)-1].(screen.BackMsg); !ok {
		t.Errorf("%+v", b.sent)
	}
}

func TestABrokenPolicyIsSaid(t *testing.T) {
	b := newBench(t)
	b.m.deps.Policy = func() ([]string, error) {
		return nil,
			errors.New("policy.toml:3:1: max_spend_usd: expected an amount")
	}
	b.give(screen.OpenedMsg{})
	if text := tuitest.Text(t, b.m, 120, 40); !strings.Contains(text, "✗ policy.toml:3:1") ||
		strings.Contains(text, "limits        none") {
		t.Error(text)
	}
}

func TestWithoutAConfigurationNothingIsChanged(t *testing.T) {
	b := newBench(t)
	b.m.deps = Deps{}
	b.m.deps.UI = config.UI{}
	b.keys("home", "enter")
	if msg, ok := b.sent[len(b.sent)-1].(screen.ToastMsg); !ok || b.m.choice.IsOpen() {
		t.Errorf("%+v", msg)
	}
	b.keys("d")
	if b.m.page != pageMain || !strings.Contains(ansi.Strip(b.text()), "none: what may be signed") {
		t.Error(b.text())
	}
}

func TestAClickSelectsAChoice(t *testing.T) {
	b := newBench(t)
	b.text()
	b.give(screen.ClickMsg{X: 5, Y: b.m.starts[4]})
	if b.m.sel[pageMain] != 4 || b.m.Capturing() {
		t.Errorf("row %d", b.m.sel[pageMain])
	}
}
