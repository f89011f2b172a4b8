package escrow

import (
	"bytes"

	"coffer/api/op/internal/word"
)

// DecodeEarlierDeposit reads deposit(quoteId, token, amount, refundDeadline), the call of
// the escrow of networks of version 1, and reports whether it is one, byte for byte. It
// names no terms: the operator of that escrow decided alone where the money went.
func DecodeEarlierDeposit(data []byte) (Deposit, bool) {
	const words = 4
	selector := word.Selector("deposit(bytes32,address,uint256,uint64)")
	if len(data) != 4+words*word.Size || !bytes.HasPrefix(data, selector) {
		return Deposit{}, false
	}
	r := word.NewReader(data[4:])
	d, ok := readDeposit(r)
	if !ok || r.Err() != nil {
		return Deposit{}, false
	}
	return d, true
}
