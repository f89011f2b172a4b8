package keys

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/api/network"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/wallet/journal"
)

const (
	strangerKey = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	solanaHere  = "GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ"
)

// team sets up a profile with a keyring that asks for no passphrase, and a key in it.
func team(t *testing.T) (d *desk, signer string) {
	t.Helper()
	d = newDesk(t)
	n, err := network.Decode(descriptor(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"profile", "add", "team", "--kind", "lab", "--url", "https://wallet.invalid:8443/api", "--network-file",
			d.dir + "/network.json", "--fingerprint", n.Fingerprint(), "--vault", "keyring-only"},
		{"keys", "init"}, {"keys", "new"},
	} {
		if code := d.run(args...); code != 0 {
			t.Fatalf("%v: %d\n%s", args, code, d.said.String())
		}
	}
	return d, strings.TrimSpace(d.out.String())
}

func TestL4_AddSaysThatAnAccountIsWatchOnly(t *testing.T) {
	d, signer := team(t)
	if code := d.run("accounts", "add", "--type", "kernel-v3.1-ecdsa", "--signer", strangerKey); code != 0 ||
		!strings.Contains(d.said.String(), "Watch-only until the key of "+strangerKey+
			" is in the vault: nothing can be signed (coffer keys import brings a key).") {
		t.Fatalf("%d\n%s", code, d.said.String())
	}
	if code := d.run("accounts", "remove", "kernel-v3.1-ecdsa", "--yes"); code != 0 {
		t.Fatalf("%d\n%s", code, d.said.String())
	}
	if code := d.run("accounts", "add", "--type", "kernel-v3.1-ecdsa", "--signer", signer, "--json"); code != 0 ||
		d.said.Len() > 0 || !strings.Contains(d.out.String(), `"key":"here"`) {
		t.Fatalf("%d\n%s\n%s", code, d.said.String(), d.out.String())
	}
	if code := d.run("accounts", "add", "--type", "solana", "--address", solanaHere, "--json"); code != 0 ||
		!strings.Contains(d.out.String(), `"key":"missing"`) ||
		!strings.Contains(d.said.String(), "Watch-only until the key of "+solanaHere) {
		t.Fatalf("%d\n%s\n%s", code, d.said.String(), d.out.String())
	}
}

func TestL4_RemoveTakesAnAccountOutAndNothingElse(t *testing.T) {
	d, signer := team(t)
	if code := d.run("accounts", "add", "--type", "kernel-v3.1-ecdsa", "--signer", signer); code != 0 {
		t.Fatal(d.said.String())
	}
	account := strings.TrimSpace(d.out.String())
	before, err := os.ReadFile(filepath.Join(d.dir, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{account}, {"solana", "--yes"}, {strangerKey, "--yes"}, {},
		{account, account, "--yes"}} {
		if code := d.run(append([]string{"accounts", "remove"}, args...)...); code != cli.ExitUsage {
			t.Errorf("%v: %d\n%s", args, code, d.said.String())
		}
	}
	if after, err := os.ReadFile(filepath.Join(d.dir, "config.toml")); err != nil || !bytes.Equal(before, after) {
		t.Fatalf("%v\n%s", err, after)
	}
	if code := d.run("accounts", "remove", strings.ToLower(account), "--yes", "--json"); code != 0 ||
		!strings.Contains(d.out.String(), `"accountAddress":"`+account+`"`) {
		t.Fatalf("%d\n%s\n%s", code, d.said.String(), d.out.String())
	}
	f, err := config.Load(filepath.Join(d.dir, "config.toml"))
	if err != nil || len(f.Profiles["team"].Accounts) != 0 {
		t.Fatalf("%v %+v", err, f.Profiles)
	}
	if code := d.run("keys", "list"); code != 0 || !strings.Contains(strings.ToLower(d.out.String()),
		strings.ToLower(signer)) {
		t.Errorf("the key is gone: %s", d.out.String())
	}
}

// signs puts an operation into the journal of the profile team that was signed for an account and ends after a time.
func (d *desk) signs(account string, lasts time.Duration) {
	d.Helper()
	n, err := network.Decode(descriptor(d.T))
	if err != nil {
		d.Fatal(err)
	}
	paths, err := config.PathsFrom(d.getenv)
	if err != nil {
		d.Fatal(err)
	}
	j, err := journal.Open(paths.ProfileState("team"), journal.Options{Network: n.ID, Clock: time.Now,
		Random: rand.Reader, Holder: "a test"})
	if err != nil {
		d.Fatal(err)
	}
	id, err := j.Begin([]byte("{}"), [32]byte{1})
	err = errors.Join(err, j.Append(id, journal.Prepared, journal.Entry{Document: []byte("{}")}))
	err = errors.Join(err, j.Append(id, journal.Signed, journal.Entry{Signatures: []journal.Signature{{
		Role: "prepared", Chain: "eip155:8453", ChainID: 8453, Sender: account, Nonce: "0", OpHash: "0x01",
		ValidUntil: time.Now().Add(lasts).Unix(),
	}}}))
	if err = errors.Join(err, j.Close()); err != nil {
		d.Fatal(err)
	}
}

func TestL4_RemoveIsRefusedWhileSignaturesCanBeUsed(t *testing.T) {
	d, signer := team(t)
	add := func() string {
		t.Helper()
		if code := d.run("accounts", "add", "--type", "kernel-v3.1-ecdsa", "--signer", signer); code != 0 {
			t.Fatal(d.said.String())
		}
		return strings.TrimSpace(d.out.String())
	}
	account := add()
	d.signs(strangerKey, time.Hour) // of another account
	d.signs(strings.ToLower(account), time.Hour)
	if code := d.run("accounts", "remove", account, "--yes"); code != cli.ExitRefused ||
		!strings.Contains(d.said.String(), "1 signature of this account can still be used") {
		t.Fatalf("%d\n%s", code, d.said.String())
	}
	if code := d.run("accounts", "remove", account, "--yes", "--force"); code != 0 {
		t.Fatalf("%d\n%s", code, d.said.String())
	}
	add()
	paths, err := config.PathsFrom(d.getenv)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(paths.ProfileState("team"), "journal")
	if err := os.WriteFile(file, []byte("no journal"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := d.run("accounts", "remove", account, "--yes"); code != cli.ExitRefused ||
		!strings.Contains(d.said.String(), "is not known") {
		t.Fatalf("with a broken journal: %d\n%s", code, d.said.String())
	}
}
