package vault

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/api/secret"
)

// anew opens the vault of the network that took the place of here.
func (b *bench) anew(t testing.TB, backend Backend) *Vault {
	t.Helper()
	return b.open(t, backend, func(o *Options) { o.NetworkID = "0x" + strings.Repeat("cd", 32) })
}

func TestRetaggedKeysAreThoseOfTheNewNetworkAlone(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		old, now := b.created(t, backend), b.anew(t, backend)
		item, sol := mustAdd(t, old, EVM, "k"), mustAdd(t, old, Solana, "s")
		if err := old.SetAPIKey(t.Context(), secret.New([]byte("an-api-key"))); err != nil {
			t.Fatal(err)
		}
		mustSetNodeKey(t, old, "main", ownNode, "a-key-of-a-node")
		old.Lock()
		want(t, now.Retag(t.Context(), old), ErrLocked)
		if there, err := now.Exists(t.Context()); there || err != nil {
			t.Fatalf("a locked vault was taken over: %t, %v", there, err)
		}
		if err := old.Unlock(t.Context(), passOf(backend)); err != nil {
			t.Fatal(err)
		}
		if err := now.Retag(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		now.Lock()
		if err := now.Unlock(t.Context(), passOf(backend)); err != nil {
			t.Fatal(err)
		}
		items, err := now.Items(t.Context())
		if err != nil || len(items) != 2 {
			t.Fatalf("%v, %v", items, err)
		}
		for _, i := range items {
			if was := map[string]Item{item.Address: item, sol.Address: sol}[i.Address]; i.Label != was.Label ||
				!i.Created.Equal(was.Created) || i.Network != now.network {
				t.Errorf("%+v, it was %+v", i, was)
			}
		}
		err = now.Use(t.Context(), now.network, item.Address, func(k secret.Secret) error {
			if string(k.Reveal()) != string(raw("k")) {
				t.Error("another key")
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		want(t, now.Use(t.Context(), here, item.Address, func(secret.Secret) error { return nil }), ErrNetwork)
		if err := now.APIKey(t.Context(), func(k secret.Secret) error {
			if string(k.Reveal()) != "an-api-key" {
				t.Error("another API key")
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		lentToNode(t, now, "main", ownNode, "a-key-of-a-node")
		if there, err := old.Exists(t.Context()); there || err != nil || !old.Locked() {
			t.Errorf("the vault of before is still there: %t, %v", there, err)
		}
		if left, _ := filepath.Glob(filepath.Join(b.dir, "vault-main-"+here[2:18]+".json")); len(left) != 0 {
			t.Errorf("left over: %v", left)
		}
		want(t, now.Retag(t.Context(), b.created(t, backend)), ErrExists)
	})
}

// TestARetagThatIsCutShortIsBegunAnew: whichever call to the keyring is the last, the keys are in one vault or both.
func TestARetagThatIsCutShortIsBegunAnew(t *testing.T) {
	cut := errors.New("the machine stopped")
	for n := 0; ; n++ {
		b := newBench(t)
		old, now := b.created(t, BackendKeyring), b.anew(t, BackendKeyring)
		item := mustAdd(t, old, EVM, "k")
		calls := 0
		b.ring.hinder(func(string, string) error {
			if calls++; calls > n {
				return cut
			}
			return nil
		})
		err := now.Retag(t.Context(), old)
		b.ring.hinder(nil)
		if err == nil {
			if n < 5 {
				t.Errorf("only %d calls", n)
			}
			return
		}
		old, now = b.open(t, BackendKeyring), b.anew(t, BackendKeyring)
		there, err := now.Exists(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !there {
			if err := old.Unlock(t.Context(), pass()); err != nil {
				t.Fatalf("call %d: %v", n, err)
			}
			if err := now.Retag(t.Context(), old); err != nil {
				t.Fatalf("call %d: %v", n, err)
			}
		}
		if err := now.Unlock(t.Context(), pass()); err != nil {
			t.Fatalf("call %d: %v", n, err)
		}
		if items, err := now.Items(t.Context()); err != nil || len(items) != 1 || items[0].Address != item.Address {
			t.Fatalf("call %d: %v, %v", n, items, err)
		}
	}
}

// TestAForeignVaultIsNotRetaggedByItsFileName: a copied file keeps its tag, whatever it is called.
func TestAForeignVaultIsNotRetaggedByItsFileName(t *testing.T) {
	b := newBench(t)
	old, now := b.created(t, BackendFile), b.anew(t, BackendFile)
	mustAdd(t, old, EVM, "k")
	raw, err := os.ReadFile(filepath.Join(b.dir, "vault-main-"+here[2:18]+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "vault-main-"+now.network[2:18]+".json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, now.Unlock(t.Context(), pass()), ErrNetwork)
}
