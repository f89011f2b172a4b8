//go:build unix

package main

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
	"coffer/wallet/journal"
)

// ending is one way in which a command ends. Words in capitals among the arguments stand for something of the stage.
type ending struct {
	command string
	code    int
	args    string
	locked  bool                                                // no passphrase is given
	wrong   bool                                                // a wrong one is
	repeat  bool                                                // the sentence of an open repeat is given
	answer  func(r request, status int, a []byte) (int, []byte) // what becomes of an answer of the service
	refuse  func(r request) bool                                // which requests get no answer
	stop    func(r request) bool                                // an interrupt while this request is under way
}

// stage is a team's wallet in front of a real service in another process, and what the endings so far left.
type stage struct {
	script
	b     *between
	words map[string]string
}

func newStage(t *testing.T, serve ...string) *stage {
	t.Helper()
	env, b := team(t, serve...)
	plan := filepath.Join(t.TempDir(), "pay.toml")
	s := &stage{script{t, env, passphrase}, b, map[string]string{"PAYEE": payee(t), "PLAN": plan, "NOBODY": "0x" + strings.Repeat("00", 32)}}
	s.plans(plan, "21")
	return s
}

// plans writes a plan of a payment.
func (s *stage) plans(file, amount string) {
	s.Helper()
	s.runs(0, "plan", "--chain", "base", "--to", "usdc", "--function", "transfer(address to, uint256 amount)", "--arg", payee(s.T), "--arg", amount+" USDC", "--out", file)
}

// ends carries out an ending, and says what was printed.
func (s *stage) ends(e ending) (out, errs string) {
	s.Helper()
	who := s.script
	switch {
	case e.locked:
		who.pass = ""
	case e.wrong:
		who.pass = "not this one"
	}
	if e.repeat {
		e.args += " --confirm I_may_pay_this_twice"
	}
	args := strings.Fields(e.args)
	for i, a := range args {
		if word, ok := s.words[a]; ok {
			args[i] = word
		}
		args[i] = strings.ReplaceAll(args[i], "_", " ")
	}
	s.b.behaves(e.answer)
	s.b.cuts(nil, e.refuse)
	defer s.b.cuts(nil, nil)
	defer s.b.behaves(nil)
	if e.stop == nil {
		return who.runs(e.code, args...)
	}
	arrived, release := make(chan struct{}), make(chan struct{})
	first := true
	s.b.behaves(func(r request, status int, a []byte) (int, []byte) {
		if first && e.stop(r) {
			first = false
			close(arrived)
			<-release
		}
		return status, a
	})
	cmd, o, er := who.starts(args...)
	select {
	case <-arrived:
	case <-time.After(limit):
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

// all carries out endings one after the other. Each that is no success says why on standard error, and what it prints with --json is whole.
func (s *stage) all(list []ending) {
	s.Helper()
	for _, e := range list {
		out, errs := s.ends(e)
		if e.code != 0 && !strings.Contains(errs, "coffer: ") {
			s.Errorf("coffer %s: nothing is said:\n%s", e.args, errs)
		}
		if strings.Contains(e.args, "--json") {
			wholeJSON(s.T, e.args, out)
		}
	}
}

func TestExitCodesOfLooking(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	list := looking()
	s.all(list)
	out, _ := s.runs(0, strings.Fields(strings.ReplaceAll(aTransfer, "PAYEE", payee(t))+" --yes --accept V4,Q10,Q11,J4,U3 --json")...)
	done := resultOf(t, out)
	s.runs(0, "status", done.QuoteID)
	s.b.behaves(replaced(pathStatus, done.QuoteID, "0x"+strings.Repeat("11", 32)))
	s.runs(4, "status", done.QuoteID, "--json")
	s.b.behaves(nil)
	out, _ = s.ends(ending{command: "call", code: 5, args: aCall + " --yes --json", stop: at("/prepare-call-quote")})
	s.runs(5, "status", resultOf(t, out).Operation) // nothing of it was sent
	out, _ = s.runs(0, append(strings.Fields(strings.ReplaceAll(aTransfer, "PAYEE", payee(t))), "--dry-run", "--json")...)
	s.runs(2, "status", resultOf(t, out).Operation) // nothing of it was recorded
}

func TestExitCodesOfActing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.all(acting())
	if n := len(s.b.saw(pathExecute)); n != 4 {
		t.Errorf("executed %d times; four of the endings are done", n)
	}
}

// TestExitCodesOfWhatIsLost: the connection is cut during execute and the person gives up: 6, sent once, and the outcome is found later.
func TestExitCodesOfWhatIsLost(t *testing.T) {
	t.Parallel()
	s := newStage(t, "--lifetime", "60s")
	for i, e := range lost() {
		asked := make(chan struct{})
		first := true
		s.b.cuts(executes, func(r request) bool {
			if r.path == pathStatus && first {
				first = false
				close(asked)
			}
			return r.path == pathStatus
		})
		args := strings.Fields(e.args)
		for i, a := range args {
			if word, ok := s.words[a]; ok {
				args[i] = word
			}
			args[i] = strings.ReplaceAll(args[i], "_", " ")
		}
		cmd, out, errs := s.starts(args...)
		<-asked
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		s.b.cuts(nil, nil)
		if code := cmd.ProcessState.ExitCode(); code != e.code {
			t.Fatalf("%s: exit code %d\n%s\n%s", e.command, code, out, errs)
		}
		wholeJSON(t, e.args, out.String())
		r := resultOf(t, out.String())
		if again, _ := s.runs(0, "status", r.Operation, "--watch", "--json"); !strings.Contains(again, api.StatusCompleted) {
			t.Error(again)
		}
		if n := len(s.b.saw(pathExecute)); n != i+1 {
			t.Fatalf("%s: sent %d times in all", e.command, n)
		}
	}
	s.runs(4, "apply", s.words["PLAN"], "--yes", "--accept", "V4,Q10,Q11,J4,U3")
}

// TestExitCodesOfAFailingService: paid back is 1; then what the policy refuses is 4, what a key may not do is 3, and a quote that ended before it was signed is 5.
func TestExitCodesOfAFailingService(t *testing.T) {
	t.Parallel()
	s := newStage(t, "--fault", "revert@1", "--lifetime", "10s")
	ends := map[string]bool{}
	config := filepath.Join(filepath.Dir(strings.TrimPrefix(s.env[1], "XDG_CONFIG_HOME=")), "config", "coffer", "config.toml")
	policy := filepath.Join(filepath.Dir(config), "policy.toml")
	raw, err := os.ReadFile(config)
	narrowed := strings.Replace(string(raw), `vault = "file"`, fmt.Sprintf("vault = \"file\"\npolicy_file = %q", policy), 1)
	repeats := []byte("version = 1\nallow = [\"open-repeat\"]\n") // the same is paid again although what came back may still run
	if err = errors.Join(err, os.WriteFile(policy, repeats, 0o600), os.WriteFile(config, []byte(narrowed), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, e := range paidBack() {
		out, errs := s.ends(e)
		if !strings.Contains(errs, "coffer: ") {
			t.Errorf("%s: nothing is said: %s", e.command, errs)
		}
		if e.command != "status" {
			r := resultOf(t, out)
			s.words["LAST"] = r.QuoteID
			ends[r.Status.Status] = true
		}
	}
	if !ends[api.StatusRefunded] || !ends[api.StatusFailed] || len(ends) != 2 {
		t.Errorf("the ends are %v", ends)
	}
	if err := os.WriteFile(policy, []byte("version = 1\nmax_spend_usd = \"5\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.plans(s.words["PLAN"]+".2", "22")
	s.words["PLAN2"] = s.words["PLAN"] + ".2"
	s.all(limited())
	if err := os.WriteFile(policy, []byte("version = 1\nnonsense = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.runs(2, strings.Fields(strings.ReplaceAll(aSwap, "PAYEE", payee(t))+" --yes --accept V4,Q10,Q11,J4,U3")...)
	if err := os.WriteFile(policy, repeats, 0o600); err != nil {
		t.Fatal(err)
	}
	s.all(expired())
	var key struct {
		Text string `json:"key"`
	}
	keysOf(t, s.env, &key, "add", "--company", "a", "--project", "b", "--permission", "read", "--data", filepath.Dir(s.b.at.NetworkFile))
	if screen, err := asks(t, s.env, []string{"keys", "api-key", "set"}, "Passphrase of profile team", passphrase, "API key", key.Text); err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	s.all(forbidden())
	s.runs(0, "keys", "api-key", "remove")
	s.words["KEYFILE"] = filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(s.words["KEYFILE"], []byte(adminKeyText), 0o600); err != nil {
		t.Fatal(err)
	}
	s.all(keyless())
}

// TestACommandLineThatIsNoneIsRefusedWithAHint: every command of the program answers a flag or an argument that it does not know with 2, a hint and no data.
func TestACommandLineThatIsNoneIsRefusedWithAHint(t *testing.T) {
	t.Parallel()
	_, env := home(t)
	for path := range tree(t) {
		for _, more := range [][]string{{"--nonsense"}, {"nonsense/1", "nonsense/2", "nonsense/3"}} {
			out, errs, code := runProgram(t, env, append(strings.Fields(path), more...)...)
			if code != 2 || out != "" || !strings.HasPrefix(errs, "coffer: ") || !strings.Contains(errs, "\n  ") && !strings.Contains(errs, "no such file") {
				t.Errorf("coffer %s %s: exit code %d, printed %q, said %s", path, more[0], code, out, errs)
			}
		}
	}
}

// TestInterruptsOfApply: at each step an interrupt ends with the right code, and what is begun again afterwards is sent once.
func TestInterruptsOfApply(t *testing.T) {
	t.Parallel()
	s := newStage(t, "--lifetime", "60s")
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
		out, _ := s.ends(e)
		wholeJSON(t, e.args, out)
		if r := resultOf(t, out); step.state != "" && r.State != step.state {
			t.Errorf("%s: %s", step.path, r.State)
		} else if step.code == 6 {
			s.runs(0, "status", r.Operation, "--watch")
			s.runs(4, "apply", s.words["PLAN"], "--yes", "--accept", "V4,Q10,Q11,J4,U3")
		}
	}
	if n := len(s.b.saw(pathExecute)); n != 1 {
		t.Errorf("sent %d times", n)
	}
	out, _ := s.runs(0, "export")
	if n := strings.Count(out, `"state":"`+string(journal.Done)+`"`); n != 1 {
		t.Errorf("%d operations are done:\n%s", n, out)
	}
}

func TestExitCodesWithoutAService(t *testing.T) {
	t.Parallel()
	dir, env := home(t)
	for _, e := range local() {
		out, errs, code := runProgram(t, env, strings.Fields(strings.ReplaceAll(e.args, "HOME", dir+"/serve"))...)
		if code != e.code || code != 0 && !strings.Contains(errs, "coffer: ") {
			t.Errorf("coffer %s: exit code %d, want %d\n%s\n%s", e.args, code, e.code, out, errs)
		}
		if strings.Contains(e.args, "--json") {
			wholeJSON(t, e.args, out)
		}
		if code == 2 && (out != "" || !regexp.MustCompile(`(?m)^  \S`).MatchString(errs) && !strings.Contains(errs, "--") && !strings.Contains(errs, "/nowhere")) {
			t.Errorf("coffer %s: no hint: %s, printed %q", e.args, errs, out)
		}
	}
}
