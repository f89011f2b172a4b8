package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Retag takes over everything in an unlocked vault of another network, for a user who says that this vault's network
// took that one's place: keys, labels and the API key, under the same passphrase. The keys are tagged with this
// vault's network from then on and refused on the other. It leaves this vault unlocked and from empty and locked.
//
// The head of this vault is written last and everything is read back before anything is removed, so that a crash leaves
// the one vault, the other or both, each whole; with this one set up already it is ErrExists.
func (v *Vault) Retag(ctx context.Context, from *Vault) error {
	if err := v.usable(ctx); err != nil {
		return err
	}
	if there, err := v.Exists(ctx); err != nil {
		return err
	} else if there {
		return ErrExists
	}
	since := v.locks()
	err := from.change(ctx, func(k *keys, h head, x index) error {
		release, err := v.exclusive(ctx)
		if err != nil {
			return err
		}
		defer release()
		for _, name := range append(slices.Clone(x.names), nameAPIKey) {
			err := v.retag(ctx, k, from, name)
			if name == nameAPIKey && errors.Is(err, errNone) {
				continue
			}
			if err != nil {
				return fmt.Errorf("tag the keys again: %w", err)
			}
		}
		h.Network = v.network
		if err := v.putIndex(ctx, k, h, index{names: x.names}); err != nil {
			return err
		}
		own, err := from.borrowKeys()
		if err != nil {
			return err
		}
		return v.hold(own, since)
	})
	if err != nil {
		return err
	}
	if _, err := v.Items(ctx); err != nil {
		return fmt.Errorf("the keys with new tags cannot be read back: %w", err)
	}
	return from.discard(ctx)
}

// retag seals one record of another vault for this one, under the same master key and so under the same name.
func (v *Vault) retag(ctx context.Context, k *keys, from *Vault, name string) error {
	text, err := from.store.get(ctx, name)
	if err != nil {
		return err
	}
	m, plaintext, key, err := k.openRecord(from.network, name, text)
	if err != nil {
		return err
	}
	defer clear(plaintext)
	m.Network = v.network
	sealed, err := encodeRecord(m, key)
	if err != nil {
		return err
	}
	defer clear(sealed)
	if text, err = k.seal64(v.random, v.network, name, sealed); err != nil {
		return err
	}
	if err := v.store.put(ctx, name, text); err != nil {
		return err
	}
	back, err := v.store.get(ctx, name)
	if err != nil {
		return err
	}
	_, plaintext, _, err = k.openRecord(v.network, name, back)
	clear(plaintext)
	return err
}

// discard removes everything that the vault keeps, and locks it. The head goes first: a vault without one is not there,
// and its records open with nothing that is stored for it.
func (v *Vault) discard(ctx context.Context) error {
	err := v.change(ctx, func(_ *keys, _ head, x index) error {
		return v.store.drop(ctx, slices.Concat([]string{nameHead, nameAPIKey}, x.names, x.leaving))
	})
	v.Lock()
	if err != nil {
		err = fmt.Errorf("the keys have new tags; what was stored before could not be removed: %w", err)
	}
	return err
}
