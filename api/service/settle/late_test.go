package settle_test

import (
	"context"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/settle"
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

// TestADeliveryThatTheFillerFindsLateIsOrderExpired: neither the recipient nor the solver's inventory is the reason.
func TestADeliveryThatTheFillerFindsLateIsOrderExpired(t *testing.T) {
	for name, quoted := range map[string]func(w *World) *api.Document{
		"a swap": func(w *World) *api.Document {
			return w.Swap(Exchange{From: "ob:usdc", Amount: bigOf(30 * usdcPlain), Get: caip.Native(Base).String()})
		},
		"a call": func(w *World) *api.Document {
			return w.Quote(w.Request(w.Asset("dai", Base), 1e18, Transfer(w.Asset("dai", Base), payee(), 1e18)),
				"ob:usdc")
		},
	} {
		t.Run(name, func(t *testing.T) {
			prices := &slow{clock: NewClock()}
			prices.eth.Store(2_000_000_000)
			w := New(t, Options{Prices: prices, Clock: prices.clock, AfterStep: func(step string) {
				prices.armed.Store(step == "deposit eip155:42161")
			}})
			w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 120*usdcPlain)
			had := balances(w, w.User.Address)
			s := w.Settle(w.SignQuote(quoted(w)))
			if s.Status != api.StatusRefunded || s.FailReason != "ORDER_EXPIRED" {
				t.Fatalf("%+v", s)
			}
			sameBalances(t, had, balances(w, w.User.Address))
		})
	}
}

// A deposit, too, is made in time or not at all: nothing has landed then.
func TestADepositThatTheFillerFindsLateIsOrderExpired(t *testing.T) {
	clock := NewClock()
	w := New(t, Options{Clock: clock, Faults: &settle.Faults{Wait: func(context.Context, settle.Moment, string) error {
		clock.Advance(11 * time.Minute)
		return nil
	}}})
	w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 120*usdcPlain)
	s := w.Settle(w.SignQuote(w.Swap(Exchange{From: "ob:usdc", Amount: bigOf(30 * usdcPlain),
		Get: caip.Native(Base).String()})))
	if s.Status != api.StatusFailed || s.FailReason != "ORDER_EXPIRED" {
		t.Fatalf("%+v", s)
	}
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
