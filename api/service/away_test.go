package service_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/service"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// leaving is a store whose server is away after so many reads, until it is told otherwise.
type leaving struct {
	store.Store
	on   atomic.Bool
	left atomic.Int64
}

func (l *leaving) after(reads int64) {
	l.left.Store(reads)
	l.on.Store(true)
}

func (l *leaving) gone() bool { return l.on.Load() && l.left.Add(-1) < 0 }

func (l *leaving) View(fn func(store.Tx) error) error { return l.run(l.Store.View, fn) }

func (l *leaving) Update(fn func(store.Tx) error) error { return l.run(l.Store.Update, fn) }

func (l *leaving) run(in func(func(store.Tx) error) error, fn func(store.Tx) error) error {
	return in(func(tx store.Tx) error {
		t := &leavingTx{Tx: tx, from: l}
		err := fn(t)
		if t.err != nil {
			return t.err
		}
		return err
	})
}

func (l *leaving) Snapshot(ctx context.Context) (store.Snapshot, error) {
	if l.gone() {
		return nil, store.ErrAway
	}
	s, err := l.Store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return leavingSnapshot{&leavingTx{Tx: s, from: l}, s}, nil
}

type leavingSnapshot struct {
	*leavingTx
	held store.Snapshot
}

func (s leavingSnapshot) Release() { s.held.Release() }

type leavingTx struct {
	store.Tx
	from *leaving
	err  error
}

func (t *leavingTx) Err() error {
	if t.err != nil {
		return t.err
	}
	return t.Tx.Err()
}

func (t *leavingTx) Bucket(name string) store.Bucket { return leavingBucket{t.Tx.Bucket(name), t} }

func (t *leavingTx) gone() bool {
	if t.err == nil && t.from.gone() {
		t.err = store.ErrAway
	}
	return t.err != nil
}

type leavingBucket struct {
	store.Bucket
	t *leavingTx
}

func (b leavingBucket) Get(key []byte) []byte {
	if b.t.gone() {
		return nil
	}
	return b.Bucket.Get(key)
}

func (b leavingBucket) Ascend(from []byte, fn func(k, v []byte) bool) {
	if !b.t.gone() {
		b.Bucket.Ascend(from, fn)
	}
}

func (b leavingBucket) Descend(from []byte, fn func(k, v []byte) bool) {
	if !b.t.gone() {
		b.Bucket.Descend(from, fn)
	}
}

func (b leavingBucket) Reporting(report func(error)) store.Bucket {
	return leavingBucket{b.Bucket.Reporting(report), b.t}
}

// Whichever read of a request is the one that its database does not answer, the request is answered with 503 and says
// so: no call fails and no balance is too small because of it.
func TestADatabaseThatIsAwayIsNoReasonToRefuse(t *testing.T) {
	db := &leaving{Store: storetest.New(t)}
	s := open(t, options(db))
	for _, kind := range []string{api.AccountRoleBased, api.AccountKernelV31, api.AccountKernelV33} {
		c := newClient(t, s, kind, 1)
		// asked is the first answer that a database gives which stays
		asked := func(path, body string) *api.Document {
			t.Helper()
			for reads := int64(0); ; reads += 1 + reads/6 {
				db.after(reads)
				status, raw := c.send(http.MethodPost, path, body)
				db.on.Store(false)
				if status == http.StatusOK {
					doc, err := api.ParseDocument(raw, api.DefaultLimits())
					if err != nil || reads == 0 {
						t.Fatalf("%s of %s after %d reads: %v", path, kind, reads, err)
					}
					return doc
				}
				said := strings.Contains(string(raw), "database does not answer")
				if status != http.StatusServiceUnavailable || !said {
					t.Fatalf("%s of %s after %d reads: %d %s", path, kind, reads, status, raw)
				}
			}
		}
		ends := func(id string) {
			t.Helper()
			for s.Idle(t.Context()) != nil { // what was begun while the database was away is tried again
				time.Sleep(10 * time.Millisecond)
			}
			if got := c.status(id); got.Status != api.StatusCompleted {
				t.Errorf("a payment of %s is %s: %s", kind, got.Status, got.FailReason)
			}
		}
		prepared := c.sign(asked(c.preparePath(), c.transfer(300_000_000)), "/chainOperation")
		signed, id := c.signAll(asked(c.callQuotePath(), c.callQuoteBody(prepared, "ob:usdc")))
		asked(c.executePath(), string(signed.Raw()))
		ends(id)
		signed, id = c.signAll(asked(c.quotePath(), c.swap("ob:usdc", "20000000", "ob:eth", "")))
		asked(c.executePath(), string(signed.Raw()))
		ends(id)
	}
}

// Who asks an endpoint reads the same, and nothing of where the database is.
func TestAnEndpointSaysThatTheDatabaseIsAway(t *testing.T) {
	db := &leaving{Store: storetest.New(t)}
	s := open(t, options(db))
	n, err := s.ServeNodes(t.Context(), service.NodesOptions{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.Close() }()
	db.after(0)
	defer db.on.Store(false)
	for method, params := range map[string][]any{
		"eth_getBalance": {"0x00000000000000000000000000000000000a11ce", "latest"},
		"eth_call":       {map[string]any{"to": s.Network().Pins.EntryPoint}, "latest"},
	} {
		const want = `"message":"the service's database does not answer: ask again in a moment"`
		if got := rpc(t, n.List[0].HTTP, method, params...); !strings.Contains(got, want) {
			t.Errorf("%s: %s", method, got)
		}
	}
}
