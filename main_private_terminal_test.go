//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// elsewhereHome is a home on another machine: the same profile and account, no journal, and another API key. What its
// dashboard shows is what the service tells.
func elsewhereHome(t *testing.T, env []string, apiKey string) []string {
	t.Helper()
	dir, out := home(t)
	configured := func(env []string) string {
		return filepath.Join(strings.TrimPrefix(env[1], "XDG_CONFIG_HOME="), "coffer", "config.toml")
	}
	text, err := os.ReadFile(configured(env))
	id := regexp.MustCompile(`network_id = "([^"]+)"`).FindSubmatch(text)
	if err != nil || id == nil {
		t.Fatal(err, string(text))
	}
	err = errors.Join(os.MkdirAll(filepath.Dir(configured(out)), 0o700), os.WriteFile(configured(out), text, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	keepsKey(t, dir, string(id[1]))
	screen, err := asks(t, out, []string{"keys", "api-key", "set"}, "Passphrase of profile team", passphrase, "API key", apiKey)
	if err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	return out
}

// TestK13_TerminalAnotherProjectSeesNoHistoryOfAPrivateService: on another machine the dashboard shows the account's
// transfer to a key of the same project, and to a key of another project its balances only.
func TestK13_TerminalAnotherProjectSeesNoHistoryOfAPrivateService(t *testing.T) {
	t.Parallel()
	env, b := team(t, "--private")
	script{t, env, passphrase}.runs(0, "transfer", "--asset", "usdc", "--amount", "20", "--to", payee(t), "--chain", "op",
		"--yes", "--accept", "V4,Q10,Q11,J4,U3")
	var other struct {
		Key string `json:"key"`
	}
	keysOf(t, env, &other, "add", "--data", filepath.Dir(b.at.NetworkFile), "--company", "Bee Works", "--project", "robot")
	for _, c := range []struct{ key, shows string }{
		{b.at.APIKey, "completed"}, {other.Key, "The service lists nothing that was done with this account."},
	} {
		p := opens(t, elsewhereHome(t, env, c.key), 120, 40)
		p.types("4")
		p.sees("›4 History", c.shows)
		p.types("3")
		p.sees("›3 Activity")
		if c.key == other.Key && strings.Contains(p.term.Screen(), "transfer") {
			t.Errorf("the transfer is under Activity:\n%s", p.term.Screen())
		}
		p.types("q")
		if err := p.ends(); err != nil {
			t.Error(err)
		}
	}
}
