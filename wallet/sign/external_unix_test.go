//go:build unix

package sign

import (
	"errors"
	"testing"
	"time"
)

// TestACommandThatLeavesAnotherBehindIsNotWaitedFor: the other holds the command's output open for half a minute; the
// answer is over two seconds after the command's end.
func TestACommandThatLeavesAnotherBehindIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	v := verified(t)
	e := External{Command: []string{"/bin/sh", "-c", "cat >/dev/null; sleep 30 &"}, Network: network}
	began := time.Now()
	if sig, err := e.SignUserOp(t.Context(), v.userOp); sig != nil || !errors.Is(err, ErrExternal) {
		t.Errorf("%x, %v", sig, err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}
