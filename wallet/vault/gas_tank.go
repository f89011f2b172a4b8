package vault

import (
	"context"
	"errors"
	"fmt"

	"coffer/api/secret"
)

// GasTank is the kind of the key that pays for gas on the user's own nodes. A vault has one at most, Items does not
// list it and Use does not lend it: it signs no operation of an account.
const GasTank Kind = "gas-tank"

// gasTankPlace is what its record is named after; no address has a blank.
const gasTankPlace = string(GasTank) + " key"

// GasTank lends the key of the gas tank to fn and wipes it when fn returns; ErrNoKey when there is none. It does not
// count as a use.
func (v *Vault) GasTank(ctx context.Context, fn func(key secret.Secret) error) error {
	if err := v.usable(ctx); err != nil {
		return err
	}
	var at string
	if err := v.with(false, func(k *keys) error { at = k.recordName(gasTankPlace); return nil }); err != nil {
		return err
	}
	return v.lend(ctx, at, false, func(_ meta, key secret.Secret) error { return fn(key) })
}

// MakeGasTank draws the key of a gas tank and stores it. Where there is one it stays, and the error is ErrExists.
func (v *Vault) MakeGasTank(ctx context.Context) error {
	key, err := New(GasTank, v.random)
	if err != nil {
		return err
	}
	_, err = v.Add(ctx, GasTank, key, "")
	return err
}

// restoreGasTank puts the gas tank of a backup back. Another one that is there stays, and the error is ErrGasTank.
func (v *Vault) restoreGasTank(ctx context.Context, i backupItem) error {
	_, err := v.restore(ctx, i)
	if !errors.Is(err, ErrExists) {
		return err
	}
	return v.GasTank(ctx, func(key secret.Secret) error {
		if address, err := AddressOf(GasTank, key); err != nil || address != i.Address {
			return fmt.Errorf("%w: the backup has %s", ErrGasTank, i.Address)
		}
		return nil
	})
}
