package vault

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/api/secret"
)

func TestAVaultKeepsItsKeysAcrossPrograms(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.open(t, backend)
		if v.Backend() != backend {
			t.Fatal(v.Backend())
		}
		if there, err := v.Exists(t.Context()); err != nil || there {
			t.Fatal(there, err)
		}
		want(t, v.Unlock(t.Context(), passOf(backend)), ErrNotSetUp)
		if err := v.Create(t.Context(), passOf(backend)); err != nil {
			t.Fatal(err)
		}
		want(t, v.Create(t.Context(), passOf(backend)), ErrExists)
		evm, sol := mustAdd(t, v, EVM, "first"), mustAdd(t, v, Solana, "second")
		if evm.Label != "first" || !evm.Created.Equal(b.clock.Now()) || evm.Network != here || evm.Kind != EVM {
			t.Errorf("%+v", evm)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}

		again := b.open(t, backend)
		if there, err := again.Exists(t.Context()); err != nil || !there {
			t.Fatal(there, err)
		}
		if _, err := again.Items(t.Context()); !errors.Is(err, ErrLocked) || !again.Locked() {
			t.Fatal("a vault begins locked", err)
		}
		if err := again.Unlock(t.Context(), passOf(backend)); err != nil {
			t.Fatal(err)
		}
		items, err := again.Items(t.Context())
		if err != nil || len(items) != 2 || items[0] != evm || items[1] != sol {
			t.Fatalf("%+v %v", items, err)
		}
		lent(t, again, evm.Address, "first")
		lent(t, again, sol.Address, "second")
	})
}

func TestWrongPassphrasesOpenNothing(t *testing.T) {
	for _, backend := range []Backend{BackendFile, BackendKeyring} {
		b := newBench(t)
		v := b.created(t, backend)
		item := mustAdd(t, v, EVM, "k")
		v.Lock()
		for _, p := range []secret.Secret{wrong(), {}, secret.New([]byte("correct horse "))} {
			want(t, v.Unlock(t.Context(), p), ErrPassphrase)
			want(t, v.Use(t.Context(), here, item.Address, func(secret.Secret) error { t.Error("lent"); return nil }),
				ErrLocked)
		}
		if err := v.Unlock(t.Context(), pass()); err != nil {
			t.Fatal(err)
		}
		want(t, v.Unlock(t.Context(), wrong()), ErrPassphrase) // asked again before a signature
		if v.Locked() {
			t.Error("a wrong answer to a second question locked the vault")
		}
	}
	v := newBench(t).open(t, BackendFile)
	for _, weak := range []string{"", "1234567", "ääääääa"} {
		want(t, v.Create(t.Context(), secret.New([]byte(weak))), ErrWeakPassphrase)
	}
	if there, err := v.Exists(t.Context()); err != nil || there {
		t.Error("a refused passphrase left a vault behind", err)
	}
}

func TestAKeyringOnlyVaultTakesNoPassphrase(t *testing.T) {
	v := newBench(t).open(t, BackendKeyringOnly)
	want(t, v.Create(t.Context(), pass()), ErrNoPassphrase)
	if err := v.Create(t.Context(), secret.Secret{}); err != nil {
		t.Fatal(err)
	}
	v.Lock()
	want(t, v.Unlock(t.Context(), pass()), ErrNoPassphrase)
	want(t, v.ChangePassphrase(t.Context(), pass(), wrong()), ErrNoPassphrase)
}

func TestAddRefusesWhatIsThereAndWhatIsNoKeyAndWipesIt(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.created(t, backend)
		mustAdd(t, v, EVM, "k")
		cases := []struct {
			kind  Kind
			key   []byte
			label string
			err   error
		}{
			{EVM, raw("k"), "again", ErrExists},
			{EVM, make([]byte, 32), "", ErrBadKey},
			{EVM, bytes.Repeat([]byte{0xff}, 32), "", ErrBadKey},
			{Solana, raw("s")[:31], "", ErrBadKey},
			{"paper", raw("p"), "", ErrBadKey},
			{EVM, raw("l"), strings.Repeat("x", 65), ErrLabel},
			{EVM, raw("l"), "two\nlines", ErrLabel},
			{EVM, raw("l"), "turn\u202earound", ErrLabel},
			{EVM, raw("l"), "\xff", ErrLabel},
		}
		for _, c := range cases {
			_, err := v.Add(t.Context(), c.kind, secret.New(c.key), c.label)
			want(t, err, c.err)
			if !bytes.Equal(c.key, make([]byte, len(c.key))) {
				t.Errorf("%s: the key was not wiped", c.label)
			}
		}
		ok := raw("ok")
		if _, err := v.Add(t.Context(), EVM, secret.New(ok), "Ä 日本 ✓"); err != nil ||
			!bytes.Equal(ok, make([]byte, 32)) {
			t.Error("a stored key was left in the caller's hands", err)
		}
		v.Lock()
		late := raw("late")
		_, err := v.Add(t.Context(), EVM, secret.New(late), "")
		want(t, err, ErrLocked)
		if late[0] != 0 {
			t.Error("not wiped")
		}
	})
}

func TestUseIsRefusedForAnotherNetworkOrAddress(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.created(t, backend)
		item := mustAdd(t, v, EVM, "k")
		never := func(secret.Secret) error { t.Error("lent"); return nil }
		for _, n := range []string{elsewhere, "", here + " "} {
			want(t, v.Use(t.Context(), n, item.Address, never), ErrNetwork)
		}
		for _, a := range []string{"", "0x00", strings.ToUpper(item.Address), item.Address + " ", nameHead,
			nameAPIKey} {
			want(t, v.Use(t.Context(), here, a, never), ErrNoKey)
		}
		stopped, cancel := context.WithCancel(t.Context())
		cancel()
		want(t, v.Use(stopped, here, item.Address, never), context.Canceled)
		failure := errors.New("from the callback")
		want(t, v.Use(t.Context(), here, item.Address, func(secret.Secret) error { return failure }), failure)
	})
}

func TestALentKeyIsWipedWhenTheCallbackReturnsOrPanics(t *testing.T) {
	v := newBench(t).created(t, BackendFile)
	item := mustAdd(t, v, EVM, "k")
	var kept []byte
	if err := v.Use(t.Context(), here, item.Address,
		func(k secret.Secret) error { kept = k.Reveal(); return nil }); err != nil || kept[0] != 0 {
		t.Error("not wiped", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = v.Use(t.Context(), here, item.Address, func(k secret.Secret) error { kept = k.Reveal(); panic("callback") })
	}()
	if !bytes.Equal(kept, make([]byte, 32)) {
		t.Error("not wiped after a panic")
	}
	lent(t, v, item.Address, "k")
}

func TestRemoveDeletesOneKeyForGood(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.created(t, backend)
		gone, stays := mustAdd(t, v, EVM, "gone"), mustAdd(t, v, EVM, "stays")
		if err := v.Remove(t.Context(), gone.Address); err != nil {
			t.Fatal(err)
		}
		want(t, v.Remove(t.Context(), gone.Address), ErrNoKey)
		want(t, v.Use(t.Context(), here, gone.Address, func(secret.Secret) error { return nil }), ErrNoKey)
		items, err := v.Items(t.Context())
		if err != nil || len(items) != 1 || items[0] != stays {
			t.Fatal(items, err)
		}
		lent(t, v, stays.Address, "stays")
		mustAdd(t, v, EVM, "gone")
		v.Lock()
		want(t, v.Remove(t.Context(), stays.Address), ErrLocked)
	})
}

func TestTheAPIKeyIsKeptApartFromTheKeys(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.created(t, backend)
		none := func(secret.Secret) error { t.Error("lent"); return nil }
		want(t, v.APIKey(t.Context(), none), ErrNoKey)
		for _, bad := range []string{"", "with space", "line\n", "ä", strings.Repeat("x", 513)} {
			if err := v.SetAPIKey(t.Context(), secret.New([]byte(bad))); err == nil ||
				bad != "" && strings.Contains(err.Error(), bad) {
				t.Errorf("%q: %v", bad, err)
			}
		}
		for _, good := range []string{"key-1", strings.Repeat("x", 512)} {
			text := []byte(good)
			if err := v.SetAPIKey(t.Context(), secret.New(text)); err != nil || text[0] != 0 {
				t.Fatal("not stored, or not wiped", err)
			}
			var kept []byte
			if err := v.APIKey(t.Context(), func(k secret.Secret) error {
				if string(k.Reveal()) != good {
					t.Error("another API key")
				}
				kept = k.Reveal()
				return nil
			}); err != nil || kept[0] != 0 {
				t.Fatal("not wiped", err)
			}
		}
		if items, err := v.Items(t.Context()); err != nil || len(items) != 0 {
			t.Error("the API key is listed as a signer", items, err)
		}
		v.Lock()
		want(t, v.APIKey(t.Context(), none), ErrLocked)
		if err := v.Unlock(t.Context(), passOf(backend)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := v.RemoveAPIKey(t.Context()); err != nil {
				t.Fatal(err)
			}
			want(t, v.APIKey(t.Context(), none), ErrNoKey)
		}
	})
}

func TestChangePassphraseKeepsTheKeys(t *testing.T) {
	for _, backend := range []Backend{BackendFile, BackendKeyring} {
		b := newBench(t)
		v := b.created(t, backend)
		item := mustAdd(t, v, EVM, "k")
		want(t, v.ChangePassphrase(t.Context(), wrong(), wrong()), ErrPassphrase)
		want(t, v.ChangePassphrase(t.Context(), pass(), secret.New([]byte("short"))), ErrWeakPassphrase)
		want(t, v.ChangePassphrase(t.Context(), secret.Secret{}, wrong()), ErrPassphrase)
		if err := v.ChangePassphrase(t.Context(), pass(), wrong()); err != nil {
			t.Fatal(err)
		}
		if v.Locked() {
			t.Error("the change locked the vault")
		}
		mustAdd(t, v, EVM, "after")
		v.Lock()
		if err := v.ChangePassphrase(t.Context(), wrong(), secret.New([]byte("a third one"))); err != nil ||
			!v.Locked() {
			t.Fatal("a locked vault changes its passphrase and stays locked", err)
		}
		want(t, v.Unlock(t.Context(), pass()), ErrPassphrase)
		want(t, v.Unlock(t.Context(), wrong()), ErrPassphrase)
		if err := v.Unlock(t.Context(), secret.New([]byte("a third one"))); err != nil {
			t.Fatal(err)
		}
		lent(t, v, item.Address, "k")
	}
	want(t, newBench(t).open(t, BackendFile).ChangePassphrase(t.Context(), pass(), wrong()), ErrNotSetUp)
}

func TestCloseEndsEveryVerb(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.created(t, backend)
		item := mustAdd(t, v, EVM, "k")
		own := v.keys
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		for _, k := range [][]byte{own.master, own.seal, own.name} {
			if !bytes.Equal(k, make([]byte, 32)) {
				t.Error("a key of the vault was not wiped")
			}
		}
		ctx := t.Context()
		none := func(secret.Secret) error { t.Error("lent"); return nil }
		_, exists := v.Exists(ctx)
		_, items := v.Items(ctx)
		_, add := v.Add(ctx, EVM, secret.New(raw("x")), "")
		_, backup := v.Backup(ctx, pass())
		_, restore := v.Restore(ctx, nil, pass())
		for i, err := range []error{
			exists, items, add, backup, restore, v.Create(ctx, passOf(backend)), v.Unlock(ctx, passOf(backend)),
			v.Use(ctx, here, item.Address, none), v.Remove(ctx, item.Address),
			v.SetAPIKey(ctx, secret.New([]byte("k"))), v.APIKey(ctx, none), v.RemoveAPIKey(ctx),
			v.SetNodeKey(ctx, "main", "https://n", secret.New([]byte("secret"))),
			v.NodeKey(ctx, "main", "https://n", none), v.RemoveNodeKey(ctx, "main"),
			v.ChangePassphrase(ctx, pass(), wrong()), v.Probe(ctx), v.Close(),
		} {
			if last := i == 17; !last && !errors.Is(err, ErrClosed) || last && err != nil {
				t.Errorf("verb %d: %v", i, err)
			}
		}
		if !v.Locked() {
			t.Error("a closed vault is not locked")
		}
	})
}

func TestOptionsAreChecked(t *testing.T) {
	b := newBench(t)
	for name, change := range map[string]func(*Options){
		"profile":    func(o *Options) { o.Profile = "a:b" },
		"no profile": func(o *Options) { o.Profile = "" },
		"network":    func(o *Options) { o.NetworkID = "0xaa" },
		"clock":      func(o *Options) { o.Clock = nil },
		"random":     func(o *Options) { o.Random = nil },
		"work":       func(o *Options) { o.WorkFactor = 21 },
		"idle":       func(o *Options) { o.IdleLock = -1 },
	} {
		o := b.options()
		change(&o)
		for _, open := range []func(Options) (*Vault, error){OpenFile, OpenKeyring, OpenKeyringOnly} {
			if v, err := open(o); err == nil || v != nil {
				t.Errorf("%s: accepted", name)
			}
		}
	}
	o := b.options()
	o.Dir = ""
	if _, err := OpenFile(o); err == nil {
		t.Error("a file without a directory")
	}
	if v, err := OpenKeyring(o); err != nil || v.Close() != nil {
		t.Error("a keyring needs no directory", err)
	}
}

// storedText returns everything that a backend holds, as one text.
func storedText(t *testing.T, b *bench, backend Backend) string {
	t.Helper()
	var all strings.Builder
	if backend != BackendFile {
		for name, value := range b.ring.copyOf() {
			fmt.Fprintf(&all, "%s %s\n", name, value)
		}
		return all.String()
	}
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var text []byte
			text, err = os.ReadFile(path)
			fmt.Fprintf(&all, "%s %s\n", path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestK5WhatIsStoredShowsNoKeyAddressLabelOrPassphrase(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.created(t, backend)
		item := mustAdd(t, v, EVM, "savings")
		if err := v.SetAPIKey(t.Context(), secret.New([]byte("api-sentinel-77"))); err != nil {
			t.Fatal(err)
		}
		all := storedText(t, b, backend)
		key := raw("savings")
		for name, sentinel := range map[string]string{
			"raw key": string(key), "hex key": hex.EncodeToString(key),
			"base64 key": base64.RawStdEncoding.EncodeToString(key)[:40],
			"address":    item.Address[2:], "label": "savings", "API key": "api-sentinel-77",
			"passphrase": "correct horse",
		} {
			if strings.Contains(strings.ToLower(all), strings.ToLower(sentinel)) {
				t.Errorf("the %s is in the store", name)
			}
		}
		if backend != BackendKeyringOnly && strings.Contains(all,
			base64.StdEncoding.EncodeToString(v.keys.master)[:40]) {
			t.Error("the master key is in the store")
		}
	})
}

func TestKR4EveryItemFitsIntoEveryKeyring(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 48 keys to each store; .ci/run vault gives one that long")
	}
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.created(t, backend)
		label := strings.Repeat("日", maxLabel/3)
		for i := range maxKeys {
			if _, err := v.Add(t.Context(), []Kind{EVM, Solana}[i%2], secret.New(raw(fmt.Sprint(i))),
				label); err != nil {
				t.Fatal(i, err)
			}
		}
		if _, err := v.Add(t.Context(), EVM, secret.New(raw("one more")), ""); !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
		if err := v.SetAPIKey(t.Context(), secret.New(bytes.Repeat([]byte("k"), maxAPIKey))); err != nil {
			t.Fatal(err)
		}
		largest := 0
		for _, value := range b.ring.copyOf() {
			largest = max(largest, len(value))
		}
		if largest > maxValue {
			t.Errorf("an item of %d bytes", largest)
		}
		t.Logf("largest item: %d bytes", largest)
		if items, err := v.Items(t.Context()); err != nil || len(items) != maxKeys {
			t.Fatal(len(items), err)
		}
		text, err := v.Backup(t.Context(), pass())
		if err != nil || len(text) > maxBackup {
			t.Fatal(len(text), err)
		}
	})
}

func TestKR2ProbeWritesReadsAndDeletes(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.open(t, backend)
		if err := v.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := len(b.ring.copyOf()); left != 0 || strings.Contains(storedText(t, b, backend), "probe-") {
			t.Error("the probe left something behind")
		}
	})
	b := newBench(t)
	v := b.open(t, BackendKeyring)
	b.ring.hinder(func(call, _ string) error {
		if call == "set" {
			return errors.New("failed to unlock correct collection '/org/freedesktop/secrets/aliases/default'")
		}
		return nil
	})
	wantState(t, v.Probe(t.Context()), StateLocked)
	b.ring.hinder(nil)
	lying := b.open(t, BackendKeyring, func(o *Options) { o.Keyring = liar{b.ring} })
	want(t, lying.Probe(t.Context()), ErrDamaged)
	if len(b.ring.copyOf()) != 0 {
		t.Error("a failed probe left its item behind")
	}
}

// liar is a keyring that answers with something else.
type liar struct{ *fakeRing }

func (l liar) Get(service, user string) ([]byte, error) {
	b, err := l.fakeRing.Get(service, user)
	return append(b, 'x'), err
}

func TestKR5ManyGoroutinesUseOneVault(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.created(t, backend)
		item := mustAdd(t, v, EVM, "shared")
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				word := fmt.Sprint("own", i)
				if _, err := v.Add(t.Context(), EVM, secret.New(raw(word)), word); err != nil {
					t.Error(err)
				}
				lent(t, v, item.Address, "shared")
				if _, err := v.Items(t.Context()); err != nil {
					t.Error(err)
				}
				v.Touch()
				_ = v.Locked()
			})
		}
		all.Wait()
		if items, err := v.Items(t.Context()); err != nil || len(items) != 9 {
			t.Error(len(items), err)
		}
	})
}

func TestTwoProgramsDoNotLoseEachOthersKeys(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		one := b.created(t, backend)
		two := b.open(t, backend)
		if err := two.Unlock(t.Context(), passOf(backend)); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for p, v := range []*Vault{one, two} {
			all.Go(func() {
				for i := range 6 {
					word := fmt.Sprint(p, i)
					if _, err := v.Add(t.Context(), EVM, secret.New(raw(word)), word); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if items, err := two.Items(t.Context()); err != nil || len(items) != 12 {
			t.Errorf("%d keys, %v", len(items), err)
		}
	})
}

func TestAVaultFileThatIsNoFileIsRefused(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendFile)
	path := v.store.(*fileStore).path
	for name, spoil := range map[string]func() error{
		"directory": func() error { return os.Mkdir(path, 0o700) },
		"too large": func() error { return os.WriteFile(path, make([]byte, maxFile+1), 0o600) },
		"no JSON":   func() error { return os.WriteFile(path, []byte("{"), 0o600) },
		"version":   func() error { return os.WriteFile(path, []byte(`{"coffer_vault_file":2,"records":{}}`), 0o600) },
		"unknown": func() error {
			return os.WriteFile(path, []byte(`{"coffer_vault_file":1,"records":{},"x":1}`),
				0o600)
		},
		"long": func() error {
			return os.WriteFile(path, []byte(`{"coffer_vault_file":1,"records":{"head":"`+strings.Repeat("x", 2049)+
				`"}}`), 0o600)
		},
	} {
		if err := errors.Join(os.RemoveAll(path), spoil()); err != nil {
			t.Fatal(err)
		}
		for verb, err := range map[string]error{"unlock": v.Unlock(t.Context(), pass()),
			"probe": v.Probe(t.Context())} {
			if err == nil && (name != "long" || verb != "probe") {
				t.Errorf("%s: %s succeeded", name, verb)
			}
		}
	}
	if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	o := b.options()
	o.Dir = path + "/below"
	if _, err := OpenFile(o); err == nil {
		t.Error("a directory below a file")
	}
}

func TestAnotherProgramThatHoldsTheLockIsNamed(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendFile)
	release, err := v.store.exclusive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	other := b.open(t, BackendFile)
	err = other.Probe(short)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "another program") {
		t.Error(err)
	}
	release()
	if err := other.Probe(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWhatACrashLeftBesideTheFileIsRemovedAndNothingElse(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendFile)
	item := mustAdd(t, v, EVM, "k")
	left, other := filepath.Join(b.dir, "."+filepath.Base(v.store.(*fileStore).path)+"-123"),
		filepath.Join(b.dir, ".vault-other-00.json-123")
	if err := errors.Join(os.WriteFile(left, []byte("half"), 0o600),
		os.WriteFile(other, []byte("half"), 0o600)); err != nil {
		t.Fatal(err)
	}
	lent(t, v, item.Address, "k")
	mustAdd(t, v, EVM, "next")
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Error("what a crash left is still there", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error("another vault's file was removed", err)
	}
}

func TestAStoreThatCannotBeWrittenSaysSoAndKeepsWhatItHas(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendFile)
	item := mustAdd(t, v, EVM, "k")
	path := v.store.(*fileStore).path
	// The new content cannot take the place of a directory that is not empty.
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := v.store.(*fileStore).write(records{Version: headVersion, Records: map[string]string{}}); err == nil {
		t.Fatal("a directory was replaced")
	}
	entries, err := os.ReadDir(b.dir)
	if err != nil || len(entries) != 2 { // the directory and the lock
		t.Error("something temporary is left", entries, err)
	}
	if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, kept, 0o600)); err != nil {
		t.Fatal(err)
	}
	lent(t, v, item.Address, "k")
}
