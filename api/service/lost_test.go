package service_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"coffer/api/network"
	"coffer/api/service"
	"coffer/api/service/daemon"
	"coffer/api/service/devnet"
	"coffer/api/service/store"
)

// ended opens a network in a directory, closes it, and returns its descriptor and its files.
func ended(t *testing.T, dir string) (network.Descriptor, map[string][]byte) {
	t.Helper()
	a, err := service.OpenOrAttach(t.Context(), dir, service.Options{Kind: network.Lab, Fund: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return a.Network, files(t, dir)
}

// files reads all regular files of a directory.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			if out[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

func opens(t *testing.T, dir string) (network.Descriptor, error) {
	t.Helper()
	a, err := service.OpenOrAttach(t.Context(), dir, service.Options{Kind: network.Lab})
	if err != nil {
		return network.Descriptor{}, err
	}
	return a.Network, a.Close()
}

// A database that lost its seed, in any way, is refused while anything says that there was a network, and every file
// stays as it is.
func TestR1_ALostNetworkIsNoNewOne(t *testing.T) {
	whole := t.TempDir()
	_, _ = ended(t, whole)
	raw, err := os.ReadFile(filepath.Join(whole, service.DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	withBolt := func(change func(*bbolt.Tx) error) func(string) error {
		return func(path string) error {
			db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true})
			if err != nil {
				return err
			}
			return errors.Join(db.Update(change), db.Close())
		}
	}
	for name, c := range map[string]struct {
		damage func(path string) error
		left   string // besides the database
		want   error
	}{
		"deleted":                    {os.Remove, service.NetworkFile, service.ErrLost},
		"deleted, only a ca is left": {os.Remove, "ca.pem", service.ErrLost},
		"emptied": {func(p string) error { return os.Truncate(p, 0) }, service.NetworkFile,
			service.ErrLost},
		"torn": {func(p string) error { return os.Truncate(p, 300<<10) }, service.NetworkFile,
			store.ErrDamaged},
		"torn, nothing else is left": {func(p string) error { return os.Truncate(p, 300<<10) }, "", store.ErrDamaged},
		"another, empty database": {func(p string) error {
			return errors.Join(os.Remove(p), withBolt(func(*bbolt.Tx) error { return nil })(p))
		}, service.NetworkFile, service.ErrLost},
		"without its seed": {withBolt(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("installation")) }),
			service.NetworkFile, service.ErrLost},
		"without its seed, nothing else is left": {
			withBolt(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("installation")) }), "",
			devnet.ErrNoSeed,
		},
		"a seed of other bits": {withBolt(func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte("installation"))
			v := bytes.Clone(b.Get([]byte("seed")))
			v[7] ^= 1
			return b.Put([]byte("seed"), v)
		}), service.NetworkFile, store.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, service.DatabaseFile)
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			if c.left != "" {
				if err := os.WriteFile(filepath.Join(dir, c.left), []byte("what was"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.damage(path); err != nil {
				t.Fatal(err)
			}
			before := files(t, dir)
			if _, err := opens(t, dir); !errors.Is(err, c.want) || !service.IsDamage(err) {
				t.Errorf("opened: %v", err)
			}
			if _, err := (daemon.Keys{Dir: dir}).List(t.Context()); errors.Is(c.want, service.ErrLost) &&
				before[service.DatabaseFile] == nil && !errors.Is(err, c.want) {
				t.Errorf("keys: %v", err)
			}
			after := files(t, dir)
			for name, was := range before {
				if name != service.DatabaseFile && !bytes.Equal(after[name], was) {
					t.Errorf("%s was changed", name)
				}
			}
			if (after[service.DatabaseFile] == nil) != (before[service.DatabaseFile] == nil) ||
				len(after[service.DatabaseFile]) < len(before[service.DatabaseFile]) {
				t.Error("the database was changed")
			}
		})
	}
}

// renew opens a new network in a directory on purpose, and returns where the files of the old one are.
func renew(t *testing.T, dir string) (d network.Descriptor, aside []string, err error) {
	t.Helper()
	a, err := service.OpenOrAttach(t.Context(), dir, service.Options{Kind: network.Lab, New: true})
	if err != nil {
		return d, nil, err
	}
	aside, globbed := filepath.Glob(filepath.Join(dir, "before-*"))
	return a.Network, aside, errors.Join(globbed, a.Close())
}

// A new network on purpose: what is there is moved aside whole, damaged or not, and nothing is moved under a process
// that works there.
func TestR1_ANewNetworkOnPurposeDeletesNothing(t *testing.T) {
	dir := t.TempDir()
	first, aside, err := renew(t, dir)
	if err != nil || len(aside) != 0 {
		t.Fatalf("an empty directory: %v, %v", aside, err)
	}
	// it stays, and says that there was a network
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	second, aside, err := renew(t, dir)
	if err != nil || len(aside) != 1 || second.ID == first.ID {
		t.Fatalf("%s, %v, %v", second.ID, aside, err)
	}
	if info, err := os.Stat(aside[0]); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	moved := files(t, aside[0])
	for _, name := range []string{service.DatabaseFile, service.NetworkFile} {
		if !bytes.Equal(moved[name], before[name]) {
			t.Errorf("%s was not moved as it was", name)
		}
	}
	if again, err := opens(t, aside[0]); err != nil || again.ID != first.ID {
		t.Errorf("the old network: %s, %v", again.ID, err)
	}
	if here, err := opens(t, dir); err != nil || here.ID != second.ID {
		t.Errorf("the new network: %s, %v", here.ID, err)
	}

	if err := os.Truncate(filepath.Join(dir, service.DatabaseFile), 5000); err != nil {
		t.Fatal(err)
	}
	if _, aside, err := renew(t, dir); err != nil || len(aside) != 2 {
		t.Errorf("a damaged database: %v, %v", aside, err)
	}
	a, err := service.OpenOrAttach(t.Context(), dir, service.Options{Kind: network.Lab})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, _, err := renew(t, dir); !errors.Is(err, store.ErrInUse) {
		t.Errorf("under a running service: %v", err)
	}
	if here := files(t, dir); len(here[service.DatabaseFile]) == 0 || len(here[service.NetworkFile]) == 0 {
		t.Error("files were moved under a running service")
	}
}

// Keys may be made before the first start: a database with nothing else is no lost network.
func TestR1_KeysBeforeTheFirstStart(t *testing.T) {
	dir := t.TempDir()
	err := service.AdministerKeys(t.Context(), dir, true, func(service.KeyAdmin) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opens(t, dir); err != nil {
		t.Error(err)
	}
}
