// Package filler encodes the calls of the filler contract, which pays what quotes
// promised and runs their operations, and reads its logs.
//
// Promise: the encoders write what go-ethereum's ABI encoder writes; DecodeFilled and
// DecodeVoided accept exactly what the contract logs. They do not look at who logged:
// compare the log's address. Amounts are base units, deadlines Unix seconds, token zero
// is the native coin. Source: assets/contracts/Filler.sol.
package filler

import (
	"errors"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/op/internal/word"
)

// Signatures of the contract's functions and events.
const (
	FillSignature   = "fill(bytes32,address," + escrow.TermsType + ",(address,address,uint256)[]," + op.OpsType + ")"
	RunSignature    = "run(uint64," + op.OpsType + ")"
	VoidSignature   = "void(bytes32)"
	RefundSignature = "refund(address,bytes32,address)"
	FilledSignature = "Filled(bytes32,bytes32)"
	VoidedSignature = "Voided(bytes32)"
)

// PostOpGas is the paymasterPostOpGasLimit that the contract demands of an operation, in
// gas units.
const PostOpGas = 50_000

// Pay is what a fill sends for the minimum at the same place in the terms: the same
// token and recipient, at least the amount.
type Pay struct {
	Token  common.Address
	To     common.Address
	Amount *big.Int
}

// Pays are the payments of exactly the minimums. It reports false when a token or a
// recipient is no EVM address.
func Pays(minimums []escrow.Minimum) ([]Pay, bool) {
	out := make([]Pay, len(minimums))
	for i, m := range minimums {
		out[i] = Pay{common.Address(m.Token[12:]), common.Address(m.To[12:]), m.Amount}
		if escrow.Padded(out[i].Token) != m.Token || escrow.Padded(out[i].To) != m.To {
			return nil, false
		}
	}
	return out, true
}

// ErrAmount is FillCalldata's answer to an amount outside 0 … 2^256-1.
var ErrAmount = errors.New("filler: an amount is missing or does not fit in 256 bits")

// FillCalldata is fill(quoteId, depositor, terms, pays, ops). It fails when an operation
// cannot be packed, or with ErrAmount.
func FillCalldata(quoteID [32]byte, depositor common.Address, terms escrow.Terms, pays []Pay,
	ops ...op.UserOp) ([]byte, error) {
	last, err := op.EncodeOps(ops...)
	if err != nil {
		return nil, err
	}
	first := terms.Encode()
	if first == nil {
		return nil, ErrAmount
	}
	second := word.Uint64(nil, uint64(len(pays)))
	for _, p := range pays {
		if !word.Fits(p.Amount, 256) {
			return nil, ErrAmount
		}
		second = word.Uint(word.Address(word.Address(second, p.Token), p.To), p.Amount)
	}
	out, at := word.Address(append(word.Selector(FillSignature), quoteID[:]...), depositor), 5*word.Size
	for _, part := range [][]byte{first, second, last} {
		out = word.Uint64(out, uint64(at))
		at += len(part)
	}
	return append(append(append(out, first...), second...), last...), nil
}

// RunCalldata is run(deadline, ops): operations that need no payment. It fails when an
// operation cannot be packed.
func RunCalldata(deadline uint64, ops ...op.UserOp) ([]byte, error) {
	array, err := op.EncodeOps(ops...)
	if err != nil {
		return nil, err
	}
	out := word.Uint64(word.Selector(RunSignature), deadline)
	return append(word.Uint64(out, 2*word.Size), array...), nil
}

// VoidCalldata is void(quoteId): the id is used up without a fill.
func VoidCalldata(quoteID [32]byte) []byte {
	return append(word.Selector(VoidSignature), quoteID[:]...)
}

// UsedCalldata is used(id): whether the filler took an id, for a fill, a run or a void.
func UsedCalldata(id [32]byte) []byte { return append(word.Selector("used(bytes32)"), id[:]...) }

// RefundCalldata is refund(escrow, quoteId, depositor): the filler, as the payee, gives a
// deposit back before its deadline.
func RefundCalldata(at common.Address, quoteID [32]byte, depositor common.Address) []byte {
	out := word.Address(word.Selector(RefundSignature), at)
	return word.Address(append(out, quoteID[:]...), depositor)
}

// FilledTopic and VoidedTopic are the first topics of the contract's logs.
func FilledTopic() common.Hash { return crypto.Keccak256Hash([]byte(FilledSignature)) }

// VoidedTopic is the first topic of the log of a void.
func VoidedTopic() common.Hash { return crypto.Keccak256Hash([]byte(VoidedSignature)) }

// DecodeFilled reads a log Filled(quoteId, terms), terms being escrow.Terms.Hash, and
// reports whether it is one.
func DecodeFilled(topics []common.Hash, data []byte) (quoteID [32]byte, terms common.Hash, ok bool) {
	if len(topics) != 2 || topics[0] != FilledTopic() || len(data) != word.Size {
		return quoteID, terms, false
	}
	return topics[1], common.Hash(data), true
}

// DecodeVoided reads a log Voided(quoteId) and reports whether it is one.
func DecodeVoided(topics []common.Hash, data []byte) (quoteID [32]byte, ok bool) {
	if len(topics) != 2 || topics[0] != VoidedTopic() || len(data) != 0 {
		return quoteID, false
	}
	return topics[1], true
}
