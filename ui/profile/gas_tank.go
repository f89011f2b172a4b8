package profile

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"coffer/api/network"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/wallet/vault"
)

// keepsTank reports whether the vault of a profile keeps the key of the gas tank: where real money is at stake.
// Elsewhere the service keeps its keys with its data.
func keepsTank(p config.Profile) bool { return p.OwnNodes() && p.Kind == network.Real }

// gasTank takes the key of the gas tank of own nodes out of the vault, which it unlocks for it, and makes it at the
// first time. It is wiped when the profile is closed.
func (o *Opened) gasTank(ctx context.Context) (key secret.Secret, err error) {
	if !keepsTank(o.Profile) {
		return key, nil
	}
	if o.vault == nil {
		return key, &cli.UsageError{Problem: fmt.Sprintf("profile %q keeps no keys, so it has none for the gas tank "+
			"of a real network", o.Profile.Name), Hint: "make a profile with a vault: coffer setup"}
	}
	if err := o.Unlock(ctx); err != nil {
		return key, err
	}
	take := func(k secret.Secret) error {
		key = secret.New(bytes.Clone(k.Reveal()))
		return nil
	}
	err = o.vault.GasTank(ctx, take)
	if errors.Is(err, vault.ErrNoKey) {
		if err = o.vault.MakeGasTank(ctx); err == nil || errors.Is(err, vault.ErrExists) {
			err = o.vault.GasTank(ctx, take)
		}
	}
	o.close = append(o.close, func() error { key.Wipe(); return nil })
	return key, err
}
