//go:build unix

package rig

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/assets"
)

// Script is somebody who runs commands without a terminal, with the passphrase on descriptor 3.
type Script struct {
	*testing.T
	Env  []string
	Pass string
}

// Starts begins a command; what it prints is in the buffers once it has ended.
func (s Script) Starts(args ...string) (cmd *exec.Cmd, out, errs *bytes.Buffer) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), Limit)
	s.Cleanup(cancel)
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	cmd = exec.CommandContext(ctx, Program(), args...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.Dir = s.Env, out, errs, s.TempDir()
	if s.Pass != "" {
		r, w, err := os.Pipe()
		must(s, err)
		_, err = w.WriteString(s.Pass + "\n")
		must(s, err)
		cmd.Args, cmd.ExtraFiles = append(cmd.Args, "--passphrase-fd", "3"), []*os.File{r}
		defer func() { _ = errors.Join(r.Close(), w.Close()) }()
	}
	must(s, cmd.Start())
	return cmd, out, errs
}

// Runs carries out a command and demands its exit code.
func (s Script) Runs(code int, args ...string) (out, errs string) {
	s.Helper()
	cmd, o, e := s.Starts(args...)
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != code {
		s.Fatalf("%v: exit code %d, want %d\n%s\n%s", args, got, code, o, e)
	}
	if strings.Contains(o.String()+e.String(), Passphrase) {
		s.Errorf("%v: the passphrase is printed", args)
	}
	return o.String(), e.String()
}

// Payee is the first address of the demo's address book.
func Payee(t testing.TB) string {
	t.Helper()
	demo, err := assets.DemoKey()
	must(t, err)
	return demo.AddressBook[0].Address
}

// Pays are the flags of a call that two other chains pay for.
func Pays(t *testing.T, command string, more ...string) []string {
	return append([]string{
		command, "--chain", "base", "--to", "usdc", "--function", "transfer(address to, uint256 amount)",
		"--arg", Payee(t), "--arg", "430.5 USDC",
	}, more...)
}

// Result is what --json prints of an operation.
type Result struct {
	Operation string              `json:"operation"`
	State     string              `json:"state"`
	QuoteID   string              `json:"quoteId"`
	Status    api.ExecutionStatus `json:"status"`
}

// ResultOf reads what --json printed of an operation.
func ResultOf(t *testing.T, out string) Result {
	t.Helper()
	var r Result
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// Pause is the moment that a person needs to read a question.
func Pause() { <-time.NewTimer(600 * time.Millisecond).C }

// Command lines of operations. PAYEE is a word of a Stage, and an underscore stands for a blank.
const (
	ACall     = "call --chain base --to usdc --function transfer(address_to,uint256_amount) --arg PAYEE --arg 20_USDC"
	ATransfer = "transfer --asset usdc --amount 20 --to PAYEE --chain op"
	ASwap     = "swap --asset usdc --amount 20 --for eth@base"
	APayment  = "pay LIST --asset usdc --chain base"
)

// AList is a list of payouts: LIST is the word of its file.
func AList(t *testing.T) string {
	return "recipient,amount,note\n" + Payee(t) + ",12,\"invoice 7, March\"\n" +
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed,8.5,\n"
}
