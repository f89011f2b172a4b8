// Package signers holds the keys of a service behind what they are used for: an address and a few verbs. No private key
// leaves it.
//
// Promise: a signer signs what it is given, with the key of its address, or returns an error. It may be outside this
// process (a vault, another program, a machine on the network), so every verb takes a context and can fail. Whatever
// prints a signer or a set of them shows "[redacted]" (TH-K2). Derive makes the signers of an installation from its
// seed.
package signers

import (
	"context"
	"fmt"
	"log/slog"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/op/escrow"
	"coffer/api/op/solmsg"
)

// EVM signs with one secp256k1 key. It is safe for concurrent use.
type EVM interface {
	// Address is the account of the key.
	Address() common.Address
	// SignTx returns the transaction with the key's signature, otherwise unchanged.
	SignTx(ctx context.Context, tx *types.Transaction, chainID *big.Int) (*types.Transaction, error)
	// SignMessage signs 32 bytes as a personal message (op.EIP191): 65 bytes with v 27 or 28 and a low s.
	SignMessage(ctx context.Context, message common.Hash) ([]byte, error)
}

// Digest signs digests of documents with one secp256k1 key that no chain knows. It is safe for concurrent use.
type Digest interface {
	// Address is the account of the key.
	Address() common.Address
	// SignDigest signs the 32 bytes as they are: 65 bytes with v 27 or 28 and a low s, always the same.
	SignDigest(ctx context.Context, digest common.Hash) ([]byte, error)
}

// Attester signs attestations with one secp256k1 key, and nothing else. It is safe for concurrent use.
type Attester interface {
	// Address is the account of the key, as the escrow knows it.
	Address() common.Address
	// SignAttestation signs the document's digest: 65 bytes with v 27 or 28 and a low s.
	SignAttestation(ctx context.Context, a escrow.Attestation) ([]byte, error)
}

// Solana signs with one ed25519 key. It is safe for concurrent use.
type Solana interface {
	// Key is the account of the key.
	Key() solmsg.Key
	// Sign signs the bytes of a transaction's message.
	Sign(ctx context.Context, message []byte) ([64]byte, error)
}

// Set are the signers of a service.
type Set struct {
	redacted
	Operator    EVM      // the filler's hot key: submits operations, fills, and pays their gas
	CoSigner    EVM      // second signature of role-based accounts
	TamperProof Digest   // integrity signature of prepared operations and quotes
	Attester    Attester // says to the escrow that a quote was filled

	Sponsor      Solana // pays fees and rent
	Vault        Solana // takes deposits, releases and refunds them
	SolanaSolver Solana // fills on Solana
}

// Embedded are the signers of an installation that makes its chains itself.
type Embedded struct {
	Set
	Treasury EVM // got everything in genesis; owner of the filler
	Faucet   EVM // pays test funds

	SolanaTreasury Solana
	SolanaFaucet   Solana
}

// redacted hides what it is embedded in.
type redacted struct{}

// String returns "[redacted]".
func (redacted) String() string { return "[redacted]" }

// GoString returns "[redacted]".
func (redacted) GoString() string { return "[redacted]" }

// Format writes "[redacted]" whatever the verb.
func (redacted) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[redacted]")) }

// MarshalText returns "[redacted]".
func (redacted) MarshalText() ([]byte, error) { return []byte("[redacted]"), nil }

// LogValue returns "[redacted]".
func (redacted) LogValue() slog.Value { return slog.StringValue("[redacted]") }
