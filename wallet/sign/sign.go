// Package sign holds the four verbs that make a signature. Each accepts only a value that package verify made, so
// nothing can be signed that was not checked and decoded; there is no verb for a hash, for typed data or for a message
// of somebody's choice (docs/threats.md).
//
// Two signers speak them: Signer with keys that a vault lends, External with a command of the user's.
//
// Promise: before a signature leaves this package its signer is recovered from it and compared with the account's key,
// s is low and the length is 65 bytes (64 for Solana); anything else is an error and no signature (TH-U15). A value of
// another network than the signer's is refused. Key bytes are borrowed from a Keys for the length of one call and wiped
// afterwards. No error contains a key or a signature.
//
// Sources: TH-U14, U15, T7, D2, S1; protocol §8.
package sign

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/secret"
	"coffer/wallet/verify"
)

// Keys lends the key of an address. Address is 0x and 40 lower-case hex digits, or base58 for Solana. Use calls fn with
// the 32 bytes of the key (the seed for Solana) if the key belongs to the network, and wipes them afterwards; fn must
// not keep them.
type Keys interface {
	Use(ctx context.Context, networkID, address string, fn func(key secret.Secret) error) error
}

// Signature is the result of a verb: 65 bytes r‖s‖v with v 27 or 28, or 64 bytes for Solana.
type Signature []byte

// The errors of the verbs.
var (
	ErrUnverified = errors.New("only what passed every check can be signed")
	ErrFault      = errors.New("the signature that was made does not belong to the account's key; nothing was signed")
)

// Signer signs for one network. It is safe for concurrent use if its Keys is.
type Signer struct {
	keys    Keys
	network string
	ecdsa   func(common.Hash, *ecdsa.PrivateKey) ([]byte, error)
	ed25519 func(ed25519.PrivateKey, []byte) []byte
}

// New makes a signer for the network with the given id.
func New(keys Keys, networkID string) *Signer {
	return &Signer{keys: keys, network: networkID, ecdsa: op.Sign, ed25519: ed25519.Sign}
}

// SignUserOp signs a kernel account's user operation: EIP-191 over the userOpHash.
func (s *Signer) SignUserOp(ctx context.Context, v verify.VerifiedUserOp) (Signature, error) {
	if v.IsZero() {
		return nil, ErrUnverified
	}
	return s.recoverable(ctx, v.Network(), v.Signer(), v.Digest())
}

// SignApprove signs a role-based account's approval: the EIP-712 digest of the Approve document.
func (s *Signer) SignApprove(ctx context.Context, v verify.VerifiedApprove) (Signature, error) {
	if v.IsZero() {
		return nil, ErrUnverified
	}
	return s.recoverable(ctx, v.Network(), v.Signer(), v.Digest())
}

// SignDelegation signs an EIP-7702 authorization and checks its authority.
func (s *Signer) SignDelegation(ctx context.Context, v verify.VerifiedDelegation) (op.SignedAuthorization, error) {
	return authorized(v, func(a op.Authorization) (Signature, error) {
		return s.recoverable(ctx, v.Network(), v.Signer(), a.Hash())
	})
}

// SignSolana signs the bytes of a Solana message and verifies the signature.
func (s *Signer) SignSolana(ctx context.Context, v verify.VerifiedMessage) (Signature, error) {
	if v.IsZero() {
		return nil, ErrUnverified
	}
	if v.Network() != s.network {
		return nil, otherNetwork(v.Network(), s.network)
	}
	public, message := v.Signer(), v.Message()
	var sig []byte
	err := s.keys.Use(ctx, s.network, caip.FormatSolanaKey(public), func(key secret.Secret) error {
		if len(key.Reveal()) != ed25519.SeedSize {
			return ErrFault
		}
		private := ed25519.NewKeyFromSeed(key.Reveal())
		defer clear(private)
		sig = s.ed25519(private, message)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return own(public, message, sig)
}

// recoverable makes a secp256k1 signature and recovers its signer before it is handed out.
func (s *Signer) recoverable(ctx context.Context, network string, signer common.Address, digest common.Hash) (Signature,
	error) {
	if network != s.network {
		return nil, otherNetwork(network, s.network)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	var sig []byte
	err := s.keys.Use(ctx, s.network, strings.ToLower(signer.Hex()), func(key secret.Secret) error {
		private, err := crypto.ToECDSA(key.Reveal())
		if err != nil {
			return ErrFault // the cause may describe the key
		}
		//nolint:staticcheck // only wiped, after its last use; the key of this curve has no other form that could be
		defer secret.WipeNumber(private.D)
		sig, err = s.ecdsa(digest, private)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return recovered(digest, sig, signer)
}

// recovered lets a signature out if the account's key made it: 65 bytes, a low s, and the signer that it was asked of.
func recovered(digest common.Hash, sig []byte, signer common.Address) (Signature, error) {
	if who, err := op.Recover(digest, sig); err != nil || who != signer {
		return nil, ErrFault
	}
	return sig, nil
}

// authorized has a delegation signed, joins the checked signature to its authorization, and checks the whole.
func authorized(v verify.VerifiedDelegation, ask func(op.Authorization) (Signature, error)) (op.SignedAuthorization,
	error) {
	if v.IsZero() {
		return op.SignedAuthorization{}, ErrUnverified
	}
	a := v.Authorization()
	if err := v.Check(); err != nil {
		return op.SignedAuthorization{}, err
	}
	sig, err := ask(a)
	if err != nil {
		return op.SignedAuthorization{}, err
	}
	signed := a.With(sig)
	if who, err := signed.Authority(); err != nil || who != v.Signer() {
		return op.SignedAuthorization{}, ErrFault
	}
	return signed, nil
}

// own lets a signature of a Solana message out if the account's key made it.
func own(public [32]byte, message, sig []byte) (Signature, error) {
	if len(sig) != ed25519.SignatureSize || !ed25519.Verify(public[:], message, sig) {
		return nil, ErrFault
	}
	return sig, nil
}

func otherNetwork(got, want string) error {
	return fmt.Errorf("sign: the operation belongs to network %.10s…, this wallet is on %.10s…", got, want)
}
