package settle_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"coffer/api"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/store"
)

// What a flow leaves in the file is bounded: three deposits, the delivery, the releases, and the three transfers that
// give back what was spent.
func TestAFlowTakesLittleRoomInTheFile(t *testing.T) {
	t.Parallel()
	s := stores()["bolt"](t)
	w := New(t, Options{Store: s})
	body := w.Encode(rich(w))
	kept := func() int64 {
		path := filepath.Join(t.TempDir(), "copy.db")
		f, err := os.Create(path)
		Must(t, err)
		Must(t, store.Backup(s, func(int64) {}, f))
		Must(t, f.Close())
		r, err := store.CheckFile(path)
		Must(t, err)
		return r.Bytes
	}
	prepare := func() *api.Document {
		prepared, err := w.Quoter.Prepare(context.Background(), body)
		Must(t, err)
		w.Clock.Advance(time.Second)
		return prepared
	}
	flow := func() {
		quoted, err := w.Quoter.CallQuote(context.Background(), w.CallQuoteBody(prepare(), "", w.User.Key))
		Must(t, err)
		Must(t, w.Execute(w.SignQuote(quoted)))
		Must(t, w.Settler.Idle(context.Background()))
		refill(w)
	}
	each := func(what string, most int64, do func()) {
		const n = 8
		do()
		before := kept()
		for range n {
			do()
		}
		got := (kept() - before) / n
		t.Logf("%s: %d bytes", what, got)
		if got > most {
			t.Errorf("%s takes %d bytes of the file, at most %d are allowed", what, got, most)
		}
	}
	each("a flow", 18_000, flow) // three deposits carry their terms in clear
	each("a prepared operation", 1_500, func() { prepare() })
}
