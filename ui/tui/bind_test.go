package tui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"pgregory.net/rapid"

	"coffer/config"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

func keysOf(pairs ...string) func(*Options) {
	return func(o *Options) {
		o.UI.Keys = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			o.UI.Keys[pairs[i]] = pairs[i+1]
		}
	}
}

func TestAKeyOfTheConfigurationTakesThePlaceOfTheOldOne(t *testing.T) {
	bubble(aKeyTakesThePlaceOfTheOldOne)(t)
}

func aKeyTakesThePlaceOfTheOldOne(t *testing.T) {
	m, pad, _ := withPad(t, keysOf("build.sort", "o", "build.refresh", "f5", "build.open", "O", "shell.help", "H"))
	press(m, "o")
	drive(m, tea.KeyPressMsg{Code: tea.KeyF5})
	press(m, "O", "enter", "j")
	drive(m, tea.KeyPressMsg{Code: 'o', Text: "o", IsRepeat: true})
	if got := pad.take(); got != "s ctrl+r enter enter j s again" {
		t.Errorf("the screen gets %q", got)
	}
	press(m, "s", "ctrl+r", "?")
	if got := pad.take(); got != "?" || m.help.open {
		t.Errorf("keys that were taken away do something: %q", got)
	}
	if line := strings.Split(text(t, m), "\n"); !strings.Contains(line[m.h-1], "O/↵ open  o sort") ||
		!strings.Contains(line[1], "H help") {
		t.Errorf("the new names are not shown:\n%s", text(t, m))
	}
	press(m, "H", "n")
	if got := text(t, m); !strings.Contains(got, "build.sort") ||
		!strings.Contains(got, "build.sign (fixed: it signs or confirms)") {
		t.Errorf("the help does not name the actions:\n%s", got)
	}
	press(m, "esc", ":", "s", "o", "r", "t", "enter")
	if got := pad.take(); got != "s" {
		t.Errorf("the palette presses %q", got)
	}
	drive(m, at(t, m, m.h-1, "o sort"))
	if got := pad.take(); got != "s" {
		t.Errorf("a click presses %q", got)
	}
}

func TestTwoActionsMaySwapTheirKeys(t *testing.T) {
	bubble(func(t *testing.T) {
		m, pad, _ := withPad(t, keysOf("build.sort", "ctrl+r", "build.refresh", "s"))
		press(m, "s", "ctrl+r")
		if got := pad.take(); got != "ctrl+r s" || m.toast.Text != "" {
			t.Errorf("the screen gets %q, %s", got, m.toast.Text)
		}
	})(t)
}

func TestATextFieldKeepsItsLettersWhateverTheyAreBoundTo(t *testing.T) {
	bubble(func(t *testing.T) {
		m, pad, _ := withPad(t, keysOf("build.sort", "o", "build.refresh", "ctrl+l"))
		pad.capturing = true
		press(m, "o", "s", "ctrl+l", "ctrl+r")
		if got := pad.take(); got != "o s ctrl+r" {
			t.Errorf("the field gets %q", got)
		}
	})(t)
}

func TestWhatSignsKeepsItsKey(t *testing.T) {
	bubble(func(t *testing.T) {
		m, pad, _ := withPad(t, keysOf("build.sign", "Y"))
		if !strings.Contains(text(t, m), "build.sign: it signs or confirms, and keeps its key") {
			t.Errorf("nobody says so:\n%s", text(t, m))
		}
		if press(m, "Y", "y"); pad.take() != "Y y" {
			t.Error("the key moved")
		}
	})(t)
}

func TestKeysThatCannotBeUsedAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		says string
	}{
		"taken on the screen": {[]string{"build.sort", "ctrl+r"},
			"build.sort: ctrl+r is the key of refresh already"},
		"taken by another state": {[]string{"shell.palette", "s"}, "shell.palette: on Build, s is the key of sort"},
		"taken in the shell":     {[]string{"shell.palette", "T"}, "shell.palette: T is the key of theme already"},
		"unknown in the shell": {[]string{"shell.palete", "P"},
			"shell.palete: the shell has no such action: is it shell.palette?"},
		"a slip": {[]string{"build.srt", "P"}, "build.srt: there is no such action: is it build.sort?"},
		"several": {[]string{"build.srt", "P", "shell.nothing", "P"},
			"[ui.keys] has 2 mistakes (?, then n, lists them): build.srt"},
	} {
		t.Run(name, bubble(func(t *testing.T) {
			m, pad, _ := withPad(t, keysOf(c.keys...))
			if got := text(t, m); !strings.Contains(got, c.says) {
				t.Errorf("no %q:\n%s", c.says, got)
			}
			press(m, "s", "ctrl+r")
			if got := pad.take(); got != "s ctrl+r" {
				t.Errorf("the old keys do not work: %q", got)
			}
			press(m, "?", "n")
			_ = text(t, m)
			press(m, "G")
			if got := text(t, m); !strings.Contains(got, "!") ||
				!strings.Contains(strings.Join(strings.Fields(got), " "), c.keys[0]) {
				t.Errorf("the help does not list it:\n%s", got)
			}
		}))
	}
}

func TestAnActionOfAnotherStateIsFoundLater(t *testing.T) {
	bubble(func(t *testing.T) {
		m, pad, _ := withPad(t, keysOf("build.copy-address", "c"))
		if m.toast.Text != "" {
			t.Errorf("told too early: %s", m.toast.Text)
		}
		pad.keys = append(pad.keys, kit.NewKey("copy address", "Y"))
		if press(m, "c"); pad.take() != "Y" {
			t.Error("the key is not used")
		}
	})(t)
}

// Under any binding, a screen never gets its signing key from another key, and keys that move keep moving.
func TestNoBindingSigns(t *testing.T) {
	names := []string{"open", "sort", "sign", "off-today", "refresh", "filter", "down", "last"}
	free := []string{"o", "s", "y", "Y", "x", "ctrl+r", "/", "f4", "n"}
	rapid.Check(t, func(rt *rapid.T) {
		want := rapid.MapOfN(rapid.SampledFrom(names), rapid.SampledFrom(free), 0, 5).Draw(rt, "keys")
		k := newKeymap(nil)
		k.want["build"] = want
		keys := padKeys()
		shown, to := k.translate("build", keys)
		for pressed, orig := range to {
			if orig == "y" {
				rt.Fatalf("%s signs: %v", pressed, want)
			}
		}
		count := map[string]int{}
		for i, key := range shown {
			if keys[i].Careful && !slices.Equal(key.Press, keys[i].Press) {
				rt.Fatalf("the signing key is %v", key.Press)
			}
			for _, p := range key.Press {
				if count[p]++; count[p] > 1 {
					rt.Fatalf("%s has two meanings: %v", p, want)
				}
			}
			for _, p := range keys[i].Press {
				if slices.Contains(config.FixedKeys(), p) && !key.Match(p) {
					rt.Fatalf("%s does not move any more", p)
				}
			}
		}
		for _, p := range []string{"enter", "down", "j", "end"} {
			if orig, ok := to[p]; ok && orig != p {
				rt.Fatalf("%s becomes %q", p, orig)
			}
		}
	})
}

// The configuration checks names that only the screens know; its list must equal theirs.
func TestConfigurationAndScreensNameTheSameThings(t *testing.T) {
	owners := []string{shellOwner}
	for _, id := range append(screen.Tabs(), screen.Overlays()...) {
		owners = append(owners, string(id))
	}
	if got := config.KeyOwners(); !slices.Equal(got, owners) {
		t.Errorf("owners %v, screens %v", got, owners)
	}
	if got := config.Themes(); !slices.Equal(got, theme.Names()) {
		t.Errorf("themes %v, %v", got, theme.Names())
	}
	looks := func(colors map[string]string) string {
		th := theme.Make(theme.Look{Name: theme.Dark, Colors: colors}, theme.OnDark, colorprofile.TrueColor, false)
		var b strings.Builder
		for _, s := range []theme.Style{th.Dim, th.Rule, th.Accent, th.Good, th.Warn, th.Danger, th.Unknown,
			th.Selected, th.Disabled} {
			b.WriteString(s.Render("x"))
		}
		return b.String()
	}
	for _, name := range config.ColorNames() {
		if looks(map[string]string{name: "#010203"}) == looks(nil) {
			t.Errorf("the colour %s changes nothing", name)
		}
	}
}

func TestEveryKeyHasAMessageOfItsName(t *testing.T) {
	for _, name := range append(config.FixedKeys(), "space", "f4", "f12", "ctrl+k", "alt+x", "ctrl+alt+x", "shift+up",
		"backspace", "delete", "+", "é", "界", "ctrl++") {
		if got := kit.Press(name).String(); got != name {
			t.Errorf("%s becomes %s", name, got)
		}
	}
	if got := kit.Press("R"); got != (tea.KeyPressMsg{Code: 'R', Text: "R"}) {
		t.Errorf("%v", got)
	}
}
