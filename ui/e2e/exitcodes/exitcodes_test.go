//go:build unix

package exitcodes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/ui/e2e/rig"
	"coffer/wallet/journal"
)

// ending is one way in which a command ends. Words in capitals among the arguments stand for something of the stage.
type ending struct {
	command string
	code    int
	args    string
	locked  bool                                                    // no passphrase is given
	wrong   bool                                                    // a wrong one is
	repeat  bool                                                    // the sentence of an open repeat is given
	answer  func(r rig.Request, status int, a []byte) (int, []byte) // what becomes of an answer of the service
	refuse  func(r rig.Request) bool                                // which requests get no answer
	stop    func(r rig.Request) bool                                // an interrupt while this request is under way
}

// ends carries out an ending, and says what was printed.
func ends(s *rig.Stage, e ending) (out, errs string) {
	s.Helper()
	who := s.Script
	switch {
	case e.locked:
		who.Pass = ""
	case e.wrong:
		who.Pass = "not this one"
	}
	if e.repeat {
		e.args += " --confirm I_may_pay_this_twice"
	}
	args := strings.Fields(e.args)
	for i, a := range args {
		if word, ok := s.Words[a]; ok {
			args[i] = word
		}
		args[i] = strings.ReplaceAll(args[i], "_", " ")
	}
	s.Between.Behaves(e.answer)
	s.Between.Cuts(nil, e.refuse)
	defer s.Between.Cuts(nil, nil)
	defer s.Between.Behaves(nil)
	if e.stop == nil {
		return who.Runs(e.code, args...)
	}
	arrived, release := make(chan struct{}), make(chan struct{})
	first := true
	s.Between.Behaves(func(r rig.Request, status int, a []byte) (int, []byte) {
		if first && e.stop(r) {
			first = false
			close(arrived)
			<-release
		}
		return status, a
	})
	cmd, o, er := who.Starts(args...)
	select {
	case <-arrived:
	case <-time.After(rig.Limit):
		s.Fatalf("%v: the moment for the interrupt did not come\n%s%s", args, o, er)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		s.Fatal(err)
	}
	_ = cmd.Wait()
	close(release)
	if code := cmd.ProcessState.ExitCode(); code != e.code {
		s.Fatalf("%v interrupted: exit code %d, want %d\n%s\n%s", args, code, e.code, o, er)
	}
	return o.String(), er.String()
}

// all carries out endings one after the other. Each that is no success says why on standard error, and what it prints
// with --json is whole.
func all(s *rig.Stage, list []ending) {
	s.Helper()
	for _, e := range list {
		out, errs := ends(s, e)
		if e.code != 0 && !strings.Contains(errs, "coffer: ") {
			s.Errorf("coffer %s: nothing is said:\n%s", e.args, errs)
		}
		if strings.Contains(e.args, "--json") {
			rig.WholeJSON(s.T, e.args, out)
		}
	}
}

func TestExitCodesOfLooking(t *testing.T) {
	t.Parallel()
	s := rig.NewStage(t)
	list := looking()
	all(s, list)
	out, _ := s.Runs(0, strings.Fields(strings.ReplaceAll(rig.ATransfer, "PAYEE", rig.Payee(t))+
		" --yes --accept V4,Q10,Q11,J4,U3 --json")...)
	done := rig.ResultOf(t, out)
	s.Runs(0, "status", done.QuoteID)
	s.Between.Behaves(replaced(rig.PathStatus, done.QuoteID, "0x"+strings.Repeat("11", 32)))
	s.Runs(4, "status", done.QuoteID, "--json")
	s.Between.Behaves(nil)
	out, _ = ends(s, ending{command: "call", code: 5, args: rig.ACall + " --yes --json",
		stop: at("/prepare-call-quote")})
	s.Runs(5, "status", rig.ResultOf(t, out).Operation) // nothing of it was sent
	out, _ = s.Runs(0, append(strings.Fields(strings.ReplaceAll(rig.ATransfer, "PAYEE", rig.Payee(t))), "--dry-run",
		"--json")...)
	s.Runs(2, "status", rig.ResultOf(t, out).Operation) // nothing of it was recorded
}

func TestExitCodesOfActing(t *testing.T) {
	t.Parallel()
	s := rig.NewStage(t)
	all(s, acting())
	if n := len(s.Between.Saw(rig.PathExecute)); n != 5 {
		t.Errorf("executed %d times; five of the endings are done", n)
	}
}

// TestExitCodesOfWhatIsLost: the connection is cut during execute and the person gives up: 6, sent once, and the
// outcome is found later.
func TestExitCodesOfWhatIsLost(t *testing.T) {
	t.Parallel()
	s := rig.NewStage(t, "--lifetime", "60s")
	for i, e := range lost() {
		asked := make(chan struct{})
		first := true
		s.Between.Cuts(rig.Executes, func(r rig.Request) bool {
			if r.Path == rig.PathStatus && first {
				first = false
				close(asked)
			}
			return r.Path == rig.PathStatus
		})
		args := strings.Fields(e.args)
		for i, a := range args {
			if word, ok := s.Words[a]; ok {
				args[i] = word
			}
			args[i] = strings.ReplaceAll(args[i], "_", " ")
		}
		cmd, out, errs := s.Starts(args...)
		<-asked
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		s.Between.Cuts(nil, nil)
		if code := cmd.ProcessState.ExitCode(); code != e.code {
			t.Fatalf("%s: exit code %d\n%s\n%s", e.command, code, out, errs)
		}
		rig.WholeJSON(t, e.args, out.String())
		r := rig.ResultOf(t, out.String())
		if again, _ := s.Runs(0, "status", r.Operation, "--watch", "--json"); !strings.Contains(again,
			api.StatusCompleted) {
			t.Error(again)
		}
		if n := len(s.Between.Saw(rig.PathExecute)); n != i+1 {
			t.Fatalf("%s: sent %d times in all", e.command, n)
		}
	}
	s.Runs(4, "apply", s.Words["PLAN"], "--yes", "--accept", "V4,Q10,Q11,J4,U3")
}

// TestExitCodesOfAFailingService: paid back is 1; then what the policy refuses is 4, what a key may not do is 3, and a
// quote that ended before it was signed is 5.
func TestExitCodesOfAFailingService(t *testing.T) {
	t.Parallel()
	s := rig.NewStage(t, "--fault", "revert@1", "--lifetime", "10s")
	brought := map[string]bool{}
	config := filepath.Join(filepath.Dir(strings.TrimPrefix(s.Env[1], "XDG_CONFIG_HOME=")), "config", "coffer",
		"config.toml")
	policy := filepath.Join(filepath.Dir(config), "policy.toml")
	raw, err := os.ReadFile(config)
	narrowed := strings.Replace(string(raw), `vault = "file"`,
		fmt.Sprintf("vault = \"file\"\npolicy_file = %q", policy), 1)
	// the same is paid again although what came back may still run
	repeats := []byte("version = 1\nallow = [\"open-repeat\"]\n")
	if err = errors.Join(err, os.WriteFile(policy, repeats, 0o600),
		os.WriteFile(config, []byte(narrowed), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, e := range paidBack() {
		out, errs := ends(s, e)
		if !strings.Contains(errs, "coffer: ") {
			t.Errorf("%s: nothing is said: %s", e.command, errs)
		}
		if e.command != "status" {
			r := rig.ResultOf(t, out)
			s.Words["LAST"] = r.QuoteID
			brought[r.Status.Status] = true
		}
	}
	if !brought[api.StatusRefunded] || !brought[api.StatusFailed] || len(brought) != 2 {
		t.Errorf("the ends are %v", brought)
	}
	if err := os.WriteFile(policy, []byte("version = 1\nmax_spend_usd = \"5\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Plans(s.Words["PLAN"]+".2", "22")
	s.Words["PLAN2"] = s.Words["PLAN"] + ".2"
	all(s, limited())
	if err := os.WriteFile(policy, []byte("version = 1\nnonsense = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Runs(2, strings.Fields(strings.ReplaceAll(rig.ASwap, "PAYEE", rig.Payee(t))+
		" --yes --accept V4,Q10,Q11,J4,U3")...)
	if err := os.WriteFile(policy, repeats, 0o600); err != nil {
		t.Fatal(err)
	}
	all(s, expired())
	var key struct {
		Text string `json:"key"`
	}
	rig.KeysOf(t, s.Env, &key, "add", "--company", "a", "--project", "b", "--permission", "read", "--data",
		filepath.Dir(s.Between.At.NetworkFile))
	if screen, err := rig.Asks(t, s.Env, []string{"keys", "api-key", "set"}, "Passphrase of profile team",
		rig.Passphrase, "API key", key.Text); err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	all(s, forbidden())
	s.Runs(0, "keys", "api-key", "remove")
	s.Words["KEYFILE"] = filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(s.Words["KEYFILE"], []byte(rig.AdminKeyText), 0o600); err != nil {
		t.Fatal(err)
	}
	all(s, keyless())
}

// TestACommandLineThatIsNoneIsRefusedWithAHint: every command of the program answers a flag or an argument that it does
// not know with 2, a hint and no data.
func TestACommandLineThatIsNoneIsRefusedWithAHint(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	for path := range rig.Commands(t) {
		for _, more := range [][]string{{"--nonsense"}, {"nonsense/1", "nonsense/2", "nonsense/3"}} {
			out, errs, code := rig.Run(t, env, append(strings.Fields(path), more...)...)
			if code != 2 || out != "" || !strings.HasPrefix(errs, "coffer: ") ||
				!strings.Contains(errs, "\n  ") && !strings.Contains(errs, "no such file") {
				t.Errorf("coffer %s %s: exit code %d, printed %q, said %s", path, more[0], code, out, errs)
			}
		}
	}
}

// TestInterruptsOfApply: at each step an interrupt ends with the right code, and what is begun again afterwards is sent
// once.
func TestInterruptsOfApply(t *testing.T) {
	t.Parallel()
	s := rig.NewStage(t, "--lifetime", "60s")
	apply := ending{command: "apply", args: "apply PLAN --yes --accept V4,Q10,Q11,J4,U3 --json"}
	for _, step := range []struct {
		code  int
		path  string
		state string
	}{
		{5, "/prepare-call-quote", ""}, {5, "/call-quote", "quoting"}, {6, "/execute-quote", "outcome unknown"},
	} {
		e := apply
		e.code, e.stop = step.code, at(step.path)
		out, _ := ends(s, e)
		rig.WholeJSON(t, e.args, out)
		if r := rig.ResultOf(t, out); step.state != "" && r.State != step.state {
			t.Errorf("%s: %s", step.path, r.State)
		} else if step.code == 6 {
			s.Runs(0, "status", r.Operation, "--watch")
			s.Runs(4, "apply", s.Words["PLAN"], "--yes", "--accept", "V4,Q10,Q11,J4,U3")
		}
	}
	if n := len(s.Between.Saw(rig.PathExecute)); n != 1 {
		t.Errorf("sent %d times", n)
	}
	out, _ := s.Runs(0, "export")
	if n := strings.Count(out, `"state":"`+string(journal.Done)+`"`); n != 1 {
		t.Errorf("%d operations are done:\n%s", n, out)
	}
}

func TestExitCodesWithoutAService(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	for _, e := range local() {
		out, errs, code := rig.Run(t, env, strings.Fields(strings.ReplaceAll(e.args, "HOME", dir+"/serve"))...)
		if code != e.code || code != 0 && !strings.Contains(errs, "coffer: ") {
			t.Errorf("coffer %s: exit code %d, want %d\n%s\n%s", e.args, code, e.code, out, errs)
		}
		if strings.Contains(e.args, "--json") {
			rig.WholeJSON(t, e.args, out)
		}
		if code == 2 && (out != "" || !regexp.MustCompile(`(?m)^  \S`).MatchString(errs) &&
			!strings.Contains(errs, "--") && !strings.Contains(errs, "/nowhere")) {
			t.Errorf("coffer %s: no hint: %s, printed %q", e.args, errs, out)
		}
	}
}
