//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Foreign reports whether a file belongs to another user than this one and the system's administrator.
func Foreign(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || s.Uid != 0 && int(s.Uid) != os.Geteuid()
}

func tryLock(f *os.File, _ uint32) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
