package service_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/api/network"
	"coffer/api/service"
	"coffer/api/service/access"
	"coffer/api/service/store"
	"coffer/api/service/store/pg"
	"coffer/api/service/store/storetest"
)

func storeAt(t *testing.T, text string) *pg.Address {
	t.Helper()
	a, err := pg.ParseAddress(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func at(t *testing.T, dir, address string) (*service.Attachment, error) {
	t.Helper()
	o := service.Options{Kind: network.Lab, Fund: true}
	if address != "" {
		o.Database = storeAt(t, address)
	}
	return service.OpenOrAttach(t.Context(), dir, o)
}

// The data directory finds its database again, and the network is the same whichever directory serves it.
func TestAServiceInPostgreSQLIsFoundByItsDirectory(t *testing.T) {
	address, dir := storetest.Schema(t), t.TempDir()
	a, err := at(t, dir, address)
	if err != nil {
		t.Fatal(err)
	}
	var held *service.Attachment
	if held, err = at(t, t.TempDir(), address); !errors.Is(err, store.ErrInUse) {
		t.Errorf("a second service opened the database: %v %v", held, err)
	}
	add := func(keys service.KeyAdmin) error {
		_, _, err := keys.Add(t.Context(), access.KeySpec{Company: "x", Project: "y"})
		return err
	}
	if err := service.AdministerKeys(t.Context(), dir, false, add); err != nil {
		t.Errorf("keys of a service that runs: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := service.AdministerKeys(t.Context(), dir, false, add); err != nil {
		t.Errorf("keys of a service that is stopped: %v", err)
	}
	b, err := at(t, t.TempDir(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if b.Network.ID != a.Network.ID {
		t.Errorf("the network is %s, and was %s", b.Network.ID, a.Network.ID)
	}
	keys, err := b.Service().Keys().List(t.Context())
	if err != nil || len(keys) != 2 {
		t.Errorf("%d keys, %v", len(keys), err)
	}
	if _, err := os.Lstat(filepath.Join(dir, service.DatabaseFile)); err == nil {
		t.Error("there is a file of a database as well")
	}
}

// A network never begins anew because its records were looked for in the wrong place.
func TestRecordsInAnotherStoreAreNotLeftBehind(t *testing.T) {
	address := storetest.Schema(t)
	t.Run("in a file", func(t *testing.T) {
		dir := t.TempDir()
		ended(t, dir)
		if _, err := at(t, dir, address); !errors.Is(err, service.ErrOtherStore) {
			t.Errorf("%v", err)
		}
	})
	dir := t.TempDir()
	a, err := at(t, dir, address)
	if err == nil {
		err = a.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Run("in PostgreSQL", func(t *testing.T) {
		_, err := at(t, dir, "")
		if !errors.Is(err, service.ErrOtherStore) || !strings.Contains(err.Error(), "--store") {
			t.Errorf("%v", err)
		}
		if _, err := service.BackUp(t.Context(), dir, filepath.Join(t.TempDir(), "copy")); !errors.Is(err,
			service.ErrNotHere) {
			t.Errorf("a backup: %v", err)
		}
	})
	t.Run("in another database", func(t *testing.T) {
		empty := storetest.Schema(t)
		if _, err := at(t, dir, empty); !errors.Is(err, service.ErrLost) {
			t.Errorf("an empty one: %v", err)
		}
		b, err := at(t, t.TempDir(), empty)
		if err == nil {
			err = b.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := at(t, dir, empty); err == nil || !strings.Contains(err.Error(), "another network") {
			t.Errorf("one of another network: %v", err)
		}
	})
}

// A network moves into PostgreSQL and back as what it is.
func TestANetworkMovesToPostgreSQLAndBack(t *testing.T) {
	dir, address := t.TempDir(), storetest.Schema(t)
	was, _ := ended(t, dir)
	file := filepath.Join(dir, service.DatabaseFile)
	there, err := service.Import(t.Context(), file, storeAt(t, address))
	if err != nil {
		t.Fatal(err)
	}
	aside := filepath.Join(t.TempDir(), "aside.db")
	if err := os.Rename(file, aside); err != nil {
		t.Fatal(err)
	}
	back := filepath.Join(t.TempDir(), "back.db")
	again, err := service.Export(t.Context(), storeAt(t, address), back)
	if err != nil || again.Hex() != there.Hex() {
		t.Fatalf("%v", err)
	}
	for _, where := range []string{address, ""} {
		a, err := at(t, dir, where)
		if err != nil {
			t.Fatal(err)
		}
		if a.Network.ID != was.ID {
			t.Errorf("%s has the network %s, and it was %s", where, a.Network.ID, was.ID)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if where != "" {
			if err := errors.Join(os.Remove(filepath.Join(dir, service.StoreFile)), os.Rename(back, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestTheFileThatNamesTheDatabaseHasNoPassword(t *testing.T) {
	dir, address := t.TempDir(), storetest.Schema(t)
	a, err := at(t, dir, address)
	if err == nil {
		err = a.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(filepath.Join(dir, service.StoreFile))
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(strings.TrimSpace(string(line)))
	if _, has := u.User.Password(); err != nil || has || u.String() != address {
		t.Errorf("%q: %v", line, err)
	}
}

// From a file to PostgreSQL and back every record is the same.
func TestRecordsMoveToPostgreSQLAndBack(t *testing.T) {
	dir := t.TempDir()
	file, back := filepath.Join(dir, "there.db"), filepath.Join(dir, "back.db")
	s, err := store.OpenBolt(file, store.BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for part := range 20 {
		if err := s.Update(func(tx store.Tx) error {
			for i := range 200 {
				k := fmt.Appendf(nil, "%d/%d", part, i)
				if err := tx.Bucket(fmt.Sprintf("Bucket-%d", i%3)).Put(k, bytes.Repeat(k, i)); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	address, ctx := storeAt(t, storetest.Schema(t)), t.Context()
	there, err := service.Import(ctx, file, address)
	if err != nil {
		t.Fatal(err)
	}
	again, err := service.Export(ctx, address, back)
	if err != nil || again.Hex() != there.Hex() || again.Records != 4000 {
		t.Fatalf("%d records, %v", again.Records, err)
	}
	if _, err := service.Import(ctx, back, address); !errors.Is(err, pg.ErrNotEmpty) {
		t.Errorf("a second import: %v", err)
	}
	if _, err := service.Export(ctx, address, back); !errors.Is(err, service.ErrExists) {
		t.Errorf("a second export: %v", err)
	}
}
