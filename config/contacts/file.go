package contacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"coffer/api/files"
	"coffer/config"
)

// Path is the file of contacts beside a configuration file.
func Path(configuration string) string {
	return filepath.Join(filepath.Dir(configuration), "contacts.json")
}

// Load reads the book at a path. A missing file is an empty book; one that others may write, or that does not read, is
// a *config.Error.
func Load(path string) (Book, error) {
	f, err := files.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	if err := config.CheckMode(path); err != nil {
		return nil, err
	}
	b, err := parseFile(data)
	if err != nil {
		return nil, &config.Error{Path: path, Problem: err.Error() + "; repair the file, or move it away"}
	}
	return b, nil
}

// parseFile is Parse for the file itself, which is never a table.
func parseFile(data []byte) (Book, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("it has more than %d bytes", MaxBytes)
	}
	return parseJSON(data)
}

// lockWait bounds the wait for another process that writes the book.
const lockWait = 5 * time.Second

// Change replaces the book at a path with what edit makes of it, and returns the new one. Other processes wait
// meanwhile, so that no change is lost; when edit fails the file stays as it is.
func Change(ctx context.Context, path string, edit func(Book) (Book, error)) (_ Book, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("write contacts: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(filepath.Dir(path), ".contacts.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write contacts: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	ctx, stop := context.WithTimeout(ctx, lockWait)
	defer stop()
	if err := files.Lock(ctx, lock, 0); err != nil {
		return nil, fmt.Errorf("another program is writing the contacts: %w", err)
	}
	before, err := Load(path)
	if err != nil {
		return nil, err
	}
	after, err := edit(before)
	if err != nil {
		return nil, err
	}
	data, err := after.JSON()
	if err == nil && len(data) > MaxBytes {
		err = fmt.Errorf("the book would have more than %d bytes", MaxBytes)
	}
	if err != nil {
		return nil, err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // the link stays
	}
	if err := files.Replace(path, ".contacts-*", data); err != nil {
		return nil, fmt.Errorf("write contacts: %w", err)
	}
	return after, files.SyncDir(filepath.Dir(path))
}
