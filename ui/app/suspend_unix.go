//go:build unix

package app

import (
	"os"
	"os/signal"
	"syscall"
)

// lockOnSuspend locks the keys before the process is suspended, for the linear mode; the screens do so themselves. The
// returned function cancels it.
func lockOnSuspend(lock, stop func()) (end func()) {
	suspend, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(suspend, syscall.SIGTSTP)
	go func() {
		for {
			select {
			case <-suspend:
				lock()
				stop()
			case <-done:
				return
			}
		}
	}()
	return func() { signal.Stop(suspend); close(done) }
}

// stopProcess stops this process until a shell continues it. Once Go has handled SIGTSTP it never gives the signal
// back to the system; SIGSTOP has the same effect.
func stopProcess() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }
