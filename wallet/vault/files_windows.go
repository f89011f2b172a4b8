package vault

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

func lockFile(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{})
}

// Access is governed by lists there, which the mode bits do not show.
func othersMayWrite(fs.FileMode) bool { return false }

func othersMayRead(fs.FileMode) bool { return false }

func ownedByUs(fs.FileInfo) bool { return true }

func openPrivate(path string) (*os.File, error) { return os.Open(path) }

// syncDir: the system has no such call.
func syncDir(string) error { return nil }
