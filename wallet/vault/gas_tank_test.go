package vault

import (
	"bytes"
	"strings"
	"testing"

	"coffer/api/secret"
)

// tankOf is the key of a vault's gas tank.
func tankOf(t *testing.T, v *Vault) (key []byte) {
	t.Helper()
	var lent []byte
	if err := v.GasTank(t.Context(), func(k secret.Secret) error {
		lent, key = k.Reveal(), bytes.Clone(k.Reveal())
		return nil
	}); err != nil || !bytes.Equal(lent, make([]byte, len(lent))) {
		t.Fatal("not lent, or not wiped", err)
	}
	return key
}

func TestTheGasTankIsMadeOnceAndSignsForNoAccount(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.created(t, backend)
		never := func(secret.Secret) error { t.Error("lent"); return nil }
		want(t, v.GasTank(t.Context(), never), ErrNoKey)
		if err := v.MakeGasTank(t.Context()); err != nil {
			t.Fatal(err)
		}
		key := tankOf(t, v)
		want(t, v.MakeGasTank(t.Context()), ErrExists)
		address, err := AddressOf(GasTank, secret.New(bytes.Clone(key)))
		if err != nil || len(key) != 32 {
			t.Fatal(err)
		}
		for _, name := range []string{address, "", string(GasTank), gasTankPlace} {
			want(t, v.Use(t.Context(), here, name, never), ErrNoKey)
		}
		if items, err := v.Items(t.Context()); err != nil || len(items) != 0 {
			t.Error("it is listed as a signer", items, err)
		}
		v.Lock()
		want(t, v.GasTank(t.Context(), never), ErrLocked)
		if err := v.Unlock(t.Context(), passOf(backend)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(tankOf(t, v), key) {
			t.Error("another key after a lock")
		}
	})
}

// A backup has the gas tank. It is put back where there is none, on its own network; another one stays, and its owner
// is told.
func TestTheGasTankSurvivesInABackup(t *testing.T) {
	v := newBench(t).created(t, BackendFile)
	mustAdd(t, v, EVM, "signs")
	if err := v.MakeGasTank(t.Context()); err != nil {
		t.Fatal(err)
	}
	key := tankOf(t, v)
	text, err := v.Backup(t.Context(), pass())
	if err != nil {
		t.Fatal(err)
	}
	to := newBench(t).created(t, BackendFile)
	for range 2 {
		if _, err := to.Restore(t.Context(), text, pass()); err != nil || !bytes.Equal(tankOf(t, to), key) {
			t.Fatal("not restored", err)
		}
	}
	if items, err := to.Items(t.Context()); err != nil || len(items) != 1 {
		t.Error(items, err)
	}
	other := newBench(t).created(t, BackendFile)
	if err := other.MakeGasTank(t.Context()); err != nil {
		t.Fatal(err)
	}
	kept := tankOf(t, other)
	items, err := other.Restore(t.Context(), text, pass())
	if want(t, err, ErrGasTank); len(items) != 1 || !bytes.Equal(tankOf(t, other), kept) ||
		!strings.Contains(err.Error(), "0x") {
		t.Error(items, err)
	}
	elsewhere := newBench(t).anew(t, BackendFile)
	if err := elsewhere.Create(t.Context(), pass()); err != nil {
		t.Fatal(err)
	}
	if items, err := elsewhere.RestoreFrom(t.Context(), here, text, pass()); err != nil || len(items) != 1 {
		t.Error(items, err)
	}
	want(t, elsewhere.GasTank(t.Context(), func(secret.Secret) error { return nil }), ErrNoKey)
}
