// Package storetest gives tests a store: one in memory or, when the test binary was given the address of a database
// (-args -postgres ADDRESS), one in a schema of its own there, which is dropped with the test.
package storetest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"flag"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"coffer/api/service/store"
	"coffer/api/service/store/pg"
)

var address = flag.String("postgres", "", "the `ADDRESS` of a database of PostgreSQL that tests may make schemas in")

// PostgreSQL reports whether stores are in a database of PostgreSQL.
func PostgreSQL() bool { return *address != "" }

// New is an empty store that the test owns.
func New(t testing.TB) store.Store {
	t.Helper()
	if !PostgreSQL() {
		return store.NewMemory()
	}
	return Open(t, Schema(t))
}

// Schema is the address of an empty schema. Without a database the test is skipped.
func Schema(t testing.TB) string {
	t.Helper()
	if !PostgreSQL() {
		t.Skip("needs -args -postgres ADDRESS; .ci/run replicas gives one")
	}
	var raw [8]byte
	if _, err := rand.Read(raw[:]); err != nil {
		t.Fatal(err)
	}
	name := "t" + hex.EncodeToString(raw[:])
	Exec(t, *address, `create schema `+name)
	t.Cleanup(func() { Exec(t, *address, `drop schema `+name+` cascade`) })
	u, err := url.Parse(*address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// Exec runs a statement on a connection of its own.
func Exec(t testing.TB, address, sql string, args ...any) {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Exec(ctx, sql, args...)
	if err = errors.Join(err, c.Close(ctx)); err != nil {
		t.Fatal(err)
	}
}

// Open opens the store of an address, until the test ends.
func Open(t testing.TB, address string) *pg.Store {
	t.Helper()
	return open(t, address, pg.Options{Holder: "test"})
}

// OpenShared opens the store of an address as one of several processes, until the test ends.
func OpenShared(t testing.TB, address string) *pg.Store {
	t.Helper()
	return open(t, address, pg.Options{Holder: "test", Shared: true})
}

func open(t testing.TB, address string, o pg.Options) *pg.Store {
	t.Helper()
	a, err := pg.ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	s, err := pg.Open(context.Background(), a, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // it returns nil
	return s
}
