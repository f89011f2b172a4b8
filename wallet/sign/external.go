package sign

import (
	"bytes"
	"context"
	"encoding/base64"
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

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/text"
	"coffer/wallet/verify"
)

// External signs through a command of the user's, such as a bridge to a hardware key. For each signature the command is
// started once: it gets one line of JSON (a Request) on its standard input and answers with one JSON object
// {"signature":"…"} on its standard output: 0x and 65 bytes r‖s‖v with v 27 or 28 and a low s, or base58 of 64 bytes
// for Solana. What it signs is Digest as it stands, without a prefix, or for Solana the bytes of Message.
//
// Promise: no shell; the program is named by an absolute path or found in PATH; its environment holds the names in the
// list below and nothing else of this process; it is ended when the time is over or the context is; its answer is at
// most 4 KiB, what it writes to standard error is bounded and cleaned before it is shown; and its signature leaves this
// package only if the account's key made it (TH-U15).
type External struct {
	Command []string      // program and arguments
	Network string        // network id
	Timeout time.Duration // 0: two minutes, for a person to look at a device
	Env     []string      // 0 entries: the process's own, of which only the allowed names are passed on
}

// The limits of the conversation with a command.
const (
	externalTimeout = 2 * time.Minute
	externalWait    = 2 * time.Second // for what a command that was ended left running with its output in hand
	maxAnswer       = 4 << 10
	maxComplaint    = 2 << 10
)

// ErrExternal says that the command gave no signature; the text says why.
var ErrExternal = errors.New("the external signer gave no signature")

// Request is what the command reads. Kind is "userOp", "approve", "delegation" or "solana"; Address is the account of
// the key (0x checksum form or base58), Digest 0x and 64 hex digits, Message base64 of a Solana message, Chain CAIP-2.
// Summary holds what the verifier decoded, for the command to show. Content, since version 2, is what the digest was
// made of, for a command that decodes it and computes the digest itself (docs/signer.md).
type Request struct {
	Version int     `json:"version"`
	Network string  `json:"network"`
	Kind    string  `json:"kind"`
	Address string  `json:"address"`
	Digest  string  `json:"digest"`
	Message string  `json:"message,omitzero"`
	Chain   string  `json:"chain"`
	Summary Summary `json:"summary"`
	Content Content `json:"content"`
}

// requestVersion is 2 since a request has its content.
const requestVersion = 2

// answer is what the command writes.
type answer struct {
	Signature string `json:"signature"`
}

// SignUserOp has a kernel account's user operation signed.
func (e External) SignUserOp(ctx context.Context, v verify.VerifiedUserOp) (Signature, error) {
	if v.IsZero() {
		return nil, ErrUnverified
	}
	r := Request{Kind: "userOp", Network: v.Network(), Chain: caip.EVM(v.ChainID()).String(), Summary: userOpSummary(v),
		Content: userOpContent(v)}
	return e.recoverable(ctx, r, v.Signer(), v.Digest())
}

// SignApprove has a role-based account's approval signed.
func (e External) SignApprove(ctx context.Context, v verify.VerifiedApprove) (Signature, error) {
	if v.IsZero() {
		return nil, ErrUnverified
	}
	r := Request{
		Kind: "approve", Network: v.Network(), Chain: caip.EVM(v.Domain().ChainID).String(), Summary: approveSummary(v),
		Content: approveContent(v),
	}
	return e.recoverable(ctx, r, v.Signer(), v.Digest())
}

// SignDelegation has an EIP-7702 authorization signed.
func (e External) SignDelegation(ctx context.Context, v verify.VerifiedDelegation) (op.SignedAuthorization, error) {
	return authorized(v, func(a op.Authorization) (Signature, error) {
		r := Request{
			Kind: "delegation", Network: v.Network(), Chain: caip.EVM(a.ChainID.Uint64()).String(),
			Summary: delegationSummary(a),
			Content: delegationContent(v.Kind(), a),
		}
		return e.recoverable(ctx, r, v.Signer(), a.Hash())
	})
}

// SignSolana has a Solana message signed.
func (e External) SignSolana(ctx context.Context, v verify.VerifiedMessage) (Signature, error) {
	if v.IsZero() {
		return nil, ErrUnverified
	}
	public, message := v.Signer(), v.Message()
	r := Request{
		Kind: "solana", Network: v.Network(), Address: caip.FormatSolanaKey(public), Digest: messageDigest(message),
		Message: base64.StdEncoding.EncodeToString(message),
		Chain:   caip.SolanaMainnet().String(), Summary: messageSummary(message),
		Content: Content{AccountKind: api.AccountSolana, Scheme: SchemeMessage, Message: hexutil.Encode(message)},
	}
	said, err := e.ask(ctx, r)
	if err != nil {
		return nil, err
	}
	sig, err := caip.ParseSolanaSignature(said)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExternal, errNoSignature)
	}
	return own(public, message, sig[:])
}

var errNoSignature = errors.New("its answer is not a signature of this kind")

func (e External) recoverable(ctx context.Context, r Request, signer common.Address, digest common.Hash) (Signature,
	error) {
	r.Address, r.Digest = signer.Hex(), digest.Hex()
	said, err := e.ask(ctx, r)
	if err != nil {
		return nil, err
	}
	hexed, prefixed := strings.CutPrefix(said, "0x")
	sig, err := hex.DecodeString(hexed)
	if err != nil || !prefixed {
		return nil, fmt.Errorf("%w: %w", ErrExternal, errNoSignature)
	}
	return recovered(digest, sig, signer)
}

// ask runs the command once and returns the text of its signature.
func (e External) ask(ctx context.Context, r Request) (string, error) {
	if r.Network != e.Network {
		return "", otherNetwork(r.Network, e.Network)
	}
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	r.Version = requestVersion
	line, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("%w: its request cannot be written: %w", ErrExternal, err)
	}
	timeout := e.Timeout
	if timeout == 0 {
		timeout = externalTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd, err := e.command(ctx)
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
	return readAnswer(said)
}

// readAnswer reads the one object that a command writes.
func readAnswer(said []byte) (string, error) {
	var a answer
	if err := json.Unmarshal(said, &a, json.RejectUnknownMembers(true)); err != nil {
		return "", fmt.Errorf("%w: %w", ErrExternal, errNoSignature)
	}
	return a.Signature, nil
}

// command prepares the program with an environment of its own.
func (e External) command(ctx context.Context) (*exec.Cmd, error) {
	if len(e.Command) == 0 || e.Command[0] == "" {
		return nil, fmt.Errorf("%w: no command is set", ErrExternal)
	}
	program := e.Command[0]
	if !filepath.IsAbs(program) && program != filepath.Base(program) {
		return nil, fmt.Errorf("%w: %s is neither an absolute path nor the name of a program in PATH", ErrExternal,
			text.Clean(program, 200))
	}
	env := e.Env
	if len(env) == 0 {
		env = os.Environ()
	}
	//nolint:gosec // the user names it in the profile; no shell reads it
	cmd := exec.CommandContext(ctx, program, e.Command[1:]...)
	cmd.Env, cmd.WaitDelay = allowed(env), externalWait
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
		return fmt.Errorf("%w: it did not answer in time", ErrExternal)
	case ctx.Err() != nil:
		return fmt.Errorf("sign: %w", ctx.Err())
	}
	if complaint = strings.TrimSpace(complaint); complaint != "" {
		return fmt.Errorf("%w (%s): %s", ErrExternal, text.Clean(err.Error(), 200), text.Clean(complaint, 300))
	}
	return fmt.Errorf("%w: %s", ErrExternal, text.Clean(err.Error(), 200))
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
