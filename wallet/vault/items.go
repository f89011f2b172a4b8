package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"coffer/api/secret"
	"coffer/wallet/vault/internal/guard"
)

// change runs fn while nobody else changes the store: with the head, the index and the keys of the unlocked vault,
// which fn must not keep.
func (v *Vault) change(ctx context.Context, fn func(k *keys, h head, x index) error) error {
	if err := v.usable(ctx); err != nil {
		return err
	}
	release, err := v.exclusive(ctx)
	if err != nil {
		return err
	}
	defer release()
	k, err := v.borrowKeys()
	if err != nil {
		return err
	}
	defer k.wipe()
	h, err := v.head(ctx)
	if err != nil {
		return err
	}
	defer h.forget()
	x, err := k.openIndex(h)
	if err != nil {
		return err
	}
	return fn(k, h, x)
}

// borrowKeys copies the keys of the unlocked vault for the length of one change; the caller wipes them. It counts as a
// use.
func (v *Vault) borrowKeys() (k *keys, err error) {
	err = v.with(true, func(own *keys) error {
		guard.Do(func() {
			k = &keys{master: slices.Clone(own.master), seal: slices.Clone(own.seal), name: slices.Clone(own.name)}
		})
		return nil
	})
	return k, err
}

// Items lists the keys without showing them, ordered by address. Every record is opened and checked: one that was
// changed, moved or deleted is ErrDamaged. It does not count as a use.
func (v *Vault) Items(ctx context.Context) (items []Item, err error) {
	err = v.each(ctx, func(m meta, _ []byte) error {
		if m.signs() {
			items = append(items, m.item())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(items, byAddress)
	return items, nil
}

// each calls fn with every key, those of nodes as well, in order of arrival, while the vault cannot be locked; fn only
// computes and does not keep the key.
func (v *Vault) each(ctx context.Context, fn func(m meta, key []byte) error) error {
	if err := v.usable(ctx); err != nil {
		return err
	}
	if err := v.opened(false); err != nil {
		return err
	}
	h, err := v.head(ctx)
	if err != nil {
		return err
	}
	defer h.forget()
	var x index
	if err := v.with(false, func(k *keys) (err error) { x, err = k.openIndex(h); return err }); err != nil {
		return err
	}
	for _, name := range x.names {
		text, err := v.store.get(ctx, name)
		if errors.Is(err, errNone) {
			return fmt.Errorf("%w (a key that is listed is missing)", ErrDamaged)
		} else if err != nil {
			return err
		}
		if err := v.with(false, func(k *keys) error {
			m, plaintext, key, err := k.openRecord(v.network, name, text)
			if err != nil {
				return err
			}
			defer clear(plaintext)
			return fn(m, key)
		}); err != nil {
			return err
		}
	}
	return nil
}

// Add takes ownership of the 32 bytes of a key, stores it tagged with the vault's network and wipes it, whatever
// happens. It fails with ErrExists for an address that is there already, and with ErrBadKey, ErrLabel, ErrFull or
// ErrLocked.
func (v *Vault) Add(ctx context.Context, kind Kind, key secret.Secret, label string) (item Item, err error) {
	defer key.Wipe()
	address, err := AddressOf(kind, key)
	if err != nil {
		return Item{}, err
	}
	if err := checkLabel(label); err != nil {
		return Item{}, err
	}
	m := meta{Kind: kind, Address: address, Network: v.network, Label: label, Created: v.clock().Unix()}
	err = v.change(ctx, func(k *keys, h head, x index) error { return v.put(ctx, k, h, x, m, key) })
	if err != nil {
		return Item{}, err
	}
	return m.item(), nil
}

// put stores a key and lists it. The record comes first: a crash in between leaves a record that no list names, which
// the same Add takes up again.
func (v *Vault) put(ctx context.Context, k *keys, h head, x index, m meta, key secret.Secret) error {
	name := k.recordName(m.place())
	if slices.Contains(x.names, name) {
		return fmt.Errorf("key %s: %w", m.Address, ErrExists)
	}
	if len(x.names)+len(x.leaving) >= maxKeys {
		return ErrFull
	}
	if err := v.putRecord(ctx, k, name, m, key); err != nil {
		return err
	}
	x.names = append(x.names, name)
	x.leaving = slices.DeleteFunc(x.leaving, func(n string) bool { return n == name })
	return v.putIndex(ctx, k, h, x)
}

// putRecord seals a secret and stores it under a name.
func (v *Vault) putRecord(ctx context.Context, k *keys, name string, m meta, value secret.Secret) error {
	var plaintext []byte
	var err error
	guard.Do(func() { plaintext, err = encodeRecord(m, value.Reveal()) })
	if err != nil {
		return err
	}
	defer clear(plaintext)
	text, err := k.seal64(v.random, v.network, name, plaintext)
	if err != nil {
		return err
	}
	return v.store.put(ctx, name, text)
}

// Use lends the key of address to fn and wipes it when fn returns; fn must not keep it. It fails with ErrNetwork unless
// networkID is the vault's, with ErrLocked, ErrNoKey, ErrDamaged or a *KeyringError. It counts as a use, when it begins
// and when it ends.
func (v *Vault) Use(ctx context.Context, networkID, address string, fn func(key secret.Secret) error) error {
	if err := v.usable(ctx); err != nil {
		return err
	}
	if networkID != v.network {
		return ErrNetwork
	}
	var name string
	if err := v.with(true, func(k *keys) error { name = k.recordName(address); return nil }); err != nil {
		return err
	}
	return v.lend(ctx, name, true, func(m meta, key secret.Secret) error {
		if !m.signs() {
			return ErrNoKey
		}
		return fn(key)
	})
}

// lend lends the secret of a record to fn and wipes it when fn returns; use counts as a use, then too.
func (v *Vault) lend(ctx context.Context, name string, use bool, fn func(meta, secret.Secret) error) error {
	text, err := v.store.get(ctx, name)
	if errors.Is(err, errNone) {
		return ErrNoKey
	} else if err != nil {
		return err
	}
	var m meta
	var plaintext, key []byte
	if err := v.with(use, func(k *keys) (err error) {
		m, plaintext, key, err = k.openRecord(v.network, name, text)
		return err
	}); err != nil {
		return err
	}
	if use {
		defer v.Touch()
	}
	defer clear(plaintext)
	guard.Do(func() { err = fn(m, secret.New(key)) })
	return err
}

// Remove deletes the key of address for good: ErrNoKey when there is none. The list forgets the key first, so that a
// removal which is cut short is finished by the next Unlock.
func (v *Vault) Remove(ctx context.Context, address string) error {
	return v.change(ctx, func(k *keys, h head, x index) error {
		name := k.recordName(address)
		at := slices.Index(x.names, name)
		if at < 0 && !slices.Contains(x.leaving, name) {
			return ErrNoKey
		}
		if at >= 0 {
			x.names = slices.Delete(x.names, at, at+1)
			x.leaving = append(x.leaving, name)
			if err := v.putIndex(ctx, k, h, x); err != nil {
				return err
			}
		}
		return v.remove(ctx, k, h, x)
	})
}

// remove deletes the records that are leaving, and then the list of them.
func (v *Vault) remove(ctx context.Context, k *keys, h head, x index) error {
	for _, name := range x.leaving {
		if err := v.store.remove(ctx, name); err != nil {
			return fmt.Errorf("the removal is not finished; unlocking goes on with it: %w", err)
		}
	}
	x.leaving = nil
	return v.putIndex(ctx, k, h, x)
}

// finishRemovals goes on with removals that were cut short.
func (v *Vault) finishRemovals(ctx context.Context, k *keys) error {
	release, err := v.store.exclusive(ctx)
	if err != nil {
		return err
	}
	defer release()
	h, err := v.head(ctx) // again: another program may have been at it
	if err != nil {
		return err
	}
	defer h.forget()
	x, err := k.openIndex(h)
	if err != nil {
		return err
	}
	return v.remove(ctx, k, h, x)
}

// SetAPIKey takes ownership of the profile's API key, 1 to 512 bytes of printable ASCII, stores it in place of the one
// before and wipes it.
func (v *Vault) SetAPIKey(ctx context.Context, key secret.Secret) error {
	defer key.Wipe()
	if !isAPIKey(key.Reveal()) {
		return errors.New("an API key is 1 to 512 visible characters")
	}
	m := meta{Kind: kindAPIKey, Network: v.network, Created: v.clock().Unix()}
	return v.change(ctx, func(k *keys, _ head, _ index) error { return v.putRecord(ctx, k, nameAPIKey, m, key) })
}

func isAPIKey(b []byte) bool {
	return len(b) > 0 && len(b) <= maxAPIKey && !slices.ContainsFunc(b,
		func(c byte) bool { return c <= ' ' || c > '~' })
}

// APIKey lends the profile's API key to fn and wipes it when fn returns; ErrNoKey when there is none. It does not count
// as a use: a program that keeps asking a service must not keep the vault open.
func (v *Vault) APIKey(ctx context.Context, fn func(key secret.Secret) error) error {
	if err := v.usable(ctx); err != nil {
		return err
	}
	if err := v.opened(false); err != nil {
		return err
	}
	return v.lend(ctx, nameAPIKey, false, func(_ meta, key secret.Secret) error { return fn(key) })
}

// RemoveAPIKey deletes the profile's API key; none is no error.
func (v *Vault) RemoveAPIKey(ctx context.Context) error {
	return v.change(ctx, func(*keys, head, index) error { return v.store.remove(ctx, nameAPIKey) })
}
