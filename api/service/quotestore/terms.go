package quotestore

import (
	"bytes"
	"slices"

	"coffer/api/op/escrow"
)

// Terms are what every deposit of the quote is released for: its deliveries, to whom, and the prepared operation, all
// of it until the end of the operations' window. A call gets what it lacks; a swap or a transfer at least its
// minimum. They are the same from the offer to the end.
func (q *Quote) Terms() escrow.Terms {
	t := escrow.Terms{TargetChain: q.ChainID, FillDeadline: q.ValidUntil}
	if q.HasPrepared() {
		t.Operations = [][32]byte{q.OpHash}
	}
	to := q.RecipientAccount().Word()
	for _, f := range q.Fills {
		least := f.Delivers.Value
		switch {
		case q.Minimum != nil:
			least = q.Minimum
		case f.Missing != nil:
			least = f.Missing
		}
		t.Minimums = append(t.Minimums, escrow.Minimum{Token: f.Delivers.CAIP().Word(), To: to, Amount: least})
	}
	slices.SortFunc(t.Minimums, func(a, b escrow.Minimum) int { return bytes.Compare(a.Token[:], b.Token[:]) })
	return t
}
