//go:build linux

package sshci

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"coffer/assets"
)

// callOf is a call that other chains pay for, as a command for the shell of the host.
func callOf(t testing.TB, more ...string) []string {
	t.Helper()
	demo, err := assets.DemoKey()
	must(t, err)
	return append([]string{"coffer", "call", "--chain", "base", "--to", "usdc", "--function",
		`"transfer(address to, uint256 amount)"`, "--arg", demo.AddressBook[0].Address, "--arg", `"430.5 USDC"`},
		more...)
}

// TH-Z2, K1: commands over SSH without a terminal ask nothing: data, findings and exit codes arrive as they are,
// nothing is signed without --yes and the passphrase, and what needs a terminal says how to get one.
func TestSSHCommandsWithoutATerminal(t *testing.T) {
	t.Parallel()
	h := newHost(t, hostOptions{})
	out, errs, code := h.runs("", "coffer", "balances", "--json")
	var b struct{ TotalBalance, BalanceByAggregatedAsset any }
	if err := json.Unmarshal([]byte(out), &b); code != 0 || err != nil || errs != "" ||
		b.BalanceByAggregatedAsset == nil {
		t.Errorf("code %d: %v %s%s", code, err, out, errs)
	}
	for _, c := range []struct {
		command []string
		code    int
		says    string
	}{
		{[]string{"coffer"}, 2, "ssh -t HOST coffer"},
		{[]string{"coffer", "setup"}, 2, "needs a terminal"},
		{callOf(t), 2, "signing needs --yes"},
		{[]string{"coffer", "--profile", "nobody", "balances"}, 2, "nobody"},
		{[]string{"coffer", "balances", "--nothing"}, 2, "unknown flag"},
	} {
		out, errs, code := h.runs("", c.command...)
		if code != c.code || !strings.Contains(strings.ToLower(errs), strings.ToLower(c.says)) || out != "" ||
			strings.ContainsRune(errs, '\x1b') {
			t.Errorf("%v: code %d, expected %d with %q: %s%s", c.command, code, c.code, c.says, out, errs)
		}
	}
	if out, errs, code := h.runs("", "coffer", "status", "0x"+strings.Repeat("9f", 32)); code != 6 ||
		!strings.Contains(out, "unknown") || !strings.Contains(errs, "does not know this quote") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	if out, errs, code := h.runs("", callOf(t, "--dry-run")...); code != 0 || !strings.Contains(out, "430.5 USDC") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	if out, errs, code := h.runs("", callOf(t, "--yes", "--accept", "V4,Q11", "--json")...); code != 0 ||
		!strings.Contains(out, `"COMPLETED"`) {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
}

// TH-K1: keys in a file stay locked over SSH unless the passphrase comes through the connection on a descriptor; a
// wrong one, or none, is a matter of access, and nobody is asked. A command whose connection is gone goes on to its
// end, and sends nothing twice.
func TestSSHKeysOfAFileWithoutATerminal(t *testing.T) {
	t.Parallel()
	h := newHost(t, hostOptions{})
	b, apiKey := h.team("--lifetime", "5m")
	for input, want := range map[string]string{"": "", "not this one\n": "does not open the keys"} {
		more := []string{"--yes", "--accept", "V4,Q11"}
		if input != "" {
			more = append(more, "--passphrase-fd", "0")
		}
		out, errs, code := h.runs(input, callOf(t, more...)...)
		if code != 3 || out != "" || strings.Contains(errs, "(not shown)") || !strings.Contains(errs, want) {
			t.Errorf("%q: code %d: %s%s", input, code, out, errs)
		}
	}
	if out, errs, code := h.runs(passphrase+"\n", callOf(t, "--yes", "--accept", "V4,Q11", "--json", "--passphrase-fd",
		"0")...); code != 0 || !strings.Contains(out, `"COMPLETED"`) {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	held := b.holds(pathExecute)
	cmd := h.client("xterm-256color", nil, callOf(t, "--yes", "--accept", "V4,Q11", "--json", "--passphrase-fd",
		"0")...)
	cmd.Stdin = strings.NewReader(passphrase + "\n")
	must(t, cmd.Start())
	<-held
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	b.goesOn()
	h.nothingRuns()
	if n := b.reached(pathExecute); n != 2 {
		t.Errorf("%d executes reached the service, expected 2", n)
	}
	out, errs, code := h.runs(passphrase+"\n", "coffer", "history", "--json", "--passphrase-fd", "0")
	if code != 0 || strings.Count(out, `"COMPLETED"`) != 2 || strings.Count(out, "\n") != 2 {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	h.keepsNo(passphrase, keyText, apiKey)
}

// An interrupt reaches the program through the terminal of ssh, in a command, in a question and in the dashboard, and
// its exit code comes back.
func TestSSHAnInterruptReachesTheProgram(t *testing.T) {
	t.Parallel()
	h := newHost(t, hostOptions{})
	b, _ := h.team("--lifetime", "5m")
	ended := func(p person, want int) {
		t.Helper()
		var exit *exec.ExitError
		if err := p.ends(); want == 0 && err != nil || want != 0 &&
			(!errors.As(err, &exit) || exit.ExitCode() != want) {
			t.Errorf("%v, expected exit code %d\n%s", err, want, p.term.Screen())
		}
		h.nothingRuns()
	}
	question := h.opens(at{}, "coffer", "keys", "list")
	question.sees("Passphrase of profile team")
	question.types("half\x03")
	ended(question, 5)

	review := h.opens(at{Cols: 120, Rows: 50}, callOf(t)...)
	review.sees("Passphrase of profile team")
	review.types(passphrase + "\r")
	review.sees("REVIEW 1 OF 2", "To sign, type yes")
	review.types("\x03")
	ended(review, 5)
	if n := b.reached(pathCall); n != 0 {
		t.Errorf("%d calls were signed", n)
	}

	held := b.holds(pathExecute)
	sent := h.opens(at{Cols: 120, Rows: 50}, callOf(t, "--yes", "--accept", "V4,Q11")...)
	sent.sees("Passphrase of profile team")
	sent.types(passphrase + "\r")
	<-held
	sent.types("\x03")
	ended(sent, 6)
	b.goesOn()
	if n := b.reached(pathExecute); n != 1 {
		t.Errorf("%d executes reached the service", n)
	}

	p := h.unlocks(at{})
	p.types("3")
	p.sees("COMPLETED") // nothing is under way any more
	p.types("\x03")
	ended(p, 0)
	if p.term.AltScreen() {
		t.Error("the terminal was not given back")
	}
}
