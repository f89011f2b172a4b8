package cli

import "golang.org/x/sys/unix"

// flushInput discards input that was typed and not read yet.
func flushInput(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) }
