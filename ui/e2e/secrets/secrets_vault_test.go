//go:build unix

package secrets

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tyler-smith/go-bip39"

	"coffer/api/network"
	"coffer/ui/cli"
	"coffer/ui/e2e/rig"
)

// keystore is the path of a keystore file, which "testpassword" opens; the vault's test vectors hold it.
func (s *scene) keystore() string {
	s.Helper()
	raw, err := os.ReadFile(filepath.Join(rig.Root(), "wallet", "vault", "testdata", "keystore.json"))
	if err != nil {
		s.Fatal(err)
	}
	var v struct {
		Key   string
		Files []jsontext.Value
	}
	path := filepath.Join(s.keys, "keystore.json")
	if err := json.Unmarshal(raw, &v, json.MatchCaseInsensitiveNames(true)); err != nil || len(v.Files) != 2 {
		s.Fatalf("%d keystore files, %v", len(v.Files), err)
	}
	if err := os.WriteFile(path, v.Files[1], 0o600); err != nil {
		s.Fatal(err)
	}
	s.secret("key in a keystore", v.Key)
	s.secret("password of a keystore", "testpassword")
	return path
}

// vaultSteps set up a vault in a file, bring keys of each form into it, and use what it keeps.
func (s *scene) vaultSteps(at rig.Serving) []step {
	s.Helper()
	pass, next, backup := s.secret("passphrase", "sentinel passphrase 5a77"),
		s.secret("new passphrase", "another sentinel 91c2"), s.secret("passphrase of the backup", "third sentinel 0d4f")
	wrong := s.secret("wrong passphrase", "no sentinel of the vault 3e")
	typed, address := sentinel(s.T, "typed key")
	filed, _ := sentinel(s.T, "key in a file")
	seed := crypto.Keccak256([]byte("sentinel Solana seed"))
	var list []string
	for _, b := range ed25519.NewKeyFromSeed(seed) {
		list = append(list, strconv.Itoa(int(b)))
	}
	words, err := bip39.NewMnemonic(crypto.Keccak256([]byte("sentinel mnemonic"))[:16])
	if err != nil {
		s.Fatal(err)
	}
	s.secret("Solana seed", string(seed))
	file := filepath.Join(s.dir, "backup.age")
	kept := func(args ...string) []string { return append([]string{"--profile", "kept"}, args...) }
	unlock := line{"Passphrase of profile kept", pass + "\r"}
	unlockNext := line{"Passphrase of profile kept", next + "\r"}
	raw, err := os.ReadFile(at.NetworkFile)
	if err != nil {
		s.Fatal(err)
	}
	n, err := network.Decode(raw)
	if err != nil {
		s.Fatal(err)
	}
	far := func(args ...string) []string { return append([]string{"--profile", "far"}, args...) }
	return []step{
		{name: "profile add, lab", args: []string{"profile", "add", "far", "--kind", "lab", "--url", at.BaseURL,
			"--ca-file", at.CAFile, "--network-file", at.NetworkFile,
			"--fingerprint", n.Fingerprint(), "--vault", "file"}},
		{name: "keys init, lab", args: far("keys", "init"),
			talk: []line{{"New passphrase", pass + "\r"}, {"once more", pass + "\r"}}},
		{name: "keys api-key set", args: far("keys", "api-key", "set"), talk: []line{
			{"Passphrase of profile far", pass + "\r"},
			{"API key for profile far", s.secret("kept API key", "sentinel-API-key-77b1e0") + "\r"},
		}},
		{name: "profile add", args: []string{"profile", "add", "kept", "--kind", "embedded", "--vault", "file"}},
		{name: "keys init", args: kept("keys", "init"),
			talk: []line{{"New passphrase", pass + "\r"}, {"once more", pass + "\r"}},
			then: func() { rig.EasesPassphrase(s.T, s.dir, "kept", pass) }},
		{name: "keys import, hex", args: kept("keys", "import"),
			talk: []line{unlock, {"Key or mnemonic", s.secret("typed key", typed) + "\r"}}},
		{name: "keys import, mnemonic", args: kept("keys", "import"),
			talk: []line{unlock, {"Key or mnemonic", s.secret("mnemonic", words) + "\r"}}},
		{name: "keys import, file", args: kept("keys", "import", "--file", s.file("key in a file", filed, 0o600)),
			talk: []line{unlock}},
		{name: "keys import, Solana file", args: kept("keys", "import", "--file",
			s.file("Solana key", "["+strings.Join(list, ",")+"]", 0o600)), talk: []line{unlock}},
		{name: "keys import, no key", args: kept("keys", "import"),
			talk: []line{unlock, {"Key or mnemonic", s.secret("no key", typed[:60]) + "\r"}}, code: cli.ExitFailed},
		{name: "keys import, keystore", args: kept("keys", "import", "--file", s.keystore()),
			talk: []line{unlock, {"Its password", "testpassword\r"}}},
		{name: "keys new", args: kept("keys", "new"), talk: []line{unlock, {"Type yes or no", "no\r"}}},
		{name: "keys api-key set, nothing to ask", args: kept("keys", "api-key", "set"),
			talk: []line{unlock, {"API key for profile kept", "sentinel-API-key-77b1e0\r"}}, code: cli.ExitUsage},
		{name: "keys list", args: kept("keys", "list"), talk: []line{unlock}},
		{name: "keys list, wrong passphrase", args: kept("keys", "list"), talk: []line{
			{"Passphrase of profile kept", wrong + "\r"}, {"Passphrase of profile kept", wrong + "\r"},
			{"Passphrase of profile kept", wrong + "\r"},
		}, code: cli.ExitAccess},
		{name: "keys backup", args: kept("keys", "backup", file),
			talk: []line{unlock, {"Passphrase of the backup", backup + "\r"}, {"once more", backup + "\r"}}},
		{name: "keys passphrase", args: kept("keys", "passphrase"), talk: []line{
			{"Present passphrase", pass + "\r"}, {"New passphrase", next + "\r"}, {"once more", next + "\r"},
		}},
		{name: "keys remove", args: kept("keys", "remove", address),
			talk: []line{unlockNext, {"last four characters", address[len(address)-4:] + "\r"}}},
		{name: "keys restore", args: kept("keys", "restore", file),
			talk: []line{unlockNext, {"Passphrase of the backup", backup + "\r"}}},
	}
}
