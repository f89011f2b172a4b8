package escrow

import (
	"bytes"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op/internal/word"
)

// Signatures of the contract's getter, and of the errors of a refund.
const (
	DepositsSignature  = "deposits(bytes32,address)"
	NotHeldSignature   = "NotHeld(bytes32,address)"
	NotYetSignature    = "NotYetRefundable(uint64)"
	depositsAnswerSize = 5 * word.Size
)

// State is what became of a deposit.
type State uint64

// The states, as the contract numbers them.
const (
	None State = iota
	Held
	Released
	Refunded
)

// Kept is what the contract keeps of a deposit, whatever became of it.
type Kept struct {
	Token          common.Address // zero = native coin
	RefundDeadline uint64         // Unix seconds; afterwards anyone may trigger the refund
	State          State
	Amount         *big.Int    // base units
	Terms          common.Hash // Terms.Hash of those under which it is released
}

// DepositedTopic is the first topic of the log of a deposit. A quote's id and the depositor follow, as in the others.
func DepositedTopic() common.Hash {
	return crypto.Keccak256Hash([]byte("Deposited(bytes32,address,address,uint256,uint64,bytes32)"))
}

// ReleasedTopic is the first topic of the log of a release.
func ReleasedTopic() common.Hash {
	return crypto.Keccak256Hash([]byte("Released(bytes32,address,address,uint256)"))
}

// RefundedTopic is the first topic of the log of a refund.
func RefundedTopic() common.Hash {
	return crypto.Keccak256Hash([]byte("Refunded(bytes32,address,address,uint256)"))
}

// DepositsCalldata is deposits(quoteId, depositor).
func DepositsCalldata(quoteID [32]byte, depositor common.Address) []byte {
	out := append(word.Selector(DepositsSignature), quoteID[:]...)
	return word.Address(out, depositor)
}

// DecodeKept reads the answer of deposits and reports whether it is one.
func DecodeKept(answer []byte) (Kept, bool) {
	if len(answer) != depositsAnswerSize {
		return Kept{}, false
	}
	r := word.NewReader(answer)
	k := Kept{Token: r.Address()}
	deadline, state := r.Uint(), r.Uint()
	k.Amount, k.Terms = r.Uint(), r.Word()
	k.RefundDeadline, k.State = deadline.Uint64(), State(state.Uint64())
	return k, r.Err() == nil && deadline.IsUint64() && state.IsUint64() && k.State <= Refunded
}

// IsNotHeld reports, from the data of a revert, that nothing is held.
func IsNotHeld(revert []byte) bool { return bytes.HasPrefix(revert, word.Selector(NotHeldSignature)) }

// IsNotYet reports, from the data of a revert, that the refund deadline has not passed.
func IsNotYet(revert []byte) bool { return bytes.HasPrefix(revert, word.Selector(NotYetSignature)) }
