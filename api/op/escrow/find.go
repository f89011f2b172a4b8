package escrow

import (
	"bytes"

	"coffer/api/op/internal/word"
)

// FindDeposit looks for a deposit call inside other data, such as a transaction that runs operations, and returns the
// first that is wanted.
func FindDeposit(data []byte, wanted func(Deposit, Terms) bool) (Deposit, Terms, bool) {
	selector := word.Selector(DepositSignature)
	for {
		i := bytes.Index(data, selector)
		if i < 0 {
			return Deposit{}, Terms{}, false
		}
		data = data[i:]
		if n, ok := depositSize(data[len(selector):]); ok {
			if d, t, ok := DecodeDeposit(data[:len(selector)+n]); ok && wanted(d, t) {
				return d, t, true
			}
		}
		data = data[1:]
	}
}

// depositSize is how long the arguments of a deposit call are that begin here, as they say themselves.
func depositSize(args []byte) (n int, ok bool) {
	const before = 5 + 4 // words before the number of minimums: the arguments, and the beginning of the terms
	r := word.NewReader(args)
	r.Raw(before * word.Size)
	minimums := r.Int(MaxTerms)
	r.Raw(3 * minimums * word.Size)
	operations := r.Int(MaxTerms)
	r.Raw(operations * word.Size)
	return len(args) - r.Len(), r.Err() == nil
}
