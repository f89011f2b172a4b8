package settletest

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"

	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/service/foreign"
)

// User is somebody with keys whose accounts a world has.
type User = foreign.User

// WithSolana is put behind a kind to have a Solana account beside the EVM one: "role-based" + WithSolana.
const WithSolana = foreign.WithSolana

// Kinds are the account kinds that NewUserOf makes.
func Kinds() []string { return foreign.Kinds() }

// Key makes a test key from a number.
func Key(n uint64) *ecdsa.PrivateKey {
	k, err := crypto.ToECDSA(crypto.Keccak256(binary.BigEndian.AppendUint64([]byte("settletest key"), n)))
	if err != nil {
		panic(err) // a hash outside the curve's order: never for the numbers used
	}
	return k
}

// SolanaKey makes a test key from a number.
func SolanaKey(n uint64) ed25519.PrivateKey {
	seed := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("settletest solana key"), n))
	return ed25519.NewKeyFromSeed(seed[:])
}

// NewUser makes the kernel-v3.1-ecdsa user of a number.
func NewUser(pins network.Pins, n uint64) *User { return NewUserOf(pins, api.AccountKernelV31, n) }

// NewUserOf makes the user of a number and a kind of [Kinds].
func NewUserOf(pins network.Pins, kind string, n uint64) *User {
	return foreign.New(pins, kind, foreign.Keys{Signer: Key(n), Admin: Key(n + 1_000_000), Solana: SolanaKey(n)})
}

// AddUser makes the user of a number and a kind whose balances count in Sums from now on.
func (w *World) AddUser(kind string, n uint64) *User {
	u := NewUserOf(w.Installation.Pins, kind, n)
	w.Others = append(w.Others, u)
	return u
}
