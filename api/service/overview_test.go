package service_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/service"
	"coffer/api/service/overview"
	"coffer/api/service/store"
)

// TestAnOperatorSeesWhatItHasAndOwes: inventory and gas on each chain; while a payment is delivered, what it promises,
// its deposits and their deadline; and of a chain whose nodes are silent that nothing is known.
func TestAnOperatorSeesWhatItHasAndOwes(t *testing.T) {
	t.Parallel()
	var silent atomic.Bool
	var s *service.Service
	seen, chain := make(chan overview.Overview, 1), 0
	o := newOperated(t, func(h http.Handler) http.Handler {
		chain++
		last := chain == 3 // Arbitrum
		h = before(h, "eth_sendRawTransaction", func(params []json.RawMessage) {
			if !isFill(t, params) {
				return
			}
			done := make(chan struct{})
			go func() { // the lane sends, and is asked
				defer close(done)
				if o, err := s.Overview(t.Context()); err == nil && len(seen) == 0 {
					seen <- o
				}
			}()
			select {
			case <-done:
			case <-time.After(2 * time.Second):
			}
		})
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if last && silent.Load() {
				http.Error(w, "gone", http.StatusBadGateway)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	s = o.open(nil)
	look := func() overview.Overview {
		t.Helper()
		all, err := s.Overview(t.Context())
		if err != nil || len(all.Chains) != 3 {
			t.Fatalf("%+v, %v", all, err)
		}
		return all
	}
	stock := func(c overview.Chain, symbol string) overview.Stock {
		t.Helper()
		i := slices.IndexFunc(c.Stock, func(s overview.Stock) bool { return s.Symbol == symbol })
		if i < 0 {
			t.Fatalf("no %s in %+v", symbol, c)
		}
		return c.Stock[i]
	}
	for _, c := range look().Chains {
		if c.Problem != "" || c.Gas == "" || *c.Operations < 100 || !c.Lane.Known || c.Usable() != 1 ||
			stock(c, "USDC").Has != "500000000" || stock(c, "ETH").Free == "" {
			t.Errorf("%+v", c)
		}
	}
	c := o.member(s, api.AccountKernelV31, 80)
	signed, id, _ := c.call(o.pay(c, common.Address{0xbe, 0xef, 19: 80}, 30e6), "ob:usdc")
	c.done(c.waited(signed, id), api.RecordCall)
	during := <-seen
	i := slices.IndexFunc(during.Chains, func(c overview.Chain) bool { return c.ID == 8453 })
	if during.Open != 1 || len(during.Escrowed) != 2 || stock(during.Chains[i], "USDC").Promised != "30000000" ||
		during.Escrowed[0].Quote != id || during.Escrowed[0].Deadline.Before(time.Now().Add(2*time.Hour)) ||
		during.Exposure == "" || during.Exposure == "0" {
		t.Errorf("during the delivery: %+v", during)
	}
	o.settled(func() bool { return look().Open == 0 })
	silent.Store(true)
	for _, c := range look().Chains {
		if known := c.Gas != "" && len(c.Stock) > 0; known == (c.ID == 42161) || (c.Problem == "") != known {
			t.Errorf("%+v", c)
		}
	}
}

// A network of its own has no nodes to look at.
func TestAnEmbeddedNetworkHasNoOverview(t *testing.T) {
	s := open(t, service.Options{Store: store.NewMemory(), APIKey: key})
	if _, err := s.Overview(t.Context()); err == nil || s.Looked() != nil {
		t.Error(err)
	}
	if _, err := service.AskOverview(t.Context(), t.TempDir()); err == nil {
		t.Error("a directory without a service has one")
	}
}
