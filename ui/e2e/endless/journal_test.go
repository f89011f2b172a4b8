//go:build unix

package endless

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/ui/e2e/rig"
)

// stateOf is the state directory of the profile "team".
func stateOf(s *rig.Stage) string {
	for _, v := range s.Env {
		if dir, ok := strings.CutPrefix(v, "XDG_STATE_HOME="); ok {
			return filepath.Join(dir, "coffer", "team")
		}
	}
	s.Fatal("no state directory")
	return ""
}

// contents is every file below a directory, with its bytes; nil when there is no such directory.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = string(b)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// restores puts a copy of a directory back, as a backup would.
func restores(t testing.TB, dir string, copied map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for path, b := range copied {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(b), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestK7_AnOlderJournalPaysNoPlanTwice: an old copy of the state directory, or none, is not signed with; one that is
// adopted on purpose still knows the plans.
func TestK7_AnOlderJournalPaysNoPlanTwice(t *testing.T) {
	t.Parallel()
	s := rig.NewStage(t, "--lifetime", "60s")
	first, last := filepath.Join(t.TempDir(), "first.toml"), filepath.Join(t.TempDir(), "last.toml")
	s.Plans(first, "5")
	s.Plans(last, "6")
	plan, dir := s.Words["PLAN"], stateOf(s)
	s.Runs(0, "apply", first, "--yes", "--accept", "V4,Q10,Q11,J4,U3")
	copied := contents(t, dir)
	s.Runs(0, "apply", plan, "--yes", "--accept", "V4,Q10,Q11,J4,U3")
	newest := contents(t, dir)

	refused := func(args ...string) {
		t.Helper()
		before := len(s.Between.Saw(rig.PathExecute))
		_, errs := s.Runs(4, args...)
		for _, w := range []string{"this journal is older than what was signed", dir, "coffer activity adopt"} {
			if !strings.Contains(errs, w) {
				t.Errorf("%v: %q is not said:\n%s", args, w, errs)
			}
		}
		if len(s.Between.Saw(rig.PathExecute)) != before {
			t.Errorf("%v: sent", args)
		}
	}
	for name, state := range map[string]map[string]string{"an old copy": copied, "none": nil} {
		t.Log(name)
		restores(t, dir, state)
		refused("apply", plan, "--yes", "--accept", "V4,Q10,Q11,J4,U3")
		refused("apply", plan, "--dry-run")
		p := rig.At(t, rig.Start(t, s.Env, 80, 24))
		p.Sees("Passphrase")
		p.Types(rig.Passphrase + "\r")
		p.Sees("An older journal: nothing is signed", "USDC")
		p.Types("q")
		if err := p.Ends(); err != nil {
			t.Error(err)
		}
		refused("transfer", "--asset", "usdc", "--amount", "20", "--to", s.Words["PAYEE"], "--chain", "op", "--yes",
			"--accept", "V4,Q10,Q11,J4,U3")
	}
	restores(t, dir, newest)
	_, errs := s.Runs(4, "apply", plan, "--yes", "--accept", "V4,Q10,Q11,J4,U3")
	if !strings.Contains(errs, "it finished as COMPLETED") {
		t.Errorf("the newest copy does not know the plan: %s", errs)
	}
	s.Runs(0, "activity", "adopt", "--confirm", "go on with the older journal") // which lacks nothing

	restores(t, dir, copied)
	s.Runs(2, "activity", "adopt")
	s.Runs(4, "activity", "adopt", "--confirm", "yes")
	refused("apply", plan, "--yes", "--accept", "V4,Q10,Q11,J4,U3")
	_, errs = s.Runs(0, "activity", "adopt", "--confirm", "go on with the older journal")
	if !strings.Contains(errs, "records are lost") || !strings.Contains(errs, "wait until then") {
		t.Errorf("what is lost is not said: %s", errs)
	}
	_, errs = s.Runs(4, "apply", plan, "--yes", "--accept", "V4,Q10,Q11,J4,U3")
	if !strings.Contains(errs, "which this journal does not know") {
		t.Errorf("%s", errs)
	}
	// balances that the older journal does not explain are pointed out, too
	s.Runs(0, "apply", last, "--yes", "--accept", "V4,Q10,Q11,J4,U3,P6")
	if n := len(s.Between.Saw(rig.PathExecute)); n != 3 {
		t.Errorf("sent %d times", n)
	}
}

// TestK8_AServiceThatNeverEndsKeepsNothingWaiting: a command waits for so long and no longer, and others work beside it
// meanwhile.
func TestK8_AServiceThatNeverEndsKeepsNothingWaiting(t *testing.T) {
	t.Parallel()
	s := rig.NewStage(t, "--lifetime", "60s")
	asked := make(chan struct{}, 1000)
	pending := func(r rig.Request, status int, a []byte) (int, []byte) {
		if strings.HasSuffix(r.Path, "/get-execution-status") {
			select {
			case asked <- struct{}{}:
			default:
			}
			a = bytes.ReplaceAll(a, []byte(`"COMPLETED"`), []byte(`"PENDING"`))
		}
		return status, a
	}
	s.Between.Behaves(pending)
	long, longOut, longErrs := s.Starts("transfer", "--asset", "usdc", "--amount", "20", "--to", s.Words["PAYEE"],
		"--chain", "op", "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--json", "--wait", "5m")
	select { // it waits now
	case <-asked:
	case <-time.After(rig.Limit):
		t.Fatalf("nothing was asked: %s", longErrs)
	}
	// what pays the same again is no other work
	call := strings.Fields(strings.ReplaceAll(rig.ACall, "PAYEE", "0x2222222222222222222222222222222222222222"))
	for i := range call {
		call[i] = strings.ReplaceAll(call[i], "_", " ")
	}
	s.Runs(2, append(call, "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--wait", "-1s")...)
	// another process signs and sends beside it
	out, errs := s.Runs(6, append(call, "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--json", "--wait", "1s")...)
	beside := rig.ResultOf(t, out).Operation
	if !strings.Contains(errs, "it has not finished after 1s. Resume with: coffer status "+beside) {
		t.Errorf("%s", errs)
	}
	_, errs = s.Runs(6, "status", beside, "--watch", "--wait", "1s")
	if !strings.Contains(errs, "Resume with: coffer status "+beside) {
		t.Errorf("%s", errs)
	}
	s.Runs(6, "status", beside, "--watch", "--wait", "0")

	p := rig.At(t, rig.Start(t, s.Env, 120, 40)) // the dashboard works beside it, too
	p.Sees("Passphrase")
	p.Types(rig.Passphrase + "\r")
	p.Sees("USDC")
	p.Types("q")
	p.Sees("press again to quit")
	p.Types("q")
	if err := p.Ends(); err != nil {
		t.Error(err)
	}
	if err := long.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = long.Wait()
	waited := rig.ResultOf(t, longOut.String()).Operation
	if code := long.ProcessState.ExitCode(); code != 6 ||
		!strings.Contains(longErrs.String(), "Resume with: coffer status "+waited) {
		t.Errorf("interrupted: exit code %d\n%s", code, longErrs)
	}
	s.Between.Behaves(nil)
	for _, id := range []string{waited, beside} {
		s.Runs(0, "status", id, "--watch")
	}
	if n := len(s.Between.Saw(rig.PathExecute)); n != 2 {
		t.Errorf("sent %d times", n)
	}
}

// TestK10_ADryRunWritesNothing: not a byte of the state directory changes, whether there is one or not.
func TestK10_ADryRunWritesNothing(t *testing.T) {
	t.Parallel()
	s := rig.NewStage(t, "--lifetime", "60s")
	looks := func() {
		t.Helper()
		before := contents(t, stateOf(s))
		for _, args := range [][]string{
			rig.Pays(t, "call", "--dry-run"), {"apply", s.Words["PLAN"], "--dry-run", "--json"},
			{"transfer", "--asset", "usdc", "--amount", "20", "--to", s.Words["PAYEE"], "--chain", "op", "--dry-run"},
			{"swap", "--asset", "usdc", "--amount", "20", "--for", "eth@base", "--dry-run"},
		} {
			s.Runs(0, args...)
			after := contents(t, stateOf(s))
			if len(before) != len(after) {
				t.Fatalf("%v: %d files, now %d", args, len(before), len(after))
			}
			for path, b := range after {
				if before[path] != b {
					t.Errorf("%v: %s was written", args, path)
				}
			}
		}
	}
	if err := os.RemoveAll(stateOf(s)); err != nil {
		t.Fatal(err)
	}
	looks()
	if _, err := os.Stat(stateOf(s)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory was made: %v", err)
	}
	s.Runs(0, "apply", s.Words["PLAN"], "--yes", "--accept", "V4,Q10,Q11,J4,U3")
	b := filepath.Join(t.TempDir(), "other.toml")
	s.Plans(b, "3")
	s.Words["PLAN"] = b
	looks()
}
