package vault

import (
	"errors"
	"fmt"
	"testing"
)

// TestZ2OverSSHALockedKeyringIsNotAsked: no call is made that could raise a question on a desktop, and the error says
// what to do instead.
func TestZ2OverSSHALockedKeyringIsNotAsked(t *testing.T) {
	b := newBench(t)
	locked := true
	ring := quiet{b.ring, func(string, string) error {
		if locked {
			return fmt.Errorf("collection: %w", errAsks)
		}
		return nil
	}}
	open := func() *Vault {
		return b.open(t, BackendKeyring, func(o *Options) { o.SSH, o.Keyring = true, ring })
	}
	v := open()
	_, err := v.Exists(t.Context())
	wantState(t, err, StateLocked)
	wantState(t, v.Probe(t.Context()), StateLocked)
	wantState(t, v.Create(t.Context(), pass()), StateLocked)
	var k *KeyringError
	if !errors.As(err, &k) || k.Advice != advice(StateLocked, true, keyringDeadline) {
		t.Errorf("the advice is %v", err)
	}
	if made := b.ring.made(); made != 0 {
		t.Errorf("%d calls were made to a locked keyring", made)
	}
	if locked = false; v.Create(t.Context(), pass()) != nil {
		t.Error("a keyring that is open is not used")
	}
	item := mustAdd(t, v, EVM, "k")
	if err := v.Remove(t.Context(), item.Address); err != nil {
		t.Error(err)
	}
	if len(b.ring.copyOf()) == 0 {
		t.Error("nothing was stored")
	}
}

// TestZ2OnADesktopTheKeyringIsAskedAsItIs: only over SSH it is looked at first.
func TestZ2OnADesktopTheKeyringIsAskedAsItIs(t *testing.T) {
	if _, plain := SystemKeyring(false).(system); !plain {
		t.Error("the system's keyring is changed")
	}
	if _, careful := SystemKeyring(true).(quiet); careful != (asking() != nil) {
		t.Error("the system's keyring is not looked at first")
	}
	for _, ssh := range []bool{false, true} {
		if got := newCaller(nil, "linux", ssh, true).ring; got == nil ||
			fmt.Sprintf("%T", got) != fmt.Sprintf("%T", SystemKeyring(ssh)) {
			t.Errorf("over SSH %v: %T", ssh, got)
		}
	}
}
