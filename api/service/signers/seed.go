package signers

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/ethereum/go-ethereum/crypto"
	"golang.org/x/sync/errgroup"

	"coffer/api/op"
)

// SeedSize is the length of an installation seed in bytes.
const SeedSize = 32

// Labels of the keys. A label never changes its meaning: the addresses of an installation depend on it.
// "coffer/key/solver/1" was the solver of networks of version 1, whose inventory lay at a key.
const (
	labelOperator    = "coffer/key/operator/1"
	labelCoSigner    = "coffer/key/co-signer/1"
	labelTamperProof = "coffer/key/tamper-proof/1"
	labelTreasury    = "coffer/key/treasury/1"
	labelFaucet      = "coffer/key/faucet/1"
	labelSponsor     = "coffer/key/solana-sponsor/1"
	labelVault       = "coffer/key/solana-vault/1"
	labelAttester    = "coffer/key/attester/1"

	labelSolanaTreasury = "coffer/key/solana-treasury/1"
	labelSolanaSolver   = "coffer/key/solana-solver/1"
	labelSolanaFaucet   = "coffer/key/solana-faucet/1"
)

// Derive makes the signers of an installation from its seed by HKDF-SHA256, one label each.
func Derive(seed []byte) (e Embedded, err error) {
	var group errgroup.Group // of the two curves, whose first use takes a millisecond each
	group.Go(func() error { return e.deriveEVM(seed) })
	group.Go(func() error { return e.deriveSolana(seed) })
	err = group.Wait()
	return e, err
}

func (e *Embedded) deriveEVM(seed []byte) (err error) {
	key := func(label string) *Key {
		private, errKey := deriveECDSA(seed, label)
		if errKey != nil {
			err = errKey
			return nil
		}
		return Local(private)
	}
	e.Operator, e.CoSigner, e.TamperProof = key(labelOperator), key(labelCoSigner), key(labelTamperProof)
	e.Attester, e.Treasury, e.Faucet = key(labelAttester), seldom{key(labelTreasury)}, key(labelFaucet)
	return err
}

func (e *Embedded) deriveSolana(seed []byte) (err error) {
	key := func(label string) *SolanaKey {
		raw, errKey := Secret(seed, label, ed25519.SeedSize)
		if errKey != nil {
			err = errKey
			return nil
		}
		return LocalSolana(ed25519.NewKeyFromSeed(raw))
	}
	e.Sponsor, e.Vault, e.SolanaSolver = key(labelSponsor), key(labelVault), key(labelSolanaSolver)
	e.SolanaTreasury, e.SolanaFaucet = key(labelSolanaTreasury), key(labelSolanaFaucet)
	return err
}

// OfTank makes the signers of a network on nodes of others from the key of its gas tank, 32 bytes, which is the
// operator's; the others are derived from it.
func OfTank(tank []byte) (Set, error) {
	derived, err := Derive(tank)
	if err != nil {
		return Set{}, err
	}
	key, err := crypto.ToECDSA(tank)
	if err != nil {
		return Set{}, errors.New("the key of the gas tank is none of secp256k1") // the cause may tell of it
	}
	return Set{Operator: Local(key), CoSigner: derived.CoSigner, TamperProof: derived.TamperProof,
		Attester: derived.Attester}, nil
}

// deriveECDSA reduces 48 derived bytes into 1 … n-1; the surplus 16 bytes make every key equally likely.
func deriveECDSA(seed []byte, label string) (*ecdsa.PrivateKey, error) {
	raw, err := Secret(seed, label, 48)
	if err != nil {
		return nil, err
	}
	below := new(big.Int).Sub(crypto.S256().Params().N, big.NewInt(1))
	d := new(big.Int).SetBytes(raw)
	d.Mod(d, below).Add(d, big.NewInt(1))
	public, err := crypto.UnmarshalPubkey(op.PublicOf(secp256k1.PrivKeyFromBytes(d.Bytes())).SerializeUncompressed())
	if err != nil {
		return nil, fmt.Errorf("derive %s: %w", label, err)
	}
	return &ecdsa.PrivateKey{PublicKey: *public, D: d}, nil //nolint:staticcheck // the standard library lacks the curve
}

// Secret derives n bytes from a seed by HKDF-SHA256.
func Secret(seed []byte, label string, n int) ([]byte, error) {
	raw, err := hkdf.Key(sha256.New, seed, nil, label, n)
	if err != nil {
		return nil, fmt.Errorf("derive %s: %w", label, err)
	}
	return raw, nil
}
