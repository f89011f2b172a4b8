// Package escrow encodes and decodes the calls of the escrow contract that funding
// operations pay into (protocol §3.3). Deposits are keyed by (quote id, depositor).
//
// Promise: DecodeDeposit accepts exactly the bytes that DepositCalldata writes. Amounts
// are base units, the refund deadline is in Unix seconds, token zero means the native
// coin, whose amount travels as the call's value. Sources: protocol §3.3, §5; TH-Q1.
package escrow

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op/internal/word"
)

// Signatures of the contract's functions.
const (
	DepositSignature = "deposit(bytes32,address,uint256,uint64)"
	ReleaseSignature = "release(bytes32,address,address)"
	RefundSignature  = "refund(bytes32,address)"
)

// Deposit is the decoded content of a deposit call.
type Deposit struct {
	QuoteID        [32]byte
	Token          common.Address // zero = native coin
	Amount         *big.Int       // base units
	RefundDeadline uint64         // Unix seconds; afterwards anyone may trigger the refund
}

// DepositCalldata is deposit(quoteId, token, amount, refundDeadline). An amount outside
// 0 … 2^256-1 gives nil.
func DepositCalldata(quoteID [32]byte, token common.Address, amount *big.Int, refundDeadline uint64) []byte {
	if !word.Fits(amount, 256) {
		return nil
	}
	out := append(selector(DepositSignature), quoteID[:]...)
	out = word.Uint(word.Address(out, token), amount)
	return word.Uint64(out, refundDeadline)
}

// DecodeDeposit reads a deposit call and reports whether it is one, byte for byte.
func DecodeDeposit(data []byte) (Deposit, bool) {
	const words = 4
	if len(data) != 4+words*word.Size || [4]byte(data[:4]) != word.Selector(DepositSignature) {
		return Deposit{}, false
	}
	r := word.NewReader(data[4:])
	d := Deposit{QuoteID: r.Word(), Token: r.Address(), Amount: r.Uint()}
	deadline := r.Uint()
	if r.Err() != nil || !deadline.IsUint64() {
		return Deposit{}, false
	}
	d.RefundDeadline = deadline.Uint64()
	return d, true
}

// ReleaseCalldata is release(quoteId, depositor, to): the operator hands a deposit to
// the solver after the fill.
func ReleaseCalldata(quoteID [32]byte, depositor, to common.Address) []byte {
	out := append(selector(ReleaseSignature), quoteID[:]...)
	return word.Address(word.Address(out, depositor), to)
}

// RefundCalldata is refund(quoteId, depositor): the deposit goes back to its depositor.
func RefundCalldata(quoteID [32]byte, depositor common.Address) []byte {
	out := append(selector(RefundSignature), quoteID[:]...)
	return word.Address(out, depositor)
}

func selector(signature string) []byte {
	s := word.Selector(signature)
	return s[:]
}
