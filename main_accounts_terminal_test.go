//go:build unix

package main

import (
	"bytes"
	"crypto/ecdsa"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/ui/cli"
)

// A throw-away key of this test and its address.
const (
	adminKeyText = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"
	adminOfKey   = "0x2c7536e3605d9c16a7a3d7b1898e529396a65c23"
)

// roleHome is a home directory whose profile has a role-based account.
func roleHome(t *testing.T) []string {
	t.Helper()
	dir, env := home(t)
	path := filepath.Join(dir, "config", "coffer", "config.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "version = 1\ndefault = \"mine\"\n[profiles.mine]\nkind = \"embedded\"\nvault = \"memory\"\n[[profiles.mine.accounts]]\ntype = \"role-based\"\n" +
		"session_address = \"0x5e00000000000000000000000000000000000000\"\nadmin_address = \"" + adminOfKey + "\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return env
}

// TestRoleBasedAccountsNeedNoAddress: where the profile names the keys only, balances and screens are those of the account that follows from them.
func TestRoleBasedAccountsNeedNoAddress(t *testing.T) {
	t.Parallel()
	env := roleHome(t)
	out, errs, code := runProgram(t, env, "accounts", "show", "--chain", "eip155:8453", "--json")
	var shown []cli.AccountRoles
	if err := json.Unmarshal([]byte(out), &shown); err != nil || code != 0 || len(shown) != 1 || !common.IsHexAddress(shown[0].Account) {
		t.Fatalf("code %d, %s, %s, %v", code, out, errs, err)
	}
	out, errs, code = runProgram(t, env, "balances", "--json")
	if code != 0 || !strings.Contains(out, `"evm":"`+shown[0].Account+`"`) {
		t.Errorf("code %d, %s, %s", code, out, errs)
	}
	p := person{t, start(t, env, 120, 40)}
	p.sees("EMBEDDED", "mine", "USDC", "$")
	p.types("q")
	if err := p.ends(); err != nil {
		t.Error(err)
	}
}

// TH-K1: on the terminal the account is confirmed, then the key is typed and never shown.
func TestAdminKeyIsTypedUnseenAfterTheConfirmation(t *testing.T) {
	env := roleHome(t)
	p := person{t, start(t, env, 120, 40, "accounts", "exit", "announce", "--chain", "eip155:8453")}
	question := p.finds(`last four characters of the account (0x[0-9a-fA-F]{40})`)
	p.sees("announce an exit")
	p.types(question[len(question)-4:] + "\r")
	p.sees("Admin key (not shown):")
	p.types("0x" + adminKeyText + "\r")
	p.sees("done in transaction 0x")
	if err := p.term.WaitExit(limit); err != nil {
		t.Fatalf("%v\n%s", err, p.term.Screen())
	}
	if bytes.Contains(p.term.Raw(), []byte(adminKeyText[:8])) {
		t.Error("the key was shown")
	}
	wrong := person{t, start(t, env, 120, 40, "accounts", "exit", "cancel", "--chain", "eip155:8453")}
	wrong.sees("Type the last four characters")
	wrong.types("zzzz\r")
	wrong.sees("nothing was signed")
	if err := wrong.term.WaitExit(limit); err == nil || !strings.Contains(err.Error(), "2") {
		t.Errorf("%v, expected exit code %d", err, cli.ExitUsage)
	}
	if strings.Contains(wrong.term.Screen(), "Admin key") {
		t.Error("the key was asked for without a confirmation")
	}
}

// mustKey is the throw-away key of these tests.
func mustKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	k, err := crypto.HexToECDSA(adminKeyText)
	if err != nil {
		t.Fatal(err)
	}
	return k
}
