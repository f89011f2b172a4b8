package flow_test

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

// onMarket is a bench on a network of a kind that a service runs; price is what the person's own nodes read, nil for no
// nodes.
func onMarket(t *testing.T, kind network.Kind, price func(caip.AggregateID) catalog.Market) *bench {
	t.Helper()
	b := newBench(t)
	n, c := b.policy.Network, b.w.Catalog
	n.Kind = kind
	if price != nil {
		c = c.Watched(price)
	}
	b.policy = verify.DefaultPolicy(n, c)
	b.reopen()
	return b
}

// On a network of real assets the prices that this program was built with count for nothing, those of stablecoins
// among them: what a cap or a bound would have to count is unknown, a review warns, and --yes stops. Play money has the
// prices of the catalogue, as before.
func TestQ11_OnARealNetworkThePricesOfThisProgramCountForNothing(t *testing.T) {
	for kind, unknown := range map[network.Kind]bool{network.Real: true, network.Test: true, "": true,
		network.Lab: false, network.Embedded: false} {
		b := onMarket(t, kind, nil)
		o := b.review1()
		s := o.Snapshot()
		for _, a := range slices.Concat(s.Review1.Outflow, s.Review1.Worst, s.Review1.Sources) {
			if (a.Micro == nil) != unknown {
				t.Errorf("%q: %s is worth %v", kind, a.Symbol, a.Micro)
			}
		}
		warned := of(s.Report1, "Y5")
		if !unknown && len(warned) > 0 || unknown && (len(warned) != 2 ||
			!strings.HasSuffix(warned[0], "| USDC on Base: "+verify.NoMarket) ||
			!strings.HasSuffix(warned[1], "| ETH on Base: "+verify.NoMarket)) {
			t.Errorf("%q: %q", kind, warned)
		}
		_, err := consent.ByPolicy(s.Under(false), []string{"V4"}, nil)
		if errors.Is(err, consent.ErrWarnings) != unknown {
			t.Errorf("%q: --yes: %v", kind, err)
		}
		if !unknown {
			continue
		}
		s, err = o.SignPrepared(t.Context(), consent1(o))
		if err != nil || s.State != flow.StateReview2 || s.Review2.PayMicro != nil {
			t.Fatalf("%q: %s %v, pays %v", kind, s.State, err, s.Review2)
		}
		if got := of(s.Report2, "Q11"); len(got) != 1 || !strings.HasPrefix(got[0], "Q11 warn: What this costs in "+
			"dollars is unknown: ") || !strings.Contains(got[0], verify.NoMarket) {
			t.Errorf("%q: %q", kind, got)
		}
		if _, err := consent.ByPolicy(s.Under(true), []string{"V4", "Y5"}, nil); !errors.Is(err, consent.ErrWarnings) {
			t.Errorf("%q: --yes: %v", kind, err)
		}
		if _, err := consent.ByPolicy(s.Under(true), []string{"V4", "Y5", "Q11"}, nil); err != nil {
			t.Errorf("%q: --yes with every code: %v", kind, err)
		}
	}
}

// A cap of the user's own refuses what has no price.
func TestY4_AnOwnCapRefusesWhatAMarketDoesNotPrice(t *testing.T) {
	b := onMarket(t, network.Real, nil)
	b.policy.Limits.MaxSpend = big.NewInt(1_000_000_000)
	b.reopen()
	s, err := b.start().Prepare(t.Context())
	if got := of(s.Report1, "Y4"); !errors.Is(err, flow.ErrRefused) || len(got) == 0 ||
		!strings.HasSuffix(got[0], ": "+verify.NoMarket) {
		t.Errorf("%v: %q", err, got)
	}
}

// What own nodes read counts, whatever this program was built with, and the review says from where and how old it is.
// The default cap of a day then refuses, as it does with play money.
func TestQ11_WhatOwnNodesReadCounts(t *testing.T) {
	cents := int64(50)
	var b *bench
	b = onMarket(t, network.Real, func(id caip.AggregateID) catalog.Market {
		if id == "ob:eth" {
			return catalog.Market{MicroUSD: big.NewInt(2_000_000_000), Source: "Chainlink on Base", Updated: b.now()}
		}
		return catalog.Market{MicroUSD: big.NewInt(cents * 10_000), Source: "Chainlink on Base, 0x7e86…bc6B",
			Updated: b.now().Add(-14 * time.Minute)}
	})
	s, err := b.start().Prepare(t.Context())
	if got := of(s.Report1, "Y5"); !errors.Is(err, flow.ErrRefused) || len(got) != 1 ||
		!strings.HasPrefix(got[0], "Y5 refuse: ") || !strings.Contains(got[0], "at most 100.00 USD") {
		t.Fatalf("%v: %q", err, got)
	}
	cents = 1 // within the cap
	o := b.review1()
	s = o.Snapshot()
	const note = "Q11 show: " + verify.MarketRead + "USDC $0.01 (Chainlink on Base, 0x7e86…bc6B, 14 min old)"
	if got := of(s.Report1, "Q11"); len(got) != 1 || !strings.HasPrefix(got[0], note) {
		t.Errorf("%q", got)
	}
	for _, a := range s.Review1.Outflow {
		if a.Symbol == "USDC" && a.Micro.Cmp(new(big.Int).Div(a.Amount, big.NewInt(100))) != 0 {
			t.Errorf("%s USDC are worth %s", a.Amount, a.Micro)
		}
	}
	if s, err = o.SignPrepared(t.Context(), consent1(o)); err != nil || s.Review2.PayMicro == nil {
		t.Fatal(s.State, err, of(s.Report2, "Q11"))
	}
	if got := of(s.Report2, "Q11"); len(got) != 1 || !strings.HasPrefix(got[0], note) {
		t.Errorf("%q", got)
	}
}
