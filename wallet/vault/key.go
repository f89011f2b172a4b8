package vault

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/secret"
	"coffer/wallet/vault/internal/guard"
)

// keySize is the length of an EVM key and of a Solana seed, in bytes.
const keySize = 32

// AddressOf derives the address of a key as Item.Address writes it, or returns ErrBadKey. It leaves the key as it is.
func AddressOf(kind Kind, key secret.Secret) (address string, err error) {
	guard.Do(func() { address, err = addressOf(kind, key.Reveal()) })
	return address, err
}

func addressOf(kind Kind, key []byte) (string, error) {
	if len(key) != keySize {
		return "", ErrBadKey
	}
	switch kind {
	case EVM, GasTank:
		private, ok := scalar(key)
		if !ok {
			return "", ErrBadKey
		}
		defer private.Zero()
		public := op.PublicOf(private).SerializeUncompressed()
		return "0x" + hex.EncodeToString(crypto.Keccak256(public[1:])[12:]), nil
	case Solana:
		private := ed25519.NewKeyFromSeed(key)
		defer clear(private)
		return caip.FormatSolanaKey([32]byte(private[32:])), nil
	}
	return "", fmt.Errorf("%w: unknown kind", ErrBadKey)
}

// scalar reads a secp256k1 key: 32 bytes, neither zero nor above the order of the group. The caller zeroes it.
func scalar(key []byte) (*secp256k1.PrivateKey, bool) {
	private := new(secp256k1.PrivateKey)
	if overflow := private.Key.SetByteSlice(key); overflow || len(key) != keySize || private.Key.IsZero() {
		private.Zero()
		return nil, false
	}
	return private, true
}

// New makes a fresh key of the kind from a source of randomness, which has to be a cryptographic one.
func New(kind Kind, random io.Reader) (secret.Secret, error) {
	const tries = 4 // one draw in 2^128 is no EVM key; a second one means that the source is broken
	for range tries {
		key := secret.New(make([]byte, keySize))
		if _, err := io.ReadFull(random, key.Reveal()); err != nil {
			key.Wipe()
			return secret.Secret{}, fmt.Errorf("make a key: %w", err)
		}
		if _, err := AddressOf(kind, key); err == nil {
			return key, nil
		}
		key.Wipe()
	}
	return secret.Secret{}, fmt.Errorf("make a key: %w", ErrBadKey)
}
