package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"coffer/config"
	"coffer/ui/cli"
)

func TestConfigExampleAndSchemaArePrintedAsTheyAre(t *testing.T) {
	if got := says(t, nil, "config", "example"); got != string(config.Example()) {
		t.Error(got)
	}
	if _, err := config.Parse("example.toml", []byte(says(t, nil, "config", "example"))); err != nil {
		t.Error(err)
	}
	var schema map[string]any
	if err := json.Unmarshal([]byte(says(t, nil, "config", "schema")), &schema); err != nil || schema["title"] == "" {
		t.Error(err)
	}
}

func TestConfigShowNamesEachSource(t *testing.T) {
	env, _ := home(t)
	dir := filepath.Dir(strings.TrimPrefix(env[0], "COFFER_CONFIG="))
	out := strings.ReplaceAll(says(t, append(env, "COFFER_SPEED=9", "XDG_STATE_HOME=here"), "config", "show"), dir,
		"DIR")
	out = regexp.MustCompile(`(DIR\S*) +`).ReplaceAllString(out, "$1  ") // the length of the directory's name varies
	golden.RequireEqual(t, []byte(out))
	var shown struct {
		Settings []config.Effective
		Ignored  []string
	}
	if err := json.Unmarshal([]byte(says(t, append(env, "COFFER_SPEED=9"), "config", "show", "--json", "--profile",
		"demo")), &shown); err != nil {
		t.Fatal(err)
	}
	if len(shown.Ignored) != 1 || shown.Ignored[0] != "COFFER_SPEED" || len(shown.Settings) < 10 {
		t.Errorf("%+v", shown)
	}
	for _, e := range shown.Settings {
		if e.Key == "profile" && (e.Value != "demo" || e.Source != config.FromCommand) {
			t.Errorf("%+v", e)
		}
	}
	var none bytes.Buffer
	if err := whole(&none, env...).Run(t.Context(), []string{"config", "show", "--profile", "nobody"}); cli.Code(err) !=
		cli.ExitUsage {
		t.Error(err)
	}
}

// TestL10_ConfigCheckSaysAllThatIsWrong tells every fault with its line, and of a file of a newer program only that.
func TestL10_ConfigCheckSaysAllThatIsWrong(t *testing.T) {
	env, _ := home(t)
	path := filepath.Join(t.TempDir(), "other.toml")
	check := func(text string) string {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := whole(io.Discard, env...).Run(t.Context(), []string{"config", "check", path})
		if text[len(text)-1] == '#' && err == nil {
			return ""
		}
		if cli.Code(err) != cli.ExitUsage {
			t.Fatalf("%q: %v", text, err)
		}
		return strings.ReplaceAll(err.Error(), path, "")
	}
	for text, want := range map[string][]string{
		"version = 2\nnew = 1\n": {
			":1:1: version: unknown version 2, this program knows version 1: a newer Coffer"},
		"# mine\nnew = 1\nkind = \"a\nversion = 3\n": {":4:1: version: unknown version 3"},
		"version = 1\nnew = 1\nold = 2\n[profiles.a]\nkind = \"lob\"\nvault = \"x\"\n[profiles.b]\nkind = \"lob\"\n" +
			"vault = \"file\"\nlock_after = \"soon\"\n[ui]\ntheme = \"pink\"\ndust = \"-1\"\n": {
			":2:1: new: ", ":3:1: old: ",
			":5:1: profiles.a.kind: ", ":6:1: profiles.a.vault: ", ":8:1: profiles.b.kind: ",
			":10:1: profiles.b.lock_after: ", ":12:1: ui.theme: ", ":13:1: ui.dust: "},
		"version = 1\n[ui]\ntheme = 3\nmouse = \"on\"\nascii = maybe\nsize = 3\n": {":3:9: ui.theme: ",
			":4:9: ui.mouse: ", ":5:9: ", ":6:1: ui.size: "},
		"version = 1\n[ui\ntheme = 3\n":               {":2:4: "},
		"\ufeffversion = 1\n[ui]\ntheme = \"pink\"\n": {":3:1: ui.theme: "},
		"\ufeffversion = 1 #":                         {""},
	} {
		said := strings.Split(check(text), "\n")
		if !slices.EqualFunc(said, want, strings.HasPrefix) {
			t.Errorf("%q:\n%s", text, strings.Join(said, "\n"))
		}
	}
}

// TestL10_ConfigCheckSaysThatThereIsNoFile does not call a missing file good.
func TestL10_ConfigCheckSaysThatThereIsNoFile(t *testing.T) {
	out := says(t, []string{"COFFER_CONFIG=" + filepath.Join(t.TempDir(), "none.toml")}, "config", "check")
	if strings.Contains(out, "good") || !strings.Contains(out,
		"none.toml: there is no file, so every setting has its default, profiles: 1, demo is the default one") {
		t.Error(out)
	}
}

func TestConfigCheckTellsTheLine(t *testing.T) {
	env, _ := home(t)
	path := filepath.Join(t.TempDir(), "other.toml")
	if err := os.WriteFile(path, []byte("version = 1\n[ui]\ntheme = \"pink\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := says(t, env, "config", "check"); !strings.Contains(out, "good, profiles: 2, team is the default one") {
		t.Error(out)
	}
	for _, c := range []struct{ args, part string }{{path, path + ":3:1: ui.theme"},
		{path + ".none", "cannot be read"}} {
		var out bytes.Buffer
		err := whole(&out, env...).Run(t.Context(), []string{"config", "check", c.args})
		if cli.Code(err) != cli.ExitUsage || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v", c.args, err)
		}
	}
	var out bytes.Buffer
	if err := whole(&out, "COFFER_CONFIG=config.toml").Run(t.Context(),
		[]string{"config", "check"}); cli.Code(err) != cli.ExitUsage || !strings.Contains(err.Error(), "absolute") {
		t.Error(err)
	}
}

// TH-K1: no variable takes a secret. A variable that looks like one is named, once, on standard error; its value
// appears nowhere, and the command continues.
func TestASecretInTheEnvironmentIsIgnoredAndSaid(t *testing.T) {
	var out, errs bytes.Buffer
	p := whole(&out, "COFFER_API_KEY=hunter2", "COFFER_PASSPHRASE=hunter2")
	p.Err = &errs
	for _, args := range [][]string{{"version"}, {"config", "show"}, {"--help"}} {
		out.Reset()
		errs.Reset()
		if err := p.Run(t.Context(), args); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String()+errs.String(), "hunter2") {
			t.Errorf("%v: the value is shown:\n%s%s", args, &out, &errs)
		}
		for _, name := range []string{"COFFER_API_KEY", "COFFER_PASSPHRASE"} {
			if strings.Count(errs.String(), "coffer: "+name+
				" is ignored: no environment variable takes a secret") != 1 {
				t.Errorf("%v: %s", args, &errs)
			}
		}
	}
	errs.Reset()
	if err := p.Run(t.Context(), []string{"__complete", "bal"}); err != nil ||
		strings.Contains(errs.String(), "ignored") {
		t.Errorf("a shell that asks for completions is told: %v, %s", err, &errs)
	}
}

// COFFER_PROFILE is the profile of a shell; the command line overrides it.
func TestTheProfileComesFromTheFlagThenFromTheEnvironment(t *testing.T) {
	env, _ := home(t)
	for _, c := range []struct {
		env  []string
		args []string
		want string
	}{
		{nil, nil, "team"}, {[]string{"COFFER_PROFILE=demo"}, nil, "demo"},
		{[]string{"COFFER_PROFILE=team"}, []string{"--profile", "demo"}, "demo"},
	} {
		var got cli.Global
		p := whole(new(bytes.Buffer), append(env, c.env...)...)
		p.Terminal = true
		p.SetUp = func(_ context.Context, g cli.Global, _ bool) error { got = g; return nil }
		if err := p.Run(t.Context(), append(c.args, "setup")); err != nil {
			t.Fatal(err)
		}
		if want := c.want; got.Profile != want && (want != "team" || got.Profile != "") {
			t.Errorf("%v %v: %q", c.env, c.args, got.Profile)
		}
	}
}
