package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
	"coffer/api/service/chain/evm"
	"coffer/api/service/chain/solana"
	"coffer/api/service/devnet"
	"coffer/api/service/remotenet"
	"coffer/api/service/store"
)

// ErrLost says that a data directory had a network whose database is gone, empty, or without its seed. Nothing was
// changed: with a new seed it would be another network, with other keys and other addresses, under the name of the
// first.
var ErrLost = errors.New("the network of the data directory is lost")

// evidence names the files of a data directory that only a network which was opened there leaves.
func evidence(dir string) (names []string) {
	for _, name := range []string{NetworkFile, caFile, caKeyFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil && (name != NetworkFile || !unopened(dir)) {
			names = append(names, name)
		}
	}
	return names
}

// unopened reports whether the descriptor of a directory is one that no service has opened yet: the contracts of a
// network on nodes were deployed, and no keys were made.
func unopened(dir string) bool {
	raw, err := os.ReadFile(filepath.Join(dir, NetworkFile))
	if err != nil {
		return false
	}
	d, err := network.Decode(raw)
	return err == nil && (d.OnOwnNodes() || d.OnNodes()) && d.Pins.Operator == (common.Address{})
}

// checkFile refuses to make a database where one is missing. It is asked before the database is opened, as that would
// make the file.
func checkFile(dir string) error {
	left := evidence(dir)
	if len(left) == 0 {
		return nil
	}
	info, err := os.Stat(filepath.Join(dir, DatabaseFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return lost(dir, DatabaseFile+" is missing", left)
	case err == nil && info.Size() == 0:
		return lost(dir, DatabaseFile+" is empty", left)
	}
	return nil // what else is wrong with it, opening it says
}

// checkSeed refuses a database that holds no network where there was one.
func checkSeed(dir string, s store.Store) error {
	left := evidence(dir)
	if len(left) == 0 {
		return nil
	}
	exists, err := devnet.Exists(s)
	if err == nil && !exists {
		exists, err = remotenet.Exists(s)
	}
	if err == nil && !exists {
		err = lost(dir, "the database has no seed", left)
	}
	return err
}

func lost(dir, how string, left []string) error {
	return fmt.Errorf("%w: in %s %s, while %s is there", ErrLost, dir, how, strings.Join(left, " and "))
}

// moveAside makes room for a new network: it moves database and network.json of a data directory into a new directory
// inside, whose path it returns, "" when there was nothing to move. The certificate authority stays, as clients trust
// it whatever the network. A directory that a process works in is store.ErrInUse. Nothing is deleted.
func moveAside(dir string, now time.Time) (aside string, err error) {
	if err := checkDir(dir); err != nil {
		return "", err
	}
	if err := store.CheckFree(filepath.Join(dir, DatabaseFile)); err != nil {
		return "", err
	}
	for _, name := range []string{DatabaseFile, NetworkFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if aside == "" {
			// mode 0700
			if aside, err = os.MkdirTemp(dir, "before-"+now.UTC().Format("20060102T150405Z")+"-"); err != nil {
				return "", fmt.Errorf("make room for a new network: %w", err)
			}
		}
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(aside, name)); err != nil {
			return aside, fmt.Errorf("make room for a new network: %w", err)
		}
	}
	return aside, nil
}

// IsDamage reports whether an error says that a stored network is damaged or lost: a backup has to take its place, or a
// new one.
func IsDamage(err error) bool {
	for _, damage := range []error{ErrLost, devnet.ErrNoSeed, store.ErrDamaged, evm.ErrDamaged, solana.ErrDamaged} {
		if errors.Is(err, damage) {
			return true
		}
	}
	return false
}
