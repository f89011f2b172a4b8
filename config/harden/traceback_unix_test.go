//go:build unix

package harden

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestAFailureShowsOneGoroutine: with any GOTRACEBACK, a panic of the hardened process shows no other goroutine and no
// runtime frames (TH-K3). The process is the test's own program.
func TestAFailureShowsOneGoroutine(t *testing.T) {
	const child = "COFFER_TEST_FAILS"
	if os.Getenv(child) != "" {
		Process()
		fmt.Printf("arguments %q, GOTRACEBACK %q\n", os.Args[1:], os.Getenv("GOTRACEBACK"))
		started := make(chan struct{})
		go func() { close(started); select {} }()
		<-started
		panic("as asked")
	}
	for _, level := range []string{"crash", "all", "system", "2", "single", "none"} {
		args := []string{"-test.run=^TestAFailureShowsOneGoroutine$", "-test.v"}
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(without(os.Environ()), child+"=1", traceback+level)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "as asked") {
			t.Fatalf("%s: %v\n%s", level, err, out)
		}
		if !strings.Contains(string(out), fmt.Sprintf("arguments %q", args)) {
			t.Errorf("%s: it started over with other arguments\n%s", level, out)
		}
		if n := strings.Count(string(out), "\ngoroutine "); n > 1 || strings.Contains(string(out), "runtime.gopark") {
			t.Errorf("%s: %d goroutines\n%s", level, n, out)
		}
		if cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("%s: it ended with %s, expected exit code 2 as of a panic", level, cmd.ProcessState)
		}
	}
}

func TestOnlyTheWishForMoreIsTakenAway(t *testing.T) {
	for level, want := range map[string]bool{"": true, "none": true, "single": true, "all": false, "system": false,
		"crash": false, "wer": false, "0": false, "1": false} {
		if got := asksForLittle([]string{"A=b", traceback + level}); got != want {
			t.Errorf("%q: %v", level, got)
		}
	}
	if !asksForLittle([]string{"A=GOTRACEBACK=crash"}) ||
		asksForLittle([]string{"GOTRACEBACK=single", "GOTRACEBACK=crash"}) {
		t.Error("only the variable itself, and each time that it is there")
	}
	if got := without([]string{"A=b", "GOTRACEBACK=crash", "C=d", "GOTRACEBACK=all"}); !slices.Equal(got,
		[]string{"A=b", "C=d"}) {
		t.Errorf("%v", got)
	}
}
