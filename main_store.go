package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"coffer/api/service"
	"coffer/api/service/daemon"
	"coffer/config"
	"coffer/ui/cli"
)

// storeCommands answers `coffer serve check` and `coffer serve backup`.
type storeCommands struct{}

// Check reads a database.
func (storeCommands) Check(_ context.Context, data, file string) error {
	dir, err := config.ServiceData(data, os.Getenv)
	if err != nil {
		return err
	}
	return ofFile(ofData(daemon.Check(dir, file, os.Stdout), dir))
}

// Backup copies a database.
func (storeCommands) Backup(ctx context.Context, data, file string) error {
	dir, err := config.ServiceData(data, os.Getenv)
	if err != nil {
		return err
	}
	return ofFile(ofData(daemon.Backup(ctx, dir, file, os.Stdout), dir))
}

// ofFile says of a file that is named that it is a matter of the command line.
func ofFile(err error) error {
	if errors.Is(err, service.ErrExists) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return cli.InFile(err)
	}
	return err
}

// ofData says what to do about a data directory whose network is damaged or lost.
func ofData(err error, dir string) error {
	if err == nil || !service.IsDamage(err) {
		return err
	}
	return &cli.DataError{Err: err, Hint: fmt.Sprintf("restore a backup: put it in the place of coffer.db in %s\n"+
		"or begin a new network, on purpose: coffer serve --new --data %q moves what is there aside and deletes nothing", dir, dir)}
}
