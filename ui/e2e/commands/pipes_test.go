//go:build unix

package commands

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"coffer/ui/e2e/rig"
)

// leaves is the writing end of a pipe whose reader reads n bytes and goes away.
func leaves(t *testing.T, n int64) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		_ = r.Close()
	} else {
		go func() {
			_, _ = io.CopyN(io.Discard, r, n)
			_ = r.Close()
		}()
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// into runs a command with the given standard output and error.
func into(s rig.Script, out, errs io.Writer, args ...string) *exec.Cmd {
	s.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		s.Fatal(err)
	}
	_, err = w.WriteString(s.Pass + "\n")
	cmd := exec.CommandContext(s.Context(), rig.Program(), append(args, "--passphrase-fd", "3")...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = s.Env, out, errs, []*os.File{r}
	if err = errors.Join(err, cmd.Start()); err != nil {
		s.Fatal(err)
	}
	_ = cmd.Wait()
	_ = errors.Join(r.Close(), w.Close())
	return cmd
}

// TestAReaderThatLeavesEndsALookQuietly: as after `| head -1`, with no word about it.
func TestAReaderThatLeavesEndsALookQuietly(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	for _, args := range []string{"assets --json", "assets", "chains", "balances", "history --csv", "export",
		"plan --template", "verify --schema", "version", "--help", "accounts list"} {
		for _, n := range []int64{0, 10} {
			var errs bytes.Buffer
			cmd := exec.CommandContext(t.Context(), rig.Program(), strings.Fields(args)...)
			cmd.Env, cmd.Stdout, cmd.Stderr = env, leaves(t, n), &errs
			err := cmd.Run()
			status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
			quiet := err == nil || status.Signaled() && status.Signal() == syscall.SIGPIPE
			if !quiet || strings.Contains(errs.String(), "coffer: ") {
				t.Errorf("coffer %s: %v, said %s", args, err, errs.String())
			}
			if n == 0 && err == nil && !strings.HasPrefix(args, "history") {
				t.Errorf("coffer %s printed nothing", args)
			}
		}
	}
}

// TestAReaderThatLeavesDoesNotStopWhatIsBeingSent: progress that nobody reads changes nothing, and a result that cannot
// be printed is told by 6, not by a code that would make a script send it again.
func TestAReaderThatLeavesDoesNotStopWhatIsBeingSent(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t)
	s := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	var out, errs bytes.Buffer
	if code := into(s, &out, leaves(t, 0), rig.Pays(t, "call", "--yes", "--accept", "V4,Q10,Q11,J4,U3",
		"--json")...).ProcessState.ExitCode(); code != 0 || rig.ResultOf(t, out.String()).State != "done" {
		t.Fatalf("exit code %d, %s", code, out.String())
	}
	cmd := into(s, leaves(t, 0), &errs, "transfer", "--asset", "usdc", "--amount", "20", "--to", rig.Payee(t),
		"--chain", "op", "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--json")
	if code := cmd.ProcessState.ExitCode(); code != 6 ||
		!strings.Contains(errs.String(), "it is done, but the result could not be printed") {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err == nil {
		defer func() { _ = full.Close() }()
		errs.Reset()
		cmd := into(s, full, &errs, "swap", "--asset", "usdc", "--amount", "20", "--for", "eth@base", "--yes",
			"--accept", "V4,Q10,Q11,J4,U3")
		if code := cmd.ProcessState.ExitCode(); code != 6 || !strings.Contains(errs.String(), "coffer status ") {
			t.Errorf("a full disk: exit code %d, %s", code, errs.String())
		}
	}
	listed, _ := s.Runs(0, "history", "--json")
	if n := len(b.Saw(rig.PathExecute)); n != strings.Count(listed, "\n") || n < 2 {
		t.Errorf("executed %d times\n%s", n, listed)
	}
}
