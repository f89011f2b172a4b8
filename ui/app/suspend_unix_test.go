//go:build unix

package app

import (
	"os"
	"syscall"
	"testing"
)

func TestK6TheKeysAreLockedBeforeTheProcessIsSuspended(t *testing.T) {
	order := make(chan string, 4)
	end := lockOnSuspend(func() { order <- "locked" }, func() { order <- "stopped" })
	defer end()
	for range 2 {
		if err := syscall.Kill(os.Getpid(), syscall.SIGTSTP); err != nil {
			t.Fatal(err)
		}
		if a, b := <-order, <-order; a != "locked" || b != "stopped" {
			t.Errorf("%s, then %s", a, b)
		}
	}
}
