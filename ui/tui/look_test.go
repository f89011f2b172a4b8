package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/charmbracelet/x/vt"

	"coffer/config"
	"coffer/ui/present"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// The looks with their colours, escape sequences written as ^[.
func TestGoldenThemes(t *testing.T) {
	for name, c := range map[string]struct {
		theme   string
		ground  theme.Ground
		profile colorprofile.Profile
	}{
		"dark":           {config.ThemeAuto, theme.OnDark, colorprofile.TrueColor},
		"light":          {config.ThemeAuto, theme.OnLight, colorprofile.TrueColor},
		"unknown":        {config.ThemeAuto, theme.OnAny, colorprofile.TrueColor},
		"contrast":       {config.ThemeContrast, theme.OnDark, colorprofile.TrueColor},
		"contrast light": {config.ThemeContrast, theme.OnLight, colorprofile.ANSI256},
		"16 colours":     {config.ThemeDark, theme.OnAny, colorprofile.ANSI},
		"no colour":      {config.ThemeAuto, theme.OnDark, colorprofile.ASCII},
		"no terminal":    {config.ThemeAuto, theme.OnDark, colorprofile.NoTTY},
	} {
		t.Run(name, bubble(func(t *testing.T) {
			m, _, _ := withPad(t, func(o *Options) { o.UI.Theme, o.Profiles = c.theme, []string{"demo", "team"} })
			m.ground, m.profile = c.ground, c.profile
			m.retheme()
			press(m, "x", ":", "t", "o")
			tuitest.CheckBox(t, m.View().Content, m.w, m.h)
			out := strings.ReplaceAll(m.View().Content, "\x1b", "^[")
			golden.RequireEqual(t, trimLines(out))
		}))
	}
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestGoldenNamesOfKeys(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		t.Run(sizeName(size), bubble(func(t *testing.T) {
			m, _, _ := withPad(t, keysOf("build.sort", "o", "build.sign", "Y", "build.later", "L"))
			drive(m, tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			press(m, "?", "n")
			golden.RequireEqual(t, text(t, m))
		}))
	}
}

func TestGoldenTerms(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 40}} {
		t.Run(sizeName(size), bubble(func(t *testing.T) {
			m, _, _ := withPad(t, nil)
			drive(m, tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			press(m, "?", "j", "n", "t")
			golden.RequireEqual(t, text(t, m))
			all := ""
			for range 200 {
				all += text(t, m)
				press(m, "j")
			}
			for _, term := range present.Terms() {
				if !strings.Contains(all, term.Name) {
					t.Errorf("%s is not explained", term.Name)
				}
			}
			if press(m, "n"); !strings.Contains(text(t, m), "Keys on Build") {
				t.Error("n does not lead back to the keys")
			}
		}))
	}
}

func TestGoldenPaletteWithEverything(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 40}} {
		t.Run(sizeName(size), bubble(func(t *testing.T) {
			m, _, _ := withPad(t, func(o *Options) { o.Profiles = []string{"demo", "team"} })
			drive(m, tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			m.choose(find(t, m.paletteItems(), "sort"), true)
			press(m, ":")
			golden.RequireEqual(t, text(t, m))
		}))
	}
}

func sizeName(s [2]int) string {
	return map[[2]int]string{{60, 20}: "60x20", {80, 24}: "80x24", {120, 40}: "120x40"}[s]
}

func TestTheMouseInATerminal(t *testing.T) {
	pad := &padScreen{title: "Build", keys: padKeys()}
	o := options(t, sample(t))
	o.beside(func(screen.Context) map[screen.ID]screen.Screen {
		return map[screen.ID]screen.Screen{screen.Build: pad}
	})
	s := tuitest.Start(t, New(o), 80, 24)
	s.WaitText("$4,952.22")
	if raw := s.Raw(); !strings.Contains(raw, "\x1b[?1002h") || !strings.Contains(raw, "\x1b[?1006h") {
		t.Error("the terminal is not asked for the mouse")
	}
	line := strings.Split(s.Screen(), "\n")[1]
	before, _, _ := strings.Cut(line, "4 History")
	s.Do(func(e *vt.Emulator) {
		e.SendMouse(vt.MouseClick{X: present.Width(before) + 1, Y: 1, Button: vt.MouseLeft})
	})
	s.WaitText("newest first")
	s.Do(func(e *vt.Emulator) { e.SendMouse(vt.MouseWheel{X: 5, Y: 9, Button: vt.MouseWheelDown}) })
	s.Type("M")
	s.WaitText("the mouse is off")
	if raw := s.Raw(); strings.LastIndex(raw, "\x1b[?1002l") < strings.LastIndex(raw, "\x1b[?1002h") {
		t.Error("the terminal keeps the mouse")
	}
	s.Type("M")
	s.WaitText("the mouse is on")
	s.Type("qq")
	if err := s.End(); err != nil {
		t.Fatal(err)
	}
	if raw := s.Raw(); strings.LastIndex(raw, "\x1b[?1002l") < strings.LastIndex(raw, "\x1b[?1002h") {
		t.Error("the terminal is left with the mouse on")
	}
}

func BenchmarkShellView(b *testing.B) {
	pad := &padScreen{title: "Build", keys: padKeys()}
	o := options(b, &service{})
	o.Start = screen.Build
	o.beside(func(screen.Context) map[screen.ID]screen.Screen {
		return map[screen.ID]screen.Screen{screen.Build: pad}
	})
	o.Context.Clock = time.Now
	for _, bound := range []map[string]string{nil, {"build.sort": "o", "shell.palette": "P"}} {
		b.Run(map[bool]string{true: "own keys", false: "no keys"}[bound != nil], func(b *testing.B) {
			o.UI.Keys = bound
			m := New(o)
			m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
			b.ReportAllocs()
			for b.Loop() {
				_ = m.View()
			}
		})
	}
}
