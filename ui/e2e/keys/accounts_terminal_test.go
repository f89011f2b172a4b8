//go:build unix

package keys

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"coffer/ui/cli"
	"coffer/ui/e2e/rig"
)

// roleHome is a home directory whose profile has a role-based account.
func roleHome(t *testing.T) []string {
	t.Helper()
	dir, env := rig.Home(t)
	path := filepath.Join(dir, "config", "coffer", "config.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "version = 1\ndefault = \"mine\"\n[profiles.mine]\nkind = \"embedded\"\nvault = " +
		"\"memory\"\n[[profiles.mine.accounts]]\ntype = \"role-based\"\n" +
		"session_address = \"0x5e00000000000000000000000000000000000000\"\nadmin_address = \"" + rig.AdminAddress +
		"\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return env
}

// TestRoleBasedAccountsNeedNoAddress: where the profile names the keys only, balances and screens are those of the
// account that follows from them.
func TestRoleBasedAccountsNeedNoAddress(t *testing.T) {
	t.Parallel()
	env := roleHome(t)
	out, errs, code := rig.Run(t, env, "accounts", "show", "--chain", "eip155:8453", "--json")
	var shown []cli.AccountRoles
	if err := json.Unmarshal([]byte(out), &shown); err != nil || code != 0 || len(shown) != 1 ||
		!common.IsHexAddress(shown[0].Account) {
		t.Fatalf("code %d, %s, %s, %v", code, out, errs, err)
	}
	out, errs, code = rig.Run(t, env, "balances", "--json")
	if code != 0 || !strings.Contains(out, `"evm":"`+shown[0].Account+`"`) {
		t.Errorf("code %d, %s, %s", code, out, errs)
	}
	p := rig.At(t, rig.Start(t, env, 120, 40))
	p.Sees("EMBEDDED", "mine", "USDC", "$")
	p.Types("q")
	if err := p.Ends(); err != nil {
		t.Error(err)
	}
}

// TH-K1: on the terminal the account is confirmed, then the key is typed and never shown.
func TestAdminKeyIsTypedUnseenAfterTheConfirmation(t *testing.T) {
	t.Parallel()
	env := roleHome(t)
	p := rig.At(t, rig.Start(t, env, 120, 40, "accounts", "exit", "announce", "--chain", "eip155:8453"))
	question := p.Finds(`last four characters of the account (0x[0-9a-fA-F]{40})`)
	p.Sees("announce an exit")
	p.Types(question[len(question)-4:] + "\r")
	p.Sees("Admin key (not shown):")
	p.Types("0x" + rig.AdminKeyText + "\r")
	p.Sees("done in transaction 0x")
	if err := p.Term.WaitExit(rig.Limit); err != nil {
		t.Fatalf("%v\n%s", err, p.Term.Screen())
	}
	if bytes.Contains(p.Term.Raw(), []byte(rig.AdminKeyText[:8])) {
		t.Error("the key was shown")
	}
	wrong := rig.At(t, rig.Start(t, env, 120, 40, "accounts", "exit", "cancel", "--chain", "eip155:8453"))
	wrong.Sees("Type the last four characters")
	wrong.Types("zzzz\r")
	wrong.Sees("nothing was signed")
	if err := wrong.Term.WaitExit(rig.Limit); err == nil || !strings.Contains(err.Error(), "2") {
		t.Errorf("%v, expected exit code %d", err, cli.ExitUsage)
	}
	if strings.Contains(wrong.Term.Screen(), "Admin key") {
		t.Error("the key was asked for without a confirmation")
	}
}
