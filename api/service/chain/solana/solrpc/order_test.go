package solrpc_test

import (
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/store"
)

// Settlement commits several transactions at once, all or nothing. Those that strangers send come before or after, and
// keep neither from being included.
func TestStrangersAndSettlementShareOneOrder(t *testing.T) {
	file, err := store.OpenBolt(filepath.Join(t.TempDir(), "ledger.db"), store.BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := newWorldOn(t, file)
	before, err := w.Sums()
	if err != nil {
		t.Fatal(err)
	}
	compose := func(text string) solana.Tx {
		hash, _ := w.RecentHash(w.at.Load())
		m, err := solmsg.Compose(w.faucet.Key(), hash, solmsg.Memo(text))
		if err != nil {
			t.Fatal(err)
		}
		tx, err := solana.Sign(t.Context(), m, w.faucet)
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	const rounds, strangers = 30, 4
	var group sync.WaitGroup
	done := make(chan struct{})
	var sent sync.Map
	for i := range strangers {
		group.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					sent.Store(i, n)
					return
				default:
				}
				wire := w.wire(t, w.alice, solmsg.Memo(strconv.Itoa(i)+"/"+strconv.Itoa(n)))
				got := w.ask(t.Context(), t, "sendTransaction", `["`+wire+`",{"encoding":"base64"}]`)
				if got[0] != '"' {
					t.Errorf("a stranger's transaction: %s", got)
				}
			}
		})
	}
	for i := range rounds {
		began := time.Now()
		out, err := w.Seal(t.Context(), solana.SealRequest{Time: w.at.Load(), Accept: solana.AllSucceed,
			Txs: []solana.Tx{compose("deposit " + strconv.Itoa(i)), compose("payout " + strconv.Itoa(i))}})
		if err != nil {
			t.Fatal(err)
		}
		if out[1].Number != out[0].Number+1 {
			t.Errorf("%d and %d are not next to each other", out[0].Number, out[1].Number)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("settlement waited %s", took)
		}
	}
	close(done)
	group.Wait()
	total := uint64(2 * rounds)
	for i := range strangers {
		n, _ := sent.Load(i)
		total += uint64(n.(int))
		if n == 0 {
			t.Errorf("stranger %d was never included", i)
		}
	}
	after, err := w.Sums()
	if err != nil || after.Lamports != before.Lamports || w.Transactions() != total {
		t.Errorf("%d lamports before, %d after; %d transactions, want %d; %v", before.Lamports, after.Lamports,
			w.Transactions(), total, err)
	}
}
