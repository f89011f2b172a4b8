package journal

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

func lockFile(f *os.File) error {
	const lockedAt = 1 << 30 // beyond the note, which stays readable
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{Offset: lockedAt})
}

// othersMayWrite: access is governed by lists there, which the mode bits do not show.
func othersMayWrite(fs.FileMode) bool { return false }

// syncDir: the system has no such call.
func syncDir(string) error { return nil }
