package profile

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"coffer/api"
	"coffer/ui/cli"
	"coffer/ui/doctor"
	"coffer/ui/present"
	"coffer/wallet/vault"
)

// What is known about the key of an account.
const (
	KeyHere    = "here"
	KeyMissing = "missing"
	KeyUnknown = "unknown"
)

// Holding is whether the key that signs for an account is in the vault of its profile: KeyHere, KeyMissing or
// KeyUnknown. Why explains why it is unknown, or cannot be here.
type Holding struct {
	Account api.Account
	Signer  string // address of the key for everyday signing; for a Solana account its own
	State   string
	Why     string
}

// Words explain what a missing or unknown key means and what to do, in one sentence without its end; "" for a key that
// is here.
func (h Holding) Words() string {
	of := "the key of " + present.Checksummed(h.Signer)
	switch {
	case h.State == KeyMissing && h.Why != "":
		return "watch-only, because " + h.Why + ": nothing can be signed"
	case h.State == KeyMissing:
		return "watch-only until " + of + " is in the vault: nothing can be signed (coffer keys import brings a key)"
	case h.State == KeyUnknown:
		return "whether " + of + " is in the vault is not known: " + h.Why
	}
	return ""
}

// signerOf is the address of the key that signs for an account.
func signerOf(a api.Account) string {
	return cmp.Or(a.SessionAddress, a.SignerAddress, a.AccountAddress)
}

// Holding looks for the key of an account. It unlocks nothing: of a locked vault the answer is KeyUnknown.
func (o *Opened) Holding(ctx context.Context, a api.Account) Holding {
	h := Holding{Account: a, Signer: signerOf(a), State: KeyUnknown}
	switch {
	case len(o.Profile.SignerCommand) > 0:
		h.Why = "another program signs"
		return h
	case o.vault == nil:
		h.State, h.Why = KeyMissing, "this profile keeps no keys"
		if o.memory != nil && hasItem(o.memory.Items(), h.Signer) {
			h.State, h.Why = KeyHere, ""
		}
		return h
	}
	there, err := o.vault.Exists(ctx)
	if err == nil && there {
		there, err = o.has(ctx, h.Signer)
	}
	switch {
	case errors.Is(err, vault.ErrLocked):
		h.Why = "the vault is locked"
	case err != nil:
		h.Why = err.Error()
	case there:
		h.State = KeyHere
	default:
		h.State = KeyMissing
	}
	return h
}

// Hold is Holding after an unlock, which it does where that takes no question, the command got the passphrase, or ask
// allows a question.
func (o *Opened) Hold(ctx context.Context, a api.Account, ask bool) (Holding, error) {
	h := o.Holding(ctx, a)
	if h.State != KeyUnknown || !o.Locked() || !ask && !cli.PassphraseGiven(ctx) &&
		o.vault.Backend() != vault.BackendKeyringOnly {
		return h, nil
	}
	if err := o.Unlock(ctx); err != nil {
		return h, err
	}
	return o.Holding(ctx, a), nil
}

// WatchOnly returns why nothing can be signed with this profile: it is a recording, or no key of its accounts is here;
// "" when one is, or when that is unknown.
func (o *Opened) WatchOnly(ctx context.Context) string {
	switch {
	case o.player != nil:
		return "this is a recording"
	case o.guest != nil:
		return "" // a guest reports that itself
	}
	words := ""
	for _, a := range o.Accounts {
		h := o.Holding(ctx, a)
		if h.State != KeyMissing {
			return ""
		}
		words = cmp.Or(words, h.Words())
	}
	return words
}

// accountKeys lists the keys of the accounts for the doctor. When the unlock fails, its error is why a key is unknown;
// it is not tried again for the next account.
func (o *Opened) accountKeys(ctx context.Context) []doctor.AccountKey {
	out := make([]doctor.AccountKey, 0, len(o.All))
	given := cli.PassphraseGiven(ctx)
	var failed error
	for _, a := range o.All {
		h := o.Holding(ctx, a)
		if failed == nil {
			h, failed = o.Hold(ctx, a, false)
		}
		wrong := h.State == KeyUnknown && failed != nil
		if wrong {
			h.Why = failed.Error()
		}
		out = append(out, doctor.AccountKey{Account: a.AccountAddress, Name: o.NameOf(a.AccountAddress),
			Signer: present.Checksummed(h.Signer),
			Here:   h.State == KeyHere, Known: h.State != KeyUnknown, Why: h.Why,
			Wrong: wrong && given})
	}
	return out
}

func hasItem(items []vault.Item, address string) bool {
	for _, k := range items {
		if strings.EqualFold(k.Address, address) && (strings.HasPrefix(address, "0x") || k.Address == address) {
			return true
		}
	}
	return false
}
