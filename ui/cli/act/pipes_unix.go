//go:build unix

package act

import (
	"os"
	"os/signal"
	"syscall"
)

// keepGoing makes writing to a closed pipe an error instead of the end of the program, until the returned function is
// called. It takes the signal rather than ignoring it: programs started meanwhile, such as an external signer, would
// inherit that.
func keepGoing() (end func()) {
	taken := make(chan os.Signal, 1)
	signal.Notify(taken, syscall.SIGPIPE)
	return func() { signal.Stop(taken) }
}
