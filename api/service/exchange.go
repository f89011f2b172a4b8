package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"coffer/api/files"
	"coffer/api/service/store"
	"coffer/api/service/store/pg"
)

// ErrCopyDiffers says that what was copied is not what is there now. Neither store serves until somebody has looked.
var ErrCopyDiffers = errors.New("the copy has other records than the original")

// Export writes the records of a database of PostgreSQL, as they are at one moment, to a new file of mode 0600 that is
// a coffer.db, and reads it back. A service that runs on the database goes on. A file that exists is ErrExists; what
// has the file's name is whole.
func Export(ctx context.Context, from *pg.Address, file string) (*store.Sum, error) {
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return nil, backupError(file, err)
	}
	part, err := os.MkdirTemp(filepath.Dir(file), filepath.Base(file)+".*.part")
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	defer func() { _ = os.RemoveAll(part) }()
	written := filepath.Join(part, DatabaseFile)
	sum := store.NewSum()
	err = store.WriteFile(written, func(put func(bucket string, key, value []byte) error) error {
		return pg.Export(ctx, from, func(bucket string, key, value []byte) error {
			sum.Add(bucket, key, value)
			return put(bucket, key, value)
		})
	})
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	read, err := sumOfFile(written)
	if err != nil || read.Hex() != sum.Hex() {
		return nil, fmt.Errorf("export: %w", errors.Join(ErrBadCopy, err))
	}
	if err = files.Claim(written, file); err != nil {
		return nil, backupError(file, err)
	}
	return sum, files.SyncDir(filepath.Dir(file))
}

func sumOfFile(file string) (*store.Sum, error) {
	sum := store.NewSum()
	return sum, store.EachOfFile(file, func(bucket string, key, value []byte) error {
		sum.Add(bucket, key, value)
		return nil
	})
}

// Import copies the records of a database file that no process has open into an empty database of PostgreSQL, in one
// commit, and reads them back.
func Import(ctx context.Context, file string, to *pg.Address) (*store.Sum, error) {
	sum := store.NewSum()
	err := pg.Import(ctx, to, pg.Options{Holder: "coffer serve import"},
		func(put func(bucket string, key, value []byte) error) error {
			return store.EachOfFile(file, func(bucket string, key, value []byte) error {
				sum.Add(bucket, key, value)
				return put(bucket, key, value)
			})
		})
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	read := store.NewSum()
	err = pg.Export(ctx, to, func(bucket string, key, value []byte) error {
		read.Add(bucket, key, value)
		return nil
	})
	if err != nil || read.Hex() != sum.Hex() {
		return nil, fmt.Errorf("import: %w", errors.Join(ErrCopyDiffers, err))
	}
	return sum, nil
}

// ExportAddress is the database of PostgreSQL that a data directory is served from.
func ExportAddress(dir string) (*pg.Address, error) {
	d, err := databaseOf(dir)
	if err == nil && d.text == "" {
		err = fmt.Errorf("the records of %s are in %s already: coffer serve backup copies it", dir, DatabaseFile)
	}
	if err != nil {
		return nil, err
	}
	return d.parsed()
}
