package store

import (
	"errors"
	"os/signal"
	"syscall"
	"testing"
)

// A commit that the system refuses is said to be one, undone, and forgotten with the next that succeeds.
func TestR6_ACommitThatFailsIsSaid(t *testing.T) {
	s := mustOpen(t, testPath(t), BoltOptions{})
	if err := write(s, 1, func() {}); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	err := write(s, 16<<10, func() {})
	if undo := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); undo != nil {
		t.Fatal(undo)
	}
	if !errors.Is(err, ErrNotWritten) || errors.Is(err, ErrFull) {
		t.Errorf("%v", err)
	}
	if _, why := Trouble(s); !errors.Is(why, ErrNotWritten) {
		t.Errorf("trouble: %v", why)
	}
	if err := write(s, 2, func() {}); err != nil {
		t.Fatal(err)
	}
	if _, why := Trouble(s); why != nil {
		t.Errorf("trouble after a commit: %v", why)
	}
	wrong := errors.New("the function's own")
	if err := s.Update(func(Tx) error { return wrong }); !errors.Is(err, wrong) || errors.Is(err, ErrNotWritten) {
		t.Errorf("%v", err)
	}
	for _, err := range []error{syscall.ENOSPC, errors.New("file resize error: " + syscall.ENOSPC.Error())} {
		if full := s.(*boltStore).committed(&boltTx{good: true}, err); !errors.Is(full, ErrFull) ||
			!errors.Is(full, ErrNotWritten) {
			t.Errorf("%v: %v", err, full)
		}
	}
}
