package signers

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/op/solmsg"
)

// Key is a secp256k1 key in the memory of this process; it is an EVM, a Digest and an Attester.
type Key struct {
	redacted
	key *ecdsa.PrivateKey
	at  common.Address
}

// Local wraps a key.
func Local(key *ecdsa.PrivateKey) *Key {
	return &Key{key: key, at: crypto.PubkeyToAddress(key.PublicKey)}
}

// Address implements EVM and Digest.
func (k *Key) Address() common.Address { return k.at }

// SignTx implements EVM.
func (k *Key) SignTx(_ context.Context, tx *types.Transaction, chainID *big.Int) (*types.Transaction, error) {
	return types.SignTx(tx, types.LatestSignerForChainID(chainID), k.key)
}

// SignMessage implements EVM.
func (k *Key) SignMessage(ctx context.Context, message common.Hash) ([]byte, error) {
	return k.SignDigest(ctx, op.EIP191(message))
}

// SignDigest implements Digest.
func (k *Key) SignDigest(_ context.Context, digest common.Hash) ([]byte, error) {
	return op.Sign(digest, k.key)
}

// SignAttestation implements Attester.
func (k *Key) SignAttestation(ctx context.Context, a escrow.Attestation) ([]byte, error) {
	return k.SignDigest(ctx, a.Digest())
}

// SolanaKey is an ed25519 key in the memory of this process.
type SolanaKey struct {
	redacted
	key ed25519.PrivateKey
}

// LocalSolana wraps a key.
func LocalSolana(key ed25519.PrivateKey) *SolanaKey { return &SolanaKey{key: key} }

// Key implements Solana.
func (k *SolanaKey) Key() solmsg.Key { return solmsg.Key(k.key.Public().(ed25519.PublicKey)) }

// Sign implements Solana.
func (k *SolanaKey) Sign(_ context.Context, message []byte) ([64]byte, error) {
	return [64]byte(ed25519.Sign(k.key, message)), nil
}
