package act

import (
	"math/big"

	"coffer/api/amount"
	"coffer/ui/cli"
)

// page is a review, an operation or a signature as rows.
type page struct{ cli.Sheet }

func dollars(micro *big.Int) string {
	if micro == nil {
		return "value unknown"
	}
	return "$" + amount.Group(amount.USD2(micro))
}
