//go:build unix

package rig

import (
	"crypto/ecdsa"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/api/network"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/termtest"
	"coffer/wallet/vault"
)

// Passphrase is the one of every vault.
const Passphrase = "correct horse battery"

// A throw-away key and its address.
const (
	AdminKeyText = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"
	AdminAddress = "0x2c7536e3605d9c16a7a3d7b1898e529396a65c23"
)

// AdminKey is the throw-away key.
func AdminKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	k, err := crypto.HexToECDSA(AdminKeyText)
	must(t, err)
	return k
}

// Team is a home with the profile "team", whose service is reached through between, with a key in an encrypted file and
// one account.
func Team(t *testing.T, serve ...string) (env []string, b *Between) {
	t.Helper()
	dir, env := Home(t)
	cmd, _, line, _ := Serve(t, env, serve...)
	at, roots := Where(t, line)
	b = newBetween(t, at, roots)
	b.Service = cmd
	ca := filepath.Join(dir, "between.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.Server.Certificate().Raw})
	configured := filepath.Join(dir, "config", "coffer", "config.toml")
	raw, err := os.ReadFile(at.NetworkFile)
	must(t, err)
	var descriptor network.Descriptor
	must(t, json.Unmarshal(raw, &descriptor))
	text := fmt.Sprintf(
		"version = 1\ndefault = \"team\"\n[profiles.team]\nkind = \"lab\"\nbase_url = %q\nca_file = %q\n"+
			"network_file = %q\nnetwork_id = %q\nvault = \"file\"\n"+
			"[[profiles.team.accounts]]\ntype = \"kernel-v3.1-ecdsa\"\nsigner_address = %q\n",
		b.Server.URL+"/api", ca, at.NetworkFile, descriptor.ID, crypto.PubkeyToAddress(AdminKey(t).PublicKey).Hex())
	err = errors.Join(
		os.WriteFile(ca, block, 0o600),
		os.MkdirAll(filepath.Dir(configured), 0o700),
		os.WriteFile(configured, []byte(text), 0o600),
	)
	must(t, err)
	KeepsKey(t, dir, descriptor.ID)
	set := []string{"keys", "api-key", "set"}
	screen, err := Asks(t, env, set, "Passphrase of profile team", Passphrase, "API key", at.APIKey)
	if err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	Confirms(t, env, at.NetworkFile)
	return env, b
}

// Confirms says for the profile "team" of a home that a network file is the operator's.
func Confirms(t *testing.T, env []string, networkFile string) {
	t.Helper()
	raw, err := os.ReadFile(networkFile)
	if err != nil {
		t.Fatal(err)
	}
	n, err := network.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	if _, errs, code := Run(t, env, "profile", "confirm", "--fingerprint", n.Fingerprint()); code != 0 {
		t.Fatalf("code %d: %s", code, errs)
	}
}

// KeepsKey makes the vault of the profile "team" with one key. Its passphrase takes little work to try, so that the
// many commands of a test do not spend their time on it; what the program makes itself is in
// TestKeysAreSetUpWhereTheProfileSaysAndNeverInTheClear.
func KeepsKey(t *testing.T, dir, networkID string) {
	t.Helper()
	v := easyVault(t, dir, "team", networkID)
	err := v.Create(t.Context(), secret.New([]byte(Passphrase)))
	if err == nil {
		_, err = v.Add(t.Context(), vault.EVM, secret.New(common.FromHex(AdminKeyText)), "main")
	}
	must(t, errors.Join(err, v.Close()))
}

// MakesVault makes the empty vault of a profile, whose passphrase takes little work to try.
func MakesVault(t *testing.T, dir, profile, networkID string) {
	t.Helper()
	v := easyVault(t, dir, profile, networkID)
	must(t, errors.Join(v.Create(t.Context(), secret.New([]byte(Passphrase))), v.Close()))
}

// EasesPassphrase makes the passphrase of an embedded profile, whose vault the program set up itself, one that takes
// little work to try. What follows then spends no seconds on every command; the program's own work was done before.
func EasesPassphrase(t *testing.T, dir, profile, passphrase string) {
	t.Helper()
	in, closeStore := OpenStore(t, filepath.Join(dir, "data", "coffer", profile))
	id := in.ID
	closeStore()
	v := easyVault(t, dir, profile, id)
	same := secret.New([]byte(passphrase))
	must(t, errors.Join(v.ChangePassphrase(t.Context(), same, same), v.Close()))
}

// easyVault is the vault of a profile in a home, whose next passphrase takes little work to try.
func easyVault(t *testing.T, dir, profile, networkID string) *vault.Vault {
	t.Helper()
	v, err := vault.OpenFile(vault.Options{
		Profile: profile, NetworkID: networkID,
		Dir:   config.Paths{Data: filepath.Join(dir, "data", "coffer")}.ProfileKeys(profile),
		Clock: time.Now, Random: rand.Reader, WorkFactor: 8,
	})
	must(t, err)
	return v
}

// Opens starts the dashboard of the team's profile.
func Opens(t *testing.T, env []string, cols, rows int, args ...string) Person {
	t.Helper()
	return Unlocks(t, Start(t, env, cols, rows, args...))
}

// Unlocks waits for the dashboard of the team's profile in a terminal where it was started.
func Unlocks(t *testing.T, term *termtest.Terminal) Person {
	t.Helper()
	p := Person{t, term}
	p.Sees("Passphrase of profile team")
	p.Types(Passphrase + "\r")
	p.Sees("LAB", "Balances", "$")
	return p
}
