//go:build !unix

package cli

import (
	"fmt"
	"os"
)

// inherited takes standard input only: other descriptors have no numbers here.
func inherited(n int) (*os.File, error) {
	if n != 0 {
		return nil, &UsageError{Problem: fmt.Sprintf("this system has no file descriptor %d", n),
			Hint: "use --passphrase-fd 0 and standard input"}
	}
	return named(int(os.Stdin.Fd())) //nolint:forbidigo // the descriptor that the flag names
}
