//go:build unix

package keys

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"coffer/assets"
	"coffer/ui/cli"
	"coffer/ui/e2e/rig"
	"coffer/ui/present"
	"coffer/wallet/consent"
)

// severalHome is a home directory whose profile has two EVM accounts, and their addresses by name.
func severalHome(t *testing.T) (env []string, at map[string]string) {
	t.Helper()
	dir, env := rig.Home(t)
	demo, err := assets.DemoKey() // it signs for both
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config", "coffer", "config.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "version = 1\ndefault = \"mine\"\n[profiles.mine]\nkind = \"embedded\"\nvault = \"memory\"\n" +
		"[[profiles.mine.accounts]]\ntype = \"kernel-v3.1-ecdsa\"\nsigner_address = \"" + demo.Signer + "\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"accounts", "add", "--name", "savings", "--type", "kernel-v3.3-ecdsa", "--signer", demo.Signer},
		{"accounts", "rename", "kernel-v3.1-ecdsa", "daily"},
	} {
		if out, errs, code := rig.Run(t, env, args...); code != 0 {
			t.Fatalf("%v: %d %s %s", args, code, out, errs)
		}
	}
	out, errs, code := rig.Run(t, env, "accounts", "list", "--json")
	var list []struct {
		Name           string `json:"name"`
		AccountAddress string `json:"accountAddress"`
		Default        bool   `json:"default"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list) != 2 || !list[0].Default ||
		list[1].Default {
		t.Fatalf("%v, %d %s %s", err, code, out, errs)
	}
	at = map[string]string{}
	for _, a := range list {
		at[a.Name] = a.AccountAddress
	}
	return env, at
}

// D17: every command works with the account that --account names, by name or address, else with the default one.
func TestD17_CommandsWorkWithTheNamedAccount(t *testing.T) {
	t.Parallel()
	env, at := severalHome(t)
	of := func(args ...string) string {
		t.Helper()
		out, errs, code := rig.Run(t, env, append([]string{"balances", "--json"}, args...)...)
		if code != 0 {
			t.Fatalf("%v: %d %s", args, code, errs)
		}
		found := regexp.MustCompile(`"evm":"(0x[0-9a-fA-F]{40})"`).FindStringSubmatch(out)
		if len(found) < 2 {
			t.Fatalf("%v\n%s", args, out)
		}
		return found[1]
	}
	for _, c := range []struct{ which, want string }{{"", "daily"}, {"savings", "savings"}, {"SAVINGS", "savings"},
		{strings.ToLower(at["savings"]), "savings"}, {at["daily"], "daily"}} {
		var args []string
		if c.which != "" {
			args = []string{"--account", c.which}
		}
		if got := of(args...); got != at[c.want] {
			t.Errorf("%q: balances of %s", c.which, got)
		}
	}
	for _, wrong := range []string{"spare", "0x000000000000000000000000000000000000dEaD"} {
		if _, errs, code := rig.Run(t, env, "balances", "--account", wrong); code != cli.ExitUsage ||
			!strings.Contains(errs, "has no such account") {
			t.Errorf("%s: %d %s", wrong, code, errs)
		}
	}
	if _, errs, code := rig.Run(t, env, "accounts", "default", "savings"); code != 0 {
		t.Fatal(errs)
	}
	if got := of(); got != at["savings"] {
		t.Errorf("balances of %s", got)
	}
	out, errs, code := rig.Run(t, env, "transfer", "--account", "daily", "--asset", "usdc", "--amount", "5", "--to",
		"savings", "--chain", "base", "--dry-run", "--json")
	if code != 0 || !strings.Contains(out+errs, at["savings"]) {
		t.Errorf("%d %s", code, errs)
	}
	if !regexp.MustCompile(`From +` + at["daily"] + `, daily`).MatchString(errs + out) {
		t.Errorf("the review does not name the account that pays:\n%s", errs)
	}
	if _, errs, code = rig.Run(t, env, "accounts", "remove", "savings", "--yes"); code != 0 {
		t.Fatal(errs)
	}
	if got := of(); got != at["daily"] {
		t.Errorf("balances of %s", got)
	}
}

// D17: the dashboard switches to another account and back. Each has its own balances and its own form, and what is
// signed is of the account in the first line.
func TestD17_TheDashboardSwitchesAccounts(t *testing.T) {
	t.Parallel()
	env, at := severalHome(t)
	held := func(name string) string {
		t.Helper()
		out, errs, _ := rig.Run(t, env, "balances", "--account", name)
		found := regexp.MustCompile(`(?m)^ *USDC +([0-9,]+\.[0-9]+)`).FindStringSubmatch(out)
		if len(found) < 2 {
			t.Fatalf("%s %s", out, errs)
		}
		return strings.TrimRight(strings.TrimRight(found[1], "0"), ".")
	}
	daily, savings := held("daily"), held("savings")
	if daily == savings {
		t.Fatalf("both hold %s", daily)
	}
	p := rig.At(t, rig.Start(t, env, 120, 40))
	in := func(name, usdc string) {
		t.Helper()
		p.Sees("@ "+name+"  "+present.Address(at[name]), usdc)
	}
	in("daily", daily)
	esc := func() {
		t.Helper()
		p.Rests(consent.Quiet) // an escape right before a key would be the key with alt
		p.Types("\x1b")
		p.Rests(consent.Quiet)
	}
	p.Types("t")
	p.Sees("Transfer", "amount")
	p.Types("7.25\t")
	p.Sees("7.250000 USDC") // the summary beside the form
	esc()
	p.Types("1@")
	p.Sees("Use the account", "daily: this account is in use")
	p.Types("savings\r")
	in("savings", savings)
	p.Types("2")
	p.Waits("an empty form", func(screen string) bool {
		return strings.Contains(screen, "›2 Build") && !strings.Contains(screen, "7.25")
	})
	esc()
	p.Types("6")
	p.Sees("daily  Smart account", "savings  Delegated account", "in use")
	p.Types("k\r")
	in("daily", "in use")
	p.Types("2")
	p.Sees("7.25", "Draft restored")
	esc()
	p.Types("1")
	in("daily", daily)

	// A switch leaves no review behind.
	p.Types("2")
	esc()
	p.Types("c")
	p.FillsIn()
	p.Types("\x12") // ctrl+r
	p.Sees("Review 1 of 2", "leaves your account")
	p.Types("@")
	p.Sees("Use the account")
	p.Types("savings\r")
	p.Sees("a review is open; nothing is signed: finish or leave it first", "@ daily")
	esc()
	p.Types("1@")
	p.Sees("Use the account")
	p.Types("savings\r")
	in("savings", savings)
	p.Types("q")
	if err := p.Ends(); err != nil {
		t.Error(err)
	}
}
