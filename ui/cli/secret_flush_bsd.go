//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package cli

import "golang.org/x/sys/unix"

// flushInput discards input that was typed and not read yet.
func flushInput(fd uintptr) {
	const queued = 1 // FREAD: the input
	_ = unix.IoctlSetPointerInt(int(fd), unix.TIOCFLUSH, queued)
}
