package settle_test

import (
	"context"
	"testing"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/quote"
	. "coffer/api/service/settle/settletest"
)

// TestGasTableCoversMeasuredCosts: the network fee is made from a table of gas; what the embedded chains really use
// must lie below it, and not so far below that the fee loses touch with the cost.
func TestGasTableCoversMeasuredCosts(t *testing.T) {
	w := New(t, Options{})
	w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 500*usdcPlain)
	w.FundBig(w.User.Address, caip.Native(Optimism), wei(1))
	used := map[string]uint64{}
	note := func(name string, s api.ExecutionStatus, chainID uint64, blocksBack uint64, tx int) {
		if s.Status != api.StatusCompleted {
			t.Fatalf("%s: %+v", name, s)
		}
		ch := w.Installation.Chains[chainID]
		b, found, err := ch.Block(context.Background(), ch.Head().Number-blocksBack)
		Must(t, err)
		if !found || tx >= len(b.Receipts) {
			t.Fatalf("%s: no such transaction", name)
		}
		used[name] = max(used[name], b.Receipts[tx].GasUsed)
	}
	estimate := map[string]uint64{}
	operation := func(name string) {
		doc := w.Quote(pay(w, Base, 50*usdcPlain), "")
		_, c, err := w.Book.Prepared(context.Background(), w.Decode(doc).ID)
		Must(t, err)
		estimate[name] = c.Gas
		s := w.Settle(w.SignQuote(doc))
		note(name, s, Base, 0, 0)
		note("release", s, Arbitrum, 0, 0)
		note("deposit of "+name, s, Arbitrum, 1, 0)
	}
	operation("first operation")
	operation("later operation")
	native := pay(w, Base, 50*usdcPlain)
	coin := w.Settle(w.SignQuote(w.Quote(native, "ob:eth")))
	note("deposit of first operation", coin, Optimism, 1, 0)
	note("release", coin, Optimism, 0, 0)
	t.Logf("%v, estimated %v", used, estimate)
	for name, table := range map[string]uint64{
		"deposit of first operation": quote.GasDeposit + quote.GasDeployment,
		"deposit of later operation": quote.GasDeposit,
		"release":                    quote.GasRelease,
		"first operation":            estimate["first operation"] + quote.GasFill,
		"later operation":            estimate["later operation"] + quote.GasFill,
	} {
		if used[name] > table || used[name]*2 < table {
			t.Errorf("%s used %d gas, the table says %d", name, used[name], table)
		}
	}
}
