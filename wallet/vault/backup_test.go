package vault

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"

	"coffer/api/secret"
)

func TestABackupBringsEveryKeyBack(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *bench, backend Backend) {
		v := b.created(t, backend)
		evm, sol := mustAdd(t, v, EVM, "first"), mustAdd(t, v, Solana, "second")
		if _, err := v.Add(t.Context(), EVM, secret.New(raw("third")), `quotes " and \ and 日本`); err != nil {
			t.Fatal(err)
		}
		if err := v.SetAPIKey(t.Context(), secret.New([]byte("api-1"))); err != nil {
			t.Fatal(err)
		}
		text, err := v.Backup(t.Context(), wrong())
		if err != nil {
			t.Fatal(err)
		}
		before, err := v.Items(t.Context())
		if err != nil {
			t.Fatal(err)
		}

		fresh := newBench(t)
		to := fresh.created(t, BackendFile)
		_, err = to.Restore(t.Context(), text, pass())
		want(t, err, ErrPassphrase)
		fresh.clock.advance(4 * 60e9)
		added, err := to.Restore(t.Context(), text, wrong())
		if err != nil || len(added) != 3 {
			t.Fatal(added, err)
		}
		after, err := to.Items(t.Context())
		if err != nil || fmt.Sprint(after) != fmt.Sprint(before) || fmt.Sprint(added) != fmt.Sprint(before) {
			t.Errorf("%v\n%v\n%v %v", before, after, added, err)
		}
		lent(t, to, evm.Address, "first")
		lent(t, to, sol.Address, "second")
		if err := to.APIKey(t.Context(), func(k secret.Secret) error {
			if string(k.Reveal()) != "api-1" {
				t.Error("another API key")
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRestoreNeverOverwrites(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendFile)
	mustAdd(t, v, EVM, "both")
	mustAdd(t, v, EVM, "only in the backup")
	if err := v.SetAPIKey(t.Context(), secret.New([]byte("old"))); err != nil {
		t.Fatal(err)
	}
	text, err := v.Backup(t.Context(), pass())
	if err != nil {
		t.Fatal(err)
	}
	to := newBench(t).created(t, BackendKeyring)
	kept, err := to.Add(t.Context(), EVM, secret.New(raw("both")), "my own name for it")
	if err != nil {
		t.Fatal(err)
	}
	if err := to.SetAPIKey(t.Context(), secret.New([]byte("new"))); err != nil {
		t.Fatal(err)
	}
	for round, count := range []int{1, 0} {
		if added, err := to.Restore(t.Context(), text, pass()); err != nil || len(added) != count {
			t.Fatalf("round %d: %v %v", round, added, err)
		}
	}
	items, err := to.Items(t.Context())
	if err != nil || len(items) != 2 || items[0] != kept && items[1] != kept {
		t.Error(items, err)
	}
	if err := to.APIKey(t.Context(), func(k secret.Secret) error {
		if string(k.Reveal()) != "new" {
			t.Error("the API key was overwritten")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestABackupOfAnotherNetworkIsRefusedUnlessItIsNamed(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendFile)
	item := mustAdd(t, v, EVM, "k")
	if err := v.SetAPIKey(t.Context(), secret.New([]byte("api"))); err != nil {
		t.Fatal(err)
	}
	text, err := v.Backup(t.Context(), pass())
	if err != nil {
		t.Fatal(err)
	}
	foreign := b.open(t, BackendFile, func(o *Options) { o.NetworkID = elsewhere })
	if err := foreign.Create(t.Context(), pass()); err != nil {
		t.Fatal(err)
	}
	_, err = foreign.Restore(t.Context(), text, pass())
	want(t, err, ErrNetwork)
	_, err = foreign.RestoreFrom(t.Context(), elsewhere, text, pass())
	want(t, err, ErrNetwork)
	if items, err := foreign.Items(t.Context()); err != nil || len(items) != 0 {
		t.Fatal(items, err)
	}
	added, err := foreign.RestoreFrom(t.Context(), here, text, pass())
	if err != nil || len(added) != 1 || added[0].Network != elsewhere || added[0].Address != item.Address {
		t.Fatal(added, err)
	}
	want(t, foreign.APIKey(t.Context(), func(secret.Secret) error { return nil }), ErrNoKey)
	want(t, foreign.Use(t.Context(), here, item.Address, func(secret.Secret) error { return nil }), ErrNetwork)
}

func TestABackupIsMadeByAnUnlockedVaultUnderAStrongPassphrase(t *testing.T) {
	v := newBench(t).created(t, BackendFile)
	_, err := v.Backup(t.Context(), secret.New([]byte("short")))
	want(t, err, ErrWeakPassphrase)
	text, err := v.Backup(t.Context(), pass()) // of an empty vault
	if err != nil {
		t.Fatal(err)
	}
	if added, err := v.Restore(t.Context(), text, pass()); err != nil || len(added) != 0 {
		t.Error(added, err)
	}
	v.Lock()
	_, err = v.Backup(t.Context(), pass())
	want(t, err, ErrLocked)
	_, err = v.Restore(t.Context(), text, pass())
	want(t, err, ErrLocked)
}

// TestAnyAgeProgramOpensABackup reads a backup as the age tool would.
func TestAnyAgeProgramOpensABackup(t *testing.T) {
	v := newBench(t).created(t, BackendFile)
	mustAdd(t, v, EVM, "k")
	text, err := v.Backup(t.Context(), pass())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), base64.StdEncoding.EncodeToString(raw("k"))) {
		t.Fatal("the key is readable")
	}
	identity, err := age.NewScryptIdentity("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	r, err := age.Decrypt(armor.NewReader(bytes.NewReader(text)), identity)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil || !bytes.Contains(plain, []byte(base64.StdEncoding.EncodeToString(raw("k")))) {
		t.Fatal(string(plain), err)
	}
	// The same document without armour.
	bare, err := encrypt(plain, pass(), 1)
	if err != nil {
		t.Fatal(err)
	}
	to := newBench(t).created(t, BackendFile)
	if added, err := to.Restore(t.Context(), bare, pass()); err != nil || len(added) != 1 {
		t.Error(added, err)
	}
}

func TestABackupThatDoesNotAddUpIsRefusedWhole(t *testing.T) {
	v := newBench(t).created(t, BackendFile)
	address, err := AddressOf(EVM, secret.New(raw("k")))
	if err != nil {
		t.Fatal(err)
	}
	good := backupItem{EVM, address, "", 0, raw("k")}
	change := func(fn func(*backupItem)) []backupItem { i := good; fn(&i); return []backupItem{good, i} }
	for name, b := range map[string]backup{
		"version":  {Version: 2, Network: here},
		"network":  {Version: 1, Network: "0xaa"},
		"address":  {Version: 1, Network: here, Items: change(func(i *backupItem) { i.Address = "0x00" })},
		"key":      {Version: 1, Network: here, Items: change(func(i *backupItem) { i.Key = raw("other") })},
		"kind":     {Version: 1, Network: here, Items: change(func(i *backupItem) { i.Kind = "paper" })},
		"label":    {Version: 1, Network: here, Items: change(func(i *backupItem) { i.Label = "\x1b" })},
		"API key":  {Version: 1, Network: here, APIKey: []byte("with space")},
		"too many": {Version: 1, Network: here, Items: make([]backupItem, maxKeys+1)},
	} {
		text, err := b.encrypt(pass(), 1)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := v.Restore(t.Context(), text, pass()); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string][]byte{
		"empty": nil, "armour": []byte(armor.Header + "\nAAAA\n"), "huge": make([]byte, maxBackup+1),
		"no JSON":        encrypted(t, []byte("{")),
		"unknown member": encrypted(t, []byte(`{"coffer_backup":1,"x":1}`)),
		"trailing":       encrypted(t, []byte(`{"coffer_backup":1} {}`)),
	} {
		if _, err := v.Restore(t.Context(), text, pass()); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if items, err := v.Items(t.Context()); err != nil || len(items) != 0 {
		t.Error("a refused backup left keys behind", items, err)
	}
}

func encrypted(t testing.TB, plain []byte) []byte {
	t.Helper()
	doc, err := encrypt(plain, pass(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestARestoreThatFailsHalfwaySaysWhatItDid(t *testing.T) {
	v := newBench(t).created(t, BackendFile)
	mustAdd(t, v, EVM, "one")
	mustAdd(t, v, EVM, "two")
	text, err := v.Backup(t.Context(), pass())
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	to := b.created(t, BackendKeyring)
	failing(b, 2)
	added, err := to.Restore(t.Context(), text, pass())
	if err == nil || len(added) != 1 || !strings.Contains(err.Error(), "restored 1 keys") {
		t.Fatal(added, err)
	}
	b.ring.hinder(nil)
	if added, err := to.Restore(t.Context(), text, pass()); err != nil || len(added) != 1 {
		t.Error("the restore does not go on", added, err)
	}
}
