//go:build unix

package act

import (
	"os/signal"
	"syscall"
)

// keepGoing makes writing to a closed pipe an error instead of the end of the program, until what it returns is called.
func keepGoing() (end func()) {
	signal.Ignore(syscall.SIGPIPE)
	return func() { signal.Reset(syscall.SIGPIPE) }
}
