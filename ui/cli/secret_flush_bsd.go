//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package cli

import "golang.org/x/sys/unix"

// flushInput throws away what was typed and not read yet.
func flushInput(fd uintptr) {
	const queued = 1 // FREAD: what came in
	_ = unix.IoctlSetPointerInt(int(fd), unix.TIOCFLUSH, queued)
}
