// Package files helps with files that belong to one person or one process: it tells who else may write or read them,
// locks them between processes, and replaces their content as a whole.
//
// Where the system does not say who may use a file, the answer is that no one else may. That is so on Windows, whose
// access lists do not show in the mode of a file. Sources: TH-C3, TH-K1.
package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// OthersMayWrite reports whether the mode of a file lets other users write.
func OthersMayWrite(info fs.FileInfo) bool { return lets(info, 0o022) }

// OthersMayRead reports whether the mode of a file lets other users read, write or enter.
func OthersMayRead(info fs.FileInfo) bool { return lets(info, 0o077) }

func lets(info fs.FileInfo, mode fs.FileMode) bool {
	return info.Mode().Perm()&mode != 0 && runtime.GOOS != "windows"
}

// Changeable says why another user can change a file or a directory and how to end that; "" when none can. In a
// directory with the sticky bit only the owner of a file can replace it.
func Changeable(path string, info fs.FileInfo) string {
	switch sticky := info.IsDir() && info.Mode()&fs.ModeSticky != 0; {
	case OthersMayWrite(info) && !sticky:
		return fmt.Sprintf("others may write here (mode %o); run: chmod go-w %q", info.Mode().Perm(), path)
	case Foreign(info):
		return "this belongs to another user, who may change it at any time"
	}
	return ""
}

// Open opens a file for reading without waiting for the writer of a named pipe.
func Open(path string) (*os.File, error) {
	flag := os.O_RDONLY
	if runtime.GOOS != "windows" {
		flag |= syscall.O_NONBLOCK
	}
	return os.OpenFile(path, flag, 0)
}

// Replace writes a file as a whole, mode 0600: under a new name beside it first, made of the pattern as os.CreateTemp
// does. A reader sees the old content or the new, and so does who comes after a crash; SyncDir makes the new one last.
func Replace(path, pattern string, content []byte) error {
	return write(path, pattern, content, (*os.File).Sync, rename)
}

// Create is Replace for a file that is not there yet, fs.ErrExist where it is.
func Create(path, pattern string, content []byte) error {
	return write(path, pattern, content, (*os.File).Sync, func(from, to string) error {
		err := Claim(from, to)
		if gone := os.Remove(from); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return err
	})
}

// Claim gives a finished file a name that no file has yet, fs.ErrExist where one has it. The old name may stay.
func Claim(from, to string) error {
	err := os.Link(from, to)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return os.Rename(from, to) // a file system without links
	}
	return err
}

// Pass is Replace for a file that need not outlive the system: it waits for no disk.
func Pass(path, pattern string, content []byte) error {
	return write(path, pattern, content, func(*os.File) error { return nil }, rename)
}

func rename(from, to string) error {
	err := os.Rename(from, to)
	if err != nil {
		err = errors.Join(err, os.Remove(from))
	}
	return err
}

func write(path, pattern string, content []byte, sync func(*os.File) error, place func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), pattern) // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = sync(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		return place(f.Name(), path)
	}
	return errors.Join(err, os.Remove(f.Name()))
}

// Lock waits until it has locked an open file against other processes, which ends when the file is closed, or until ctx
// ends. at is a byte that others cannot read meanwhile on Windows.
func Lock(ctx context.Context, f *os.File, at uint32) error {
	again := time.NewTicker(15 * time.Millisecond)
	defer again.Stop()
	for tryLock(f, at) != nil {
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// SyncDir makes the names in a directory durable, where the system can.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
