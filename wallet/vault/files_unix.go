//go:build unix

package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func lockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

func othersMayWrite(m fs.FileMode) bool { return m.Perm()&0o022 != 0 }

func othersMayRead(m fs.FileMode) bool { return m.Perm()&0o077 != 0 }

// ownedByUs reports whether a file belongs to this user, or to the system's administrator.
func ownedByUs(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(s.Uid) == os.Geteuid() || s.Uid == 0)
}

// openPrivate opens a file for reading without waiting for the writer of a named pipe.
func openPrivate(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// syncDir makes the change of an entry in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("vault directory: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("vault directory: %w", err)
	}
	return nil
}
