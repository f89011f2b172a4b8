package quote_test

import (
	"testing"

	"coffer/api/caip"
	"coffer/api/op/escrow"
	. "coffer/api/service/settle/settletest"
)

// TestACallIsPromisedNoMoreThanItRequires: the paying asset is coarser than what is delivered, so that one unit
// of it buys more than what is missing. The wallet refuses a promise of more than was asked for.
func TestACallIsPromisedNoMoreThanItRequires(t *testing.T) {
	w := New(t, Options{})
	w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 500*usdcPlain)
	for _, asset := range []caip.Asset{w.Asset("weth", Base), w.Asset("dai", Ethereum)} {
		const needs = 10_000_000_000_000_007
		q := w.Decode(w.Quote(w.Request(asset, needs, Transfer(asset, payee(), needs)), "ob:usdc"))
		calls := callsOf(t, q.OriginChainsOperations[0])
		_, terms, ok := escrow.DecodeDeposit(calls[len(calls)-1].Data)
		if !ok || len(terms.Minimums) != 1 || terms.Minimums[0].Amount.Int64() != needs {
			t.Errorf("%s: %+v", asset, terms)
		}
	}
}
