// Package escrow encodes and decodes the calls of the escrow that payments go into
// (protocol §3.3), the terms under which a deposit is released (terms.go) and what
// attesters sign for it (attestation.go). Deposits are keyed by (quote id, depositor).
//
// Promise: a decoder accepts one encoding only, and DecodeDeposit exactly the bytes that
// DepositCalldata writes. Amounts are base units, times Unix seconds, token zero means the
// native coin, whose amount travels as the call's value. Sources: protocol §3.3, §5;
// assets/contracts/Escrow.sol; TH-Q1.
package escrow

import (
	"bytes"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op/internal/word"
)

// Signatures of the contract's functions.
const (
	TermsType        = "(uint256,uint64,(bytes32,bytes32,uint256)[],bytes32[])"
	DepositSignature = "deposit(bytes32,address,uint256,uint64," + TermsType + ")"
	ReleaseSignature = "release(bytes32,address,bytes[])"
	RefundSignature  = "refund(bytes32,address)"
)

// Deposit is the decoded content of a deposit call.
type Deposit struct {
	QuoteID        [32]byte
	Token          common.Address // zero = native coin
	Amount         *big.Int       // base units
	RefundDeadline uint64         // Unix seconds; afterwards anyone may trigger the refund
}

// DepositCalldata is deposit(quoteId, token, amount, refundDeadline, terms). An amount
// outside 0 … 2^256-1 gives nil.
func DepositCalldata(d Deposit, t Terms) []byte {
	terms := t.Encode()
	if terms == nil || !word.Fits(d.Amount, 256) {
		return nil
	}
	out := append(word.Selector(DepositSignature), d.QuoteID[:]...)
	out = word.Uint(word.Address(out, d.Token), d.Amount)
	out = word.Uint64(word.Uint64(out, d.RefundDeadline), 5*word.Size)
	return append(out, terms...)
}

// DecodeDeposit reads a deposit call and reports whether it is one: exactly the bytes that
// DepositCalldata writes, with at most MaxTerms minimums and operations.
func DecodeDeposit(data []byte) (Deposit, Terms, bool) {
	if !bytes.HasPrefix(data, word.Selector(DepositSignature)) {
		return Deposit{}, Terms{}, false
	}
	r := word.NewReader(data[4:])
	d, inTime := readDeposit(r)
	offset := r.Int(5 * word.Size)
	t, ok := decodeTerms(r)
	if !ok || r.Err() != nil || offset != 5*word.Size || !inTime {
		return Deposit{}, Terms{}, false
	}
	return d, t, true
}

// readDeposit reads what every form of the call begins with, and reports whether the
// deadline is a time.
func readDeposit(r *word.Reader) (Deposit, bool) {
	d := Deposit{QuoteID: r.Word(), Token: r.Address(), Amount: r.Uint()}
	deadline := r.Uint()
	d.RefundDeadline = deadline.Uint64()
	return d, deadline.IsUint64()
}

// ReleaseCalldata is release(quoteId, depositor, signatures): anyone hands a deposit to
// the filler with as many attestations as the escrow demands, in ascending order of the
// attesters' addresses.
func ReleaseCalldata(quoteID [32]byte, depositor common.Address, signatures [][]byte) []byte {
	out := append(word.Selector(ReleaseSignature), quoteID[:]...)
	out = word.Uint64(word.Address(out, depositor), 3*word.Size)
	out = word.Uint64(out, uint64(len(signatures)))
	at := len(signatures) * word.Size
	for _, s := range signatures {
		out = word.Uint64(out, uint64(at))
		at += word.Size + word.Padded(len(s))
	}
	for _, s := range signatures {
		out = word.Bytes(out, s)
	}
	return out
}

// RefundCalldata is refund(quoteId, depositor): the deposit goes back to its depositor.
func RefundCalldata(quoteID [32]byte, depositor common.Address) []byte {
	out := append(word.Selector(RefundSignature), quoteID[:]...)
	return word.Address(out, depositor)
}
