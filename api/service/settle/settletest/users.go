package settletest

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/op/solmsg"
)

// WithSolana is put behind a kind to have a Solana account beside the EVM one: "role-based" + WithSolana.
const WithSolana = "+" + api.AccountSolana

// Kinds are the account kinds that NewUserOf makes.
func Kinds() []string {
	evm := []string{api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased}
	out := append([]string{}, evm...)
	for _, k := range evm {
		out = append(out, k+WithSolana)
	}
	return append(out, api.AccountSolana)
}

// User is somebody with keys. Key signs operations of the EVM account (the session key of a role-based one, the EOA's
// own of kernel-v3.3); Admin is set for role-based. Solana is nil without a Solana account; Account and Address are
// zero without an EVM one.
type User struct {
	Key     *ecdsa.PrivateKey
	Admin   *ecdsa.PrivateKey
	Account api.Account
	Address common.Address
	Solana  ed25519.PrivateKey
	Wallet  solmsg.Key
}

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
	u := &User{Key: Key(n)}
	signer := crypto.PubkeyToAddress(u.Key.PublicKey)
	evm, solana := strings.CutSuffix(kind, WithSolana)
	switch evm {
	case api.AccountKernelV31:
		u.Address = op.PredictAddress(pins.Factory, pins.KernelV31, op.InitDataECDSA(pins.ECDSAValidator, signer),
			new(big.Int))
		u.Account = api.Account{Type: evm, SignerAddress: signer.Hex()}
	case api.AccountKernelV33:
		u.Address = signer
		u.Account = api.Account{Type: evm, SignerAddress: signer.Hex(), DeploymentType: api.DeploymentEIP7702}
	case api.AccountRoleBased:
		u.Admin = Key(n + 1_000_000)
		admin := crypto.PubkeyToAddress(u.Admin.PublicKey)
		init := op.InitDataRoleBased(pins.RoleBasedValidator, signer, admin, pins.CoSigner)
		u.Address = op.PredictAddress(pins.Factory, pins.KernelV31, init, new(big.Int))
		u.Account = api.Account{Type: evm, SessionAddress: signer.Hex(), AdminAddress: admin.Hex()}
	case api.AccountSolana:
		u.Key, solana = nil, true
	default:
		panic("no such kind of account: " + kind)
	}
	if u.Key != nil {
		u.Account.AccountAddress = u.Address.Hex()
	}
	if solana {
		u.Solana = SolanaKey(n)
		u.Wallet = solmsg.Key(u.Solana.Public().(ed25519.PublicKey))
	}
	return u
}

// HasEVM reports whether the user has an EVM account.
func (u *User) HasEVM() bool { return u.Key != nil }

// HasSolana reports whether the user has a Solana account.
func (u *User) HasSolana() bool { return u.Solana != nil }

// Accounts are the user's accounts as a request names them, the EVM one first.
func (u *User) Accounts() []api.Account {
	var out []api.Account
	if u.HasEVM() {
		out = append(out, u.Account)
	}
	if u.HasSolana() {
		out = append(out, api.Account{Type: api.AccountSolana, AccountAddress: u.Wallet.String()})
	}
	return out
}

// On is the user's CAIP-10 account on a chain.
func (u *User) On(chainID uint64) string {
	if chainID == Solana {
		return caip.SolanaAccount(u.Wallet).String()
	}
	return caip.EVMAccount(chainID, u.Address).String()
}

// validator stands in the nonces of the user's operations.
func (u *User) validator(pins network.Pins) common.Address {
	if u.Admin != nil {
		return pins.RoleBasedValidator
	}
	return pins.ECDSAValidator
}

// AddUser makes the user of a number and a kind whose balances count in Sums from now on.
func (w *World) AddUser(kind string, n uint64) *User {
	u := NewUserOf(w.Installation.Network.Pins, kind, n)
	w.Others = append(w.Others, u)
	return u
}
