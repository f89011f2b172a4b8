package settle_test

import (
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/caip"
	. "coffer/api/service/settle/settletest"
)

// slow are prices that take longer to read than a quote has left, once they are armed.
type slow struct {
	jumpy
	clock *Clock
	armed atomic.Bool
}

func (s *slow) Price(id caip.AggregateID, at time.Time) (*big.Int, bool) {
	if s.armed.Swap(false) {
		s.clock.Advance(11 * time.Minute)
	}
	return s.jumpy.Price(id, at)
}

// TestADeliveryOnSolanaIsInTimeOrNotAtAll: no attester would sign a late one, so that the solver lost what it paid.
func TestADeliveryOnSolanaIsInTimeOrNotAtAll(t *testing.T) {
	prices := &slow{clock: NewClock()}
	w := New(t, Options{Prices: prices, Clock: prices.clock, AfterStep: func(step string) {
		prices.armed.Store(step == "deposit eip155:42161")
	}})
	w.User = w.AddUser(api.AccountKernelV31+WithSolana, 5)
	w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 120*usdcPlain)
	had := balances(w, w.User.Address)
	s := w.Settle(w.SignQuote(w.Swap(Exchange{From: "ob:usdc", Amount: bigOf(30 * usdcPlain), Get: "ob:sol"})))
	if s.Status != api.StatusRefunded || s.FailReason != "ORDER_EXPIRED" || len(s.DestinationChainOperations) != 0 {
		t.Fatalf("%+v", s)
	}
	sameBalances(t, had, balances(w, w.User.Address))
}
