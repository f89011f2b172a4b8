// Package op holds the pure codecs of what gets signed on EVM chains: ERC-4337 v0.7
// user operations, ERC-7579 execute calls, Kernel's nonce layout, the EIP-712 Approve
// document, EIP-7702 authorizations, counterfactual account addresses and the data of
// our paymaster. It does no input or output and keeps no state.
//
// Promise: every decoder refuses what it does not fully understand; what it accepts
// encodes back to the same bytes. No decoder panics on foreign input. Hashes equal
// those of independent implementations (testdata/vectors).
//
// Units: gas in gas units, fees and values in wei, times in Unix seconds. Errors are
// *Error with the row of docs/threats.md as code. Sources: protocol §2 and §8; TH-L3,
// TH-L5, TH-U2 … U14, TH-T1 … T7, TH-D2 … D5.
package op

import (
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op/internal/word"
)

// Limits on the parts of one user operation, in bytes.
const (
	MaxCallData      = 128 << 10
	MaxFactoryData   = 16 << 10
	MaxPaymasterData = 4 << 10 // TH-U12
	MaxSignature     = 4 << 10
)

// gasBits is the width of gas limits and fees in the packed form. preVerificationGas
// has a word of its own and 256 bits.
const gasBits = 128

// Error says which rule a value broke. Code is a row of docs/threats.md ("U5", "T2",
// "L3"), Field names the part ("userOp.nonce"), Want and Got are short plain words. Got
// repeats foreign text only in quoted, shortened form and never a key or a signature.
type Error struct {
	Code  string
	Field string
	Want  string
	Got   string
}

// Error returns one line such as "userOp.nonce: want a decimal number, got "1e9" (L3)".
func (e *Error) Error() string {
	s := e.Field + ": want " + e.Want
	if e.Got != "" {
		s += ", got " + e.Got
	}
	return s + " (" + e.Code + ")"
}

func refuse(code, field, want, got string) error {
	return &Error{Code: code, Field: field, Want: want, Got: got}
}

// quote makes foreign text safe to show.
func quote(s string) string {
	const shown = 80
	if len(s) > shown {
		return strconv.QuoteToASCII(s[:shown]) + "…"
	}
	return strconv.QuoteToASCII(s)
}

// UserOp is an ERC-4337 v0.7 user operation in unpacked form. Factory and Paymaster
// are nil when absent; the fields that belong to them are then empty or nil.
type UserOp struct {
	Sender                        common.Address
	Nonce                         *big.Int
	Factory                       *common.Address
	FactoryData                   []byte
	CallData                      []byte
	CallGasLimit                  *big.Int
	VerificationGasLimit          *big.Int
	PreVerificationGas            *big.Int
	MaxFeePerGas                  *big.Int
	MaxPriorityFeePerGas          *big.Int
	Paymaster                     *common.Address
	PaymasterVerificationGasLimit *big.Int
	PaymasterPostOpGasLimit       *big.Int
	PaymasterData                 []byte
	Signature                     []byte
}

// PackedUserOp is the form that the EntryPoint takes; the fields stand in the order of
// its ABI. AccountGasLimits = verification gas | call gas, GasFees = priority fee | fee
// cap, PaymasterAndData = paymaster | verification gas | post-op gas | data.
type PackedUserOp struct {
	Sender             common.Address
	Nonce              *big.Int
	InitCode           []byte
	CallData           []byte
	AccountGasLimits   [32]byte
	PreVerificationGas *big.Int
	GasFees            [32]byte
	PaymasterAndData   []byte
	Signature          []byte
}

// Pack converts to the EntryPoint's form. It fails when a number is missing or too
// wide, or when the factory or paymaster fields are present only in part.
func (u UserOp) Pack() (PackedUserOp, error) {
	if err := u.check(); err != nil {
		return PackedUserOp{}, err
	}
	p := PackedUserOp{
		Sender: u.Sender, Nonce: u.Nonce, CallData: u.CallData, PreVerificationGas: u.PreVerificationGas,
		Signature:        u.Signature,
		AccountGasLimits: pair(u.VerificationGasLimit, u.CallGasLimit),
		GasFees:          pair(u.MaxPriorityFeePerGas, u.MaxFeePerGas),
	}
	if u.Factory != nil {
		p.InitCode = concat(u.Factory[:], u.FactoryData)
	}
	if u.Paymaster != nil {
		gas := pair(u.PaymasterVerificationGasLimit, u.PaymasterPostOpGasLimit)
		p.PaymasterAndData = concat(u.Paymaster[:], gas[:], u.PaymasterData)
	}
	return p, nil
}

func (u UserOp) check() error {
	if !word.Fits(u.Nonce, 256) {
		return refuse("L3", "userOp.nonce", "a number below 2^256", "")
	}
	if !word.Fits(u.PreVerificationGas, 256) {
		return refuse("U11", "userOp.preVerificationGas", "a number below 2^256", "")
	}
	numbers := []struct {
		field string
		v     *big.Int
		need  bool
	}{
		{"callGasLimit", u.CallGasLimit, true}, {"verificationGasLimit", u.VerificationGasLimit, true},
		{"maxFeePerGas", u.MaxFeePerGas, true}, {"maxPriorityFeePerGas", u.MaxPriorityFeePerGas, true},
		{"paymasterVerificationGasLimit", u.PaymasterVerificationGasLimit, u.Paymaster != nil},
		{"paymasterPostOpGasLimit", u.PaymasterPostOpGasLimit, u.Paymaster != nil},
	}
	for _, n := range numbers {
		if n.need && !word.Fits(n.v, gasBits) {
			return refuse("U11", "userOp."+n.field, "a number below 2^128", "")
		}
		if !n.need && n.v != nil {
			return refuse("U12", "userOp."+n.field, "nothing without a paymaster", "a number")
		}
	}
	if u.Factory == nil && len(u.FactoryData) != 0 {
		return refuse("U4", "userOp.factoryData", "nothing without a factory", "data")
	}
	if u.Paymaster == nil && len(u.PaymasterData) != 0 {
		return refuse("U12", "userOp.paymasterData", "nothing without a paymaster", "data")
	}
	return nil
}

// Unpack is the inverse of Pack. It refuses initCode of 1 … 19 bytes and
// paymasterAndData of 1 … 51 bytes, which no user operation packs to.
func Unpack(p PackedUserOp) (UserOp, error) {
	u := UserOp{Sender: p.Sender, Nonce: p.Nonce, CallData: p.CallData, PreVerificationGas: p.PreVerificationGas,
		Signature: p.Signature}
	u.VerificationGasLimit, u.CallGasLimit = halves(p.AccountGasLimits[:])
	u.MaxPriorityFeePerGas, u.MaxFeePerGas = halves(p.GasFees[:])
	if n := len(p.InitCode); n > 0 {
		if n < common.AddressLength {
			return UserOp{}, refuse("U4", "userOp.initCode", "at least 20 bytes or none", strconv.Itoa(n)+" bytes")
		}
		factory := common.Address(p.InitCode[:common.AddressLength])
		u.Factory, u.FactoryData = &factory, p.InitCode[common.AddressLength:]
	}
	if n := len(p.PaymasterAndData); n > 0 {
		const head = common.AddressLength + word.Size
		if n < head {
			return UserOp{}, refuse("U12", "userOp.paymasterAndData", "at least 52 bytes or none",
				strconv.Itoa(n)+" bytes")
		}
		paymaster := common.Address(p.PaymasterAndData[:common.AddressLength])
		u.Paymaster, u.PaymasterData = &paymaster, p.PaymasterAndData[head:]
		u.PaymasterVerificationGasLimit, u.PaymasterPostOpGasLimit =
			halves(p.PaymasterAndData[common.AddressLength:head])
	}
	return u, u.check()
}

// Hash is the userOpHash that EntryPoint v0.7 computes at the given address and chain
// (TH-U14). It covers every field except the signature.
func (u UserOp) Hash(entryPoint common.Address, chainID *big.Int) (common.Hash, error) {
	p, err := u.Pack()
	if err != nil {
		return common.Hash{}, err
	}
	return p.Hash(entryPoint, chainID)
}

// Hash is the userOpHash of the packed form.
func (p PackedUserOp) Hash(entryPoint common.Address, chainID *big.Int) (common.Hash, error) {
	if !word.Fits(p.Nonce, 256) || !word.Fits(p.PreVerificationGas, 256) {
		return common.Hash{}, refuse("L3", "userOp", "a nonce and gas below 2^256", "")
	}
	if !word.Fits(chainID, 256) || chainID.Sign() == 0 {
		return common.Hash{}, refuse("U14", "chainId", "a chain id from 1", "")
	}
	inner := word.Uint(p.head(), p.PreVerificationGas)
	inner = append(inner, p.GasFees[:]...)
	inner = append(inner, crypto.Keccak256(p.PaymasterAndData)...)

	outer := word.Address(crypto.Keccak256(inner), entryPoint)
	return crypto.Keccak256Hash(word.Uint(outer, chainID)), nil
}

// head is what every hash of an operation begins with, up to its gas limits.
func (p PackedUserOp) head() []byte {
	b := word.Uint(word.Address(nil, p.Sender), p.Nonce)
	b = append(b, crypto.Keccak256(p.InitCode)...)
	b = append(b, crypto.Keccak256(p.CallData)...)
	return append(b, p.AccountGasLimits[:]...)
}

func pair(hi, lo *big.Int) (w [32]byte) {
	hi.FillBytes(w[:16])
	lo.FillBytes(w[16:])
	return w
}

func halves(w []byte) (hi, lo *big.Int) {
	return new(big.Int).SetBytes(w[:16]), new(big.Int).SetBytes(w[16:32])
}

func concat(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}
