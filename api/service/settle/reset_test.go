package settle_test

import (
	"context"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/service/chain/evm"
	"coffer/api/service/quotestore"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/store"
)

// resettable attaches a node whose snapshots the chain can be taken back to, with the book's part in it.
func resettable(t *testing.T, w *World, id uint64) *evm.Node {
	t.Helper()
	c, ok := w.Installation.Chains[id].(*evm.Chain)
	if !ok {
		t.Fatalf("chain %d is not in this process", id)
	}
	n := evm.NewNode(c, evm.NodeOptions{Clock: w.Clock.Now, Dev: true, Reverted: func(tx store.Tx, _ uint64) error {
		_, err := w.Book.Reset(tx, id, func(h common.Hash) bool { return !c.Has(tx, h) })
		return err
	}})
	t.Cleanup(n.Close)
	return n
}

// A quote whose blocks were taken back ends FAILED, whether they delivered or paid; one whose blocks stay is as it was,
// and the next one is settled.
func TestAQuoteWhoseBlocksAreTakenBackEndsFailed(t *testing.T) {
	for _, chain := range []uint64{Base, Arbitrum} {
		w := New(t, Options{})
		n := resettable(t, w, chain)
		request := crossChain(w)
		kept := w.Decode(w.Quote(pay(w, Base, usdcPlain), "ob:usdc")) // an offer promises nothing
		snapshot, err := n.Snapshot()
		Must(t, err)
		doc := w.Quote(request, "ob:usdc")
		q := w.Decode(doc)
		if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusCompleted {
			t.Fatalf("status %+v", s)
		}
		if done, err := n.Revert(snapshot); !done || err != nil {
			t.Fatalf("reverted %t, %v", done, err)
		}
		s := w.Status(q.ID)
		if s.Status != api.StatusFailed || s.FailReason != quotestore.ReasonReset {
			t.Errorf("chain %d: status %+v", chain, s)
		}
		if open, err := w.Book.Open(context.Background()); err != nil || len(open) > 0 {
			t.Errorf("chain %d: open %v, %v", chain, open, err)
		}
		page, err := w.Book.History(context.Background(), quotestore.HistoryQuery{
			User: w.User.Address.Hex(), Limit: 10})
		if err != nil || len(page.Transactions) != 1 ||
			page.Transactions[0].Status != api.StatusFailed {
			t.Errorf("chain %d: history %+v, %v", chain, page, err)
		}
		if _, found, err := w.Book.Status(context.Background(), kept.ID); found || err != nil {
			t.Errorf("chain %d: an offer has a status, or %v", chain, err)
		}
		doc = w.Quote(pay(w, Base, 20*usdcPlain), "ob:usdc")
		if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusCompleted {
			t.Fatalf("chain %d: after it %+v", chain, s)
		}
	}
}

// What was settled before the snapshot stays.
func TestAQuoteBeforeTheSnapshotStays(t *testing.T) {
	w := New(t, Options{})
	n := resettable(t, w, Base)
	doc := w.Quote(crossChain(w), "ob:usdc")
	if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
	snapshot, err := n.Snapshot()
	Must(t, err)
	Must(t, n.Mine(context.Background(), 3, 1))
	if done, err := n.Revert(snapshot); !done || err != nil {
		t.Fatalf("reverted %t, %v", done, err)
	}
	if s := w.Status(w.Decode(doc).ID); s.Status != api.StatusCompleted || s.FailReason != "" {
		t.Errorf("status %+v", s)
	}
}
