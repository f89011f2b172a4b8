//go:build unix

package keys

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/ui/cli"
	"coffer/ui/e2e/rig"
	"coffer/ui/tui/kit"
)

// vaultHome is a home like that of newVault, with a passphrase that takes little work. The program sets one up for all
// tests of the package; each gets a copy.
func vaultHome(t *testing.T) (dir string, env []string) {
	t.Helper()
	made.Do(func() {
		dir, _ := newVault(t)
		rig.EasesPassphrase(t, dir, "mine", rig.Passphrase)
		madeFiles = readAll(t, dir)
	})
	dir, env = rig.Home(t)
	for name, content := range madeFiles {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, env
}

var (
	made      sync.Once
	madeFiles map[string][]byte // by their path below the home
)

func readAll(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			all[path], err = os.ReadFile(filepath.Join(dir, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// newVault is a home whose profile "mine" runs inside the program and keeps its keys in a file.
func newVault(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir, env = rig.Home(t)
	for _, c := range []struct{ args, answers []string }{
		{[]string{"profile", "add", "mine", "--kind", "embedded", "--vault", "file"}, nil},
		{[]string{"keys", "init"}, []string{"New passphrase", rig.Passphrase, "once more", rig.Passphrase}},
	} {
		if screen, err := rig.Asks(t, env, c.args, c.answers...); err != nil {
			t.Fatalf("%v: %v\n%s", c.args, err, screen)
		}
	}
	return dir, env
}

// imports brings the throw-away key of these tests into the vault.
func imports(t *testing.T, env []string) {
	t.Helper()
	screen, err := rig.Asks(t, env, []string{"keys", "import", "--label", "main"}, "Passphrase of profile mine",
		rig.Passphrase, "Key or mnemonic (not shown)", rig.AdminKeyText)
	if err != nil || !strings.Contains(screen, checksummed(rig.AdminAddress)) {
		t.Fatalf("%v\n%s", err, screen)
	}
}

// TH-K7: the choice of a place for the keys is made by the person and written down, and only an encrypted file is on
// the disk.
func TestKeysAreSetUpWhereTheProfileSaysAndNeverInTheClear(t *testing.T) {
	t.Parallel()
	dir, env := newVault(t)
	imports(t, env)
	rig.EasesPassphrase(t, dir, "mine", rig.Passphrase)
	screen, err := rig.Asks(t, env, []string{"keys", "list"}, "Passphrase of profile mine", rig.Passphrase)
	if err != nil || !strings.Contains(screen, common.HexToAddress(rig.AdminAddress).Hex()) ||
		!strings.Contains(screen, "main") {
		t.Fatalf("%v\n%s", err, screen)
	}
	wrong, err := rig.Asks(t, env, []string{"keys", "list"}, "Passphrase", "not this one", "Passphrase", "nor this",
		"Passphrase", "nor that one")
	if err == nil || !strings.Contains(wrong, "wrong passphrase") {
		t.Errorf("%v\n%s", err, wrong)
	}
	raw := common.FromHex(rig.AdminKeyText)
	err = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, raw) || bytes.Contains(bytes.ToLower(content), []byte(rig.AdminKeyText)) ||
			bytes.Contains(content, []byte(rig.Passphrase)) {
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
	if s, err := rig.Asks(t, env, []string{"keys", "backup", file}, "Passphrase of profile", rig.Passphrase,
		"Passphrase of the backup", "another good phrase", "once more", "another good phrase"); err != nil {
		t.Fatalf("%v\n%s", err, s)
	}
	if s, err := rig.Asks(t, env, []string{"keys", "remove", rig.AdminAddress}, "Passphrase of profile", rig.Passphrase,
		"last four characters", "zzzz"); err == nil {
		t.Fatalf("removed without the right answer\n%s", s)
	}
	if s, err := rig.Asks(t, env, []string{"keys", "remove", rig.AdminAddress}, "Passphrase of profile", rig.Passphrase,
		"last four characters", rig.AdminAddress[38:]); err != nil {
		t.Fatalf("%v\n%s", err, s)
	}
	if s, err := rig.Asks(t, env, []string{"keys", "list"}, "Passphrase of profile", rig.Passphrase); err != nil ||
		!strings.Contains(s, "no keys") {
		t.Fatalf("%v\n%s", err, s)
	}
	if s, err := rig.Asks(t, env, []string{"keys", "restore", file}, "Passphrase of profile", rig.Passphrase,
		"Passphrase of the backup (not shown)", "another good phrase"); err != nil ||
		!strings.Contains(s, checksummed(rig.AdminAddress)) {
		t.Fatalf("%v\n%s", err, s)
	}
}

// The account set of a profile obeys the combination rules, and its addresses are what the service predicts.
func TestAccountsAreAddedByTheirKeysAndComparedWithTheService(t *testing.T) {
	t.Parallel()
	_, env := vaultHome(t)
	signer := crypto.PubkeyToAddress(rig.AdminKey(t).PublicKey).Hex()
	out, errs, code := rig.Run(t, env, "accounts", "add", "--type", "kernel-v3.1-ecdsa", "--signer", signer)
	if code != 0 || !common.IsHexAddress(strings.TrimSpace(out)) {
		t.Fatalf("code %d, %s, %s", code, out, errs)
	}
	if _, errs, code := rig.Run(t, env, "accounts", "add", "--type", "kernel-v3.1-ecdsa", "--signer",
		signer); code != cli.ExitUsage || !strings.Contains(errs, "already") {
		t.Errorf("the same account twice: code %d, %s", code, errs)
	}
	if out, errs, code := rig.Run(t, env, "accounts", "add", "--type", "kernel-v3.3-ecdsa", "--signer",
		signer); code != 0 || strings.TrimSpace(out) != signer {
		t.Errorf("another account of the same key: code %d, %s, %s", code, out, errs)
	}
	if _, errs, code := rig.Run(t, env, "accounts", "add", "--type", "solana", "--address",
		"4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T"); code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	out, errs, code = rig.Run(t, env, "accounts", "check")
	if code != 0 || strings.Count(out, "\n") != 3 || !strings.Contains(out, "is what the service predicts") {
		t.Errorf("code %d, %s, %s", code, out, errs)
	}
}

// unlocks gives the passphrase to the dialog before a review.
func unlocks(p rig.Person) {
	p.Helper()
	p.Sees("The keys are locked")
	p.Rests(kit.GuardQuiet + 100*time.Millisecond) // a dialog takes no key before that
	p.Types(rig.Passphrase + "\r")
	p.Waits("the review again", func(screen string) bool { return !strings.Contains(screen, "The keys are locked") })
}

// Every kind of account makes its first call with a key from a file: the vault is unlocked before the review, and the
// truth is read from the store.
func TestTerminalEveryKindOfAccountSignsWithAKeyOfTheVault(t *testing.T) {
	t.Parallel()
	for kind, flags := range map[string][]string{
		"kernel-v3.1-ecdsa": {"--signer", checksummed(rig.AdminAddress)},
		"kernel-v3.3-ecdsa": {"--signer", checksummed(rig.AdminAddress)},
		"role-based": {"--session", checksummed(rig.AdminAddress), "--admin",
			"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir, env := vaultHome(t)
			imports(t, env)
			if out, errs, code := rig.Run(t, env, append([]string{"accounts", "add", "--type", kind},
				flags...)...); code != 0 {
				t.Fatalf("code %d, %s, %s", code, out, errs)
			}
			p := rig.At(t, rig.Start(t, env, 120, 40))
			p.Sees("EMBEDDED", "mine", "USDC", "$")
			needs := p.FillsIn()
			p.Types("r")
			unlocks(p)
			p.Sees("Review 1 of 2", "No other calls")
			p.Reads(`closes in (\d+:\d\d)`)
			p.Types("y")
			p.Sees("Review 2 of 2", "Arrives")
			p.Reads(`(?:expires|renews) in (\d+:\d\d)`)
			p.Confirms(p.Finds(rig.ToType))
			p.Sees("COMPLETED")
			p.Types("q")
			if err := p.Ends(); err != nil {
				t.Fatal(err)
			}
			in, closeStore := rig.OpenStore(t, filepath.Join(dir, "data", "coffer", "mine"))
			defer closeStore()
			usdc, err := caip.ParseAsset("eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913")
			if err != nil {
				t.Fatal(err)
			}
			rig.CheckRecipient(t, in, usdc, needs)
			if bytes.Contains(p.Term.Raw(), []byte(rig.Passphrase)) {
				t.Error("the passphrase was shown")
			}
		})
	}
}

func checksummed(address string) string { return common.HexToAddress(address).Hex() }
