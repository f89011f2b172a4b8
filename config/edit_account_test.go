package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"coffer/config"
)

func TestL4_RemoveAccountLeavesEverythingElse(t *testing.T) {
	const head = "version = 1\n# mine\n[profiles.mine]\nkind = \"embedded\" # play\nvault = \"file\"\n"
	const evm = "\n# the everyday one\n[[profiles.mine.accounts]]\ntype = \"kernel-v3.1-ecdsa\" # " +
		"EVM\nsigner_address = \"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266\"\n"
	const solana = "\n[[profiles.\"mine\".accounts]]\ntype = \"solana\"\naccount_address = " +
		"\"GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ\"\n"
	const tail = "\n# the other\n[profiles.other]\nkind = \"embedded\"\nvault = " +
		"\"file\"\n\n[[profiles.other.accounts]]\ntype = \"kernel-v3.1-ecdsa\"\n" +
		"signer_address = \"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266\"\n"
	path := filepath.Join(t.TempDir(), "config.toml")
	put := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	has := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%v\n%s", err, got)
		}
	}
	put(head + evm + solana + tail)
	if err := config.RemoveAccount(path, "mine", 1); err != nil {
		t.Fatal(err)
	}
	has(head + evm + tail)
	if err := config.RemoveAccount(path, "mine", 0); err != nil {
		t.Fatal(err)
	}
	has(head + "\n# the everyday one\n" + tail)
	const inline = "version = 1\n[profiles.mine]\nkind = \"embedded\"\nvault = \"file\"\naccounts = [{ type = " +
		"\"kernel-v3.1-ecdsa\", signer_address = \"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266\" }]\n"
	put(inline)
	for _, at := range []int{-1, 0, 1} {
		if err := config.RemoveAccount(path, "mine", at); err == nil {
			t.Errorf("account %d of another form was taken out", at)
		}
	}
	if err := config.RemoveAccount(path, "demo", 0); err == nil {
		t.Error("the demo's account was taken out")
	}
	has(inline)
}
