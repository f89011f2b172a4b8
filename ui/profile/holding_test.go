package profile

import (
	"context"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/doctor"
	"coffer/wallet/vault"
)

const otherSigner = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"

// TestL4_HoldingTellsHereMissingAndUnknownApart looks into a vault that is not set up, set up without the key, locked,
// and with the key.
func TestL4_HoldingTellsHereMissingAndUnknownApart(t *testing.T) {
	pass := func() secret.Secret { return secret.New([]byte("a passphrase of the tests")) }
	id := "0x" + strings.Repeat("ab", 32)
	options := Host{Getenv: func(string) string { return "" }}.vaultOptions(config.Profile{Name: "p"}, id, t.TempDir())
	options.WorkFactor = 1
	v, err := vault.OpenFile(options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = v.Close() }()
	o := &Opened{Profile: config.Profile{Name: "p", Vault: config.VaultFile}, Network: network.Descriptor{ID: id},
		vault: v}
	o.Accounts = []api.Account{{Type: api.AccountKernelV31, SignerAddress: otherSigner,
		AccountAddress: "0x21f6B1d4b4fA4Be12C4c4a60Ce0C4C4A5D4F5A10"}}
	o.All, o.Profile.Accounts = o.Accounts, []config.Account{{}}
	is := func(state, words string) {
		t.Helper()
		h := o.Holding(t.Context(), o.Accounts[0])
		if h.State != state || !strings.Contains(h.Words(), words) {
			t.Errorf("%s: %q, want %s", h.State, h.Words(), state)
		}
		if watch := o.WatchOnly(t.Context()); (watch != "") != (state == KeyMissing) {
			t.Errorf("%s: watch-only %q", state, watch)
		}
		found := doctor.Run(t.Context(), doctor.Deps{Clock: time.Now, Profile: o.Profile, AccountKeys: o.accountKeys})
		level := map[string]doctor.Level{KeyHere: doctor.Good, KeyMissing: doctor.Warn,
			KeyUnknown: doctor.Unknown}[state]
		seen := false
		for _, f := range found {
			if f.Name == "account" {
				seen = f.Level == level && (level == doctor.Good) == (f.Todo == "")
			}
		}
		if !seen {
			t.Errorf("the doctor says of %s: %+v", state, found)
		}
	}
	is(KeyMissing, "watch-only until the key of "+otherSigner+" is in the vault")
	if err := v.Create(context.Background(), pass()); err != nil {
		t.Fatal(err)
	}
	is(KeyMissing, "coffer keys import")
	v.Lock()
	is(KeyUnknown, "the vault is locked")
	if err := v.Unlock(t.Context(), pass()); err != nil {
		t.Fatal(err)
	}
	item, err := v.Add(t.Context(), vault.EVM, secret.New(append(make([]byte, 31), 7)), "")
	if err != nil {
		t.Fatal(err)
	}
	is(KeyMissing, "watch-only")
	o.Accounts[0].SignerAddress = strings.ToUpper(item.Address[2:])
	o.Accounts[0].SignerAddress = "0x" + o.Accounts[0].SignerAddress
	is(KeyHere, "")
	o.Profile.SignerCommand = []string{"/bin/signer"}
	is(KeyUnknown, "another program signs")
	o.Profile.SignerCommand, o.vault = nil, nil
	is(KeyMissing, "because this profile keeps no keys")
}
