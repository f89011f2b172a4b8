//go:build unix

package endless

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/ui/e2e/rig"
)

// What a hostile service says in place of an answer before it falls silent with the connection open.
const (
	switches  = "HTTP/1.1 101 Switching Protocols\r\n\r\n"
	upgrades  = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: coffer\r\n\r\n"
	half      = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{\"half\":"
	processes = "HTTP/1.1 102 Processing\r\n\r\n"
)

func says(b *rig.Between, lie func(rig.Request) string) {
	b.With(func() { b.Hijack = lie })
}

// TestK6_ACommandEndsWhateverTheServiceSays runs commands of the built program against a service that switches
// protocols, or says half of an answer, and falls silent: each ends by itself and says why.
func TestK6_ACommandEndsWhateverTheServiceSays(t *testing.T) {
	t.Parallel()
	s := rig.NewStage(t)
	for _, args := range []string{"balances", "chains", "status 0x" + strings.Repeat("ab", 32), "apply PLAN --yes"} {
		for lie, word := range map[string]string{switches: "answered 101", upgrades: "answered 101",
			processes: "answered 102"} {
			says(s.Between, func(r rig.Request) string { return lie })
			_, errs := fails(s, strings.Fields(args)...)
			if !strings.Contains(errs, "coffer: ") || !strings.Contains(errs, word) {
				t.Errorf("%s, %q: %s", args, lie, errs)
			}
		}
	}
	says(s.Between, func(rig.Request) string { return half })
	if _, errs := fails(s, "status", "0x"+strings.Repeat("ab", 32)); !strings.Contains(errs,
		"no whole answer within 10s") {
		t.Errorf("half of an answer: %s", errs)
	}
}

// TestK6_AnInterruptEndsACommandAtOnce: half of an answer has arrived, and the person presses Ctrl+C.
func TestK6_AnInterruptEndsACommandAtOnce(t *testing.T) {
	t.Parallel()
	s := rig.NewStage(t)
	for _, args := range []string{"status 0x" + strings.Repeat("ab", 32), "apply PLAN --yes"} {
		arrived := make(chan struct{}, 100)
		says(s.Between, func(rig.Request) string { arrived <- struct{}{}; return half })
		cmd, out, errs := s.Starts(filled(s, strings.Fields(args))...)
		select {
		case <-arrived:
		case <-time.After(rig.Limit):
			t.Fatalf("%s: no request came", args)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 5 || !strings.Contains(errs.String(), "nothing was sent") {
			t.Errorf("%s: exit code %d\n%s%s", args, code, out, errs)
		}
	}
}

// filled puts the words of the stage into a command.
func filled(s *rig.Stage, args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if word, ok := s.Words[a]; ok {
			out[i] = word
		}
	}
	return out
}

// fails runs a command that must end by itself without success, and before the script's own limit kills it.
func fails(s *rig.Stage, args ...string) (out, errs string) {
	s.Helper()
	cmd, o, e := s.Starts(filled(s, args)...)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code <= 0 {
		s.Errorf("%v: exit code %d\n%s%s", args, code, o, e)
	}
	return o.String(), e.String()
}

// TestK10_AnAnswerThatIsTooLargeNeverReachesTheJournal: the answer to a prepare, then that to a quote, carries 3.9 MB
// of a member that nobody knows. Both are refused with the reason, and the journal grows by none of it.
func TestK10_AnAnswerThatIsTooLargeNeverReachesTheJournal(t *testing.T) {
	t.Parallel()
	s := rig.NewStage(t)
	padding := `{"padding":"` + strings.Repeat("x", 3_900_000) + `",`
	for _, path := range []string{rig.PathPrepare, rig.PathCallQuote} {
		s.Between.Behaves(func(r rig.Request, status int, answer []byte) (int, []byte) {
			if r.Path != path || status/100 != 2 {
				return status, answer
			}
			return status, []byte(padding + strings.TrimPrefix(string(answer), "{"))
		})
		if _, errs := fails(s, "apply", "PLAN", "--yes", "--accept", "V4,Q10,Q11,J4,U3"); !strings.Contains(errs,
			"more than 256 KiB") {
			t.Errorf("%s: %s", path, errs)
		}
		if len(s.Between.Saw(path)) == 0 {
			t.Errorf("%s: no request came", path)
		}
	}
	if n := sizeOf(t, s.Env); n > 512<<10 {
		t.Errorf("the state takes %d bytes", n)
	}
	if n := len(s.Between.Saw(rig.PathExecute)); n != 0 {
		t.Errorf("%d requests to execute", n)
	}
}

// sizeOf is what the wallet keeps of its own, in bytes.
func sizeOf(t *testing.T, env []string) (size int64) {
	t.Helper()
	for _, v := range env {
		dir, ok := strings.CutPrefix(v, "XDG_STATE_HOME=")
		if !ok {
			continue
		}
		err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			info, err := e.Info()
			if err == nil {
				size += info.Size()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if size == 0 {
		t.Fatal("there is no journal")
	}
	return size
}
