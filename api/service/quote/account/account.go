// Package account answers what the service must know about a kind of account: which validator checks its operations, what deploys it, what a
// valid signature is, which typed data goes along, and whether the service adds a signature of its own.
//
// Promise: an Account is only made for a kind that this network serves and for an address that follows from its keys, so nobody can have
// operations built for an account that his keys do not control. This stage serves kernel-v3.1-ecdsa; every other kind is refused with an
// *Unserved that names the kinds served. Sources: interface-facts §3, protocol §2.10 and §2.11, TH-U1, TH-U4.
package account

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
)

// kind is one type of account.
type kind interface {
	// validator checks operations of this kind and stands in their nonces.
	validator(network.Pins) common.Address
	// initData initialises a new account; nil when accounts of this kind are never deployed by a factory.
	initData(network.Pins, api.Account) []byte
	// domain is the EIP-712 name and version of the typed data.
	domain() (name, version string)
	// signed reports whether sig is a signature of the account's key for the operation.
	signed(a api.Account, opHash, approve common.Hash, sig []byte) bool
	// coSigned reports whether the service adds a signature of its own before submission.
	coSigned() bool
}

func kinds() map[string]kind {
	return map[string]kind{api.AccountKernelV31: kernelV31{}}
}

// Served lists the account types of this network.
func Served() []string { return []string{api.AccountKernelV31} }

// Unserved says that the network does not serve an account. Path is relative to the account object.
type Unserved struct {
	Path, Want, Got string
}

func (e *Unserved) Error() string { return "account." + e.Path + ": want " + e.Want + ", got " + e.Got }

// Account is one EVM account that this network serves.
type Account struct {
	Address common.Address
	wire    api.Account
	kind    kind
	pins    network.Pins
}

// Open reads an account object. The error is an *Unserved, or tells of an address that is none.
func Open(pins network.Pins, w api.Account) (Account, error) {
	k, ok := kinds()[w.Type]
	if !ok {
		return Account{}, &Unserved{"type", "a type that this network serves: " + strings.Join(Served(), ", "), w.Type}
	}
	at, err := caip.ParseAddress(w.AccountAddress)
	if err != nil {
		return Account{}, fmt.Errorf("accountAddress: %w", err)
	}
	a := Account{Address: at, wire: w, kind: k, pins: pins}
	if init := k.initData(pins, w); init != nil {
		want := op.PredictAddress(pins.Factory, pins.KernelV31, init, new(big.Int))
		if want != at {
			return Account{}, &Unserved{"accountAddress", "the account of these keys, " + want.Hex(), w.AccountAddress}
		}
	}
	return a, nil
}

// Key192 is the nonce key of a lane: root validation by the kind's validator.
func (a Account) Key192(lane uint16) *big.Int {
	return op.Nonce{Validator: a.kind.validator(a.pins), Key: lane}.Key192()
}

// Deployment returns what an operation carries to deploy the account; false when the kind needs none.
func (a Account) Deployment() (factory common.Address, data []byte, needed bool) {
	init := a.kind.initData(a.pins, a.wire)
	if init == nil {
		return common.Address{}, nil, false
	}
	return a.pins.MetaFactory, op.FactoryData(a.pins.Factory, init, new(big.Int)), true
}

// TypedData is the document that goes along with an operation; kernel accounts never sign it (protocol §2.10).
func (a Account) TypedData(o op.UserOp, chainID uint64) api.TypedData {
	return a.approveDomain(chainID).ApproveWire(op.CallDataAndNonceHash(o.Sender, o.CallData, o.Nonce))
}

func (a Account) approveDomain(chainID uint64) op.Domain {
	name, version := a.kind.domain()
	return op.Domain{Name: name, Version: version, ChainID: chainID, VerifyingContract: a.kind.validator(a.pins)}
}

// Signed reports whether the operation carries a valid signature of the account's key.
func (a Account) Signed(o op.UserOp, chainID uint64) bool {
	hash, err := o.Hash(a.pins.EntryPoint, new(big.Int).SetUint64(chainID))
	if err != nil || o.Sender != a.Address {
		return false
	}
	approve := a.approveDomain(chainID).ApproveDigest(op.CallDataAndNonceHash(o.Sender, o.CallData, o.Nonce))
	return a.kind.signed(a.wire, hash, approve, o.Signature)
}

// CoSigned reports whether the service must add its signature before it submits operations of this account.
func (a Account) CoSigned() bool { return a.kind.coSigned() }

// StubSignature has the form and the cost of a real signature; gas is measured with it.
func StubSignature() []byte {
	sig := make([]byte, op.SignatureLength)
	for i := range sig {
		sig[i] = 0x11
	}
	sig[op.SignatureLength-1] = 27
	return sig
}

// kernelV31 is a basic ERC-4337 account with one owner key (interface-facts §3.2).
type kernelV31 struct{}

func (kernelV31) validator(p network.Pins) common.Address { return p.ECDSAValidator }

func (kernelV31) initData(p network.Pins, a api.Account) []byte {
	return op.InitDataECDSA(p.ECDSAValidator, common.HexToAddress(a.SignerAddress))
}

func (kernelV31) domain() (name, version string) { return "ECDSAValidator", "0.3.1" }

// signed accepts what the validator contract accepts: the owner's signature over the operation hash as a personal message, or over the
// hash itself.
func (kernelV31) signed(a api.Account, opHash, _ common.Hash, sig []byte) bool {
	owner := common.HexToAddress(a.SignerAddress)
	for _, digest := range []common.Hash{op.EIP191(opHash), opHash} {
		if by, err := op.Recover(digest, sig); err == nil && by == owner {
			return true
		}
	}
	return false
}

func (kernelV31) coSigned() bool { return false }
