package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/api/secret"
)

const ownNode, otherNode = "https://node.example", "https://other.example:8545"

func mustSetNodeKey(t *testing.T, v *Vault, name, host, key string) {
	t.Helper()
	text := []byte(key)
	if err := v.SetNodeKey(t.Context(), name, host, secret.New(text)); err != nil || text[0] != 0 {
		t.Fatal("not stored, or not wiped", err)
	}
}

func lentToNode(t *testing.T, v *Vault, name, host, key string) {
	t.Helper()
	var kept []byte
	if err := v.NodeKey(t.Context(), name, host, func(k secret.Secret) error {
		if string(k.Reveal()) != key {
			t.Error("another key of a node")
		}
		kept = k.Reveal()
		return nil
	}); err != nil || kept[0] != 0 {
		t.Fatal("not lent, or not wiped", err)
	}
}

func TestANodeKeyIsForTheHostThatItWasStoredFor(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.created(t, backend)
		never := func(secret.Secret) error { t.Error("lent"); return nil }
		want(t, v.NodeKey(t.Context(), "main", ownNode, never), ErrNoKey)
		mustSetNodeKey(t, v, "main", ownNode, "key-of-the-node-1")
		mustSetNodeKey(t, v, "second", otherNode, "key-of-the-node-2")
		lentToNode(t, v, "main", ownNode, "key-of-the-node-1")
		for _, host := range []string{otherNode, "http://node.example", ownNode + ":444", ownNode + ".evil", ""} {
			err := v.NodeKey(t.Context(), "main", host, never)
			var moved *HostError
			if !errors.As(err, &moved) || !strings.Contains(err.Error(), ownNode) ||
				!strings.Contains(err.Error(), host) || strings.Contains(err.Error(), "key-of-the-node") {
				t.Errorf("%s: %v", host, err)
			}
		}
		mustSetNodeKey(t, v, "main", otherNode, strings.Repeat("x", maxNodeKey)) // in the place of the one before
		lentToNode(t, v, "main", otherNode, strings.Repeat("x", maxNodeKey))
		all, err := v.NodeKeys(t.Context())
		if err != nil || len(all) != 2 || all[0].Name != "main" || all[0].Host != otherNode || all[1].Name != "second" {
			t.Error(all, err)
		}
		if items, err := v.Items(t.Context()); err != nil || len(items) != 0 {
			t.Error("a node's key is listed as a signer", items, err)
		}
		want(t, v.Use(t.Context(), here, "node-key main", never), ErrNoKey)
		want(t, v.Use(t.Context(), here, "main", never), ErrNoKey)
		v.Lock()
		want(t, v.NodeKey(t.Context(), "main", otherNode, never), ErrLocked)
		if err := v.Unlock(t.Context(), passOf(backend)); err != nil {
			t.Fatal(err)
		}
		if err := v.RemoveNodeKey(t.Context(), "main"); err != nil {
			t.Fatal(err)
		}
		want(t, v.RemoveNodeKey(t.Context(), "main"), ErrNoKey)
		want(t, v.NodeKey(t.Context(), "main", otherNode, never), ErrNoKey)
		lentToNode(t, v, "second", otherNode, "key-of-the-node-2")
	})
}

func TestWhatIsNoNodeKeyIsRefusedAndNotRepeated(t *testing.T) {
	v := newBench(t).created(t, BackendFile)
	for name, c := range map[string]struct{ name, host, key string }{
		"too short": {"main", ownNode, "short"}, "too long": {"main", ownNode, strings.Repeat("x", maxNodeKey+1)},
		"a blank": {"main", ownNode, "sentinel key"}, "a line": {"main", ownNode, "sentinel\nkey"},
		"no ASCII": {"main", ownNode, "sentinel-ä"}, "no host": {"main", "", "sentinel-key"},
		"a long host": {"main", "https://" + strings.Repeat("x", maxHost), "sentinel-key"},
		"a name":      {"Main", ownNode, "sentinel-key"}, "no name": {"", ownNode, "sentinel-key"},
	} {
		text := []byte(c.key)
		err := v.SetNodeKey(t.Context(), c.name, c.host, secret.New(text))
		if err == nil || strings.Contains(err.Error(), "sentinel") || text[0] != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all, err := v.NodeKeys(t.Context()); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
}

func TestNodeKeysSurviveWhatKeysSurvive(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.created(t, backend)
		item := mustAdd(t, v, EVM, "signs")
		mustSetNodeKey(t, v, "main", ownNode, "key-of-the-node-1")
		mustSetNodeKey(t, v, "second", `https://q".example`, `key"with\quotes`)
		if backend != BackendKeyringOnly {
			if err := v.ChangePassphrase(t.Context(), pass(), wrong()); err != nil {
				t.Fatal(err)
			}
			v.Lock()
			if err := v.Unlock(t.Context(), wrong()); err != nil {
				t.Fatal(err)
			}
		}
		lentToNode(t, v, "main", ownNode, "key-of-the-node-1")
		text, err := v.Backup(t.Context(), pass())
		if err != nil {
			t.Fatal(err)
		}
		to := newBench(t).created(t, BackendFile)
		mustSetNodeKey(t, to, "main", otherNode, "my-own-key")
		added, err := to.Restore(t.Context(), text, pass())
		if err != nil || len(added) != 1 || added[0] != item {
			t.Fatal(added, err)
		}
		lentToNode(t, to, "main", otherNode, "my-own-key")
		lentToNode(t, to, "second", `https://q".example`, `key"with\quotes`)
	})
}

func TestNodeKeysOfAnotherNetworkAreNotRestored(t *testing.T) {
	v := newBench(t).created(t, BackendFile)
	mustAdd(t, v, EVM, "signs")
	mustSetNodeKey(t, v, "main", ownNode, "key-of-the-node-1")
	text, err := v.Backup(t.Context(), pass())
	if err != nil {
		t.Fatal(err)
	}
	foreign := newBench(t).open(t, BackendFile, func(o *Options) { o.NetworkID = elsewhere })
	if err := foreign.Create(t.Context(), pass()); err != nil {
		t.Fatal(err)
	}
	if _, err := foreign.RestoreFrom(t.Context(), here, text, pass()); err != nil {
		t.Fatal(err)
	}
	if all, err := foreign.NodeKeys(t.Context()); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
}

func TestAVaultShowsNothingOfNodeKeys(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendFile)
	mustSetNodeKey(t, v, "sentinel-name", "https://sentinel-host", "sentinel-key")
	files := 0
	if err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), "sentinel") {
			t.Errorf("%s shows it", path)
		}
		return err
	}); err != nil || files == 0 {
		t.Fatal(files, err)
	}
	all, err := v.NodeKeys(t.Context())
	if err != nil || strings.Contains(fmt.Sprintf("%+v", all), "sentinel-key") {
		t.Error(all, err)
	}
}
