package cli

import "golang.org/x/sys/unix"

// flushInput throws away what was typed and not read yet.
func flushInput(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) }
