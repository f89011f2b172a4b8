package config

import (
	"errors"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"
)

const fullUI = `version = 1

[ui]
theme = "contrast"      # for bright rooms
mouse = false
dust = "2.50"
hide_amounts = true
ascii = true

[ui.keys]
"balances.sort" = "o"
"shell.palette" = "ctrl+k"

[ui.colors]
accent = "#5fafff"
dim = 246
`

func TestUIIsReadWhole(t *testing.T) {
	f, err := Parse("c.toml", []byte(fullUI))
	if err != nil {
		t.Fatal(err)
	}
	off := false
	want := UI{
		Theme: ThemeContrast, Mouse: &off, Dust: "2.50", HideAmounts: true, ASCII: true,
		Keys:   map[string]string{"balances.sort": "o", "shell.palette": "ctrl+k"},
		Colors: map[string]Color{"accent": "#5fafff", "dim": "246"},
	}
	if !reflect.DeepEqual(f.UI, want) {
		t.Errorf("got %+v", f.UI)
	}
}

func TestUIErrorsNameLineAndColumn(t *testing.T) {
	for name, c := range map[string]struct {
		from, to     string
		line, column int
		says         string
	}{
		"unknown setting": {`ascii = true`, `asci = true`, 8, 1, "no such setting"},
		"unknown theme": {`theme = "contrast"`, `theme = "pink"`, 4, 1,
			`"auto", "dark", "light" or "contrast"`},
		"mouse of another type": {`mouse = false`, `mouse = "no"`, 5, 9, "true or false"},
		"notify in other words": {`ascii = true`, `notify = "loud"`, 8, 1, `"auto", "off", "on" or "details"`},
		"dust is a number":      {`dust = "2.50"`, `dust = 2.5`, 6, 8, `text such as "1.00", got a float`},
		"dust below zero":       {`"2.50"`, `"-1"`, 6, 1, "USD"},
		"dust in words":         {`"2.50"`, `"little"`, 6, 1, "USD"},
		"dust too fine":         {`"2.50"`, `"0.0000001"`, 6, 1, "USD"},
		"action without owner":  {`"balances.sort"`, `"sort"`, 11, 1, "expected an action"},
		"unknown owner":         {`"balances.sort"`, `"balance.sort"`, 11, 1, `"balances"`},
		"action in capitals":    {`"balances.sort"`, `"balances.Sort"`, 11, 1, "expected an action"},
		"action without quotes": {`"balances.sort"`, `balances.sort`, 11, 10, `"balances.sort"`},
		"no key":                {`"o"`, `""`, 11, 1, "expected a key"},
		"two characters":        {`"o"`, `"oo"`, 11, 1, "expected a key"},
		"a capital by name":     {`"o"`, `"shift+o"`, 11, 1, "the character that appears"},
		"a blank":               {`"o"`, `" "`, 11, 1, "expected a key"},
		"a key that moves":      {`"o"`, `"j"`, 11, 1, "fixed meaning"},
		"a key that signs":      {`"ctrl+k"`, `"y"`, 12, 1, "signs on a review"},
		"a key that quits":      {`"ctrl+k"`, `"ctrl+c"`, 12, 1, "fixed meaning"},
		"one key for two":       {`"o"`, `"ctrl+k"`, 12, 1, "the key of balances.sort already"},
		"unknown colour":        {`accent =`, `pink =`, 15, 1, "no such colour"},
		"colour by name":        {`"#5fafff"`, `"red"`, 15, 1, "#rrggbb"},
		"colour out of range":   {`246`, `256`, 16, 1, "255"},
		"colour with a sign":    {`246`, `-1`, 16, 1, "255"},
		"inline table":          {"[ui.colors]\naccent = \"#5fafff\"\ndim = 246", "[ui.x]", 14, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(fullUI, c.from, c.to, 1)
			_, err := Parse("c.toml", []byte(text))
			var ce *Error
			if !errors.As(err, &ce) {
				t.Fatalf("got %v", err)
			}
			if ce.Line != c.line || name != "inline table" && ce.Column != c.column ||
				!strings.Contains(ce.Error(), c.says) {
				t.Fatalf("%d:%d, expected %d:%d with %q: %v", ce.Line, ce.Column, c.line, c.column, c.says, ce)
			}
		})
	}
}

func TestUIErrorsFindTheirPlaceHoweverTheTableIsWritten(t *testing.T) {
	for text, want := range map[string][2]int{
		"version = 1\nui = { theme = \"pink\" }\n":                          {2, 8},
		"version = 1\nui = { keys = { \"shell.help\" = \"oo\" } }\n":        {2, 17},
		"version = 1\nui.colors.accent = 300\n":                             {2, 11},
		"version = 1\n[ui]\nmouse = true\nkeys.\"balances.sort\" = \"j\"\n": {4, 6},
		"version = 1\n[ui] # here\n  colors = { dim = 999 }\n":              {3, 14},
	} {
		_, err := Parse("c.toml", []byte(text))
		var ce *Error
		if !errors.As(err, &ce) || [2]int{ce.Line, ce.Column} != want {
			t.Errorf("%q: %v, expected %v", text, err, want)
		}
	}
}

func TestUIOfNoFileIsTheDefault(t *testing.T) {
	u := Default().UI
	if err := CheckUI(u); err != nil {
		t.Error(err)
	}
	if got := u.DustMicro(); got == nil || got.Cmp(big.NewInt(1_000_000)) != 0 {
		t.Errorf("dust below %v", got)
	}
	if !u.MouseOn(false) || u.MouseOn(true) {
		t.Error("the mouse is on here and off over SSH")
	}
	on := true
	if u.Mouse = &on; !u.MouseOn(true) {
		t.Error("the mouse stays off over SSH although the file turns it on")
	}
	if u.Clipboard = new(bool); u.Copies() || !(UI{}).Copies() {
		t.Error("copies are on unless the file turns them off")
	}
	if out, err := toml.Marshal(Default()); err != nil || strings.Contains(string(out), "ui") {
		t.Errorf("a file gets a table that says nothing: %s, %v", out, err)
	}
}

func TestDustIsMicroUSDAndZeroIsNone(t *testing.T) {
	for text, want := range map[string]int64{"0.000001": 1, "1": 1_000_000, "2.50": 2_500_000, "1000": 1_000_000_000} {
		if got := (UI{Dust: text}).DustMicro(); got == nil || got.Int64() != want {
			t.Errorf("%q is %v", text, got)
		}
	}
	if got := (UI{Dust: "0"}).DustMicro(); got != nil {
		t.Errorf("no dust is %v", got)
	}
}

func TestUIIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		u := UI{Theme: rapid.SampledFrom(Themes()).Draw(rt, "theme"),
			Dust:        rapid.SampledFrom([]string{"", "0", "0.5"}).Draw(rt, "dust"),
			HideAmounts: rapid.Bool().Draw(rt, "hide")}
		if rapid.Bool().Draw(rt, "set") {
			on := rapid.Bool().Draw(rt, "mouse")
			u.Mouse = &on
		}
		keys := rapid.MapOfN(rapid.SampledFrom([]string{"balances.sort", "shell.palette", "build.review", "lab.pin-a"}),
			rapid.SampledFrom([]string{"o", "ctrl+k", "f4", "\"", "\\", "é", "'"}), 0, 3).Draw(rt, "keys")
		if len(keys) > 0 {
			u.Keys = keys
		}
		text, err := toml.Marshal(File{Version: SchemaVersion, UI: u})
		if err != nil {
			rt.Fatal(err)
		}
		problem := CheckUI(u)
		f, err := Parse("c.toml", text)
		if (err == nil) != (problem == nil) {
			rt.Fatalf("%v: %v\n%s", problem, err, text)
		}
		if err == nil && !reflect.DeepEqual(f.UI, u) {
			rt.Fatalf("wrote %+v, read %+v", u, f.UI)
		}
	})
}

// For any bytes, an error of the table has a place in the file.
func FuzzUIPlace(f *testing.F) {
	f.Add([]byte(fullUI))
	f.Add([]byte("version = 1\nui = { theme = \"pink\" }\n"))
	f.Add([]byte("version = 1\nui.keys.\"a.b\" = \"j\""))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := Parse("c.toml", b)
		var ce *Error
		if errors.As(err, &ce) && strings.HasPrefix(ce.Key, "ui.") && (ce.Line < 1 || ce.Column < 1) {
			t.Errorf("no place: %v", ce)
		}
	})
}

func TestNotificationsAreOffOverSSHUnlessAskedFor(t *testing.T) {
	for _, c := range []struct {
		set                        string
		known, remote, on, details bool
	}{
		{"", true, false, true, false}, {NotifyAuto, true, false, true, false},
		{NotifyAuto, false, false, false, false},
		{NotifyAuto, true, true, false, false}, {NotifyOff, true, false, false, false},
		{NotifyOn, false, true, true, false}, {NotifyDetails, false, false, true, true},
	} {
		if on, details := (UI{Notify: c.set}).Notifies(c.known, c.remote); on != c.on || details != c.details {
			t.Errorf("%+v: %v %v", c, on, details)
		}
	}
}
