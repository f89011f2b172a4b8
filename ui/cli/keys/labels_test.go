package keys

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/api/secret"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/ui/profile"
	"coffer/wallet/vault"
)

// Throw-away keys of these tests.
const (
	keyText = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"
	seed58  = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T"
	words   = "legal winner thank year wave sausage worth useful legal winner thank yellow"
	pass    = "correct horse battery"
)

// TH-K1: no refusal and no file error repeats a key that was given as an argument by mistake.
func TestKeysNeverRepeatAnArgument(t *testing.T) {
	empty := t.TempDir()
	for _, args := range [][]string{
		{"import", "0x" + keyText}, {"import", words}, append([]string{"import"}, strings.Fields(words)...), {keyText},
		{"api-key", "set", keyText}, {"api-key", keyText},
		{"remove", keyText}, {"remove", "0x" + keyText}, {"remove", words}, {"remove", keyText, "x"},
		{"import", "--" + keyText}, {"import", "-" + keyText},
		{"new", "--kind", keyText}, {"list", "--json=" + keyText}, {"init", keyText},
	} {
		var out, said bytes.Buffer
		c := Commands{Host: profile.Host{Getenv: func(string) string { return empty }}, Prompt: cli.Prompt{Out: &said},
			Out: &out}
		cmd := c.Command(&cli.Global{})
		cmd.SetArgs(args)
		cmd.SetOut(&out)
		cmd.SetErr(&said)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		if cli.Code(err) != cli.ExitUsage {
			t.Errorf("%q: %v", args, err)
		}
		cli.Report(&said, err)
		for _, part := range []string{keyText[:8], "legal", "winner"} {
			if all := out.String() + said.String(); strings.Contains(all, part) {
				t.Errorf("%q: %s", args, all)
			}
		}
	}
}

func TestKeysNeverRepeatAFileThatIsNone(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("0x"+keyText, []byte(keyText), 0o644); err != nil { // other users may read it
		t.Fatal(err)
	}
	c := Commands{Prompt: cli.Prompt{Out: io.Discard}}
	for _, file := range []string{keyText, "0x" + keyText} {
		_, errKey := c.read(t.Context(), file, vault.Hint{})
		_, errBackup := readBackup(filepath.Join("none", file))
		for _, err := range []error{errKey, errBackup, writeNew(filepath.Join("none", file), nil)} {
			if err == nil || strings.Contains(err.Error(), keyText) {
				t.Errorf("%v", err)
			}
		}
	}
}

func TestAddressHasTheShapeOfOne(t *testing.T) {
	for arg, want := range map[string]string{
		"0x2C7536E3605D9C16a7a3D7b1898e529396a65c23": "0x2c7536e3605d9c16a7a3d7b1898e529396a65c23",
		seed58: seed58, keyText: "", "0x" + keyText: "", words: "", "": "", "0x2c75": "", seed58 + "11111": "",
		strings.Repeat("0", 40): "",
	} {
		if got, err := address(arg); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", arg, got, err)
		}
	}
}

// opened is a new vault in a file.
func opened(t *testing.T) *vault.Vault {
	t.Helper()
	v, err := vault.OpenFile(vault.Options{
		Profile: "mine", NetworkID: "0x" + strings.Repeat("12", 32), Dir: filepath.Join(t.TempDir(), "keys"),
		Clock: time.Now, Random: rand.Reader,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	if err := v.Create(t.Context(), secret.New([]byte(pass))); err != nil {
		t.Fatal(err)
	}
	if v.Locked() {
		if err := v.Unlock(t.Context(), secret.New([]byte(pass))); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// candidates are the keys of the mnemonic.
func candidates(t *testing.T) []vault.Candidate {
	t.Helper()
	found, err := vault.ParseKey([]byte(words), vault.Hint{})
	if err != nil || len(found.Keys) != 2 {
		t.Fatalf("%d keys, %v", len(found.Keys), err)
	}
	t.Cleanup(found.Wipe)
	return found.Keys
}

// A mnemonic with one key already in the vault adds the other one; a removal without confirmation, or of a key outside
// the vault, deletes and shows nothing.
func TestKeysOfAMnemonicAreAddedBesideThoseThatAreThere(t *testing.T) {
	v, o := opened(t), &profile.Opened{}
	first := candidates(t)[0]
	if _, err := v.Add(t.Context(), first.Kind, first.Key, ""); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	c := Commands{Prompt: cli.Prompt{Out: &said}, Out: &out}
	both := candidates(t)
	if err := c.addAll(t.Context(), v, both, "other", false); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), present.Checksummed(first.Address)+" is in the vault already") ||
		strings.TrimSpace(out.String()) != both[1].Address {
		t.Errorf("said %s, printed %s", said.String(), out.String())
	}
	if err := c.addAll(t.Context(), v, candidates(t), "", false); !errors.Is(err, vault.ErrExists) {
		t.Errorf("all are there: %v", err)
	}

	said.Reset()
	if err := c.removeOne(t.Context(), o, v, seed58, "DB4T"); !errors.Is(err, vault.ErrNoKey) ||
		strings.Contains(said.String()+fmt.Sprint(err), seed58) {
		t.Errorf("%v, %s", err, said.String())
	}
	err := c.removeOne(t.Context(), o, v, first.Address, "zzzz")
	if cli.Code(err) != cli.ExitUsage || !strings.Contains(err.Error(), "nothing was deleted") ||
		strings.Contains(err.Error(), "signed") {
		t.Errorf("%v", err)
	}
	if items, err := v.Items(t.Context()); err != nil || len(items) != 2 {
		t.Errorf("%d keys, %v", len(items), err)
	}
	if err := c.removeOne(context.WithoutCancel(t.Context()), o, v, first.Address,
		first.Address[len(first.Address)-4:]); err != nil {
		t.Error(err)
	}
}
