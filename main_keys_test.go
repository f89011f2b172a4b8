//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/ui/cli"
)

// A passphrase of these tests.
const passphrase = "correct horse battery"

// asks runs a command in front of a person who answers its questions, each as soon as it stands there, and returns what was on the screen.
func asks(t *testing.T, env, args []string, answers ...string) (screen string, code error) {
	t.Helper()
	p := person{t, start(t, env, 160, 40, args...)}
	for i := 0; i+1 < len(answers); i += 2 {
		times := 1 // a question that comes again is answered again
		for j := 0; j < i; j += 2 {
			if answers[j] == answers[i] {
				times++
			}
		}
		p.waits(answers[i], func(screen string) bool { return strings.Count(screen, answers[i]) >= times })
		p.types(answers[i+1] + "\r")
	}
	code = p.ends()
	for i := 1; i < len(answers); i += 2 {
		hidden := strings.Contains(answers[i-1], "not shown") || strings.Contains(answers[i-1], "once more")
		if hidden && bytes.Contains(p.term.Raw(), []byte(answers[i])) {
			t.Errorf("%v showed what was typed at %q", args, answers[i-1])
		}
	}
	return p.term.Screen(), code
}

// vaultHome is a home whose profile "mine" runs inside the program and keeps its keys in a file.
func vaultHome(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir, env = home(t)
	for _, c := range []struct{ args, answers []string }{
		{[]string{"profile", "add", "mine", "--kind", "embedded", "--vault", "file"}, nil},
		{[]string{"keys", "init"}, []string{"New passphrase", passphrase, "once more", passphrase}},
	} {
		if screen, err := asks(t, env, c.args, c.answers...); err != nil {
			t.Fatalf("%v: %v\n%s", c.args, err, screen)
		}
	}
	return dir, env
}

// imports brings the throw-away key of these tests into the vault.
func imports(t *testing.T, env []string) {
	t.Helper()
	screen, err := asks(t, env, []string{"keys", "import", "--label", "main"}, "Passphrase of profile mine", passphrase, "Key or mnemonic (not shown)", adminKeyText)
	if err != nil || !strings.Contains(screen, adminOfKey) {
		t.Fatalf("%v\n%s", err, screen)
	}
}

// TH-K7: the choice of a place for the keys is made by the person and written down, and only an encrypted file is on the disk.
func TestKeysAreSetUpWhereTheProfileSaysAndNeverInTheClear(t *testing.T) {
	t.Parallel()
	dir, env := vaultHome(t)
	imports(t, env)
	screen, err := asks(t, env, []string{"keys", "list"}, "Passphrase of profile mine", passphrase)
	if err != nil || !strings.Contains(screen, adminOfKey) || !strings.Contains(screen, "main") {
		t.Fatalf("%v\n%s", err, screen)
	}
	wrong, err := asks(t, env, []string{"keys", "list"}, "Passphrase", "not this one", "Passphrase", "nor this", "Passphrase", "nor that one")
	if err == nil || !strings.Contains(wrong, "wrong passphrase") {
		t.Errorf("%v\n%s", err, wrong)
	}
	raw := common.FromHex(adminKeyText)
	err = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, raw) || bytes.Contains(bytes.ToLower(content), []byte(adminKeyText)) || bytes.Contains(content, []byte(passphrase)) {
			t.Errorf("%s holds a secret in the clear", path)
		}
		if info, errInfo := e.Info(); strings.Contains(path, "keys") && errInfo == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A backup brings a key back that was removed, and removing asks for the address.
func TestARemovedKeyComesBackFromTheBackup(t *testing.T) {
	t.Parallel()
	dir, env := vaultHome(t)
	imports(t, env)
	file := filepath.Join(dir, "keys.age")
	if s, err := asks(t, env, []string{"keys", "backup", file}, "Passphrase of profile", passphrase, "Passphrase of the backup", "another good phrase", "once more", "another good phrase"); err != nil {
		t.Fatalf("%v\n%s", err, s)
	}
	if s, err := asks(t, env, []string{"keys", "remove", adminOfKey}, "Passphrase of profile", passphrase, "last four characters", "zzzz"); err == nil {
		t.Fatalf("removed without the right answer\n%s", s)
	}
	if s, err := asks(t, env, []string{"keys", "remove", adminOfKey}, "Passphrase of profile", passphrase, "last four characters", adminOfKey[38:]); err != nil {
		t.Fatalf("%v\n%s", err, s)
	}
	if s, err := asks(t, env, []string{"keys", "list"}, "Passphrase of profile", passphrase); err != nil || !strings.Contains(s, "no keys") {
		t.Fatalf("%v\n%s", err, s)
	}
	if s, err := asks(t, env, []string{"keys", "restore", file}, "Passphrase of profile", passphrase, "Passphrase of the backup (not shown)", "another good phrase"); err != nil || !strings.Contains(s, adminOfKey) {
		t.Fatalf("%v\n%s", err, s)
	}
}

// The account set of a profile obeys the combination rules, and its addresses are what the service predicts.
func TestAccountsAreAddedByTheirKeysAndComparedWithTheService(t *testing.T) {
	t.Parallel()
	_, env := vaultHome(t)
	signer := crypto.PubkeyToAddress(mustKey(t).PublicKey).Hex()
	out, errs, code := runProgram(t, env, "accounts", "add", "--type", "kernel-v3.1-ecdsa", "--signer", signer)
	if code != 0 || !common.IsHexAddress(strings.TrimSpace(out)) {
		t.Fatalf("code %d, %s, %s", code, out, errs)
	}
	if _, errs, code := runProgram(t, env, "accounts", "add", "--type", "kernel-v3.3-ecdsa", "--signer", signer); code != cli.ExitUsage || !strings.Contains(errs, "one EVM account") {
		t.Errorf("code %d, %s", code, errs)
	}
	if _, errs, code := runProgram(t, env, "accounts", "add", "--type", "solana", "--address", "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T"); code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	out, errs, code = runProgram(t, env, "accounts", "check")
	if code != 0 || strings.Count(out, "\n") != 2 || !strings.Contains(out, "is what the service predicts") {
		t.Errorf("code %d, %s, %s", code, out, errs)
	}
}

// unlocks gives the passphrase to the dialog over a review.
func (p person) unlocks() {
	p.Helper()
	p.sees("The keys are locked")
	p.waits("the dialog to take the passphrase", func(screen string) bool {
		p.types("\x15" + passphrase + "\r")
		return !strings.Contains(screen, "The keys are locked") || strings.Contains(screen, "opening the vault")
	})
	p.waits("the review again", func(screen string) bool { return !strings.Contains(screen, "The keys are locked") })
}

// Every kind of account makes its first call with a key from a file: the vault is unlocked in the review, which is confirmed afterwards, and the truth is read
// from the store.
func TestTerminalEveryKindOfAccountSignsWithAKeyOfTheVault(t *testing.T) {
	for kind, flags := range map[string][]string{
		"kernel-v3.1-ecdsa": {"--signer", checksummed(adminOfKey)},
		"kernel-v3.3-ecdsa": {"--signer", checksummed(adminOfKey)},
		"role-based":        {"--session", checksummed(adminOfKey), "--admin", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir, env := vaultHome(t)
			imports(t, env)
			if out, errs, code := runProgram(t, env, append([]string{"accounts", "add", "--type", kind}, flags...)...); code != 0 {
				t.Fatalf("code %d, %s, %s", code, out, errs)
			}
			p := person{t, start(t, env, 120, 40)}
			p.sees("EMBEDDED", "mine", "USDC", "$")
			needs := p.fillsIn()
			p.types("r")
			p.sees("Review 1 of 2", "nothing else")
			p.reads(`closes in (\d+:\d\d)`)
			p.types("y")
			p.unlocks()
			p.reads(`closes in (\d+:\d\d)`)
			p.types("y")
			p.sees("Review 2 of 2", "You pay")
			p.reads(`expires in (\d+:\d\d)`)
			p.types(p.finds(`type ([0-9.]+) and press enter`) + "\r")
			p.sees("COMPLETED")
			p.types("q")
			if err := p.ends(); err != nil {
				t.Fatal(err)
			}
			in, closeStore := openStore(t, filepath.Join(dir, "data", "coffer", "mine"))
			defer closeStore()
			usdc, err := caip.ParseAsset("eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913")
			if err != nil {
				t.Fatal(err)
			}
			checkRecipient(t, in, usdc, needs)
			if bytes.Contains(p.term.Raw(), []byte(passphrase)) {
				t.Error("the passphrase was shown")
			}
		})
	}
}

func checksummed(address string) string { return common.HexToAddress(address).Hex() }
