//go:build unix

package act

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// While a closed pipe is an error and not the end, a started program keeps the default: an external signer still ends
// at a closed pipe.
func TestKeepingGoingIsNotInherited(t *testing.T) {
	end := keepGoing()
	defer end()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Fatalf("writing for nobody: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "kill -PIPE $$")
	err = cmd.Run()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() ||
		status.Signal() != syscall.SIGPIPE {
		t.Errorf("a program that is started takes no notice of a closed pipe: %v", err)
	}
}
