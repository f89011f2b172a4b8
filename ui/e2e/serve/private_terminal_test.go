//go:build unix

package serve

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"coffer/ui/e2e/rig"
)

// elsewhereHome is a home on another machine: the same profile and account, no journal, and another API key. What its
// dashboard shows is what the service tells.
func elsewhereHome(t *testing.T, env []string, networkFile, apiKey string) []string {
	t.Helper()
	dir, out := rig.Home(t)
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
	rig.KeepsKey(t, dir, string(id[1]))
	screen, err := rig.Asks(t, out, []string{"keys", "api-key", "set"}, "Passphrase of profile team", rig.Passphrase,
		"API key", apiKey)
	if err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	rig.Confirms(t, out, networkFile)
	return out
}

// TestK13_TerminalAnotherProjectSeesNoHistoryOfAPrivateService: on another machine the dashboard shows the account's
// transfer to a key of the same project, and to a key of another project its balances only.
func TestK13_TerminalAnotherProjectSeesNoHistoryOfAPrivateService(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t, "--private")
	rig.Script{T: t, Env: env, Pass: rig.Passphrase}.Runs(0, "transfer", "--asset", "usdc", "--amount", "20", "--to",
		rig.Payee(t), "--chain", "op",
		"--yes", "--accept", "V4,Q10,Q11,J4,U3")
	var other struct {
		Key string `json:"key"`
	}
	rig.KeysOf(t, env, &other, "add", "--data", filepath.Dir(b.At.NetworkFile), "--company", "Bee Works", "--project",
		"robot")
	for _, c := range []struct{ key, shows string }{
		{b.At.APIKey, "completed"}, {other.Key, "The service lists nothing that was done with this account."},
	} {
		p := rig.Opens(t, elsewhereHome(t, env, b.At.NetworkFile, c.key), 120, 40)
		p.Types("4")
		p.Sees("›4 History", c.shows)
		p.Types("3")
		p.Sees("›3 Activity")
		if c.key == other.Key && strings.Contains(p.Term.Screen(), "transfer") {
			t.Errorf("the transfer is under Activity:\n%s", p.Term.Screen())
		}
		p.Types("q")
		if err := p.Ends(); err != nil {
			t.Error(err)
		}
	}
}
