package service_test

import (
	"bytes"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/service"
	"coffer/api/service/netstatus"
	"coffer/api/service/store"
)

// count counts lines with all of the words.
func (l *lines) count(words ...string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.buf.String()) {
		has := true
		for _, w := range words {
			has = has && strings.Contains(line, w)
		}
		if has {
			n++
		}
	}
	return n
}

// until waits until something is so.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never happens: " + what)
		}
	}
}

func chainOf(t *testing.T, s *netstatus.Status, id uint64) netstatus.Chain {
	t.Helper()
	for _, c := range s.Chains {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no chain %d in %+v", id, s)
	return netstatus.Chain{}
}

func holding(t *testing.T, c netstatus.Chain, symbol string) netstatus.Holding {
	t.Helper()
	for _, h := range c.Inventory {
		if h.Symbol == symbol {
			return h
		}
	}
	t.Fatalf("no %s in %+v", symbol, c)
	return netstatus.Holding{}
}

// TestAnOperatorSeesItsNetwork: what the chains and the book say is in the status; each alert is in the log once when
// it begins and once when it ends, and a chain that is silent makes figures unknown, not zero.
func TestAnOperatorSeesItsNetwork(t *testing.T) {
	t.Parallel()
	var silent atomic.Bool
	o := newOperated(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if silent.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	log := new(lines)
	s := o.open(func(from *service.Options) {
		from.Log, from.StatusEvery = slog.New(slog.NewTextHandler(log, nil)), 50*time.Millisecond
	})
	now, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	base := chainOf(t, now, 8453)
	if usdc := holding(t, base, "USDC"); usdc.Has.Int64() != 500e6 || usdc.Left.Cmp(big.NewInt(1e18)) != 0 ||
		usdc.Capacity.Cmp(big.NewInt(1e18)) != 0 || usdc.Promised.Sign() != 0 {
		t.Errorf("%+v", usdc)
	}
	if eth := holding(t, base, "ETH"); eth.Has.Cmp(big.NewInt(1e18)) != 0 {
		t.Errorf("%+v", eth)
	}
	if !base.Quorum.Agrees || base.Gas.Has.Cmp(big.NewInt(1e18)) != 0 || base.Gas.Operations == 0 || !*base.Hot ||
		*base.Paused || base.Lane.Sent != 0 || len(base.Endpoints) != 1 || base.Endpoints[0].State != "up" {
		t.Errorf("%+v", base)
	}
	if len(now.Deposits.Held) != 0 || now.Exposure.Used.Sign() != 0 || now.Exposure.Cap.Int64() != 1_000e6 ||
		now.Sponsored.Sum.Sign() != 0 || now.Sponsored.Cap.Int64() != 5e6 {
		t.Errorf("%+v %+v %+v", now.Deposits, now.Exposure, now.Sponsored)
	}

	o.owner(8453, "setPaused(bool)", []byte{1})
	until(t, "the pause is in the log", func() bool { return log.count("code=FILLER_PAUSED", "chain=8453") > 0 })
	o.owner(8453, "setPaused(bool)", nil)
	until(t, "its end is in the log", func() bool { return log.count("code=FILLER_PAUSED", "over=true") > 0 })
	silent.Store(true)
	until(t, "the silence is in the log", func() bool { return log.count("code=QUORUM_LOST", "chain=8453") > 0 })
	if now, err = s.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	base = chainOf(t, now, 8453)
	if usdc := holding(t, base, "USDC"); usdc.Has != nil || usdc.Left != nil || base.Gas != nil || base.Hot != nil ||
		base.Block != nil || base.Quorum.Agrees || base.Problem == "" {
		t.Errorf("of a silent chain: %+v", base)
	}
	var text bytes.Buffer
	if err := now.Print(&text); err != nil || !strings.Contains(text.String(), "unknown") {
		t.Errorf("%v %s", err, &text)
	}
	silent.Store(false)
	until(t, "its end is in the log", func() bool {
		return log.count("code=QUORUM_LOST", "chain=8453", "over=true") > 0
	})
	for _, code := range []string{"FILLER_PAUSED", "QUORUM_LOST"} {
		if began, over := log.count("code="+code, "chain=8453"), log.count("code="+code, "chain=8453",
			"over=true"); over != 1 || began != 2 {
			t.Errorf("%s is in the log %d times, %d of them its end", code, began, over)
		}
	}
}

// TestAnOperatorSeesWhatIsInEscrow: a deposit with its deadline, what is promised, exposure, and afterwards the gas
// of a call that no one paid for. When the service has ended, its database says the same.
func TestAnOperatorSeesWhatIsInEscrow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := store.OpenBolt(filepath.Join(dir, service.DatabaseFile), store.BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := newOperatedIn(t, db, nil)
	deposited, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s := o.open(func(from *service.Options) {
		from.Dir = dir
		from.AfterStep = func(step string) {
			if step == "deposit eip155:10" {
				once.Do(func() { close(deposited) })
				<-goOn
			}
		}
	})
	c := o.member(s, api.AccountKernelV31, 96)
	doc, id, _ := c.call(o.pay(c, common.Address{0xbe, 0xef, 19: 50}, 30e6), "ob:usdc")
	c.ask("POST", c.executePath(), string(doc.Raw()))
	<-deposited
	now, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := holding(t, chainOf(t, now, 8453), "USDC")
	if d := now.Deposits.Held; len(d) != 1 || d[0].Quote != id || d[0].ChainName != "Optimism" ||
		d[0].Delivered || d[0].Deadline.Sub(now.At) < 2*time.Hour || d[0].Deadline.Sub(now.At) > 3*time.Hour ||
		before.Promised.Int64() != 30e6 || now.Exposure.Used.Int64() < 30e6 {
		t.Errorf("%+v %+v %+v", d, before, now.Exposure)
	}
	sent := chainOf(t, now, 10).Lane
	if sent.Sent == 0 {
		t.Errorf("%+v", sent)
	}
	close(goOn)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	read := func() *netstatus.Status {
		t.Helper()
		out, err := service.ReadStatus(t.Context(), service.Options{Dir: dir, Networks: o.file})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	after := read()
	lane := chainOf(t, after, 10).Lane
	if d := after.Deposits.Held; after.Source != netstatus.FromDatabase || len(d) == 0 || d[0].Quote != id ||
		after.Exposure.Used.Int64() < 30e6 || lane.Sent != sent.Sent || *lane.Used != sent.Sent ||
		*after.Key != *now.Key || !*chainOf(t, after, 10).Hot {
		t.Errorf("%+v %+v", after, lane)
	}
	dir = t.TempDir()
	alone := read()
	usdc := holding(t, chainOf(t, alone, 8453), "USDC")
	if alone.Source != netstatus.FromChains || alone.Deposits != nil || alone.Exposure != nil || alone.Key != nil ||
		usdc.Has.Int64() != 500e6 || usdc.Promised != nil || chainOf(t, alone, 10).Lane != nil {
		t.Errorf("%+v", alone)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it wrote %v, %v", left, err)
	}
	raw, err := alone.Encode()
	if err != nil || !bytes.Contains(raw, []byte(`"deposits":null`)) {
		t.Errorf("%s, %v", raw, err)
	}
}

// TestAnOperatorSeesWhatCameAndWent: what a quote delivered counts on its chain, and what it brought in once the
// deposit is released, on the chain of the deposit.
func TestAnOperatorSeesWhatCameAndWent(t *testing.T) {
	t.Parallel()
	o := newOperated(t, nil)
	s := o.open(nil)
	c := o.member(s, api.AccountKernelV31, 98)
	doc, id, _ := c.call(o.pay(c, common.Address{0xbe, 0xef, 19: 52}, 30e6), "ob:usdc")
	c.ask("POST", c.executePath(), string(doc.Raw()))
	if got := c.ended(id); got.Status != api.StatusCompleted {
		t.Fatalf("%+v", got)
	}
	came := func() (sum int64) {
		now, err := s.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if base := holding(t, chainOf(t, now, 8453), "USDC"); base.Delivered.Int64() != 30e6 ||
			base.Deposited.Sign() != 0 || base.Aggregate != "ob:usdc" {
			t.Fatalf("%+v", base)
		}
		for _, id := range []uint64{10, 42161} {
			usdc := holding(t, chainOf(t, now, id), "USDC")
			if usdc.Delivered.Sign() != 0 {
				t.Fatalf("%+v", usdc)
			}
			sum += usdc.Deposited.Int64()
		}
		return sum
	}
	until(t, "the deposits are in", func() bool { return came() >= 30e6 })
}
