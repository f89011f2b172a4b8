// Package chain is the narrow port between the service and an EVM chain: what
// a quote needs to read and simulate, and what settlement needs to submit. It
// holds types only; chain/evm implements it with embedded chains.
//
// Amounts are base units (wei) in *big.Int, times are Unix seconds, gas is in
// gas units. A nil *big.Int amount means zero when it is an input.
package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// Address is the field's usual 20 bytes.
type Address = common.Address

// Hash is the field's usual 32 bytes.
type Hash = common.Hash

var (
	// ErrNotAccepted is wrapped by Seal when the request's Accept refused the
	// receipts: the block was thrown away, nothing changed.
	ErrNotAccepted = errors.New("the block was not accepted")
	// ErrReverted is wrapped by Result.Err when the called contract reverted;
	// Result.Return then holds the revert data.
	ErrReverted = errors.New("execution reverted")
	// ErrUnchecked is wrapped by Result.Err when the call needs what only the
	// chain's own nodes can execute: its outcome is unknown.
	ErrUnchecked = errors.New("could not check")
)

// Tx is a transaction to be signed and sealed. Nonce and fees are set by the
// chain: the account's nonce counting earlier transactions of the same block,
// the fee cap at the block's base fee, no tip. With authorizations it is an
// EIP-7702 (type 4) transaction.
type Tx struct {
	From           signers.EVM
	To             Address
	Value          *big.Int
	Data           []byte
	Gas            uint64 // gas limit; 0 means the protocol's limit of one transaction
	Authorizations []op.SignedAuthorization
}

// Log is one event.
type Log struct {
	Address Address
	Topics  []Hash
	Data    []byte
}

// Receipt is the outcome of one sealed transaction.
type Receipt struct {
	TxHash         Hash
	From, To       Address
	Creates        *Address                 // the contract that it creates, if it succeeds: then it has no To
	Value          *big.Int                 // wei that the transaction gives To; never nil
	Authorizations []op.SignedAuthorization // that it carries, in force or not; nil unless it is of type 4
	Success        bool
	GasUsed        uint64
	Logs           []Log
	Block          uint64
	BlockHash      Hash
	Time           uint64
	Index          int    // position in the block
	Revert         []byte // what a failed call returned; only right after Seal, nil when read back
}

// Header describes a block.
type Header struct {
	Number                  uint64
	Hash, Parent, StateRoot Hash
	Time, GasUsed           uint64
	BaseFee                 *big.Int
}

// Block is a header and the receipts of its transactions, in order.
type Block struct {
	Header
	Receipts []Receipt
}

// Message is a simulated call. Nobody signs it: gas price, nonce and the kind
// of the sender are not checked, but the sender must own the value.
type Message struct {
	From, To       Address
	Value          *big.Int
	Data           []byte
	Gas            uint64 // gas limit; 0 means the protocol's limit of one transaction
	Authorizations []op.SignedAuthorization
}

// Result is the outcome of a simulated call.
type Result struct {
	Return  []byte // returned data, or revert data when Err wraps ErrReverted
	GasUsed uint64 // as a receipt would say, intrinsic gas included
	Err     error  // nil on success
	Logs    []Log  // of this call; none when it failed
}

// Overlay changes accounts of a State for a simulation.
type Overlay map[Address]Override

// Override says what is different about one account; what is nil stays.
type Override struct {
	Balance *big.Int
	Nonce   *uint64
	Code    []byte // empty but not nil removes the code
	Storage map[Hash]Hash
}

// State is a private, throw-away view of one head, in which the next block is
// simulated. Nothing of it is kept. It is not safe for concurrent use and must
// be closed. It holds a store.Snapshot: the goroutine that holds it must close
// it before it calls Seal or Update on the same store.
type State interface {
	// Header is the head that the view is of.
	Header() Header
	Balance(Address) *big.Int
	Nonce(Address) uint64
	Code(Address) []byte
	Storage(Address, Hash) Hash
	// Err tells of a fault of the database or of an impossible overlay. When it
	// is not nil, a zero that was read means unknown, and every Call fails.
	Err() error
	// Apply changes accounts. A balance below zero or over 256 bits is not
	// applied and sets Err.
	Apply(Overlay)
	// Call executes a message. Its changes stay in this State when it
	// succeeds and are rolled back, all of them, when it fails.
	Call(Message) Result
	Close()
}

// Faulty puts the fault of a view in the place of an error that may come of it: where a read fails, each Call does.
func Faulty(s State, err *error) {
	if fault := s.Err(); fault != nil {
		*err = fault
	}
}

// Chain is one EVM chain. It is safe for concurrent use; Seal runs one at a
// time.
type Chain interface {
	// ID is the chain id of EIP-155.
	ID() uint64
	// Head is the latest sealed block.
	Head() Header
	// State opens a view of the head for simulations in a block of the given
	// time (Unix seconds, at least the head's). Where the chain is not in this
	// process the context bounds what the view reads, too.
	State(ctx context.Context, at uint64) (State, error)
	// Seal makes one block of the transactions. It is all or nothing: after an
	// error nothing has changed. The error wraps ErrNotAccepted, is a *TxError,
	// comes from Record as it is, or is a fault of the database or of a
	// signer. The context is the signers'.
	Seal(context.Context, SealRequest) (Block, error)
	// Receipt finds the receipt of a sealed transaction; false when unknown.
	Receipt(ctx context.Context, tx Hash) (Receipt, bool, error)
	// Block finds a sealed block by number; false when there is none yet.
	Block(ctx context.Context, n uint64) (Block, bool, error)
}

// IsReservedAddress reports whether neither a key nor a contract can be at an address: zero and the 1023 after it, the
// precompiled contracts among them.
func IsReservedAddress(a common.Address) bool { return [18]byte(a[:18]) == [18]byte{} && a[18] < 4 }

// SealRequest asks for one block.
type SealRequest struct {
	// Time is the clock in Unix seconds; the block gets it or its parent's
	// time, whichever is later (protocol §5.3).
	Time uint64
	Txs  []Tx
	// Accept judges the receipts before anything is written; an error throws
	// the block away. Nil accepts everything.
	Accept func([]Receipt) error
	// Record writes what belongs to the block in the same commit; an error
	// throws both away. It must not open views of the same store.
	Record func(store.Tx, Block) error
}

// TxError says that the protocol refuses one transaction of a block (no funds,
// gas limit too low or too high, block full): the block was not made. A
// transaction that merely reverts is no TxError.
type TxError struct {
	Index int
	Err   error
}

func (e *TxError) Error() string {
	return fmt.Sprintf("transaction %d cannot be included in a block: %v", e.Index, e.Err)
}

func (e *TxError) Unwrap() error { return e.Err }

// AllSucceed accepts a block whose every transaction succeeded; it fits SealRequest.Accept.
func AllSucceed(receipts []Receipt) error {
	for _, r := range receipts {
		if !r.Success {
			return fmt.Errorf("transaction %d to %s failed: %x", r.Index, r.To, r.Revert)
		}
	}
	return nil
}
