//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// inherited opens a descriptor that this program was started with. Descriptors that the program opened itself close on
// exec and are refused.
func inherited(n int) (*os.File, error) {
	if n < 0 || n == 1 || n == 2 {
		return nil, notInherited(n)
	}
	flags, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC != 0 {
		return nil, notInherited(n)
	}
	unix.CloseOnExec(n) // a signer command must not get it
	return named(n)
}
