package vault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"coffer/api/secret"
	"coffer/wallet/vault/internal/guard"
)

// Create sets the vault up under a passphrase of at least MinPassphrase characters, and leaves it unlocked. A
// keyring-only vault takes an empty passphrase. It fails with ErrExists when there is one already.
func (v *Vault) Create(ctx context.Context, pass secret.Secret) error {
	if err := v.usable(ctx); err != nil {
		return err
	}
	if err := v.checkPass(pass, true); err != nil {
		return err
	}
	since := v.locks()
	release, err := v.exclusive(ctx)
	if err != nil {
		return err
	}
	defer release()
	switch b, err := v.store.get(ctx, nameHead); {
	case err == nil:
		clear(b)
		return ErrExists
	case !errors.Is(err, errNone):
		return err
	}
	master := make([]byte, keySize)
	if _, err := io.ReadFull(v.random, master); err != nil {
		return fmt.Errorf("vault: %w", err)
	}
	k, err := deriveKeys(master)
	if err != nil {
		return err
	}
	h := head{Version: headVersion, Network: v.network, Wrap: v.wrap()}
	if err := v.putHead(ctx, k, h, index{}, pass); err != nil {
		k.wipe()
		return err
	}
	return v.hold(k, since)
}

// putHead wraps the master key under the passphrase, seals the index and stores the head.
func (v *Vault) putHead(ctx context.Context, k *keys, h head, x index, pass secret.Secret) (err error) {
	if h.Wrap == wrapNone {
		h.Key = k.master
	} else if h.Key, err = encrypt(k.master, pass, v.work); err != nil {
		return err
	}
	return v.putIndex(ctx, k, h, x)
}

// putIndex stores the head with another index.
func (v *Vault) putIndex(ctx context.Context, k *keys, h head, x index) (err error) {
	if h.Index, err = k.sealIndex(v.random, h, x); err != nil {
		return err
	}
	var b []byte
	guard.Do(func() { b, err = h.encode() })
	if err != nil {
		return err
	}
	defer clear(b)
	return v.store.put(ctx, nameHead, b)
}

func (v *Vault) wrap() string {
	if v.backend == BackendKeyringOnly {
		return wrapNone
	}
	return wrapPassphrase
}

// checkPass checks what can be checked without opening anything.
func (v *Vault) checkPass(pass secret.Secret, fresh bool) error {
	switch {
	case v.backend == BackendKeyringOnly && !pass.Empty():
		return ErrNoPassphrase
	case v.backend == BackendKeyringOnly:
		return nil
	case fresh:
		return checkNewPassphrase(pass)
	case pass.Empty():
		return ErrPassphrase
	}
	return nil
}

// Unlock opens the vault with its passphrase: ErrPassphrase, ErrNotSetUp, ErrDamaged, ErrWork, ErrBackend or a
// *KeyringError when it cannot. On a vault that is unlocked already it checks the passphrase again, and a wrong one
// changes nothing. A Lock that comes while the passphrase is being checked wins: ErrLocked.
func (v *Vault) Unlock(ctx context.Context, pass secret.Secret) error {
	if err := v.usable(ctx); err != nil {
		return err
	}
	if err := v.checkPass(pass, false); err != nil {
		return err
	}
	since := v.locks()
	v.changing.Lock()
	defer v.changing.Unlock()
	h, err := v.head(ctx)
	if err != nil {
		return err
	}
	k, x, err := v.openHead(h, pass)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		k.wipe()
		return err
	}
	if len(x.leaving) > 0 {
		// A removal was cut short. That it cannot be finished now does not keep the other keys from use; the next
		// Unlock or Remove tries again.
		_ = v.finishRemovals(ctx, k)
	}
	return v.hold(k, since)
}

// locks counts how often the vault was locked.
func (v *Vault) locks() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.locked
}

// head reads the head and compares it with what was opened.
func (v *Vault) head(ctx context.Context) (head, error) {
	b, err := v.store.get(ctx, nameHead)
	if errors.Is(err, errNone) {
		return head{}, ErrNotSetUp
	} else if err != nil {
		return head{}, err
	}
	defer clear(b)
	var h head
	guard.Do(func() { h, err = parseHead(b) })
	switch {
	case err != nil:
		return head{}, err
	case h.Network != v.network:
		return head{}, ErrNetwork
	case h.Wrap != v.wrap():
		return head{}, ErrBackend
	}
	return h, nil
}

// openHead opens the master key with the passphrase, and the index with it.
func (v *Vault) openHead(h head, pass secret.Secret) (k *keys, x index, err error) {
	master := h.Key
	if h.Wrap == wrapPassphrase {
		if master, err = decrypt(h.Key, pass); err != nil {
			return nil, index{}, err
		}
	}
	if k, err = deriveKeys(master); err != nil {
		return nil, index{}, err
	}
	if x, err = k.openIndex(h); err != nil {
		k.wipe()
		return nil, index{}, err
	}
	return k, x, nil
}

// hold takes over the keys of an unlocked vault and starts to count idle time. A vault that was locked since then stays
// locked.
func (v *Vault) hold(k *keys, since uint64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.closed:
		k.wipe()
		return ErrClosed
	case v.locked != since:
		k.wipe()
		return ErrLocked
	}
	if v.keys != nil {
		v.keys.wipe()
	}
	v.keys, v.last = k, v.clock()
	if v.timer == nil {
		v.timer = time.AfterFunc(v.idle, v.expire)
	} else {
		v.timer.Reset(v.idle)
	}
	return nil
}

// expire locks when the idle time is over, or waits for the rest of it.
func (v *Vault) expire() {
	v.mu.Lock()
	rest := v.idle - v.unused()
	if v.keys != nil && rest > 0 {
		v.timer.Reset(rest)
	}
	v.mu.Unlock()
	if rest <= 0 {
		v.Lock()
	}
}

// unused is the time since the last use: by the wall clock, which goes on while the machine sleeps, or by the monotonic
// one, which nobody can set back; the longer of the two.
func (v *Vault) unused() time.Duration {
	now := v.clock()
	return max(now.Sub(v.last), now.Round(0).Sub(v.last.Round(0)))
}

// Lock wipes the keys of the vault. What is lent at this moment is wiped when its callback returns. An Unlock that is
// under way fails; otherwise locking a locked vault does nothing.
func (v *Vault) Lock() {
	v.mu.Lock()
	v.locked++
	tell := v.wipe()
	v.mu.Unlock()
	for _, fn := range tell {
		fn()
	}
}

// wipe forgets the keys and returns whom to tell; v.mu is held.
func (v *Vault) wipe() []func() {
	if v.keys == nil {
		return nil
	}
	v.keys.wipe()
	v.keys = nil
	v.timer.Stop()
	return append([]func(){}, v.onLock...)
}

// Locked reports whether the passphrase is needed before a key can be used. A vault that has been idle for too long
// locks here at the latest.
func (v *Vault) Locked() bool { return v.opened(false) != nil }

// Touch counts as a use: the person is there. It does nothing to a locked vault.
func (v *Vault) Touch() { _ = v.opened(true) }

// OnLock registers a function that is called each time the vault locks, whatever the cause; it may call the vault.
func (v *Vault) OnLock(fn func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.onLock = append(v.onLock, fn)
}

// opened fails with ErrClosed or ErrLocked, and locks a vault whose idle time is over. use counts as a use.
func (v *Vault) opened(use bool) error {
	return v.with(use, func(*keys) error { return nil })
}

// with runs fn with the keys of the unlocked vault, which cannot be locked meanwhile; fn only computes.
func (v *Vault) with(use bool, fn func(*keys) error) error {
	v.mu.Lock()
	var tell []func()
	defer func() {
		v.mu.Unlock()
		for _, fn := range tell {
			fn()
		}
	}()
	if v.closed {
		return ErrClosed
	}
	if v.keys == nil {
		return ErrLocked
	}
	if v.unused() >= v.idle {
		tell = v.wipe()
		return ErrLocked
	}
	if use {
		v.last = v.clock()
	}
	return fn(v.keys)
}

// ChangePassphrase replaces the passphrase; the keys stay as they are, and the vault stays locked or unlocked. Copies
// of the store that were made before still open with the old passphrase.
func (v *Vault) ChangePassphrase(ctx context.Context, old, fresh secret.Secret) error {
	if err := v.usable(ctx); err != nil {
		return err
	}
	if v.backend == BackendKeyringOnly {
		return ErrNoPassphrase
	}
	if err := errors.Join(v.checkPass(old, false), v.checkPass(fresh, true)); err != nil {
		return err
	}
	release, err := v.exclusive(ctx)
	if err != nil {
		return err
	}
	defer release()
	h, err := v.head(ctx)
	if err != nil {
		return err
	}
	k, x, err := v.openHead(h, old)
	if err != nil {
		return err
	}
	defer k.wipe()
	return v.putHead(ctx, k, h, x, fresh)
}

// Close locks the vault for good.
func (v *Vault) Close() error {
	v.mu.Lock()
	tell := v.wipe()
	v.closed = true
	v.mu.Unlock()
	for _, fn := range tell {
		fn()
	}
	return nil
}
