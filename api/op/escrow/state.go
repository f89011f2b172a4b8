package escrow

import (
	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op/internal/word"
)

// The states of a deposit, as the contract numbers them.
const (
	StateNone uint8 = iota
	StateHeld
	StateReleased
	StateRefunded
)

// DepositsCalldata is deposits(quoteId, depositor), which answers with the record of a deposit.
func DepositsCalldata(quoteID [32]byte, depositor common.Address) []byte {
	out := append(word.Selector("deposits(bytes32,address)"), quoteID[:]...)
	return word.Address(out, depositor)
}

// DecodeDeposits reads the answer to deposits: the state, and the hash of the terms under which it is released
// (Terms.Hash).
func DecodeDeposits(answer []byte) (state uint8, terms common.Hash, ok bool) {
	const words = 5 // token, refundDeadline, state, amount, terms
	if len(answer) != words*word.Size {
		return 0, terms, false
	}
	r := word.NewReader(answer)
	_, _ = r.Address(), r.Uint()
	at := r.Uint()
	_ = r.Uint()
	terms = r.Word()
	if r.Err() != nil || !at.IsUint64() || at.Uint64() > uint64(StateRefunded) {
		return 0, terms, false
	}
	return uint8(at.Uint64()), terms, true
}
