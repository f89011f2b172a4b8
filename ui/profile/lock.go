package profile

import (
	"context"
	"errors"
	"fmt"

	"coffer/api/secret"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/wallet/vault"
)

// Vault is the store of the profile's keys; nil when the profile keeps nothing.
func (o *Opened) Vault() *vault.Vault { return o.vault }

// Unlock asks for the passphrase on the terminal and opens the vault, unless it is open. After a wrong one it prints
// why above the next question; the last one is the error. The screens and the conversation of the linear mode do not
// use it: they have their own words for the errors of UnlockWith.
func (o *Opened) Unlock(ctx context.Context) error {
	if o.vault == nil || !o.vault.Locked() {
		return nil
	}
	there, err := o.vault.Exists(ctx)
	if err != nil {
		return err
	}
	if !there {
		return &cli.UsageError{Problem: fmt.Sprintf("profile %q has no vault yet", o.Profile.Name),
			Hint: "set it up: coffer keys init --profile " + o.Profile.Name}
	}
	if o.vault.Backend() == vault.BackendKeyringOnly {
		return o.vault.Unlock(ctx, secret.Secret{})
	}
	before := ""
	for try := 1; ; try++ {
		pass, err := o.host.Ask(ctx, before+cli.PassphraseQuestion(o.Profile.Name))
		if err != nil {
			return err
		}
		empty := pass.Empty()
		err = o.UnlockWith(ctx, pass)
		if !errors.Is(err, vault.ErrPassphrase) || try == tries {
			return err
		}
		before = again(empty, try+1)
	}
}

// tries is how often Unlock asks for a passphrase.
const tries = 3

// again explains why the passphrase is asked for once more; it is on its own line above the question.
func again(empty bool, try int) string {
	if empty {
		return fmt.Sprintf("Nothing was typed, try %d of %d.\n", try, tries)
	}
	return fmt.Sprintf("Wrong passphrase, try %d of %d.\n", try, tries)
}

// UnlockWith opens the vault with a passphrase, and wipes the passphrase.
func (o *Opened) UnlockWith(ctx context.Context, pass secret.Secret) error {
	defer pass.Wipe()
	if o.vault == nil {
		return nil
	}
	return o.vault.Unlock(ctx, pass)
}

// Locked reports whether the next signature needs a passphrase.
func (o *Opened) Locked() bool {
	return o.vault != nil && len(o.Profile.SignerCommand) == 0 && o.vault.Locked()
}

// Lock wipes the keys of a vault. The demo key is published and stays.
func (o *Opened) Lock() {
	if o.vault != nil {
		o.vault.Lock()
	}
}

// Wipe wipes every key for good, because the program ends.
func (o *Opened) Wipe() {
	if o.vault != nil {
		_ = o.vault.Close()
	}
	if o.memory != nil {
		_ = o.memory.Close()
	}
}

// Store is the place of the profile's keys; the zero Vault belongs to a profile without one.
func (o *Opened) Store() present.Vault {
	if len(o.Profile.SignerCommand) > 0 {
		return present.Vault{Where: "another program signs"}
	}
	if o.vault == nil {
		return present.Vault{}
	}
	where := map[vault.Backend]string{
		vault.BackendFile: "an encrypted file", vault.BackendKeyring: "the system's keyring, encrypted as well",
		vault.BackendKeyringOnly: "the system's keyring alone",
	}[o.vault.Backend()]
	return present.Vault{Where: where, Locked: o.Locked, Lock: o.Lock, Touch: o.vault.Touch, Has: o.has}
}

// has reports whether the vault has a key of an address.
func (o *Opened) has(ctx context.Context, address string) (bool, error) {
	items, err := o.vault.Items(ctx)
	return err == nil && hasItem(items, address), err
}
