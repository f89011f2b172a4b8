package verify

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
)

// Signing is one verified operation and all that its account has to sign for it: a user operation, an approval of one
// (role-based accounts) or a Solana message, and beside a user operation a delegation where the EOA has no code yet.
// Only this package makes one; the zero value holds nothing.
type Signing struct {
	op         VerifiedUserOp // what runs, of every EVM account; signer and all
	roleBased  bool           // op is approved by approve and not signed itself
	approve    VerifiedApprove
	delegation VerifiedDelegation
	message    VerifiedMessage
	summary    OpSummary
}

// UserOp returns the user operation that the account's owner signs.
func (s Signing) UserOp() (VerifiedUserOp, bool) {
	if s.roleBased || s.op.IsZero() {
		return VerifiedUserOp{}, false
	}
	return s.op, true
}

// Approve returns the approval that a role-based account's session key signs.
func (s Signing) Approve() (VerifiedApprove, bool) { return s.approve, !s.approve.IsZero() }

// Message returns the Solana message that the account signs.
func (s Signing) Message() (VerifiedMessage, bool) { return s.message, !s.message.IsZero() }

// Delegation returns the EIP-7702 authorization to be signed beside the user operation.
func (s Signing) Delegation() (VerifiedDelegation, bool) { return s.delegation, !s.delegation.IsZero() }

// Count is the number of signatures to make.
func (s Signing) Count() int {
	n := 0
	for _, there := range []bool{!s.op.IsZero() || !s.message.IsZero(), !s.delegation.IsZero()} {
		if there {
			n++
		}
	}
	return n
}

// Summary says in short what the operation does.
func (s Signing) Summary() OpSummary { return s.summary }

// Hash identifies the operation: the userOpHash, or the SHA-256 of a Solana message; 0x and 64 hex digits.
func (s Signing) Hash() string {
	if !s.message.IsZero() {
		sum := sha256.Sum256(s.message.message)
		return hex0x(sum[:])
	}
	return s.op.opHash.Hex()
}

// Digest is what the account's key signs: the EIP-191 form of the userOpHash, the EIP-712 digest of the approval, or
// the SHA-256 of a Solana message, which is signed itself; 0x and 64 hex digits.
func (s Signing) Digest() string {
	switch {
	case !s.message.IsZero():
		return s.Hash()
	case s.roleBased:
		return s.approve.Digest().Hex()
	}
	return s.op.Digest().Hex()
}

// Signatures are what an account made for one Signing: 65 bytes r‖s‖v, or 64 bytes for Solana, and the signed
// delegation where one was asked for.
type Signatures struct {
	Operation  []byte
	Delegation *op.SignedAuthorization
}

func (s Signatures) copy() Signatures {
	c := Signatures{Operation: bytes.Clone(s.Operation)}
	if s.Delegation != nil {
		d := *s.Delegation
		c.Delegation = &d
	}
	return c
}

var (
	// errSignature says that a signature is not the one of the operation's signer.
	errSignature = errors.New("the signature was not made by the account's key for this operation")
	errCount     = errors.New("the number of signatures is not the number of operations")
)

// check verifies the signatures against the operation they were made for (TH-U15, S13).
func (s Signing) check(sig Signatures) error {
	if m, ok := s.Message(); ok {
		if len(sig.Operation) != ed25519.SignatureSize || !ed25519.Verify(m.signer[:], m.message, sig.Operation) ||
			sig.Delegation != nil {
			return errSignature
		}
		return nil
	}
	if s.op.IsZero() {
		return errSignature
	}
	digest, signer := s.op.Digest(), s.op.signer
	if s.roleBased {
		digest, signer = s.approve.Digest(), s.approve.signer
	}
	who, err := op.Recover(digest, sig.Operation)
	if err != nil {
		return err
	}
	if who != signer {
		return errSignature
	}
	return s.checkDelegation(sig.Delegation)
}

// checkDelegation demands exactly the delegation that was verified, signed by the account itself.
func (s Signing) checkDelegation(got *op.SignedAuthorization) error {
	want, asked := s.Delegation()
	if asked != (got != nil) {
		return errSignature
	}
	if !asked {
		return nil
	}
	a := want.authorization
	same := got.ChainID != nil && got.ChainID.Cmp(a.ChainID) == 0 && got.Address == a.Address && got.Nonce == a.Nonce
	who, err := got.Authority()
	if err != nil || !same || who != want.signer {
		return errSignature
	}
	return nil
}

// edits writes checked signatures at the operation's place in its document.
func (s Signing) edits(path string, sig Signatures) ([]api.Edit, error) {
	if !s.message.IsZero() {
		return []api.Edit{{Pointer: path + "/signature",
			Value: []byte(`"` + caip.FormatSolanaSignature([64]byte(sig.Operation)) + `"`)}}, nil
	}
	out := []api.Edit{{Pointer: path + "/userOp/signature", Value: []byte(`"` + hex0x(sig.Operation) + `"`)}}
	if sig.Delegation != nil {
		raw, err := json.Marshal(sig.Delegation.Wire(), json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("signed delegation: %w", err)
		}
		out = append(out, api.Edit{Pointer: path + "/delegation/signature", Value: raw})
	}
	return out, nil
}

// pointers are the places of the operation's signatures.
func (s Signing) pointers(path string) []string {
	if !s.message.IsZero() {
		return []string{path + "/signature"}
	}
	out := []string{path + "/userOp/signature"}
	if !s.delegation.IsZero() {
		out = append(out, path+"/delegation/signature")
	}
	return out
}
