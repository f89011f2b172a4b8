//go:build unix

package settle_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	. "coffer/api/service/settle/settletest"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// Environment of the process that kills itself.
const (
	crashFile  = "COFFER_TEST_CRASH_FILE"
	crashStep  = "COFFER_TEST_CRASH_STEP"
	crashStory = "COFFER_TEST_CRASH_STORY"
)

// crash tells a story on a file and kills its own process after the given commit.
func crash(t *testing.T) {
	at, err := strconv.Atoi(os.Getenv(crashStep))
	Must(t, err)
	number, err := strconv.Atoi(os.Getenv(crashStory))
	Must(t, err)
	s, err := store.OpenBolt(os.Getenv(crashFile), store.BoltOptions{})
	Must(t, err)
	stories()[number].tell(t, s, func(n int, _ string) {
		if n == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	t.Fatalf("step %d never came", at)
}

func TestKilledAfterAnyCommitTheSagaEndsWithSumsIntact(t *testing.T) {
	if os.Getenv(crashFile) != "" { // this is the process that crashes
		crash(t)
		return
	}
	t.Parallel()
	for number, y := range stories() {
		var steps []string
		clean := y.tell(t, storetest.New(t), func(_ int, step string) { steps = append(steps, step) })
		if len(steps) < 2 {
			t.Fatalf("only %d steps: %v", len(steps), steps)
		}
		for i, step := range steps {
			if (i+number)%stride(3) != 0 && i != len(steps)-1 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d %s", y.name, i, step), func(t *testing.T) {
				y.killAndResume(t, number, i+1, i+1 == len(steps), clean)
			})
		}
	}
}

func (y story) killAndResume(t *testing.T, number, step int, last bool, clean *World) {
	path := filepath.Join(t.TempDir(), "coffer.db")
	c := exec.Command(os.Args[0], "-test.run=^TestKilledAfterAnyCommitTheSagaEndsWithSumsIntact$")
	c.Env = append(os.Environ(), crashFile+"="+path, fmt.Sprintf("%s=%d", crashStep, step),
		fmt.Sprintf("%s=%d", crashStory, number))
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the process was not killed: %v\n%s", err, out)
	}
	s, err := store.OpenBolt(path, store.BoltOptions{})
	Must(t, err)
	defer func() { Must(t, s.Close()) }()
	w := y.open(t, s, nil)
	defer func() { Must(t, w.Settler.Close()) }()
	open, err := w.Book.Open(context.Background())
	Must(t, err)
	if want := 1; last && len(open) != 0 || !last && len(open) != want {
		t.Fatalf("%d quotes are open after the crash", len(open))
	}
	Must(t, w.Settler.Resume(context.Background()))
	Must(t, w.Settler.Idle(context.Background()))
	y.sameEnd(t, w, clean)
}
