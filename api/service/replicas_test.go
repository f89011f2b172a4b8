package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/service"
	"coffer/api/service/store/pg"
	"coffer/api/service/store/storetest"
)

// several are processes of one operator that serve from one database.
type several struct {
	*operated
	address string
	all     []*service.Service
	stores  []*pg.Store
	asked   atomic.Uint32
}

// newSeveral opens so many.
func newSeveral(t *testing.T, processes int) *several {
	t.Helper()
	r := &several{address: storetest.Schema(t)}
	first := storetest.OpenShared(t, r.address)
	r.operated = newOperatedIn(t, first, nil)
	for i := range processes {
		s := first
		if i > 0 {
			s = storetest.OpenShared(t, r.address)
		}
		r.stores = append(r.stores, s)
		r.all = append(r.all, open(t, r.options(s)))
		r.priced(r.all[i])
	}
	return r
}

// RoundTrip asks one process after the other.
func (r *several) RoundTrip(req *http.Request) (*http.Response, error) {
	s := r.all[int(r.asked.Add(1))%len(r.all)]
	return service.RoundTripper(s.Handler()).RoundTrip(req)
}

// member asks another process with each request.
func (r *several) member(n uint64) *client {
	r.t.Helper()
	c := r.operated.member(r.all[0], api.AccountKernelV31, n)
	c.rt = checked{r.t, r}
	return c
}

// ends waits for the end of a payment.
func (r *several) ends(c *client, id string) (got api.ExecutionStatus) {
	for end := time.Now().Add(2 * time.Minute); !api.Terminal(got.Status) && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
		got = c.status(id)
	}
	return got
}

func paidTo(n uint64) common.Address { return common.Address{0xbe, 0xef, 18: 1, 19: byte(n)} }

// once demands that payments were delivered once each, and that nothing is left in escrow.
func (r *several) once(paid int) {
	r.t.Helper()
	r.settled(func() bool { return r.has(10, r.escrow) == 0 && r.has(42161, r.escrow) == 0 })
	if got := r.logs(8453, r.filler, filler.FilledTopic()); !each(got, paid) {
		r.t.Errorf("%d payments were delivered: %v", paid, got)
	}
	for n := range uint64(paid) {
		if got := r.has(8453, paidTo(n)); got != 30e6 {
			r.t.Errorf("%d arrived at payee %d", got, n)
		}
	}
	for _, id := range []uint64{10, 42161} {
		if got := r.logs(id, r.escrow, escrow.ReleasedTopic()); !each(got, paid) {
			r.t.Errorf("%d deposits were released on %d: %v", paid, id, got)
		}
	}
}

// each reports whether so many quotes have one log.
func each(logs map[common.Hash]int, quotes int) bool {
	for _, n := range logs {
		if n != 1 {
			return false
		}
	}
	return len(logs) == quotes
}

// TestSeveralProcessesOfAnOperatorServeAtOnce: members prepare at one, quote at another, execute at a third, and ask
// any of them.
func TestSeveralProcessesOfAnOperatorServeAtOnce(t *testing.T) {
	t.Parallel()
	r := newSeveral(t, 3)
	const paid = 9
	var all sync.WaitGroup
	for n := range uint64(paid) {
		c := r.member(300 + n)
		all.Go(func() {
			signed, id, _ := c.call(r.pay(c, paidTo(n), 30e6), "ob:usdc")
			c.ask("POST", c.executePath(), string(signed.Raw()))
			if got := r.ends(c, id); got.Status != api.StatusCompleted {
				t.Errorf("payment %d: %+v", n, got)
			}
		})
	}
	all.Wait()
	r.once(paid)
}

// TestAnotherProcessGoesOnForOneThatIsGone: it is taken off the list while payments that it accepted run. What it would
// write is refused, and it sends nothing more.
func TestAnotherProcessGoesOnForOneThatIsGone(t *testing.T) {
	t.Parallel()
	r := newSeveral(t, 2)
	const paid = 6
	ids, clients := make([]string, paid), make([]*client, paid)
	var all sync.WaitGroup
	for n := range uint64(paid) {
		c := r.member(320 + n)
		clients[n] = c
		all.Go(func() {
			signed, id, _ := c.call(r.pay(c, paidTo(n), 30e6), "ob:usdc")
			ids[n] = id
			here := *c
			here.rt = checked{t, service.RoundTripper(r.all[0].Handler())}
			here.ask("POST", c.executePath(), string(signed.Raw()))
		})
	}
	all.Wait()
	storetest.Exec(t, r.address, `delete from coffer_process where number = $1`, r.stores[0].Process())
	storetest.Exec(t, r.address, `select pg_notify('coffer_' || (select oid from pg_namespace
		where nspname = current_schema()), '0 processes')`)
	<-r.stores[0].Lost().Done()
	if err := context.Cause(r.stores[0].Lost()); !errors.Is(err, pg.ErrTaken) {
		t.Error(err)
	}
	r.all = r.all[1:]
	for n, c := range clients {
		if got := r.ends(c, ids[n]); got.Status != api.StatusCompleted {
			raw, _ := json.Marshal(got)
			t.Errorf("payment %d: %s", n, raw)
		}
	}
	r.once(paid)
}
