//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/assets"
)

// script is somebody who runs commands without a terminal, with the passphrase on descriptor 3.
type script struct {
	*testing.T
	env  []string
	pass string
}

// starts begins a command; what it prints is in the buffers once it has ended.
func (s script) starts(args ...string) (cmd *exec.Cmd, out, errs *bytes.Buffer) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), limit)
	s.Cleanup(cancel)
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	cmd = exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.Dir = s.env, out, errs, s.TempDir()
	if s.pass != "" {
		r, w, err := os.Pipe()
		if err != nil {
			s.Fatal(err)
		}
		if _, err := w.WriteString(s.pass + "\n"); err != nil {
			s.Fatal(err)
		}
		cmd.Args, cmd.ExtraFiles = append(cmd.Args, "--passphrase-fd", "3"), []*os.File{r}
		defer func() { _ = errors.Join(r.Close(), w.Close()) }()
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	return cmd, out, errs
}

// runs carries out a command and demands its exit code.
func (s script) runs(code int, args ...string) (out, errs string) {
	s.Helper()
	cmd, o, e := s.starts(args...)
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != code {
		s.Fatalf("%v: exit code %d, want %d\n%s\n%s", args, got, code, o, e)
	}
	if strings.Contains(o.String()+e.String(), passphrase) {
		s.Errorf("%v: the passphrase is printed", args)
	}
	return o.String(), e.String()
}

// heard notes the last answer of the service to each path.
type heard struct {
	mu   sync.Mutex
	last map[string]string
}

func (h *heard) note(r request, status int, answer []byte) (int, []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[r.path] = string(answer)
	return status, answer
}

func (h *heard) of(path string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last[path]
}

// payee is the first address of the demo's address book.
func payee(t *testing.T) string {
	t.Helper()
	demo, err := assets.DemoKey()
	if err != nil {
		t.Fatal(err)
	}
	return demo.AddressBook[0].Address
}

// pays are the flags of a call that two other chains pay for.
func pays(t *testing.T, command string, more ...string) []string {
	return append([]string{command, "--chain", "base", "--to", "usdc", "--function", "transfer(address to, uint256 amount)", "--arg", payee(t), "--arg", "430.5 USDC"}, more...)
}

// result is what --json prints of an operation.
type result struct {
	Operation string              `json:"operation"`
	State     string              `json:"state"`
	QuoteID   string              `json:"quoteId"`
	Status    api.ExecutionStatus `json:"status"`
}

func resultOf(t *testing.T, out string) result {
	t.Helper()
	var r result
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// TestCommandsDoTheMainJob walks the main job by commands alone, against a service in another process: lists, a look, a plan, its application, its state,
// its record; then a transfer and a swap. Every document is the service's own, byte for byte, and a plan is not applied twice.
func TestCommandsDoTheMainJob(t *testing.T) {
	t.Parallel()
	env, b := team(t)
	h := &heard{last: map[string]string{}}
	b.behaves(h.note)
	s := script{t, env, passphrase}
	for command, path := range map[string]string{"chains": "/chains/supported-list", "assets": "/assets/list"} {
		if out, _ := s.runs(0, command, "--json"); out != h.of(path)+"\n" {
			t.Errorf("%s prints something else than was answered:\n%s", command, out)
		}
	}
	if out, _ := s.runs(0, pays(t, "call", "--dry-run")...); !strings.Contains(out, "430.5 USDC") || !strings.Contains(out, "nothing else") {
		t.Errorf("the look:\n%s", out)
	}
	file := filepath.Join(t.TempDir(), "pay.toml")
	s.runs(0, pays(t, "plan", "--max-spend", "900", "--max-cost-bps", "300", "--out", file)...)
	out, errs := s.runs(0, "apply", file, "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--json")
	done := resultOf(t, out)
	if done.State != "done" || done.Status.Status != api.StatusCompleted || !strings.Contains(errs, "AND OPERATION") {
		t.Errorf("%s\n%s", out, errs)
	}
	for name, path := range map[string]string{"prepared": "/v3/quote/prepare-call-quote", "quote": "/v3/quote/call-quote", "status": pathStatus} {
		if !strings.Contains(out, `"`+name+`":`+h.of(path)) {
			t.Errorf("the answer of %s is not in the result as it came", path)
		}
	}
	if _, errs := s.runs(4, "apply", file, "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--json"); !strings.Contains(errs, done.Operation) {
		t.Errorf("%s", errs)
	}
	if n := len(b.saw(pathExecute)); n != 1 {
		t.Fatalf("executed %d times", n)
	}
	for _, id := range []string{done.Operation, done.QuoteID} {
		if out, _ := s.runs(0, "status", id, "--json"); out != h.of(pathStatus)+"\n" {
			t.Errorf("status prints something else than was answered:\n%s", out)
		}
	}
	s.runs(0, "transfer", "--asset", "usdc", "--amount", "20", "--to", payee(t), "--chain", "op", "--yes", "--accept", "V4,Q10,Q11,J4,U3")
	s.runs(0, "swap", "--asset", "usdc", "--amount", "20", "--for", "eth@base", "--yes", "--accept", "V4,Q10,Q11,J4,U3")
	out, _ = s.runs(0, "history", "--json")
	if kinds := regexp.MustCompile(`"type":"(\w+)"`).FindAllString(out, -1); strings.Join(kinds, " ") != `"type":"SWAP" "type":"TRANSFER" "type":"CALL"` || strings.Count(out, "\n") != 3 {
		t.Errorf("%q\n%s", kinds, out)
	}
	if out, _ := s.runs(0, "history", "--csv", "--type", "CALL"); strings.Count(out, "\r\n") != 2 || !strings.Contains(out, done.QuoteID) {
		t.Error(out)
	}
	exported, _ := s.runs(0, "export")
	var whole struct {
		History []api.HistoryRecord `json:"history"`
		Journal struct {
			Operations []struct {
				State string `json:"state"`
			} `json:"operations"`
		} `json:"journal"`
	}
	if err := json.Unmarshal([]byte(exported), &whole); err != nil || len(whole.History) != 3 || len(whole.Journal.Operations) != 3 {
		t.Errorf("%v: %d records, %d operations", err, len(whole.History), len(whole.Journal.Operations))
	}
	for _, r := range b.saw("/v3/quote/call-quote") {
		signature := regexp.MustCompile(`"signature":"(0x[0-9a-f]{130,})"`).FindSubmatch(r.body)
		if signature == nil || strings.Contains(exported, string(signature[1])) {
			t.Error("a signature is in the export, or none was found in the request")
		}
	}
}

// TestCommandsNeedTheKeysToSign: without the passphrase, with a wrong one and without --yes nothing is signed, and each has its exit code.
func TestCommandsNeedTheKeysToSign(t *testing.T) {
	t.Parallel()
	env, b := team(t)
	script{t, env, ""}.runs(3, pays(t, "call", "--yes", "--accept", "V4,Q10,Q11,J4,U3")...)
	script{t, env, "not this one"}.runs(3, pays(t, "call", "--yes", "--accept", "V4,Q10,Q11,J4,U3")...)
	script{t, env, passphrase}.runs(2, pays(t, "call")...)
	if n := len(b.saw("/v3/quote/prepare-call-quote")); n != 0 {
		t.Errorf("%d calls were prepared", n)
	}
}

// interruptedCall is a call whose program was interrupted while it waited for the answer to execute: it ended with code 6. It returns what the program said. The
// service has the answer, and behaves again.
func interruptedCall(t *testing.T) (s script, b *between, out, errs string) {
	t.Helper()
	env, b := team(t, "--lifetime", "60s")
	arrived, release := make(chan struct{}), make(chan struct{})
	b.behaves(func(r request, status int, answer []byte) (int, []byte) {
		if executes(r) {
			close(arrived)
			<-release
		}
		return status, answer
	})
	s = script{t, env, passphrase}
	cmd, said, told := s.starts(pays(t, "call", "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--json")...)
	<-arrived
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	close(release)
	if code := cmd.ProcessState.ExitCode(); code != 6 {
		t.Fatalf("exit code %d\n%s\n%s", code, said, told)
	}
	b.behaves(nil)
	return s, b, said.String(), told.String()
}

// TestCommandsInterruptedDuringExecute: an interrupt while the answer to execute is waited for ends with code 6; the quote is not sent again, and its outcome
// is found by its id.
func TestCommandsInterruptedDuringExecute(t *testing.T) {
	t.Parallel()
	s, b, out, errs := interruptedCall(t)
	r := resultOf(t, out)
	if r.State != "outcome unknown" || !strings.Contains(errs, "coffer status "+r.Operation+" --watch") {
		t.Errorf("%s\n%s", out, errs)
	}
	if out, _ := s.runs(0, "status", r.Operation, "--watch", "--json"); !strings.Contains(out, api.StatusCompleted) {
		t.Error(out)
	}
	if n := len(b.saw(pathExecute)); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

// TestCommandsGoOnAfterAnInterrupt: what was interrupted and has ended since is in no way: the next payment asks for its outcome first, and is made.
func TestCommandsGoOnAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	s, b, _, _ := interruptedCall(t)
	for i := 0; ; i++ { // what the service lists says nothing to the journal
		if listed, _ := s.runs(0, "history", "--json"); strings.Contains(listed, api.StatusCompleted) {
			break
		} else if i == 100 {
			t.Fatalf("it does not end:\n%s", listed)
		}
	}
	s.runs(0, pays(t, "call", "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--json")...)
	if n := len(b.saw(pathExecute)); n != 2 {
		t.Errorf("sent %d times", n)
	}
}

// TestCommandsRefuseAHostileAnswer: a changed recipient is refused with code 4 and nothing is signed, with --yes as well.
func TestCommandsRefuseAHostileAnswer(t *testing.T) {
	t.Parallel()
	env, b := team(t)
	attack := preparedAttacks()[0]
	b.behaves(func(r request, status int, answer []byte) (int, []byte) {
		if strings.HasSuffix(r.path, "/prepare-call-quote") {
			answer = splice(answer, attack)
		}
		return status, answer
	})
	out, _ := script{t, env, passphrase}.runs(4, pays(t, "call", "--yes", "--accept", "V4,Q10,Q11,J4,U3", "--json")...)
	if r := resultOf(t, out); r.State != "abandoned" && r.State != "refused" {
		t.Errorf("%s", out)
	}
	if n := len(b.saw("/v3/quote/call-quote")); n != 0 {
		t.Errorf("%d signed calls were sent", n)
	}
}

// pause is the moment that a person needs to read a question.
func pause() { <-time.NewTimer(600 * time.Millisecond).C }

// TestCommandsAskOnATerminal: on a terminal both reviews are read and confirmed by typing; what was pasted for both at once does not confirm the second.
func TestCommandsAskOnATerminal(t *testing.T) {
	t.Parallel()
	dir, env := home(t)
	p := person{t, start(t, env, 120, 60, pays(t, "call")...)}
	p.waits("the first question", func(s string) bool { return strings.Contains(s, "To sign, type yes:") })
	p.types("yes\r430.5\r") // too early, and a paste
	pause()
	if strings.Contains(p.term.Screen(), "REVIEW 2") {
		t.Error("what came at once confirmed the first review")
	}
	p.types("yes\r")
	p.sees("REVIEW 2 OF 2")
	asked := p.finds(`type the amount ([0-9.]+), because`)
	pause()
	p.types(asked + "\r")
	p.sees("completed")
	if err := p.ends(); err != nil {
		t.Fatal(err)
	}
	in, closeStore := openStore(t, dataOf(dir))
	defer closeStore()
	usdc, ok := in.Catalog.Aggregate("ob:usdc")
	if !ok {
		t.Fatal("no USDC")
	}
	for _, e := range usdc.Entities {
		if e.Asset.Chain.String() == "eip155:8453" {
			checkRecipient(t, in, e.Asset, "430.5")
		}
	}
}
