//go:build !unix

package act

import "os"

// inherited takes standard input only: other descriptors have no numbers here.
func inherited(n int) (*os.File, error) {
	if n != 0 {
		return nil, usage("use --passphrase-fd 0 and standard input", "this system has no file descriptor %d", n)
	}
	return named(int(os.Stdin.Fd())) //nolint:forbidigo // the descriptor that the flag names
}
