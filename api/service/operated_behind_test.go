package service_test

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/service"
	"coffer/api/service/remotenet"
	"coffer/api/service/settle"
	"coffer/api/service/store"
)

// watched is a service of an operator with data in a directory, which tells what it logs and stands still where it is
// told, and whose clock can be put forward.
type watched struct {
	*operated
	dir    string
	ahead  atomic.Int64 // seconds
	mu     sync.Mutex
	held   map[string]settle.Moment // quotes that stand still before a step
	still  map[string]bool          // those that got there
	log    bytes.Buffer
	payees []common.Address
	people map[uint64]*client
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{dir: t.TempDir(), held: map[string]settle.Moment{}, still: map[string]bool{},
		people: map[uint64]*client{}}
	w.operated = newOperatedIn(t, w.data(t, w.dir), nil)
	return w
}

// data opens the database of a directory.
func (w *watched) data(t *testing.T, dir string) store.Store {
	t.Helper()
	db, err := store.OpenBolt(filepath.Join(dir, service.DatabaseFile), store.BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Write is what the service logs.
func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

func (w *watched) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// holds has a quote stand still before a step.
func (w *watched) holds(id string, at settle.Moment) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held[id] = at
}

// stands reports whether a payment is being held before a step.
func (w *watched) stands(p payment) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.still[p.id]
}

// passes lets time pass while a lane waits for an explanation, and reports whether one does.
func (w *watched) passes(all ...*service.Service) (held bool) {
	w.t.Helper()
	for _, s := range all {
		held = held || slices.ContainsFunc(s.Lanes(w.t.Context()), func(l remotenet.LaneState) bool {
			return l.Held != ""
		})
	}
	if held {
		w.ahead.Add(10)
	}
	return held
}

// starts opens the service on a directory.
func (w *watched) starts(db store.Store, dir string) *service.Service {
	w.t.Helper()
	from := w.options(db)
	from.Dir = dir
	from.Clock = func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load()) * time.Second) }
	from.Log = slog.New(slog.NewTextHandler(w, nil))
	from.Faults.Wait = func(ctx context.Context, at settle.Moment, id string) error {
		for {
			w.mu.Lock()
			stands := w.held[id] == at
			w.still[id] = stands
			w.mu.Unlock()
			if !stands {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	s, err := service.Open(from)
	if err != nil {
		w.t.Fatal(err)
	}
	w.priced(s)
	return s
}

// payment is one of 30 USDC on Base, of a person with money on two chains.
type payment struct {
	id string
	to common.Address
	n  uint64
	by *client
}

// quoted is a payment that is signed.
func (w *watched) quoted(s *service.Service, n uint64) (payment, *api.Document) {
	w.t.Helper()
	p := payment{n: n, to: common.Address{0xbe, 0xef, 19: byte(n)}, by: w.member(s, api.AccountKernelV31, n)}
	w.payees, w.people[n] = append(w.payees, p.to), p.by
	signed, id, _ := p.by.call(w.pay(p.by, p.to, 30e6), "ob:usdc")
	p.id = id
	return p, signed
}

func (p payment) execute(signed *api.Document) {
	p.by.t.Helper()
	p.by.ask("POST", p.by.executePath(), string(signed.Raw()))
}

// reaches waits until something is so.
func (w *watched) reaches(what string, is func() bool) {
	w.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("it never comes to %s\n%s", what, w.logged())
		}
	}
}

// deposited reports whether both deposits of a payment are in escrow.
func (w *watched) deposited(p payment) bool {
	for _, id := range []uint64{10, 42161} {
		var out hexutil.Bytes
		w.ask(id, &out, "eth_call", map[string]any{"to": w.escrow, "data": hexutil.Encode(
			escrow.DepositsCalldata(common.HexToHash(p.id), p.by.user.Address))}, "latest")
		kept, _ := escrow.DecodeKept(out)
		if kept.State != escrow.Held {
			return false
		}
	}
	return true
}

// logs counts those of a contract by quote.
func (o *operated) logs(chain uint64, at common.Address, topic common.Hash) map[common.Hash]int {
	o.t.Helper()
	var all []struct{ Topics []common.Hash }
	o.ask(chain, &all, "eth_getLogs", map[string]any{"address": at, "fromBlock": "0x0", "toBlock": "latest",
		"topics": []common.Hash{topic}})
	out := map[common.Hash]int{}
	for _, l := range all {
		out[l.Topics[1]]++
	}
	return out
}

// ends demands what must hold when everything has ended: no escrow holds anything, each deposit ended once, each quote
// was filled once at most, and none of a quote that was filled went back.
func (w *watched) ends(all []payment, filled func(payment) bool) {
	w.t.Helper()
	w.reaches("empty escrows", func() bool { return w.has(10, w.escrow) == 0 && w.has(42161, w.escrow) == 0 })
	fills := w.logs(8453, w.filler, filler.FilledTopic())
	for _, p := range all {
		id, want := common.HexToHash(p.id), map[bool]int{true: 1}[filled(p)]
		if fills[id] != want || w.has(8453, p.to) != int64(want)*30e6 {
			w.t.Errorf("payment %d was filled %d times, and %d arrived", p.n, fills[id], w.has(8453, p.to))
		}
		for _, chain := range []uint64{10, 42161} {
			in := w.logs(chain, w.escrow, escrow.DepositedTopic())[id]
			out, back := w.logs(chain, w.escrow, escrow.ReleasedTopic())[id],
				w.logs(chain, w.escrow, escrow.RefundedTopic())[id]
			if in != out+back || in > 1 || back > 0 && filled(p) || out > 0 && !filled(p) {
				w.t.Errorf("payment %d on chain %d: %d deposits, %d released, %d refunded", p.n, chain, in, out, back)
			}
		}
		if back := w.has(10, p.by.user.Address) + w.has(42161, p.by.user.Address); !filled(p) && back != 40e6 {
			w.t.Errorf("payment %d: %d are with who paid", p.n, back)
		}
	}
}

// copies copies a file.
func copies(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestARestoredBackupSendsNothingTwice: the database is put back to where it was eleven payments ago: one of its own
// has been delivered since, one was only an offer, and others it never knew; some were delivered and not paid for yet,
// some were paid for and not delivered. Whatever was delivered stays, whatever was not goes back, and the service goes
// on by itself.
func TestARestoredBackupSendsNothingTwice(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	s := w.starts(w.db, w.dir)
	var all []payment
	kept, signed := w.quoted(s, 100)
	w.holds(kept.id, settle.AtFill)
	kept.execute(signed)
	w.reaches("deposits of the payment that the backup has", func() bool { return w.deposited(kept) })
	offered, late := w.quoted(s, 101)
	all = append(all, kept, offered)
	file, backup := filepath.Join(w.dir, service.DatabaseFile), filepath.Join(t.TempDir(), "backup")
	closes := func(s *service.Service) {
		t.Helper()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	closes(s)
	copies(t, file, backup)

	w.db = w.data(t, w.dir)
	s = w.starts(w.db, w.dir)
	offered.by = newClient(t, s, api.AccountKernelV31, 101)
	w.holds(offered.id, settle.AtRelease)
	offered.execute(late)
	w.holds(kept.id, settle.AtRelease)
	waits := map[uint64]settle.Moment{102: settle.AtFill, 103: settle.AtRelease, 104: settle.AtFill}
	for n := uint64(102); n < 112; n++ {
		p, signed := w.quoted(s, n)
		w.holds(p.id, waits[n])
		p.execute(signed)
		all = append(all, p)
	}
	unfilled := func(p payment) bool { return waits[p.n] == settle.AtFill }
	fills := func() int { return len(w.logs(8453, w.filler, filler.FilledTopic())) }
	w.reaches("ten deliveries", func() bool { return fills() == 10 })
	w.reaches("deposits that wait", func() bool {
		return !slices.ContainsFunc(all, func(p payment) bool { return unfilled(p) && !w.deposited(p) })
	})
	w.reaches("releases of the others", func() bool {
		return len(w.logs(10, w.escrow, escrow.ReleasedTopic())) == 7 &&
			len(w.logs(42161, w.escrow, escrow.ReleasedTopic())) == 7
	})
	closes(s)
	copies(t, backup, file)
	clear(w.held)

	before := fills()
	w.db = w.data(t, w.dir)
	s = w.starts(w.db, w.dir)
	defer func() { _ = s.Close() }()
	if !strings.Contains(w.logged(), "STORE_BEHIND") || !strings.Contains(w.logged(), "is an older copy") {
		t.Errorf("nothing says that the store is behind:\n%s", w.logged())
	}
	w.reaches("lanes that see that they are behind", func() bool {
		n := 0
		for _, l := range s.Lanes(t.Context()) {
			if l.Alerted {
				n++
			}
		}
		return n == 2 // that of Base goes on at once
	})
	w.reaches("lanes that are sure", func() bool { return !w.passes(s) })
	w.ends(all, func(p payment) bool { return !unfilled(p) })
	if now := fills(); now != before {
		t.Errorf("%d deliveries before the backup was restored, %d after", before, now)
	}
	// Those that ended before the backup was restored have no record any more.
	want := map[string]int{api.StatusCompleted: 3, api.StatusRefunded: 2}
	w.reaches("an end of all records", func() bool {
		states := map[string]int{}
		for _, p := range all {
			if known := newClient(t, s, api.AccountKernelV31, p.n).status(p.id); known.Status != "" {
				states[known.Status]++
			}
		}
		return maps.Equal(states, want)
	})
	p, signed := w.quoted(s, 120)
	p.by.done(p.by.waited(signed, p.id), api.RecordCall)
	w.ends(append(all, p), func(p payment) bool { return !unfilled(p) })
	if strings.Contains(w.logged(), "LANE_STOPPED") {
		t.Errorf("a lane has stopped:\n%s", w.logged())
	}
}

// TestACopyOfTheDataBesideTheFirstServicePaysNothingTwice: a directory was copied and a second service starts on the
// copy while the first goes on. It sees where it came from, reads everything again, and what either of them does is
// done once.
func TestACopyOfTheDataBesideTheFirstServicePaysNothingTwice(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	first := w.starts(w.db, w.dir)
	var all []payment
	for n := uint64(130); n < 133; n++ {
		p, signed := w.quoted(first, n)
		w.holds(p.id, settle.AtFill)
		p.execute(signed)
		all = append(all, p)
	}
	w.reaches("deposits that are in the records", func() bool {
		return !slices.ContainsFunc(all, func(p payment) bool { return !w.deposited(p) || !w.stands(p) })
	})
	beside := t.TempDir()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{service.DatabaseFile, service.TimelineFile, service.NetworkFile} {
		copies(t, filepath.Join(w.dir, name), filepath.Join(beside, name))
	}
	w.db = w.data(t, w.dir)
	first = w.starts(w.db, w.dir)
	defer func() { _ = first.Close() }()
	if strings.Contains(w.logged(), "STORE_BEHIND") {
		t.Errorf("the first has noticed something:\n%s", w.logged())
	}
	second := w.starts(w.data(t, beside), beside)
	defer func() { _ = second.Close() }()
	if !strings.Contains(w.logged(), "it was moved or copied") {
		t.Errorf("nothing says that the data are a copy:\n%s", w.logged())
	}
	w.mu.Lock()
	clear(w.held) // both go on at once
	w.mu.Unlock()
	w.reaches("empty escrows", func() bool {
		w.passes(first, second)
		return w.has(10, w.escrow) == 0 && w.has(42161, w.escrow) == 0
	})
	filled := func(p payment) bool { return w.has(8453, p.to) > 0 }
	w.ends(all, filled)
	for _, s := range []*service.Service{first, second} {
		for _, p := range all {
			c := newClient(t, s, api.AccountKernelV31, p.n)
			w.reaches("an end", func() bool {
				w.passes(first, second)
				return api.Terminal(c.status(p.id).Status)
			})
			want := map[bool]string{true: api.StatusCompleted, false: api.StatusRefunded}[filled(p)]
			if got := c.status(p.id); got.Status != want {
				t.Errorf("payment %d is %+v, want %s", p.n, got, want)
			}
		}
	}
}
