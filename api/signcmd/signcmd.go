// Package signcmd asks a command of the user's for a signature, such as a bridge to a hardware key: it is started once
// for each, gets one line of JSON on its standard input and answers with one object {"signature":"…"} on its standard
// output (docs/signer.md).
//
// Promise: no shell; the program is named by an absolute path or found in PATH; its environment holds the names in the
// list below and nothing else of this process; it is ended when the time is over or the context is; its answer is at
// most 4 KiB, and what it writes to standard error is bounded and cleaned before it is shown. Whose signature it gave,
// the caller has to find out.
package signcmd

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api/text"
)

// Command is a program with its arguments. Env, where it has no entries, is the process's own, of which only the
// allowed names are passed on. Timeout is two minutes where it is 0: for a person to look at a device.
type Command struct {
	Words   []string
	Env     []string
	Timeout time.Duration
}

// The limits of the conversation.
const (
	usualTimeout = 2 * time.Minute
	wait         = 2 * time.Second // for what a command that was ended left running with its output in hand
	maxAnswer    = 4 << 10
	maxComplaint = 2 << 10
)

var (
	// ErrNone says that the command gave no signature; the text says why.
	ErrNone = errors.New("the external signer gave no signature")
	// ErrNoSignature says that what it gave is none of the kind that was asked for.
	ErrNoSignature = fmt.Errorf("%w: its answer is not a signature of this kind", ErrNone)
)

// answer is what the command writes.
type answer struct {
	Signature string `json:"signature"`
}

// Ask runs the command once with a request, which is encoded as JSON, and returns the text of its signature.
func (c Command) Ask(ctx context.Context, request any) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	line, err := json.Marshal(request, json.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("%w: its request cannot be written: %w", ErrNone, err)
	}
	timeout := c.Timeout
	if timeout == 0 {
		timeout = usualTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd, err := c.command(ctx)
	if err != nil {
		return "", err
	}
	out, complaint := collect(maxAnswer), collect(maxComplaint)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(append(line, '\n')), out.PipeWriter, complaint.PipeWriter
	err = cmd.Run()
	said, why := out.end(), complaint.end()
	if err == nil && len(said) > maxAnswer {
		err = errLong
	}
	if err != nil {
		return "", failure(ctx, err, string(why[:min(len(why), maxComplaint)]))
	}
	return ReadAnswer(said)
}

// Recoverable asks for a signature of 65 bytes in hexadecimal.
func (c Command) Recoverable(ctx context.Context, request any) ([]byte, error) {
	said, err := c.Ask(ctx, request)
	if err != nil {
		return nil, err
	}
	hexed, prefixed := strings.CutPrefix(said, "0x")
	sig, err := hex.DecodeString(hexed)
	if err != nil || !prefixed {
		return nil, ErrNoSignature
	}
	return sig, nil
}

// ReadAnswer reads the one object that a command writes.
func ReadAnswer(said []byte) (string, error) {
	var a answer
	if err := json.Unmarshal(said, &a, json.RejectUnknownMembers(true)); err != nil {
		return "", ErrNoSignature
	}
	return a.Signature, nil
}

// command prepares the program with an environment of its own.
func (c Command) command(ctx context.Context) (*exec.Cmd, error) {
	if len(c.Words) == 0 || c.Words[0] == "" {
		return nil, fmt.Errorf("%w: no command is set", ErrNone)
	}
	program := c.Words[0]
	if !filepath.IsAbs(program) && program != filepath.Base(program) {
		return nil, fmt.Errorf("%w: %s is neither an absolute path nor the name of a program in PATH", ErrNone,
			text.Clean(program, 200))
	}
	env := c.Env
	if len(env) == 0 {
		env = os.Environ()
	}
	//nolint:gosec // the user names it; no shell reads it
	cmd := exec.CommandContext(ctx, program, c.Words[1:]...)
	cmd.Env, cmd.WaitDelay = allowed(env), wait
	return cmd, nil
}

// allowed keeps the variables that a program needs to run; none of them holds a secret.
func allowed(env []string) []string {
	names := []string{
		"HOME", "PATH", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_RUNTIME_DIR",
		"SYSTEMROOT", "SYSTEMDRIVE", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT",
	}
	out := []string{}
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if slices.Contains(names, strings.ToUpper(name)) {
			out = append(out, v)
		}
	}
	return out
}

// failure says why a command gave nothing, with what it complained about.
func failure(ctx context.Context, err error, complaint string) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%w: it did not answer in time", ErrNone)
	case ctx.Err() != nil:
		return fmt.Errorf("sign: %w", ctx.Err())
	}
	if complaint = strings.TrimSpace(complaint); complaint != "" {
		return fmt.Errorf("%w (%s): %s", ErrNone, text.Clean(err.Error(), 200), text.Clean(complaint, 300))
	}
	return fmt.Errorf("%w: %s", ErrNone, text.Clean(err.Error(), 200))
}

var errLong = errors.New("its answer is longer than 4 KiB")

// collector takes in what a command writes, and keeps one byte more than the limit; the rest is read and forgotten.
type collector struct {
	*io.PipeWriter
	kept chan []byte
}

func collect(limit int64) collector {
	r, w := io.Pipe()
	c := collector{w, make(chan []byte, 1)}
	go func() {
		b, _ := io.ReadAll(io.LimitReader(r, limit+1)) // a pipe in memory ends, it does not fail
		_, _ = io.Copy(io.Discard, r)
		c.kept <- b
	}()
	return c
}

// end returns what was kept, when nothing more is written.
func (c collector) end() []byte {
	_ = c.Close() // a pipe in memory: it cannot fail
	return <-c.kept
}
