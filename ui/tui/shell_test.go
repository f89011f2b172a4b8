package tui

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"coffer/config"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

func labels(items []kit.Item) []string {
	out := make([]string, len(items))
	for i, it := range items {
		out[i] = it.Label
	}
	return out
}

func find(t testing.TB, items []kit.Item, label string) kit.Item {
	t.Helper()
	i := slices.IndexFunc(items, func(it kit.Item) bool { return it.Label == label })
	if i < 0 {
		t.Fatalf("%q is not among %q", label, labels(items))
	}
	return items[i]
}

func TestPaletteHasScreensActionsThemesAndProfiles(t *testing.T) {
	bubble(func(t *testing.T) {
		m, _, _ := withPad(t, func(o *Options) {
			o.Profiles = []string{"demo",
				"team"}
			o.Switch = func(screen.SwitchMsg) {}
		})
		items := m.paletteItems()
		for label, off := range map[string]string{
			"open History": "", "open Build": "you are there", "sort": "", "off today": "x is off today",
			"sign":      "press y yourself: a list never signs",
			"mouse off": "", "next theme": "", "theme auto": "this is the theme now", "theme contrast": "",
			"hide or show amounts": "",
			"lock the keys now":    noVault, "switch to profile demo": "this profile is open",
			"switch to profile team": "", "quit": "", "all keys of this screen": "",
		} {
			if it := find(t, items, label); it.Off != off {
				t.Errorf("%s is off because of %q, want %q", label, it.Off, off)
			}
		}
		if slices.Contains(labels(items), "open Review") {
			t.Error("a review can be opened with nothing in it")
		}
	})(t)
}

func TestPaletteShowsWhatWasUsedLastFirst(t *testing.T) {
	bubble(func(t *testing.T) {
		m, pad, _ := withPad(t, nil)
		m.choose(find(t, m.paletteItems(), "refresh"), true)
		m.choose(find(t, m.paletteItems(), "theme light"), true)
		m.choose(find(t, m.paletteItems(), "sort"), true)
		m.choose(find(t, m.paletteItems(), "refresh"), true)
		if got := labels(m.paletteItems())[:3]; !slices.Equal(got, []string{"refresh", "sort", "theme light"}) {
			t.Errorf("first come %q", got)
		}
		if got := pad.take(); got != "ctrl+r s ctrl+r" {
			t.Errorf("the screen gets %q", got)
		}
		press(m, "4")
		if got := labels(m.paletteItems()); got[0] != "theme light" || slices.Contains(got, "refresh") {
			t.Errorf("on another screen come %q", got)
		}
	})(t)
}

func TestPaletteSaysWhyALineIsOff(t *testing.T) {
	bubble(func(t *testing.T) {
		m, pad, _ := withPad(t, nil)
		press(m, "ctrl+p", "o", "f", "f", "space", "t", "o", "d", "enter")
		if got := text(t, m); !strings.Contains(got, "! x is off today") || !m.palette.IsOpen() || pad.take() != "" {
			t.Error(got)
		}
	})(t)
}

func TestPaletteNeverPressesAKeyThatSigns(t *testing.T) {
	bubble(func(t *testing.T) {
		m, pad, review := withPad(t, nil)
		m.choose(kit.Item{Value: palettePress + "build y"}, true)
		drive(m, screen.OpenMsg{Screen: screen.Review})
		m.choose(kit.Item{Value: palettePress + "review y"}, true)
		m.choose(kit.Item{Value: palettePress + "build s"}, true) // of a screen that no longer exists
		if a, b := pad.take(), review.take(); a+b != "" {
			t.Errorf("pressed %q and %q", a, b)
		}
	})(t)
}

func TestThemeFollowsTheTerminalUntilThePersonChooses(t *testing.T) {
	bubble(func(t *testing.T) {
		m, _, _ := withPad(t, nil)
		accent := func() string { return m.theme.Accent.Render("x") }
		unknown := accent()
		drive(m, tea.BackgroundColorMsg{Color: ansi.BasicColor(15)})
		light := accent()
		drive(m, tea.BackgroundColorMsg{Color: ansi.BasicColor(0)})
		dark := accent()
		if unknown == light || unknown == dark || light == dark {
			t.Errorf("unknown %q, light %q, dark %q", unknown, light, dark)
		}
		press(m, "T", "T") // dark, light
		if accent() != light || !strings.Contains(text(t, m), "theme light, for a light background") {
			t.Errorf("%q:\n%s", accent(), text(t, m))
		}
		press(m, "T")
		if m.look.Name != theme.Contrast {
			t.Errorf("theme %s", m.look.Name)
		}
		if press(m, "T"); accent() != dark {
			t.Error("the automatic theme forgot the terminal")
		}
	})(t)
}

func TestTheEnvironmentTellsTheBackgroundBeforeTheTerminalDoes(t *testing.T) {
	for env, want := range map[string]theme.Ground{
		"COLORFGBG=15;0": theme.OnDark, "COLORFGBG=0;15": theme.OnLight, "COLORFGBG=0;default;7": theme.OnLight,
		"COLORFGBG=12;8":            theme.OnDark,
		"COLORFGBG=default;default": theme.OnAny, "COLORFGBG=": theme.OnAny, "COLORFGBG=0": theme.OnAny,
		"COLORFGBG=0;99": theme.OnAny, "TERM=linux": theme.OnDark,
	} {
		if got := (Options{Env: []string{env}}).ground(); got != want {
			t.Errorf("%s: %v, want %v", env, got, want)
		}
	}
}

func TestChoicesOfTheFileHoldFromTheStart(t *testing.T) {
	bubble(func(t *testing.T) {
		s := sample(t)
		o := options(t, s)
		o.UI = config.UI{Theme: config.ThemeContrast, HideAmounts: true, ASCII: true,
			Colors: map[string]config.Color{"accent": "208"}}
		m := started(t, o, 80, 24)
		got := text(t, m)
		if strings.Contains(got, "$4,9") || !strings.Contains(got, "*****") || strings.ContainsAny(got, "─↵›") {
			t.Errorf("not hidden, or not ASCII:\n%s", got)
		}
		if m.look.Name != theme.Contrast || m.theme.Accent.Render("x") != "\x1b[38;5;208mx\x1b[m" {
			t.Errorf("look %+v, accent %q", m.look, m.theme.Accent.Render("x"))
		}
	})(t)
}

func TestSavedChoicesTakeEffectAtOnce(t *testing.T) {
	bubble(func(t *testing.T) {
		m, pad, _ := withPad(t, nil)
		off := false
		drive(m, config.UI{Theme: config.ThemeLight, Mouse: &off, HideAmounts: true, ASCII: true,
			Keys: map[string]string{"build.sort": "o"}})
		press(m, "o")
		if !m.hidden || m.mouseOn || m.theme.Dark || !m.theme.ASCII || pad.take() != "s" {
			t.Errorf("hidden %v, mouse %v, dark %v, ASCII %v", m.hidden, m.mouseOn, m.theme.Dark, m.theme.ASCII)
		}
		press(m, "h")
		drive(m, config.UI{Theme: config.ThemeDark, HideAmounts: true})
		if m.hidden {
			t.Error("another choice hides the amounts again")
		}
	})(t)
}

func TestSwitchingLeavesAfterAskingOnceMore(t *testing.T) {
	bubble(func(t *testing.T) {
		var got []screen.SwitchMsg
		m, pad, _ := withPad(t, func(o *Options) { o.Switch = func(msg screen.SwitchMsg) { got = append(got, msg) } })
		pad.keep = "an operation is not finished"
		if cmd := m.handle(screen.SwitchMsg{Profile: "team"}); cmd != nil || len(got) != 0 ||
			!strings.Contains(text(t, m), "an operation is not finished; do it again to leave") {
			t.Errorf("left at once: %v\n%s", got, text(t, m))
		}
		cmd := m.handle(screen.SwitchMsg{Profile: "team"})
		if cmd == nil || len(got) != 1 || got[0].Profile != "team" {
			t.Fatalf("the second time: %v", got)
		}
		if _, quits := cmd().(tea.QuitMsg); !quits {
			t.Error("the program does not end")
		}
		pad.keep, got = "", nil
		if cmd := m.handle(screen.SwitchMsg{Setup: true}); cmd == nil || len(got) != 1 || !got[0].Setup {
			t.Errorf("nothing is unfinished, and yet %v", got)
		}
	})(t)
}

func TestAProgramWithOneProfileSaysThatItCannotSwitch(t *testing.T) {
	bubble(func(t *testing.T) {
		m, _, _ := withPad(t, nil)
		if cmd := m.handle(screen.SwitchMsg{Profile: "team"}); cmd != nil || !strings.Contains(text(t, m), noSwitch) {
			t.Error(text(t, m))
		}
	})(t)
}

func TestTheFirstLineNamesTheProxyWithoutItsPassword(t *testing.T) {
	bubble(func(t *testing.T) {
		for _, c := range []struct {
			proxy, want string
			w           int
		}{
			{"http://me:secret@proxy.lan:3128", "via proxy proxy.lan:3128", 100},
			{"socks5://127.0.0.1:1080", "via proxy 127.0.0.1:1080", 100},
			{"me:secret@proxy.lan", "via proxy proxy.lan", 100}, {"proxy.lan:3128", "via proxy proxy.lan:3128", 100},
			{"http://a-rather-long-name.example:3128", "via proxy ", 60},
		} {
			o := options(t, sample(t))
			o.Context.Settings.Proxy = c.proxy
			m := started(t, o, c.w, 24)
			if first, _, _ := strings.Cut(text(t, m), "\n"); !strings.Contains(first, c.want) ||
				strings.Contains(first, "secret") {
				t.Errorf("%s: %q", c.proxy, first)
			}
		}
	})(t)
}

func TestCopiesGoToTheTerminalOfThePerson(t *testing.T) {
	bubble(func(t *testing.T) {
		for name, c := range map[string]struct {
			env  []string
			text string
			says string
			sent string
		}{
			"plain":    {nil, "0xabc", "sent to the terminal's clipboard: id 0xabc", "0xabc"},
			"over SSH": {[]string{"SSH_TTY=/dev/pts/1"}, "0xabc", "sent to the terminal's clipboard", "0xabc"},
			"in tmux":  {[]string{"TMUX=/tmp/x,1,0", "TERM=tmux-256color"}, "0xabc", "set-clipboard on", "0xabc"},
			"in screen": {[]string{"STY=1.x", "TERM=screen-256color"}, "0xabc", "sent to the terminal's clipboard",
				"\x1bP" + ansi.SetSystemClipboard("0xabc") + "\x1b\\"},
			"largest": {nil, strings.Repeat("a", 74_994), "sent", strings.Repeat("a", 74_994)},
			"too large": {nil, strings.Repeat("a", 74_995),
				"not copied: id has 74995 bytes, and terminals take 74,994 at most", ""},
			"console":      {[]string{"TERM=linux"}, "0xabc", "not copied: the console has no clipboard", ""},
			"dumb":         {[]string{"TERM=dumb"}, "0xabc", "not copied: this terminal has no clipboard", ""},
			"Apple's":      {[]string{"TERM_PROGRAM=Apple_Terminal"}, "0xabc", "takes no copies from programs", ""},
			"nothing else": {[]string{"STY=1.x"}, "0xabc", "sent", "0xabc"},
		} {
			m, _, _ := withPad(t, func(o *Options) { o.Env = append(o.Env, c.env...) })
			cmd := m.handle(screen.CopyMsg{What: "id", Text: c.text})
			if got := m.toast.Text; !strings.Contains(got, c.says) {
				t.Errorf("%s says %q", name, got)
			}
			sent := ""
			if cmd != nil {
				sent = fmt.Sprint(cmd())
			}
			if sent != c.sent && sent != "{"+c.sent+"}" {
				t.Errorf("%s sends %.60q", name, sent)
			}
		}
	})(t)
	if n := len(ansi.SetSystemClipboard(strings.Repeat("a", largestCopy))); n > 100_000 ||
		base64.StdEncoding.EncodedLen(largestCopy+1) <= 99_992 {
		t.Errorf("the largest copy is a sequence of %d bytes", n)
	}
}

// TH-R2: the setting turns copies off and on again while the program runs, and says so.
func TestR2TheSettingTurnsCopiesOff(t *testing.T) {
	bubble(func(t *testing.T) {
		off := false
		m, _, _ := withPad(t, func(o *Options) { o.Env = append(o.Env, "SSH_TTY=/dev/pts/1"); o.UI.Clipboard = &off })
		if cmd := m.handle(screen.CopyMsg{What: "id", Text: "0xabc"}); cmd != nil ||
			!strings.Contains(m.toast.Text, "copies are turned off") {
			t.Errorf("says %q", m.toast.Text)
		}
		m.handle(config.UI{})
		if cmd := m.handle(screen.CopyMsg{What: "id", Text: "0xabc"}); cmd == nil ||
			!strings.Contains(m.toast.Text, "sent to the terminal's clipboard") {
			t.Errorf("says %q", m.toast.Text)
		}
	})(t)
}

func TestALongCopyPassesScreenInPieces(t *testing.T) {
	bubble(func(t *testing.T) {
		m, _, _ := withPad(t, func(o *Options) { o.Env = append(o.Env, "STY=1.x", "TERM=screen") })
		got := fmt.Sprint(m.handle(screen.CopyMsg{What: "id", Text: strings.Repeat("abc", 1000)})())
		for _, part := range strings.Split(got, "\x1bP")[1:] {
			if len(part) > screenChunk+len("\x1b\\}") {
				t.Errorf("a piece has %d bytes", len(part))
			}
		}
		if joined := strings.NewReplacer("\x1b\\\x1bP", "").Replace(got); !strings.Contains(joined,
			ansi.SetSystemClipboard(strings.Repeat("abc", 1000))) {
			t.Error("the pieces are not the whole")
		}
	})(t)
}

func TestADumbTerminalIsKnown(t *testing.T) {
	for env, want := range map[string]bool{"TERM=dumb": true, "TERM=unknown": true, "TERM=xterm": false, "TERM=": false,
		"A=B": false} {
		if got := Dumb([]string{env}); got != want {
			t.Errorf("%s: %v", env, got)
		}
	}
	if !Dumb([]string{"TERM=xterm", "TERM=dumb"}) {
		t.Error("the last one holds")
	}
}

// Whatever screens name themselves and their keys, at every size each view is the terminal, cell by cell, and no line
// ends inside a character.
func TestTheShellFitsEveryTerminalWithAnyWords(t *testing.T) {
	words := rapid.SampledFrom([]string{"sort", "並べ替え", "정렬", "ｆｕｌｌ", "naïve", "日", strings.Repeat("長い", 12), "a b",
		"–", "e\u0301"})
	presses := []string{"j", "s", "?", "esc", ":", "n", "M", "T", "1", "2", "4", "h", "G", "enter", ",", "a", "日"}
	rapid.Check(t, func(rt *rapid.T) {
		pad := &padScreen{title: present.Clean(words.Draw(rt, "title"), 20),
			line: strings.Repeat("界a", rapid.IntRange(0, 90).Draw(rt, "line"))}
		for range rapid.IntRange(0, 12).Draw(rt, "keys") {
			k := kit.NewKey(present.Clean(words.Draw(rt, "label"), 40),
				rapid.SampledFrom([]string{"s", "ctrl+r", "界", "enter"}).Draw(rt, "press"))
			pad.keys = append(pad.keys, k.OffWhen(rapid.Bool().Draw(rt, "off"), words.Draw(rt, "why")))
		}
		o := options(t, sample(t))
		o.Context.Profile, o.Context.Settings.Proxy = words.Draw(rt, "profile"),
			rapid.SampledFrom([]string{"", "http://プロキシ:1", "p:1"}).Draw(rt, "proxy")
		o.UI = config.UI{Theme: rapid.SampledFrom(config.Themes()).Draw(rt, "theme"),
			ASCII: rapid.Bool().Draw(rt, "ascii"), Keys: map[string]string{"shell.help": "界", "shell.theme": "f4"}}
		o.Profiles = []string{"demo", "チーム"}
		o.beside(func(screen.Context) map[screen.ID]screen.Screen {
			return map[screen.ID]screen.Screen{screen.Build: pad,
				screen.Settings: &padScreen{title: "設定", keys: padKeys()}}
		})
		o.Start = screen.Build
		m := New(o)
		defer m.Close()
		w, h := rapid.IntRange(MinWidth, 140).Draw(rt, "w"), rapid.IntRange(MinHeight, 50).Draw(rt, "h")
		m.Update(tea.WindowSizeMsg{Width: w, Height: h})
		checkCells(rt, m, w, h)
		for range rapid.IntRange(0, 10).Draw(rt, "steps") {
			switch x, y := rapid.IntRange(0, w-1).Draw(rt, "x"),
				rapid.IntRange(0, h-1).Draw(rt, "y"); rapid.IntRange(0, 4).Draw(rt, "kind") {
			case 0:
				m.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
			case 1:
				m.Update(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown})
			case 2:
				w, h = rapid.IntRange(MinWidth, 140).Draw(rt, "w"), rapid.IntRange(MinHeight, 50).Draw(rt, "h")
				m.Update(tea.WindowSizeMsg{Width: w, Height: h})
			default:
				m.Update(kit.Press(rapid.SampledFrom(presses).Draw(rt, "key")))
			}
			checkCells(rt, m, w, h)
		}
	})
}

func checkCells(rt *rapid.T, m *Model, w, h int) {
	lines := strings.Split(m.View().Content, "\n")
	if len(lines) != h {
		rt.Fatalf("%d lines in a terminal of %d", len(lines), h)
	}
	for i, l := range lines {
		if ansi.StringWidth(l) != w || ansi.StringWidthWc(l) != w {
			rt.Fatalf("line %d is %d (or %d) cells wide, want %d: %q", i, ansi.StringWidth(l), ansi.StringWidthWc(l),
				w, l)
		}
	}
	keys, _ := m.lineKeys()
	end := 0
	for _, s := range kit.KeySpots(m.theme, keys, w, m.helpKey()) {
		if s.X < end || s.X+s.W > w {
			rt.Fatalf("a key stands from %d to %d, the one before ends at %d: %q", s.X, s.X+s.W, end, lines[h-1])
		}
		if s.Key >= 0 && !m.theme.ASCII { // cut out by cells, the key is there whole
			want := keys[s.Key].Name(m.theme) + " " + keys[s.Key].Label
			if got := ansi.Cut(ansi.Strip(lines[h-1]), s.X, s.X+s.W); got != want {
				rt.Fatalf("%q stands where %q should", got, want)
			}
		}
		end = s.X + s.W
	}
}

func TestThemesAreDrawnInTheirProfileOnly(t *testing.T) {
	bubble(func(t *testing.T) {
		for _, name := range theme.Names() {
			m, _, _ := withPad(t, func(o *Options) { o.UI.Theme, o.NoColor = name, true })
			if v := m.View().Content; strings.Contains(v, "38;") || strings.Contains(v, "48;") ||
				strings.Contains(v, "\x1b[3") {
				t.Errorf("theme %s has colours under NO_COLOR: %q", name, v)
			}
			m.profile = colorprofile.ANSI256
			m.retheme()
			if v := m.View().Content; strings.Contains(v, "38;2;") || strings.Contains(v, "48;2;") {
				t.Errorf("theme %s has true colour where there are 256", name)
			}
		}
	})(t)
}

// The tabs keep their names at 80 columns, and each width says how to get at everything else.
func TestD15TheHeaderNamesThePalette(t *testing.T) {
	bubble(func(t *testing.T) {
		o := options(t, sample(t))
		o.beside(func(screen.Context) map[screen.ID]screen.Screen {
			return map[screen.ID]screen.Screen{screen.Build: &padScreen{title: "Build"},
				screen.Activity: &padScreen{title: "Activity"}, screen.Lab: &padScreen{title: "Lab"}}
		})
		m := started(t, o, 80, 24)
		for w, hints := range map[int]string{60: "? help", 80: ": act  / filter", 120: ": act  / filter  ? help",
			200: ": act  / filter  ? help"} {
			m.Update(tea.WindowSizeMsg{Width: w, Height: 24})
			line := strings.TrimRight(strings.Split(text(t, m), "\n")[1], " ")
			if !strings.HasSuffix(line, hints) || !strings.Contains(line, ": act") ||
				!strings.HasPrefix(line, "›1 Balances") || w >= 80 && !strings.Contains(line, "6 Accounts") {
				t.Errorf("%d columns: %q, want it to end with %q", w, line, hints)
			}
		}
	})(t)
}

func TestD15ARecordingIsNamedOnEveryScreen(t *testing.T) {
	bubble(func(t *testing.T) {
		o := options(t, sample(t))
		for _, replay := range []bool{false, true} {
			o.Replay = replay
			for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 40}, {200, 60}} {
				m := started(t, o, size[0], size[1])
				for _, key := range []string{"1", "4", "6"} {
					press(m, key)
					if head, _, _ := strings.Cut(text(t, m), "\n"); strings.Contains(head, " REPLAY ") != replay {
						t.Errorf("%v, screen %s: %q", size, key, head)
					}
				}
			}
		}
	})(t)
}

// TestD15_AScreenIsToldWhenItIsBackOnTheTerminal: a review that was covered waits again before a key confirms.
func TestD15_AScreenIsToldWhenItIsBackOnTheTerminal(t *testing.T) {
	bubble(aScreenIsToldWhenItIsBack)(t)
}

func aScreenIsToldWhenItIsBack(t *testing.T) {
	m, _, review := withPad(t, func(o *Options) {
		o.beside(func(screen.Context) map[screen.ID]screen.Screen {
			return map[screen.ID]screen.Screen{screen.Wire: &padScreen{title: "Wire"}}
		})
	})
	drive(m, screen.OpenMsg{Screen: screen.Review})
	for _, c := range []struct {
		name        string
		cover, bare func()
	}{
		{"a screen over it", func() { drive(m, screen.OpenMsg{Screen: screen.Wire}) },
			func() { drive(m, screen.BackMsg{From: screen.Wire}) }},
		{"another tab", func() { press(m, "4") }, func() { press(m, "2") }},
		{"help", func() { press(m, "?") }, func() { press(m, "esc") }},
		{"the palette", func() { press(m, ":") }, func() { press(m, "esc") }},
		{"too small a terminal", func() { drive(m, tea.WindowSizeMsg{Width: 40, Height: 10}) },
			func() { drive(m, tea.WindowSizeMsg{Width: 100, Height: 30}) }},
	} {
		was := review.shown
		if c.cover(); m.seen() == screen.Review || review.shown != was {
			t.Errorf("%s: told while it is covered", c.name)
		}
		if c.bare(); review.shown != was+1 || m.activeID() != screen.Review {
			t.Errorf("%s: told %d times when it is back, on %s", c.name, review.shown-was, m.activeID())
		}
	}
	was := review.shown
	if press(m, "j", "k"); review.shown != was {
		t.Error("told while it stays")
	}
}
