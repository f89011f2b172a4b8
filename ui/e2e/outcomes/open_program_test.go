//go:build unix

package outcomes

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/ui/e2e/rig"
)

// openList is what `coffer activity --json` prints of the signatures that can still be used.
type openList struct {
	Open []struct {
		Operation string `json:"operation"`
		Role      string `json:"role"`
		Said      string `json:"said"`
		Until     string `json:"until"`
		Sequence  string `json:"sequence"`
		Chain     string `json:"chain"`
		Sender    string `json:"sender"`
	} `json:"open"`
}

// opened asks the program what is open.
func opened(s rig.Script) openList {
	s.Helper()
	out, _ := s.Runs(0, "activity", "--json")
	var l openList
	if err := json.Unmarshal([]byte(out), &l); err != nil {
		s.Fatalf("%v: %s", err, out)
	}
	return l
}

// completes waits until the service itself says that a quote ended.
func completes(s *rig.Stage, quote string) {
	s.Helper()
	for end := time.Now().Add(rig.Limit); ; time.Sleep(10 * time.Millisecond) {
		cmd, out, _ := s.Starts("status", quote, "--json")
		_ = cmd.Wait()
		if strings.Contains(out.String(), `"COMPLETED"`) {
			return
		}
		if time.Now().After(end) {
			s.Fatalf("it did not end: %s", out)
		}
	}
}

// TestK3_TheProgramDoesNotPayTwiceAfterARefundedLie: the built program, by commands, in front of a real service in
// another process and a liar between them.
func TestK3_TheProgramDoesNotPayTwiceAfterARefundedLie(t *testing.T) {
	t.Parallel()
	s := rig.NewStage(t, "--lifetime", "60s")
	pay := []string{"transfer", "--asset", "usdc", "--amount", "20", "--to", rig.Payee(t), "--chain", "op", "--yes",
		"--accept", "V4,Q10,Q11,J4,U3", "--json"}
	s.Between.Holds(api.StatusRefunded)
	out, errs := s.Runs(1, pay...)
	first := rig.ResultOf(t, out)
	if !strings.Contains(errs, "The service says the transfer was refunded. The signatures can still be used until ") {
		t.Errorf("told as a fact: %s", errs)
	}
	open := opened(s.Script).Open
	if len(open) == 0 || open[0].Operation != first.Operation || open[0].Said != "nothing" || open[0].Until == "" {
		t.Fatalf("%+v", open)
	}
	s.Between.Honest()
	if status := s.Between.Releases(t); status != 200 {
		t.Fatalf("the service answered the held execute with %d", status)
	}
	completes(s, first.QuoteID)
	out, errs = s.Runs(4, pay...)
	for _, want := range []string{"GATE (closed) J4", "open-repeat", "40 USDC", "can still be taken",
		"it cannot start to run any more"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is not said:\n%s", want, errs)
		}
	}
	if rig.ResultOf(t, out).State != "quoting" || len(s.Between.Saw(rig.PathExecute)) != 1 {
		t.Errorf("executed %d times: %s", len(s.Between.Saw(rig.PathExecute)), out)
	}
}

// TestK4_TheProgramListsWhatACompletedLieLeavesOpen: and the service can be used afterwards, with and without a repair.
func TestK4_TheProgramListsWhatACompletedLieLeavesOpen(t *testing.T) {
	t.Parallel()
	s := rig.NewStage(t, "--lifetime", "60s")
	s.Between.Holds(api.StatusCompleted)
	out, _ := s.Runs(0, rig.Pays(t, "call", "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--json")...)
	first := rig.ResultOf(t, out)
	open := opened(s.Script).Open
	if len(open) < 2 || open[0].Said != "ran" || open[0].Sequence != "0" || open[0].Chain != "eip155:8453" {
		t.Fatalf("%+v", open)
	}
	if text, _ := s.Runs(0, "activity"); !strings.Contains(text,
		"The service says it ran; nothing on this machine proves it.") {
		t.Error(text)
	}
	exported, _ := s.Runs(0, "export")
	var x struct {
		Journal struct {
			Outstanding []struct {
				Said string `json:"said"`
			} `json:"outstanding"`
		} `json:"journal"`
	}
	if err := json.Unmarshal([]byte(exported), &x); err != nil || len(x.Journal.Outstanding) != len(open) {
		t.Errorf("%v %+v", err, x)
	}
	s.Between.Honest()
	if text, _ := s.Runs(0, "activity", "repair"); !strings.Contains(text,
		"goes on at           1, by what the service said") || !strings.Contains(text, "--lane 0 --sequence N") {
		t.Error(text)
	}
	s.Runs(2, "activity", "repair", "--chain", "base", "--account", open[0].Sender, "--lane", "0")
	// nobody is there to confirm it
	s.Runs(2, "activity", "repair", "--chain", "base", "--account", open[0].Sender, "--lane", "0", "--sequence", "0")
	s.Runs(0, "activity", "repair", "--chain", "base", "--account", open[0].Sender, "--lane", "0", "--sequence", "0",
		"--yes")
	if again := opened(s.Script).Open; len(again) != len(open) {
		t.Errorf("%d are open, before the repair %d", len(again), len(open))
	}
	s.Runs(2, "activity", "void", "0x"+strings.Repeat("11", 32), "--confirm", "0000")
	// The honest service offers what the chain has: the first place again.
	out, errs := s.Runs(0, "call", "--chain", "base", "--to", "usdc", "--function",
		"transfer(address to, uint256 amount)", "--arg", "0x00000000000000000000000000000000000000f2",
		"--arg", "430.5 USDC", "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--json")
	if r := rig.ResultOf(t, out); r.State != "done" || r.QuoteID == first.QuoteID ||
		!strings.Contains(errs, "only one of them can ever run") {
		t.Errorf("%s\n%s", out, errs)
	}
	if status := s.Between.Releases(t); status == 200 {
		t.Error("what was held ran as well")
	}
}
