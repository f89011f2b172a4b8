// Package smartaccount answers what the service must know about a kind of account: which validator checks its
// operations, what deploys it, what a valid signature is, which typed data goes along, whether the service adds a
// signature of its own, and the account's state on a chain.
//
// Promise: an Account is only made for a kind that this network serves and for keys that can have such an account. An
// address that follows from its keys is enforced at once for kernel-v3.1-ecdsa and kernel-v3.3-ecdsa. The session key
// of a role-based account can be replaced, chain by chain, so there only State can tell whether the keys are the
// account's: where it is deployed the validator's word counts, and the address must follow from the keys that the
// validator says it was made with; elsewhere from the keys that are named. So nobody can have operations built for an
// account that his keys do not control, or that was made with modules beside them. An EOA is taken only where its own
// key decides: without a root validator in its storage.
// The co-signer signs only what Signed accepts, and nothing where an exit was announced, which State refuses.
//
// Errors: *Unserved names the member of the account object, *api.Error is the interface's, anything else is a fault of
// the service. Sources: protocol §2.10 to §2.12 and §8, TH-U1, TH-U4, TH-D2, assets/contracts.
package smartaccount

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/signers"
)

// kind is one type of account. The address of an account object was read before; its keys are read by check.
type kind interface {
	// keys refuses keys that no account of this kind can have, and another deployment than this kind's.
	keys(a Account) error
	// check refuses an address that can never be that of the keys.
	check(a Account) error
	// validator checks operations of this kind and stands in their nonces.
	validator(network.Pins) common.Address
	// initData initialises a new account; nil when accounts of this kind are never deployed by a factory.
	initData(network.Pins, api.Account) []byte
	// domain is the EIP-712 name and version of the typed data.
	domain() (name, version string)
	// signed reports whether the operation's signature is the account's own: the owner's or the session key's.
	signed(a Account, o op.UserOp, opHash, approve common.Hash) bool
	// coSigned reports whether the service adds a signature of its own before submission.
	coSigned() bool
	// state reads the account's state on a chain.
	state(a Account, st chain.State, chainID uint64) (State, error)
}

func kinds() map[string]kind {
	return map[string]kind{api.AccountRoleBased: roleBased{}, api.AccountKernelV31: kernelV31{},
		api.AccountKernelV33: kernelV33{}}
}

// Served lists the EVM account types of this network.
func Served() []string {
	return []string{api.AccountRoleBased, api.AccountKernelV31, api.AccountKernelV33}
}

// Unserved says that the network does not serve an account. Path is relative to the account object.
type Unserved struct {
	Path, Want, Got string
}

func (e *Unserved) Error() string { return "account." + e.Path + ": want " + e.Want + ", got " + e.Got }

// Failure is the validation failure for an account object at the given place, such as "accounts[0]" or "account", ""
// for the body itself.
func (e *Unserved) Failure(place string) api.Failure {
	path := e.Path
	if place != "" {
		path = place + "." + path
	}
	return api.Failure{Path: path, Expected: e.Want, Got: e.Got}
}

// Account is one EVM account that this network serves.
type Account struct {
	Address common.Address
	wire    api.Account
	kind    kind
	pins    network.Pins
}

// Open reads an account object of an EVM kind. Without a type it is role-based when it names a session or an admin key.
// The error is an
// *Unserved. A role-based address that does not follow from the keys is left to State.
func Open(pins network.Pins, w api.Account) (Account, error) {
	a, err := unplaced(pins, w)
	if err != nil {
		return Account{}, err
	}
	if a.Address, err = caip.ParseAddress(w.AccountAddress); err != nil {
		return Account{}, &Unserved{"accountAddress", "a 0x address", w.AccountAddress}
	}
	if err := a.kind.keys(a); err != nil {
		return Account{}, err
	}
	if err := a.kind.check(a); err != nil {
		return Account{}, err
	}
	return a, nil
}

// Predict returns the address that the keys of an account object will have on every chain; its accountAddress is not
// read. Keys that Open refuses have none, and neither have accounts that no factory deploys: the error is an *Unserved.
func Predict(pins network.Pins, w api.Account) (common.Address, error) {
	a, err := unplaced(pins, w)
	if err != nil {
		return common.Address{}, err
	}
	if err := a.kind.keys(a); err != nil {
		return common.Address{}, err
	}
	at, ok := a.predicted()
	if !ok {
		return common.Address{}, &Unserved{"type", "a type whose address follows from its keys", w.Type}
	}
	return at, nil
}

// unplaced is an account object of a served kind, before its keys and its address are read.
func unplaced(pins network.Pins, w api.Account) (Account, error) {
	if w.Type == "" && (w.SessionAddress != "" || w.AdminAddress != "") {
		w.Type = api.AccountRoleBased
	}
	k, ok := kinds()[w.Type]
	if !ok {
		return Account{}, &Unserved{"type", "a type that this network serves: " + strings.Join(Served(), ", "), w.Type}
	}
	return Account{wire: w, kind: k, pins: pins}, nil
}

// Wire is the account object, with its type also where the request left it out.
func (a Account) Wire() api.Account { return a.wire }

// IsRoleBased reports whether session key, co-signer and admin share the account.
func (a Account) IsRoleBased() bool { return a.wire.Type == api.AccountRoleBased }

// follows reports whether the address is the one that the factory gives to these keys.
func (a Account) follows() bool {
	at, ok := a.predicted()
	return ok && at == a.Address
}

// predicted is the address that the factory gives to these keys; false for a kind that it does not deploy.
func (a Account) predicted() (common.Address, bool) {
	init := a.kind.initData(a.pins, a.wire)
	if init == nil {
		return common.Address{}, false
	}
	return op.PredictAddress(a.pins.Factory, a.pins.KernelV31, init, new(big.Int)), true
}

// Key192 is the nonce key of a lane: root validation by the kind's validator.
func (a Account) Key192(lane uint16) *big.Int {
	return op.Nonce{Validator: a.kind.validator(a.pins), Key: lane}.Key192()
}

// Deployment returns what deploys the account: the meta factory and the call that it takes, which an operation carries
// or a transaction makes. It is false when the kind needs none, or when these keys do not make this address.
func (a Account) Deployment() (factory common.Address, data []byte, needed bool) {
	if !a.follows() {
		return common.Address{}, nil, false
	}
	return a.pins.MetaFactory, op.FactoryData(a.pins.Factory, a.kind.initData(a.pins, a.wire), new(big.Int)), true
}

// TypedData is the document that goes along with an operation; only role-based accounts sign it (protocol §2.10).
func (a Account) TypedData(o op.UserOp, chainID uint64) api.TypedData {
	return a.approveDomain(chainID).ApproveWire(op.CallDataAndNonceHash(o.Sender, o.CallData, o.Nonce))
}

func (a Account) approveDomain(chainID uint64) op.Domain {
	name, version := a.kind.domain()
	return op.Domain{Name: name, Version: version, ChainID: chainID, VerifyingContract: a.kind.validator(a.pins)}
}

// Signed reports whether the operation carries what the user's side signs: the owner's signature of the operation, or,
// for role-based accounts, the session key's of the Approve document, 65 bytes, of an operation without fees. The
// contracts accept exactly such an operation, after CoSign, as long as the account's keys are these (State).
func (a Account) Signed(o op.UserOp, chainID uint64) bool {
	hash, err := a.hash(o, chainID)
	if err != nil || o.Sender != a.Address {
		return false
	}
	approve := a.approveDomain(chainID).ApproveDigest(op.CallDataAndNonceHash(o.Sender, o.CallData, o.Nonce))
	return a.kind.signed(a, o, hash, approve)
}

func (a Account) hash(o op.UserOp, chainID uint64) (common.Hash, error) {
	return o.Hash(a.pins.EntryPoint, new(big.Int).SetUint64(chainID))
}

// CoSigned reports whether the service must add its signature before it submits operations of this account.
func (a Account) CoSigned() bool { return a.kind.coSigned() }

// CoSign returns the operation as it goes on chain. A role-based account's gets the co-signer's signature over the
// EIP-191 operation hash behind the session key's; other operations stay as they are. It refuses what Signed refuses,
// and a key that is not the network's co-signer: then no signature is made. Whether the co-signer may sign at all on
// this chain at this moment is State's to say.
func (a Account) CoSign(ctx context.Context, o op.UserOp, chainID uint64, key signers.EVM) (op.UserOp, error) {
	if !a.CoSigned() {
		return o, nil
	}
	if key == nil || key.Address() != a.pins.CoSigner {
		return op.UserOp{}, errors.New("co-sign: the key is not the network's co-signer")
	}
	if !a.Signed(o, chainID) {
		return op.UserOp{}, errors.New("co-sign: the operation is not signed by the account's session key")
	}
	hash, err := a.hash(o, chainID)
	if err != nil {
		return op.UserOp{}, fmt.Errorf("co-sign: %w", err)
	}
	own, err := key.SignMessage(ctx, hash)
	if err != nil {
		return op.UserOp{}, fmt.Errorf("co-sign: %w", err)
	}
	o.Signature = append(append(make([]byte, 0, 2*op.SignatureLength), o.Signature...), own...)
	return o, nil
}

// StubSignature has the form and the cost of the signature that goes on chain; gas is measured with it.
func (a Account) StubSignature() []byte {
	if a.CoSigned() {
		return append(StubSignature(), StubSignature()...)
	}
	return StubSignature()
}

// StubSignature has the form and the cost of one signature of one key. It recovers to some address: Kernel's
// validator reverts on a signature that recovers to none, as with many an r.
func StubSignature() []byte {
	sig := make([]byte, op.SignatureLength)
	for i := range sig {
		sig[i] = 0x12
	}
	sig[op.SignatureLength-1] = 27
	return sig
}

// address reads one key of an account object.
func address(path, s string) (common.Address, error) {
	at, err := caip.ParseAddress(s)
	if err != nil || at == (common.Address{}) {
		return common.Address{}, &Unserved{path, api.WantKeyAddress, s}
	}
	return at, nil
}
