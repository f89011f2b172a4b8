package devnet

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/big"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
	"coffer/api/op/solmsg"
)

// SeedSize is the length of an installation seed in bytes.
const SeedSize = 32

// Labels of the keys. A label never changes its meaning: the addresses of an installation hang on it.
const (
	labelOperator    = "coffer/key/operator/1"
	labelSolver      = "coffer/key/solver/1"
	labelCoSigner    = "coffer/key/co-signer/1"
	labelTamperProof = "coffer/key/tamper-proof/1"
	labelTreasury    = "coffer/key/treasury/1"
	labelFaucet      = "coffer/key/faucet/1"
	labelSponsor     = "coffer/key/solana-sponsor/1"
	labelVault       = "coffer/key/solana-vault/1"

	labelSolanaTreasury = "coffer/key/solana-treasury/1"
	labelSolanaSolver   = "coffer/key/solana-solver/1"
	labelSolanaFaucet   = "coffer/key/solana-faucet/1"
)

// Keys are the keys of one installation, all derived from its seed. The first six sign on EVM chains and documents
// (secp256k1), the last five on Solana (ed25519). Whatever prints a Keys value shows "[redacted]".
type Keys struct {
	Operator    *ecdsa.PrivateKey  // submits operations and pays their gas; owner of paymaster and escrow
	Solver      *ecdsa.PrivateKey  // fills on the target chain out of its inventory
	CoSigner    *ecdsa.PrivateKey  // second signature of role-based accounts
	TamperProof *ecdsa.PrivateKey  // integrity signature of prepared operations and quotes
	Treasury    *ecdsa.PrivateKey  // got everything in genesis
	Faucet      *ecdsa.PrivateKey  // pays test funds
	Sponsor     ed25519.PrivateKey // pays fees and rent
	Vault       ed25519.PrivateKey // takes deposits, releases and refunds them

	SolanaTreasury ed25519.PrivateKey
	SolanaSolver   ed25519.PrivateKey
	SolanaFaucet   ed25519.PrivateKey
}

// String returns "[redacted]".
func (Keys) String() string { return "[redacted]" }

// GoString returns "[redacted]".
func (Keys) GoString() string { return "[redacted]" }

// Format writes "[redacted]" whatever the verb.
func (Keys) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[redacted]")) }

// MarshalText returns "[redacted]".
func (Keys) MarshalText() ([]byte, error) { return []byte("[redacted]"), nil }

// LogValue returns "[redacted]".
func (Keys) LogValue() slog.Value { return slog.StringValue("[redacted]") }

// AddressOf is the EVM address of a key.
func AddressOf(k *ecdsa.PrivateKey) common.Address { return crypto.PubkeyToAddress(k.PublicKey) }

// KeyOf is the Solana account of a key.
func KeyOf(k ed25519.PrivateKey) solmsg.Key { return solmsg.Key(k.Public().(ed25519.PublicKey)) }

// deriveKeys makes all keys from the seed by HKDF-SHA256, one label each.
func deriveKeys(seed []byte) (Keys, error) {
	var k Keys
	for _, e := range []struct {
		label string
		into  **ecdsa.PrivateKey
	}{
		{labelOperator, &k.Operator}, {labelSolver, &k.Solver}, {labelCoSigner, &k.CoSigner},
		{labelTamperProof, &k.TamperProof}, {labelTreasury, &k.Treasury}, {labelFaucet, &k.Faucet},
	} {
		key, err := deriveECDSA(seed, e.label)
		if err != nil {
			return Keys{}, err
		}
		*e.into = key
	}
	for _, e := range []struct {
		label string
		into  *ed25519.PrivateKey
	}{
		{labelSponsor, &k.Sponsor}, {labelVault, &k.Vault}, {labelSolanaTreasury, &k.SolanaTreasury},
		{labelSolanaSolver, &k.SolanaSolver}, {labelSolanaFaucet, &k.SolanaFaucet},
	} {
		raw, err := derive(seed, e.label, ed25519.SeedSize)
		if err != nil {
			return Keys{}, err
		}
		*e.into = ed25519.NewKeyFromSeed(raw)
	}
	return k, nil
}

// deriveECDSA reduces 48 derived bytes into 1 … n-1; the surplus 16 bytes make every key equally likely.
func deriveECDSA(seed []byte, label string) (*ecdsa.PrivateKey, error) {
	raw, err := derive(seed, label, 48)
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

func derive(seed []byte, label string, n int) ([]byte, error) {
	raw, err := hkdf.Key(sha256.New, seed, nil, label, n)
	if err != nil {
		return nil, fmt.Errorf("derive %s: %w", label, err)
	}
	return raw, nil
}
