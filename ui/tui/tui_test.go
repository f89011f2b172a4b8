package tui

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/network"
	"coffer/ui/compose"
	"coffer/ui/tui/accounts"
	"coffer/ui/tui/balances"
	"coffer/ui/tui/builder"
	"coffer/ui/tui/history"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// service answers balances and history from samples.
type service struct {
	balances api.AggregatedBalance
	page     api.HistoryPage
	err      error
}

func (s *service) Balances(context.Context) (api.AggregatedBalance, error) { return s.balances, s.err }

func (s *service) History(context.Context, int, string) (api.HistoryPage, error) {
	return s.page, s.err
}

func sample(t testing.TB) *service {
	s := &service{balances: tuitest.Balances(t)}
	for i := range 30 {
		s.page.Transactions = append(s.page.Transactions, tuitest.Record(i))
	}
	return s
}

func options(t testing.TB, s *service) Options {
	return Options{Context: tuitest.Context(t),
		Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"},
		Screens: func(c screen.Context) map[screen.ID]screen.Screen {
			return map[screen.ID]screen.Screen{screen.Balances: balances.New(c, s), screen.History: history.New(c, s),
				screen.Accounts: accounts.New(c, accounts.Deps{})}
		}}
}

// beside adds screens, or replaces some.
func (o *Options) beside(more func(screen.Context) map[screen.ID]screen.Screen) {
	before := o.Screens
	o.Screens = func(c screen.Context) map[screen.ID]screen.Screen {
		all := before(c)
		maps.Copy(all, more(c))
		return all
	}
}

// drive passes a message to the model and then every answer that follows. It runs no timers. It needs the fake clock of
// a synctest bubble, where time passes only when every command waits.
func drive(m *Model, msg tea.Msg) {
	_, cmd := m.Update(msg)
	follow(m, cmd)
}

func follow(m *Model, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	got := make(chan tea.Msg, 1)
	go func() { got <- cmd() }()
	var msg tea.Msg
	select {
	case msg = <-got:
	case <-time.After(time.Millisecond): // everything else is waiting: a timer
		return
	}
	if cmds := reflect.ValueOf(msg); cmds.Kind() == reflect.Slice { // a batch, or a sequence
		for i := range cmds.Len() {
			follow(m, cmds.Index(i).Interface().(tea.Cmd))
		}
	} else if msg != nil {
		drive(m, msg)
	}
}

// bubble runs a test on a fake clock and lets its remaining timers end.
func bubble(test func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			defer time.Sleep(5 * time.Minute)
			test(t)
		})
	}
}

func started(t testing.TB, o Options, w, h int) *Model {
	m := New(o)
	t.Cleanup(m.Close)
	drive(m, tea.WindowSizeMsg{Width: w, Height: h})
	follow(m, m.Init())
	return m
}

func press(m *Model, names ...string) {
	for _, n := range names {
		drive(m, kit.Press(n))
	}
}

func text(t testing.TB, m *Model) string {
	t.Helper()
	content := m.View().Content
	tuitest.CheckBox(t, content, m.w, m.h)
	lines := strings.Split(ansi.Strip(content), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestGoldenShell(t *testing.T) {
	for _, size := range []struct {
		name string
		w, h int
	}{{"80x24", 80, 24}, {"120x40", 120, 40}} {
		for _, c := range []struct {
			name string
			keys []string
		}{
			{"balances", nil},
			{"help", []string{"?"}},
			{"palette", []string{"ctrl+p", "h", "i"}},
			{"copied", []string{"y"}},
			{"history", []string{"4"}},
			{"refused key", []string{"4", "m"}},
		} {
			t.Run(c.name+" "+size.name, bubble(func(t *testing.T) {
				m := started(t, options(t, sample(t)), size.w, size.h)
				press(m, c.keys...)
				golden.RequireEqual(t, text(t, m))
			}))
		}
	}
	t.Run("too small", bubble(func(t *testing.T) {
		golden.RequireEqual(t, text(t, started(t, options(t, sample(t)), 50, 12)))
	}))
	t.Run("offline", bubble(func(t *testing.T) {
		golden.RequireEqual(t, text(t, started(t, options(t, &service{err: errors.New("connection refused")}), 80, 24)))
	}))
	t.Run("ascii", bubble(func(t *testing.T) {
		o := options(t, sample(t))
		o.Env = []string{"TERM=xterm", "LANG=C", "NO_COLOR=1"}
		got := text(t, started(t, o, 80, 24))
		for _, r := range got {
			if r > 0x7e {
				t.Errorf("%q is not ASCII", r)
			}
		}
		golden.RequireEqual(t, got)
	}))
}

func TestNetworkBadgeIsOnEveryScreenAndRealIsLoud(t *testing.T) {
	bubble(networkBadgeIsOnEveryScreenAndRealIsLoud)(t)
}

func networkBadgeIsOnEveryScreenAndRealIsLoud(t *testing.T) {
	for kind, want := range map[network.Kind]string{network.Embedded: " EMBEDDED ", network.Lab: " LAB ",
		network.Test: " ! TEST ! ",
		network.Real: " ! REAL ! ", "": " ! REAL ! "} {
		o := options(t, sample(t))
		o.Context.Network.Kind = kind
		m := started(t, o, 60, 20)
		for _, keys := range [][]string{nil, {"4"}, {"6"}, {"?"}, {"esc", ":"}} {
			press(m, keys...)
			if first, _, _ := strings.Cut(text(t, m), "\n"); !strings.Contains(first, want) {
				t.Errorf("%q after %v: %q", kind, keys, first)
			}
		}
	}
}

func TestNoColourWithoutColour(t *testing.T) { bubble(noColourWithoutColour)(t) }

func noColourWithoutColour(t *testing.T) {
	o := options(t, sample(t))
	o.NoColor = true
	m := started(t, o, 80, 24)
	if strings.Contains(m.View().Content, "38;") || strings.Contains(m.View().Content, "48;") {
		t.Error("a colour is drawn")
	}
	m.profile = colorprofile.NoTTY
	m.retheme()
	if strings.Contains(m.View().Content, "\x1b") {
		t.Error("a dumb terminal gets escape sequences")
	}
}

// fieldScreen is a screen with a text field and unfinished work.
type fieldScreen struct {
	field *kit.Field
	title string
	got   []string
	arg   any
	wake  time.Duration
}

func (s *fieldScreen) Title() string                { return cmp.Or(s.title, "Build") }
func (s *fieldScreen) Init() tea.Cmd                { return nil }
func (s *fieldScreen) Close()                       {}
func (s *fieldScreen) Capturing() bool              { return s.field.Focused() }
func (s *fieldScreen) KeepOpen() string             { return "an operation is not finished" }
func (s *fieldScreen) Wake(time.Time) time.Duration { return s.wake }
func (s *fieldScreen) Keys() []kit.Key {
	return []kit.Key{{Press: []string{"x"}, Label: "x", Off: "x is off today"}}
}
func (s *fieldScreen) View(f screen.Frame) string {
	return kit.Box("\n"+s.field.View(f.Theme, f.W, 8), f.W, f.H)
}
func (s *fieldScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		s.got = append(s.got, msg.String())
		s.field.Update(msg)
	case tea.PasteMsg:
		s.field.Update(msg)
	case screen.OpenedMsg:
		s.arg = msg.Arg
	}
	return nil
}

var _ screen.Cacher = (*balances.Model)(nil)

// cachingScreen records which of its commands ran.
type cachingScreen struct {
	fieldScreen
	ran []string
}

func (s *cachingScreen) runs(what string) tea.Cmd {
	return func() tea.Msg { s.ran = append(s.ran, what); return nil }
}
func (s *cachingScreen) LoadCache() tea.Cmd { return s.runs("cache") }
func (s *cachingScreen) Init() tea.Cmd      { return s.runs("request") }

func TestCachesAreReadBeforeAnyScreenAsksTheService(t *testing.T) {
	cs := &cachingScreen{fieldScreen: fieldScreen{field: kit.NewField("to", 0)}}
	o := options(t, sample(t))
	o.beside(func(screen.Context) map[screen.ID]screen.Screen { return map[screen.ID]screen.Screen{screen.Build: cs} })
	steps := reflect.ValueOf(New(o).Init()())
	if steps.Type() == reflect.TypeFor[tea.BatchMsg]() || steps.Len() != 2 {
		t.Fatalf("the start is %v of %d, not two steps", steps.Type(), steps.Len())
	}
	for i, want := range []string{"cache", "cache request"} {
		for _, cmd := range steps.Index(i).Interface().(tea.Cmd)().(tea.BatchMsg) {
			cmd()
		}
		if got := strings.Join(cs.ran, " "); got != want {
			t.Errorf("after step %d: %s", i+1, got)
		}
	}
}

func withField(t testing.TB) (*Model, *fieldScreen) {
	fs := &fieldScreen{field: kit.NewField("to", 0)}
	o := options(t, sample(t))
	o.beside(func(screen.Context) map[screen.ID]screen.Screen {
		return map[screen.ID]screen.Screen{screen.Build: fs}
	})
	return started(t, o, 80, 24), fs
}

func TestTextFieldKeepsShellKeysForItself(t *testing.T) {
	bubble(textFieldKeepsShellKeysForItself)(t)
}

func textFieldKeepsShellKeysForItself(t *testing.T) {
	m, fs := withField(t)
	fs.field.Focus()
	press(m, "2", "q", "?", "1", ":")
	if fs.field.Value() != "q?1:" {
		t.Errorf("the field got %q", fs.field.Value())
	}
	if v := m.View(); v.Cursor == nil || v.Cursor.Y != chromeTop+1 || v.Cursor.X != 8+4 {
		t.Errorf("the cursor is at %+v", v.Cursor)
	}
	drive(m, tea.KeyPressMsg{Code: tea.KeyF1})
	if !strings.Contains(text(t, m), "Keys on Build") {
		t.Error("f1 does not help while typing")
	}
	press(m, "esc")
	drive(m, tea.PasteMsg{Content: "0xabc\nq"})
	if !strings.HasSuffix(fs.field.Value(), "0xabc q") {
		t.Errorf("pasted %q", fs.field.Value())
	}
}

func TestOpenPassesTheSelectedAsset(t *testing.T) { bubble(openPassesTheSelectedAsset)(t) }

func openPassesTheSelectedAsset(t *testing.T) {
	m, fs := withField(t)
	press(m, "b")
	if arg, ok := fs.arg.(screen.AssetArg); !ok || arg.Aggregate != "ob:usdc" || m.activeID() != screen.Build {
		t.Errorf("opened %q with %#v", m.activeID(), fs.arg)
	}
}

func TestKeyThatIsOffSaysWhy(t *testing.T) { bubble(keyThatIsOffSaysWhy)(t) }

func keyThatIsOffSaysWhy(t *testing.T) {
	m, fs := withField(t)
	press(m, "2", "x")
	if len(fs.got) != 0 || !strings.Contains(text(t, m), "! x is off today") {
		t.Errorf("got %v:\n%s", fs.got, text(t, m))
	}
}

func TestUnfinishedWorkAsksBeforeQuitting(t *testing.T) {
	bubble(unfinishedWorkAsksBeforeQuitting)(t)
}

func unfinishedWorkAsksBeforeQuitting(t *testing.T) {
	m, _ := withField(t)
	if cmd := m.press(kit.Press("q")); cmd != nil ||
		!strings.Contains(text(t, m), "an operation is not finished; press again to quit") {
		t.Errorf("one q quits:\n%s", text(t, m))
	}
	if cmd := m.press(kit.Press("q")); cmd == nil {
		t.Error("the second q does not quit")
	}
}

func TestScreenOnTopComesBackWithItsTab(t *testing.T) {
	bubble(screenOnTopComesBackWithItsTab)(t)
}

func screenOnTopComesBackWithItsTab(t *testing.T) {
	o := options(t, sample(t))
	top := &fieldScreen{field: kit.NewField("to", 0)}
	o.beside(func(screen.Context) map[screen.ID]screen.Screen {
		return map[screen.ID]screen.Screen{screen.Review: top}
	})
	m := started(t, o, 80, 24)
	drive(m, screen.OpenMsg{Screen: screen.Review, Arg: 7})
	if m.activeID() != screen.Review || top.arg != 7 {
		t.Fatalf("active %q, argument %v", m.activeID(), top.arg)
	}
	press(m, "4")
	if m.activeID() != screen.History {
		t.Errorf("active %q", m.activeID())
	}
	press(m, "1")
	if m.activeID() != screen.Review {
		t.Errorf("active %q", m.activeID())
	}
	drive(m, screen.BackMsg{})
	if m.activeID() != screen.Balances {
		t.Errorf("active %q", m.activeID())
	}
}

func TestPaletteDoesWhatItsLinesSay(t *testing.T) { bubble(paletteDoesWhatItsLinesSay)(t) }

func paletteDoesWhatItsLinesSay(t *testing.T) {
	m := started(t, options(t, sample(t)), 80, 24)
	press(m, ":", "o", "p", "e", "n", "space", "h", "i", "s", "enter")
	if m.activeID() != screen.History {
		t.Errorf("active %q", m.activeID())
	}
	press(m, "1", ":", "s", "h", "o", "w", "space", "z", "enter")
	if !strings.Contains(text(t, m), "AAVE") {
		t.Errorf("zero balances are not shown:\n%s", text(t, m))
	}
}

func TestEveryTabFitsTheSmallestTerminal(t *testing.T) { bubble(everyTabFitsTheSmallestTerminal)(t) }

func everyTabFitsTheSmallestTerminal(t *testing.T) {
	o := options(t, sample(t))
	o.beside(func(screen.Context) map[screen.ID]screen.Screen {
		out := map[screen.ID]screen.Screen{}
		for _, id := range []screen.ID{screen.Build, screen.Activity, screen.Review} {
			out[id] = &fieldScreen{field: kit.NewField("to", 0),
				title: map[screen.ID]string{screen.Build: "Build", screen.Activity: "Activity",
					screen.Review: "Review"}[id]}
		}
		return out
	})
	m := started(t, o, MinWidth, MinHeight)
	tabs := func() string { return strings.Split(text(t, m), "\n")[1] }
	for _, want := range []string{"1 Balances", "2 Build", "3 Activity", "4 History", "6 Accounts"} {
		if !strings.Contains(tabs(), want) {
			t.Errorf("%s is missing: %q", want, tabs())
		}
	}
	press(m, "2")
	drive(m, screen.OpenMsg{Screen: screen.Review})
	if got := tabs(); !strings.Contains(got, "›2 Build › Review") || !strings.Contains(got, " 6") {
		t.Errorf("%q", got)
	}
}

// At any size and for anything a service sends, the view is exactly the terminal and nothing panics.
func TestViewIsExactlyTheTerminal(t *testing.T) {
	nasty := rapid.SampledFrom([]string{"USDC", "日本語の名前", "\x1b[31mred", "a\u202eb", "e\u0301\u0301", "👩‍👩‍👧‍👦", "🇩🇪🇫🇷",
		"\r\n\t", "ｆｕｌｌ", "한국어", "\u1100\u1161\u11a8", strings.Repeat("界", 90), ""})
	names := []string{"down", "up", "enter", "v", "s", "z", "h", "/", "esc", "r", "i", "e", "?", ":", "1", "4", "5",
		"6", "G", "g", "pgdown", "x", "y", "J", "ctrl+r"}
	rapid.Check(t, func(rt *rapid.T) {
		s := sample(t)
		s.balances.BalanceByAggregatedAsset = append(s.balances.BalanceByAggregatedAsset, api.AggregateBalance{
			AggregatedAssetID: nasty.Draw(rt, "id"), Balance: nasty.Draw(rt, "balance"), FiatValue: "1",
			IndividualAssetBalances: []api.AssetBalance{{AssetType: nasty.Draw(rt, "asset"), Balance: "1"}},
		})
		r := &s.page.Transactions[0]
		r.QuoteID, r.Status, r.FailReason, r.Type = nasty.Draw(rt, "quote"), nasty.Draw(rt, "status"),
			nasty.Draw(rt, "reason"), nasty.Draw(rt, "type")
		r.OriginChainOperations[0] = api.OperationRef{Hash: nasty.Draw(rt, "hash"), Chain: nasty.Draw(rt, "chain"),
			ExplorerURL: nasty.Draw(rt, "url")}
		o := options(t, s)
		o.Context.Profile = nasty.Draw(rt, "profile")
		m := New(o)
		defer m.Close()
		w, h := rapid.IntRange(1, 200).Draw(rt, "w"), rapid.IntRange(1, 70).Draw(rt, "h")
		m.Update(tea.WindowSizeMsg{Width: w, Height: h})
		for _, id := range m.order {
			answer(m, m.screens[id].Init())
		}
		for range rapid.IntRange(0, 14).Draw(rt, "keys") {
			_, cmd := m.Update(kit.Press(rapid.SampledFrom(names).Draw(rt, "key")))
			_ = cmd
			content := m.View().Content
			lines := strings.Split(content, "\n")
			if len(lines) != h {
				rt.Fatalf("%d lines in a terminal of %d", len(lines), h)
			}
			for i, l := range lines {
				if got := ansi.StringWidth(l); got != w || ansi.StringWidthWc(l) != w {
					rt.Fatalf("line %d is %d (or %d) cells wide, want %d: %q", i, got, ansi.StringWidthWc(l), w, l)
				}
			}
		}
	})
}

// answer passes a screen the answer to its request.
func answer(m *Model, cmd tea.Cmd) {
	if cmd != nil {
		m.Update(cmd())
	}
}

func TestToastKeepsItsMeaningSign(t *testing.T) { bubble(toastKeepsItsMeaningSign)(t) }

func toastKeepsItsMeaningSign(t *testing.T) {
	m := started(t, options(t, sample(t)), 80, 24)
	drive(m, screen.ToastMsg{Meaning: theme.Danger, Text: "it failed\x1b[2J"})
	if got := text(t, m); !strings.Contains(got, "✗ it failed") || strings.Contains(m.View().Content, "\x1b[2J") {
		t.Error(got)
	}
}

func TestHiddenAmountsStayHiddenOnEveryTabAndInTheHeader(t *testing.T) {
	bubble(hiddenAmountsStayHiddenOnEveryTabAndInTheHeader)(t)
}

func hiddenAmountsStayHiddenOnEveryTabAndInTheHeader(t *testing.T) {
	money := regexp.MustCompile(`\$[0-9<]|[0-9]\.[0-9]{2,}|you have [0-9]`)
	s := sample(t)
	o := options(t, s)
	o.beside(func(c screen.Context) map[screen.ID]screen.Screen {
		return map[screen.ID]screen.Screen{
			screen.Build: builder.New(c, builder.Deps{Balances: s.Balances,
				Book: []compose.Contact{{Name: "Payee", Address: tuitest.Signer}}}),
			screen.Review: review.New(c, review.Deps{}),
		}
	})
	m := started(t, o, 120, 40)
	press(m, "2", "d")
	for _, key := range []string{"2", "4", "1"} {
		if press(m, key); !money.MatchString(text(t, m)) {
			t.Fatalf("tab %s shows no money to hide:\n%s", key, text(t, m))
		}
	}
	press(m, "4", "h") // on any tab, not only on the first
	for _, key := range []string{"4", "1", "2", "6", "1"} {
		press(m, key)
		if key == "2" { // the person's own text stays; figures of the accounts do not
			if strings.Contains(text(t, m), "elsewhere") || !strings.Contains(text(t, m), "what you have is hidden") {
				t.Errorf("the builder says what there is:\n%s", text(t, m))
			}
			press(m, "G", "up", "up", "up", "up", "up", "enter") // the list of assets that can pay
			if !strings.Contains(text(t, m), "hidden") || strings.Contains(text(t, m), "1,400") {
				t.Errorf("the list says what there is:\n%s", text(t, m))
			}
			press(m, "esc")
			continue
		}
		if got := money.FindString(text(t, m)); got != "" {
			t.Errorf("tab %s shows %q:\n%s", key, got, text(t, m))
		}
	}
	drive(m, screen.OpenMsg{Screen: screen.Review})
	press(m, "h")
	if !strings.Contains(text(t, m), "a review always shows its amounts") {
		t.Errorf("the review does not say why:\n%s", text(t, m))
	}
	press(m, "esc", "1", "h")
	if !money.MatchString(text(t, m)) {
		t.Errorf("amounts do not come back:\n%s", text(t, m))
	}
}

func TestK6LLocksOnEveryScreenAndAKeyCountsAsUse(t *testing.T) { bubble(lLocksOnEveryScreen)(t) }

func lLocksOnEveryScreen(t *testing.T) {
	locked, touched := 0, 0
	o := options(t, sample(t))
	o.Context.Vault = screen.Vault{Where: "an encrypted file", Lock: func() { locked++ }, Touch: func() { touched++ },
		Locked: func() bool { return locked > 0 }}
	m := started(t, o, 80, 24)
	for i, tab := range []string{"1", "4", "6"} {
		press(m, tab, "L")
		if locked != i+1 || !strings.Contains(text(t, m), "locked: the next signature asks for the passphrase") {
			t.Errorf("tab %s: locked %d times:\n%s", tab, locked, text(t, m))
		}
	}
	if touched != 6 {
		t.Errorf("%d keys count as use", touched)
	}
	if !strings.Contains(text(t, m), "kept in     an encrypted file") {
		t.Errorf("the accounts do not say where the keys are:\n%s", text(t, m))
	}
	press(m, "?")
	_ = text(t, m) // a scroll needs a drawn text
	press(m, "G")
	if got := text(t, m); !strings.Contains(got, "lock the keys now") || strings.Contains(got, "ctrl+z") {
		t.Errorf("the help of a program that cannot be suspended:\n%s", got)
	}
}

func TestLWithoutAVaultSaysThatThereIsNothingToLock(t *testing.T) {
	bubble(func(t *testing.T) {
		m := started(t, options(t, sample(t)), 80, 24)
		if press(m, "L"); !strings.Contains(text(t, m), "there is nothing to lock") {
			t.Error(text(t, m))
		}
	})(t)
}
