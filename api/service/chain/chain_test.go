package chain_test

import (
	"errors"
	"strings"
	"testing"

	"coffer/api/service/chain"
)

func TestRefusedTransactionNamesItsPlaceAndReason(t *testing.T) {
	why := errors.New("no funds")
	var err error = &chain.TxError{Index: 3, Err: why}
	if !errors.Is(err, why) || !strings.Contains(err.Error(), "transaction 3 ") ||
		!strings.HasSuffix(err.Error(), "no funds") {
		t.Fatalf("error is %q", err)
	}
}
