package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func getter(env map[string]string) func(string) string {
	return func(k string) string { return env[k] }
}

// A journal knows what was sent. Which journal is used must not depend on the working directory of a command.
func TestRelativePlacesAreRefused(t *testing.T) {
	for _, name := range []string{EnvConfig, EnvData} {
		for _, value := range []string{"lab", "./lab", "../lab", "~/lab"} {
			_, err := PathsFrom(getter(map[string]string{"HOME": "/h", name: value}))
			var broken *Error
			if !errors.As(err, &broken) || !strings.Contains(err.Error(), name) ||
				!strings.Contains(err.Error(), "absolute") {
				t.Errorf("%s=%s: %v", name, value, err)
			}
			if _, err := ServiceData("", getter(map[string]string{"HOME": "/h", name: value})); err == nil {
				t.Errorf("the service takes %s=%s", name, value)
			}
		}
	}
}

// The XDG rules say to ignore a relative path; the program reports it.
func TestRelativeXDGPathsAreIgnoredAndNamed(t *testing.T) {
	env := map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "c", "XDG_DATA_HOME": "./d", "XDG_STATE_HOME": "../s"}
	p, err := PathsFrom(getter(env))
	if want := (Paths{"/h/.config/coffer/config.toml", "/h/.local/share/coffer", "/h/.local/state/coffer"}); err !=
		nil || p != want {
		t.Errorf("%+v, %v", p, err)
	}
	if got := IgnoredXDG(getter(env)); !slices.Equal(got,
		[]string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"}) {
		t.Error(got)
	}
	if got := IgnoredXDG(getter(map[string]string{"XDG_DATA_HOME": "/d"})); len(got) != 0 {
		t.Error(got)
	}
}

// Each place follows its own variable, and nothing else moves.
func TestEachVariableMovesItsOwnPlace(t *testing.T) {
	base := map[string]string{"HOME": "/h"}
	plain, err := PathsFrom(getter(base))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Paths{
		"XDG_CONFIG_HOME": {"/v/coffer/config.toml", plain.Data, plain.State},
		"XDG_DATA_HOME":   {plain.Config, "/v/coffer", plain.State},
		"XDG_STATE_HOME":  {plain.Config, plain.Data, "/v/coffer"},
		EnvConfig:         {"/v", plain.Data, plain.State},
		EnvData:           {plain.Config, "/v/data", "/v/state"},
	} {
		if got, err := PathsFrom(getter(map[string]string{"HOME": "/h", name: "/v"})); err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	all := map[string]string{EnvConfig: "/c.toml", EnvData: "/k", "XDG_CONFIG_HOME": "/x", "XDG_DATA_HOME": "/x",
		"XDG_STATE_HOME": "/x"}
	if got, err := PathsFrom(getter(all)); err != nil || got != (Paths{"/c.toml", "/k/data", "/k/state"}) {
		t.Errorf("the program's own variables go before those of XDG: %+v, %v", got, err)
	}
	if dir, err := ServiceData("", getter(all)); err != nil || dir != "/k/data/serve" {
		t.Errorf("%s, %v", dir, err)
	}
}

func TestVariablesThatWereMeantToBeSecretAreNamedAndNeverTheirValues(t *testing.T) {
	env := []string{
		"COFFER_API_KEY=sk-1", "COFFER_PASSPHRASE=correct horse", "COFFER_PRIVATE_KEY=0xab",
		"COFFER_MNEMONIC=legal winner", "COFFER_TOKEN=t", "COFFER_apikey=x", "COFFER_TEAM_PASSWORD=p",
		"COFFER_DATA=/d", "COFFER_CONFIG=/c", "COFFER_PROFILE=team", "COFFER_KEYRING_STATE=x", "COFFER_TEST_SEED=7",
		"COFFER_SECRET=", "API_KEY=other", "COFFER_BIN=/b", "HOME=/h",
	}
	want := []string{"COFFER_API_KEY", "COFFER_MNEMONIC", "COFFER_PASSPHRASE", "COFFER_PRIVATE_KEY",
		"COFFER_TEAM_PASSWORD", "COFFER_TOKEN", "COFFER_apikey"}
	if got := SecretVariables(env); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := UnknownVariables(env); slices.Contains(got, EnvData) || !slices.Contains(got, "COFFER_BIN") ||
		!slices.Contains(got, "COFFER_API_KEY") {
		t.Errorf("%v", got)
	}
	for _, v := range Variables() {
		if len(SecretVariables([]string{v.Name + "=x"})) > 0 {
			t.Errorf("%s is a setting and sounds like a secret", v.Name)
		}
	}
}

func write0600(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestShowTellsWhereEachSettingComesFrom(t *testing.T) {
	path := write0600(t, strings.Replace(full, `vault = "keyring"`,
		"vault = \"keyring\"\nsigner_command = [\"/usr/bin/signer\", \"--token\", \"hunter2\"]", 1)+
		"\n[ui]\ntheme = \"light\"\nkeys = {\"balances.sort\" = \"o\"}\n")
	env := map[string]string{EnvConfig: path, "HOME": "/h", "XDG_DATA_HOME": "/d", EnvProfile: "demo"}
	by := func(flag string) map[string]Effective {
		t.Helper()
		all, err := Show(getter(env), flag)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]Effective{}
		for _, e := range all {
			if s, ok := e.Value.(string); ok && strings.Contains(s, "hunter2") {
				t.Errorf("an argument is shown: %+v", e)
			}
			out[e.Key] = e
		}
		return out
	}
	got := by("team")
	for key, want := range map[string]Effective{
		"places.configuration": {Value: path, Source: FromEnvironment, Where: EnvConfig},
		"places.data":          {Value: "/d/coffer", Source: FromEnvironment, Where: "XDG_DATA_HOME"},
		"places.state":         {Value: "/h/.local/state/coffer", Source: FromDefault},
		"profile":              {Value: "team", Source: FromCommand, Where: "--profile"},
		"profiles.team.vault":  {Value: "keyring", Source: FromFile, Where: path + ":10"},
		"profiles.team.signer_command": {Value: "/usr/bin/signer and 2 arguments", Source: FromFile,
			Where: path + ":11"},
		"profiles.team.lock_after":       {Value: "5m", Source: FromDefault},
		"profiles.team.policy_file":      {Value: nil, Source: FromDefault},
		"profiles.team.accounts[0].type": {Value: "kernel-v3.1-ecdsa", Source: FromFile, Where: path},
		"ui.theme":                       {Value: "light", Source: FromFile, Where: path + ":19"},
		"ui.keys.balances.sort":          {Value: "o", Source: FromFile, Where: path + ":20"},
		"ui.dust":                        {Value: "1.00", Source: FromDefault},
		"ui.mouse":                       {Value: nil, Source: FromDefault},
		"ui.clipboard":                   {Value: true, Source: FromDefault},
		"ui.ascii":                       {Value: false, Source: FromDefault},
	} {
		want.Key = key
		if got[key] != want {
			t.Errorf("got  %+v\nwant %+v", got[key], want)
		}
	}
	if e := by("")["profile"]; e.Value != "demo" || e.Where != EnvProfile {
		t.Errorf("%+v", e)
	}
	delete(env, EnvProfile)
	if e := by("")["profile"]; e.Value != "team" || e.Source != FromFile || e.Where != path+":3" {
		t.Errorf("%+v", e)
	}
	env[EnvConfig] = filepath.Join(t.TempDir(), "none.toml")
	if e := by("")["profile"]; e.Value != DemoProfile || e.Source != FromDefault {
		t.Errorf("%+v", e)
	}
	if _, err := Show(getter(env), "nobody"); err == nil {
		t.Error("a profile that is not there is shown")
	}
}
