package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"coffer/api/network"
	"coffer/api/service/devnet"
	"coffer/api/service/store"
	"coffer/api/service/store/pg"
)

// StoreFile is the name of a file in a data directory whose records are in PostgreSQL. Its one line is the address of
// the database, which has no password. Who administers the directory finds the database by it.
const StoreFile = "store"

// ErrOtherStore says that a service would begin anew in another store than the one that has its records. Nothing was
// changed.
var ErrOtherStore = errors.New("the records of the data directory are in another store")

// database is where the records of a data directory are: in a file there or, with an address, in PostgreSQL.
type database struct {
	dir     string
	text    string      // of the address, "" for a file
	address *pg.Address // nil until it is needed: its password may come through a pipe
}

// databaseOf finds the database of a data directory.
func databaseOf(dir string) (database, error) {
	line, err := os.ReadFile(filepath.Join(dir, StoreFile))
	if errors.Is(err, fs.ErrNotExist) {
		return database{dir: dir}, nil
	}
	if err != nil {
		return database{}, fmt.Errorf("find the database: %w", err)
	}
	return database{dir: dir, text: strings.TrimSpace(string(line))}, nil
}

// parsed is the address of the database, nil for a file.
func (d database) parsed() (*pg.Address, error) {
	if d.address != nil || d.text == "" {
		return d.address, nil
	}
	a, err := pg.ParseAddress(d.text)
	if err != nil {
		return nil, fmt.Errorf("%s in %s: %w", StoreFile, d.dir, err)
	}
	return a, nil
}

// toServe is the database that a service is to have, unless the directory's records are in another.
func toServe(dir string, wanted *pg.Address) (database, error) {
	d := database{dir: dir, address: wanted}
	if wanted == nil {
		line, err := os.ReadFile(filepath.Join(dir, StoreFile))
		if errors.Is(err, fs.ErrNotExist) {
			return d, nil
		}
		if err == nil {
			err = fmt.Errorf("%w, PostgreSQL: start it with --store %s", ErrOtherStore, strings.TrimSpace(string(line)))
		}
		return d, err
	}
	d.text = wanted.String()
	if _, err := os.Lstat(d.path()); !errors.Is(err, fs.ErrNotExist) {
		return d, fmt.Errorf("%w, the file %s: copy them with coffer serve import %s --store ADDRESS, then move the "+
			"file away", ErrOtherStore, DatabaseFile, d.path())
	}
	return d, nil
}

func (d database) path() string { return filepath.Join(d.dir, DatabaseFile) }

// exists reports whether a service ever ran in the directory.
func (d database) exists() bool {
	if d.text != "" {
		return true
	}
	_, err := os.Stat(d.path())
	return !errors.Is(err, fs.ErrNotExist)
}

// check refuses a database that is missing where there was one, before opening it makes one.
func (d database) check() error {
	if d.text != "" {
		return nil
	}
	return checkFile(d.dir)
}

// open opens the database for this process alone, as o says; o.Holder is the name of the program. One whose process
// answers on the local socket is store.ErrInUse.
func (d database) open(ctx context.Context, o pg.Options) (store.Store, error) {
	if d.text == "" {
		return store.OpenBolt(d.path(), store.BoltOptions{Wait: time.Millisecond, Holder: o.Holder})
	}
	if d.answers(ctx) {
		return nil, fmt.Errorf("%w: a process in %s", store.ErrInUse, d.dir)
	}
	address, err := d.parsed()
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	o.Holder = fmt.Sprintf("%s on %s, process %d", o.Holder, host, os.Getpid())
	s, err := pg.Open(ctx, address, o)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// answers reports whether a process listens on the local socket.
func (d database) answers(ctx context.Context) bool {
	c, err := new(net.Dialer).DialContext(ctx, "unix", filepath.Join(d.dir, SocketFile))
	return err == nil && c.Close() == nil
}

// expected is the id of the network that was served from a directory; "" when none is known.
func (d database) expected() (string, error) {
	raw, err := os.ReadFile(filepath.Join(d.dir, NetworkFile))
	if errors.Is(err, fs.ErrNotExist) || d.text == "" || unopened(d.dir) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	known, err := network.Decode(raw)
	return known.ID, err
}

// remember leaves word in the directory where its records are.
func (d database) remember() error {
	if d.text == "" {
		return nil
	}
	path, line := filepath.Join(d.dir, StoreFile), d.text+"\n"
	if was, err := os.ReadFile(path); err == nil && string(was) == line {
		return nil
	}
	return writeFile(path, []byte(line))
}

// ErrNotHere says that a command is about the file of a database, and the records are in PostgreSQL.
var ErrNotHere = errors.New("the records of this data directory are in PostgreSQL: coffer serve export FILE writes a " +
	"copy of them, and pg_dump backs the database up")

// InFile fails with ErrNotHere when the records of a data directory are not in a file there.
func InFile(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, StoreFile)); err == nil {
		return ErrNotHere
	}
	return nil
}

// errGeneration says what to do about a network of an earlier version in PostgreSQL, which is made anew in a file.
var errGeneration = errors.New("the network in the database is one of an earlier version: coffer serve export " +
	"coffer.db writes it to a file; let coffer serve open that in a data directory of its own, and import its " +
	"coffer.db into an empty database")

// renewable reports whether an error says that a network has to be made anew.
func renewable(err error) bool { return errors.Is(err, devnet.ErrVersion) }
