package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/api/network"
)

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const commented = `# of mine
version = 1 # the first

[ui] # how it looks
# never light
theme = "light"   # on trial
hide_amounts = true
dust = "5.00" # a # in words

[ui.keys]
"balances.sort" = "o" # as elsewhere

# the team
[profiles.team]
kind = "embedded" # not yet
vault = "file"
`

func TestWritingChoicesKeepsThePersonsComments(t *testing.T) {
	path := written(t, commented)
	off := false
	want := UI{Theme: ThemeDark, Mouse: &off, Dust: "5.00",
		Keys: map[string]string{"balances.sort": "o", "shell.hide-or-show-amounts": "ctrl+h"}}
	if err := SetUI(path, want); err != nil {
		t.Fatal(err)
	}
	got := content(t, path)
	for _, kept := range []string{
		"# of mine\nversion = 1 # the first\n", "[ui] # how it looks\n# never light\ntheme = 'dark'   # on trial\n",
		"dust = \"5.00\" # a # in words\n", "mouse = false\n",
		"[ui.keys]\n\"balances.sort\" = \"o\" # as elsewhere\n",
		"\n# the team\n[profiles.team]\nkind = \"embedded\" # not yet\nvault = \"file\"\n",
	} {
		if !strings.Contains(got, kept) {
			t.Errorf("%q is not there:\n%s", kept, got)
		}
	}
	if strings.Contains(got, "hide_amounts") {
		t.Errorf("a choice that was taken back stayed:\n%s", got)
	}
	f, err := Load(path)
	if err != nil || f.UI.Theme != ThemeDark || f.UI.Keys["shell.hide-or-show-amounts"] != "ctrl+h" ||
		f.UI.MouseOn(false) || f.Profiles["team"].Kind != network.Embedded {
		t.Errorf("%+v, %v", f, err)
	}
	if err := SetUI(path, want); err != nil || content(t, path) != got {
		t.Errorf("the same once more changed the file: %v\n%s", err, content(t, path))
	}
}

func TestChoicesMakeTheFileAndTheTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "coffer", "config.toml")
	if err := SetUI(path, UI{Theme: ThemeContrast, Colors: map[string]Color{"accent": "63"}}); err != nil {
		t.Fatal(err)
	}
	if f, err := Load(path); err != nil || f.UI.Theme != ThemeContrast || f.UI.Colors["accent"] != "63" {
		t.Errorf("%+v, %v", f.UI, err)
	}
	if err := SetUI(path, UI{}); err != nil {
		t.Fatal(err)
	}
	if f, err := Load(path); err != nil || f.UI.Theme != "" || len(f.UI.Colors) != 0 {
		t.Errorf("%+v, %v", f.UI, err)
	}
}

func TestWhatCannotBeEditedSafelyIsRefusedAndStays(t *testing.T) {
	for _, text := range []string{
		"version = 1\nui = { theme = \"dark\" }\n", "version = 1\nui.theme = \"dark\"\n",
		"version = 1\n[ui]\ntheme = \"dark\"\n[profiles.a]\nkind = \"embedded\"\nvault = \"\"\"\n[ui]\ntheme = " +
			"'light'\n\"\"\"\n",
	} {
		path := written(t, text)
		err := SetUI(path, UI{Theme: ThemeLight, Keys: map[string]string{"shell.quit": "Q"}})
		var broken *Error
		if !errors.As(err, &broken) || content(t, path) != text {
			t.Errorf("%q: %v\n%s", text, err, content(t, path))
		}
	}
	path := written(t, commented)
	if err := SetUI(path, UI{Theme: "pink"}); err == nil || content(t, path) != commented {
		t.Errorf("a theme that does not exist: %v", err)
	}
}

func TestTheDefaultProfileIsChangedInItsPlace(t *testing.T) {
	const mine = "kind = \"embedded\"\nvault = \"file\"\n"
	for text, want := range map[string]string{
		"# a\nversion = 1\n[profiles.mine] # b\n" + mine: "# a\nversion = 1\n" +
			"default = \"mine\"\n[profiles.mine] # b\n" + mine,
		"version = 1\ndefault = 'demo' # c\n[profiles.mine]\n" + mine: "version = 1\n" +
			"default = \"mine\" # c\n[profiles.mine]\n" + mine,
	} {
		path := written(t, text)
		if err := SetDefault(path, "mine"); err != nil || content(t, path) != want {
			t.Errorf("%v\n%s", err, content(t, path))
		}
		if err := SetDefault(path, "nobody"); err == nil || content(t, path) != want {
			t.Errorf("a profile that is not there became the default: %v", err)
		}
	}
}

func TestAProfileIsAddedWithItsAccountsAtOnce(t *testing.T) {
	path := written(t, "version = 1\n# kept\n")
	p := team()
	p.Accounts = []Account{
		{Type: "kernel-v3.1-ecdsa", SignerAddress: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"},
		{Type: "solana", AccountAddress: "11111111111111111111111111111111"},
	}
	if err := CanAdd(path, p); err != nil || content(t, path) != "version = 1\n# kept\n" {
		t.Fatalf("trying: %v\n%s", err, content(t, path))
	}
	if err := AddProfile(path, p, false); err != nil {
		t.Fatal(err)
	}
	if f, err := Load(path); err != nil || len(f.Profiles["team"].Accounts) != 2 {
		t.Errorf("%+v, %v", f, err)
	}
	if err := CanAdd(path, p); err == nil {
		t.Error("the same profile could be added again")
	}
	p.Name = "second"
	if err := AddDefaultProfile(path, p); err != nil {
		t.Fatal(err)
	}
	if f, err := Load(path); err != nil || f.Default != "second" || len(f.Profiles["team"].Accounts) != 2 ||
		!strings.Contains(content(t, path), "# kept\n") {
		t.Errorf("%+v, %v\n%s", f, err, content(t, path))
	}
}

// FuzzSetUI: for every file, writing the choices either changes them and nothing else, or is refused.
func FuzzSetUI(f *testing.F) {
	for _, s := range []string{commented, "version = 1\n", "version=1\n[ui]\n[ui.keys]\n",
		"version = 1\nui.theme = \"dark\"\n", "version = 1\r\n[ ui ]\r\ntheme='dark'#x\r\n",
		"version = 1\n[ui]\n\"theme\" = 'a#b'"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		before, errBefore := Parse(path, data)
		want := UI{Theme: ThemeDark, Dust: "2", Keys: map[string]string{"shell.quit": "Q"}}
		err := SetUI(path, want)
		after, _ := os.ReadFile(path)
		if err != nil {
			if !bytes.Equal(after, data) {
				t.Fatalf("refused, and changed: %q", after)
			}
			return
		}
		got, errAfter := Parse(path, after)
		before.UI = want
		if errBefore != nil || errAfter != nil || !sameFile(before, got) {
			t.Fatalf("%q became %q (%v, %v)", data, after, errBefore, errAfter)
		}
	})
}

// The user asks for another default profile, not for another file: for every file, each byte outside the name of the
// default stays.
func TestAProfileThatIsToBeTheDefaultChangesNothingElse(t *testing.T) {
	const a = "[profiles.a] # first\nkind = \"embedded\"   # aligned\n\tvault='memory'\n\n# the end"
	for text, want := range map[string]string{
		"# mine\nversion = 1 # keep\n\ndefault   =   \"a\"\t\t# of every day\n\n\n" +
			a: "# mine\nversion = 1 # keep\n\ndefault   =   \"team\"\t\t# of every day\n\n\n" + a,
		"default='a'\nversion=1\n" + a: "default=\"team\"\nversion=1\n" + a,
		"version = 1\r\ndefault = \"a\" # x\r\n" + strings.ReplaceAll(a, "\n",
			"\r\n"): "version = 1\r\ndefault = \"team\" # x\r\n" + strings.ReplaceAll(a, "\n", "\r\n"),
		"version = 1\r\ndefault = \"a\"\r\n" + strings.ReplaceAll(a, "\n",
			"\r\n"): "version = 1\r\ndefault = \"team\"\r\n" + strings.ReplaceAll(a, "\n", "\r\n"),
		"# no default\nversion = 1 # keep\n\n" + a: "# no default\nversion = 1 # keep\ndefault = \"team\"\n\n" + a,
		"version = 1\n": "version = 1\ndefault = \"team\"\n",
	} {
		path := written(t, text)
		if err := AddDefaultProfile(path, team()); err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got, end := content(t, path), "\n"
		if strings.Contains(text, "\r\n") {
			end = "\r\n"
		}
		if f, err := Load(path); err != nil || f.Default != "team" || !strings.HasPrefix(got, want+end) ||
			!strings.Contains(got, "[profiles.team]"+end) ||
			end != "\n" && strings.Count(got, end) != strings.Count(got, "\n") ||
			strings.Count(got, "[profiles.") > strings.Count(want, "[profiles.")+1 {
			t.Errorf("%q became\n%q\n%v", text, got, err)
		}
	}
	for _, text := range []string{"version = 1\ndefault = \"\"\"a\"\"\" # in three quotes\nprofiles = { a = { kind = " +
		"\"embedded\", vault = \"memory\" } }\n", "version = 1\ndefault = \"\"\"\na\"\"\"\n" + a} {
		path := written(t, text)
		var broken *Error
		if err := AddDefaultProfile(path, team()); !errors.As(err, &broken) || content(t, path) != text {
			t.Errorf("%q: %v\n%s", text, err, content(t, path))
		}
	}
}
