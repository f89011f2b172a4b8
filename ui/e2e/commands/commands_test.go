//go:build unix

package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/ui/e2e/rig"
)

// TestCommandsDoTheMainJob walks the main job by commands alone, against a service in another process: lists, a look, a
// plan, its application, its state, its record; then a transfer and a swap. Every document is the service's own, byte
// for byte, and a plan is not applied twice.
func TestCommandsDoTheMainJob(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t)
	s := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	for command, path := range map[string]string{"chains": "/chains/supported-list", "assets": "/assets/list"} {
		if out, _ := s.Runs(0, command, "--json"); out != b.Heard(path)+"\n" {
			t.Errorf("%s prints something else than was answered:\n%s", command, out)
		}
	}
	if out, _ := s.Runs(0, rig.Pays(t, "call", "--dry-run")...); !strings.Contains(out, "430.5 USDC") ||
		!strings.Contains(out, "No other calls") {
		t.Errorf("the look:\n%s", out)
	}
	file := filepath.Join(t.TempDir(), "pay.toml")
	s.Runs(0, rig.Pays(t, "plan", "--max-spend", "900", "--max-cost-bps", "300", "--out", file)...)
	out, errs := s.Runs(0, "apply", file, "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--json")
	done := rig.ResultOf(t, out)
	if done.State != "done" || done.Status.Status != api.StatusCompleted || !strings.Contains(errs, "AND OPERATION") {
		t.Errorf("%s\n%s", out, errs)
	}
	for name, path := range map[string]string{"prepared": "/v3/quote/prepare-call-quote",
		"quote": "/v3/quote/call-quote", "status": rig.PathStatus} {
		if !strings.Contains(out, `"`+name+`":`+b.Heard(path)) {
			t.Errorf("the answer of %s is not in the result as it came", path)
		}
	}
	if _, errs := s.Runs(4, "apply", file, "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--json"); !strings.Contains(errs,
		done.Operation) {
		t.Errorf("%s", errs)
	}
	if n := len(b.Saw(rig.PathExecute)); n != 1 {
		t.Fatalf("executed %d times", n)
	}
	for _, id := range []string{done.Operation, done.QuoteID} {
		if out, _ := s.Runs(0, "status", id, "--json"); out != b.Heard(rig.PathStatus)+"\n" {
			t.Errorf("status prints something else than was answered:\n%s", out)
		}
	}
	s.Runs(0, "transfer", "--asset", "usdc", "--amount", "20", "--to", rig.Payee(t), "--chain", "op", "--yes",
		"--accept", "V4,Q10,Q11,J4,U3")
	s.Runs(0, "swap", "--asset", "usdc", "--amount", "20", "--for", "eth@base", "--yes", "--accept", "V4,Q10,Q11,J4,U3")
	out, _ = s.Runs(0, "history", "--json")
	if kinds := regexp.MustCompile(`"type":"(\w+)"`).FindAllString(out, -1); strings.Join(kinds,
		" ") != `"type":"SWAP" "type":"TRANSFER" "type":"CALL"` || strings.Count(out, "\n") != 3 {
		t.Errorf("%q\n%s", kinds, out)
	}
	if out, _ := s.Runs(0, "history", "--csv", "--type", "CALL"); strings.Count(out, "\r\n") != 2 ||
		!strings.Contains(out, done.QuoteID) {
		t.Error(out)
	}
	exported, _ := s.Runs(0, "export")
	var whole struct {
		History []api.HistoryRecord `json:"history"`
		Journal struct {
			Operations []struct {
				State string `json:"state"`
			} `json:"operations"`
		} `json:"journal"`
	}
	if err := json.Unmarshal([]byte(exported), &whole); err != nil || len(whole.History) != 3 ||
		len(whole.Journal.Operations) != 3 {
		t.Errorf("%v: %d records, %d operations", err, len(whole.History), len(whole.Journal.Operations))
	}
	for _, r := range b.Saw("/v3/quote/call-quote") {
		signature := regexp.MustCompile(`"signature":"(0x[0-9a-f]{130,})"`).FindSubmatch(r.Body)
		if signature == nil || strings.Contains(exported, string(signature[1])) {
			t.Error("a signature is in the export, or none was found in the request")
		}
	}
}

// TestCommandsNeedTheKeysToSign: without the passphrase, with a wrong one and without --yes nothing is signed, and each
// has its exit code.
func TestCommandsNeedTheKeysToSign(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t)
	rig.Script{T: t, Env: env, Pass: ""}.Runs(3, rig.Pays(t, "call", "--yes", "--accept", "V4,Q10,Q11,J4,U3")...)
	rig.Script{T: t, Env: env, Pass: "not this one"}.Runs(3,
		rig.Pays(t, "call", "--yes", "--accept", "V4,Q10,Q11,J4,U3")...)
	rig.Script{T: t, Env: env, Pass: rig.Passphrase}.Runs(2, rig.Pays(t, "call")...)
	if n := len(b.Saw("/v3/quote/prepare-call-quote")); n != 0 {
		t.Errorf("%d calls were prepared", n)
	}
}

// interruptedCall is a call whose program was interrupted while it waited for the answer to execute: it ended with code
// 6. It returns what the program said. The service has the answer, and behaves again.
func interruptedCall(t *testing.T) (s rig.Script, b *rig.Between, out, errs string) {
	t.Helper()
	env, b := rig.Team(t, "--lifetime", "60s")
	arrived, release := make(chan struct{}), make(chan struct{})
	b.Behaves(func(r rig.Request, status int, answer []byte) (int, []byte) {
		if rig.Executes(r) {
			close(arrived)
			<-release
		}
		return status, answer
	})
	s = rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	cmd, said, told := s.Starts(rig.Pays(t, "call", "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--json")...)
	<-arrived
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	close(release)
	if code := cmd.ProcessState.ExitCode(); code != 6 {
		t.Fatalf("exit code %d\n%s\n%s", code, said, told)
	}
	b.Behaves(nil)
	return s, b, said.String(), told.String()
}

// TestCommandsInterruptedDuringExecute: an interrupt while the answer to execute is waited for ends with code 6; the
// quote is not sent again, and its outcome is found by its id.
func TestCommandsInterruptedDuringExecute(t *testing.T) {
	t.Parallel()
	s, b, out, errs := interruptedCall(t)
	r := rig.ResultOf(t, out)
	if r.State != "outcome unknown" || !strings.Contains(errs, "coffer status "+r.Operation+" --watch") {
		t.Errorf("%s\n%s", out, errs)
	}
	if out, _ := s.Runs(0, "status", r.Operation, "--watch", "--json"); !strings.Contains(out, api.StatusCompleted) {
		t.Error(out)
	}
	if n := len(b.Saw(rig.PathExecute)); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

// TestCommandsGoOnAfterAnInterrupt: what was interrupted and has ended since is in no way: the next payment asks for
// its outcome first, and is made.
func TestCommandsGoOnAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	s, b, _, _ := interruptedCall(t)
	for i := 0; ; i++ { // what the service lists says nothing to the journal
		if listed, _ := s.Runs(0, "history", "--json"); strings.Contains(listed, api.StatusCompleted) {
			break
		} else if i == 100 {
			t.Fatalf("it does not end:\n%s", listed)
		}
	}
	s.Runs(0, rig.Pays(t, "call", "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--json")...)
	if n := len(b.Saw(rig.PathExecute)); n != 2 {
		t.Errorf("sent %d times", n)
	}
}

// TestCommandsRefuseAHostileAnswer: a changed recipient is refused with code 4 and nothing is signed, with --yes as
// well.
func TestCommandsRefuseAHostileAnswer(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t)
	attack := rig.PreparedAttacks()[0]
	b.Behaves(func(r rig.Request, status int, answer []byte) (int, []byte) {
		if strings.HasSuffix(r.Path, "/prepare-call-quote") {
			answer = rig.Splice(answer, attack)
		}
		return status, answer
	})
	out, _ := rig.Script{T: t, Env: env, Pass: rig.Passphrase}.Runs(4,
		rig.Pays(t, "call", "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--json")...)
	if r := rig.ResultOf(t, out); r.State != "abandoned" && r.State != "refused" {
		t.Errorf("%s", out)
	}
	if n := len(b.Saw("/v3/quote/call-quote")); n != 0 {
		t.Errorf("%d signed calls were sent", n)
	}
}

// TestCommandsAskOnATerminal: on a terminal both reviews are read and confirmed by typing; what was pasted for both at
// once does not confirm the second.
func TestCommandsAskOnATerminal(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	p := rig.At(t, rig.Start(t, env, 120, 60, rig.Pays(t, "call")...))
	p.Waits("the first question", func(s string) bool { return strings.Contains(s, "To sign, type yes:") })
	p.Types("yes\r430.5\r") // too early, and a paste
	rig.Pause()
	if strings.Contains(p.Term.Screen(), "REVIEW 2") {
		t.Error("what came at once confirmed the first review")
	}
	p.Types("yes\r")
	p.Sees("REVIEW 2 OF 2")
	asked := p.Finds(`type the amount ([0-9.]+), because`)
	rig.Pause()
	p.Types(asked + "\r")
	p.Sees("COMPLETED")
	if err := p.Ends(); err != nil {
		t.Fatal(err)
	}
	in, closeStore := rig.OpenStore(t, rig.DataOf(dir))
	defer closeStore()
	usdc, ok := in.Catalog.Aggregate("ob:usdc")
	if !ok {
		t.Fatal("no USDC")
	}
	for _, e := range usdc.Entities {
		if e.Asset.Chain.String() == "eip155:8453" {
			rig.CheckRecipient(t, in, e.Asset, "430.5")
		}
	}
}
