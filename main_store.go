package main

import (
	"fmt"

	"coffer/api/service"
	"coffer/ui/cli"
)

// ofData says what to do about a data directory whose network is damaged or lost.
func ofData(err error, dir string) error {
	if err == nil || !service.IsDamage(err) {
		return err
	}
	return &cli.DataError{Err: err, Hint: fmt.Sprintf("restore a backup: put it in the place of coffer.db in %s\n"+
		"or begin a new network, on purpose: coffer serve --new --data %q moves what is there aside and deletes nothing", dir, dir)}
}
