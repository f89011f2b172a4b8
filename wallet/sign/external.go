package sign

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/signcmd"
	"coffer/wallet/verify"
)

// External signs through a command of the user's, such as a bridge to a hardware key. For each signature the command is
// started once: it gets one line of JSON (a Request) on its standard input and answers with one JSON object
// {"signature":"…"} on its standard output: 0x and 65 bytes r‖s‖v with v 27 or 28 and a low s, or base58 of 64 bytes
// for Solana. What it signs is Digest as it stands, without a prefix, or for Solana the bytes of Message.
//
// Promise: what package signcmd promises of the command, and its signature leaves this package only if the account's
// key made it (TH-U15).
type External struct {
	Command []string      // program and arguments
	Network string        // network id
	Timeout time.Duration // 0: two minutes, for a person to look at a device
	Env     []string      // 0 entries: the process's own, of which only the allowed names are passed on
}

// ErrExternal says that the command gave no signature; the text says why.
var ErrExternal = signcmd.ErrNone

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
	c, err := e.begin(ctx, &r)
	if err != nil {
		return nil, err
	}
	said, err := c.Ask(ctx, r)
	if err != nil {
		return nil, err
	}
	sig, err := caip.ParseSolanaSignature(said)
	if err != nil {
		return nil, signcmd.ErrNoSignature
	}
	return own(public, message, sig[:])
}

func (e External) recoverable(ctx context.Context, r Request, signer common.Address, digest common.Hash) (Signature,
	error) {
	r.Address, r.Digest = signer.Hex(), digest.Hex()
	c, err := e.begin(ctx, &r)
	if err != nil {
		return nil, err
	}
	sig, err := c.Recoverable(ctx, r)
	if err != nil {
		return nil, err
	}
	return recovered(digest, sig, signer)
}

// begin is the command that gets a request of this network.
func (e External) begin(ctx context.Context, r *Request) (c signcmd.Command, err error) {
	if r.Network != e.Network {
		return c, otherNetwork(r.Network, e.Network)
	}
	if err := ctx.Err(); err != nil {
		return c, fmt.Errorf("sign: %w", err)
	}
	r.Version = requestVersion
	return signcmd.Command{Words: e.Command, Env: e.Env, Timeout: e.Timeout}, nil
}
