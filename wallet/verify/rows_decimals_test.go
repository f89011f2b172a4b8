package verify_test

import (
	"math/big"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/escrow"
	"coffer/assets"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// finer is a world in which USDC counts in 18 decimals on one chain and in 6 on the others.
func finer(t testing.TB, chain string) *world {
	t.Helper()
	d, err := assets.Catalogue()
	need(t, err)
	for _, token := range d.Tokens {
		for i := range token.AggregatedEntities {
			if e := &token.AggregatedEntities[i]; e.Symbol == "USDC" && strings.HasPrefix(e.AssetType, chain+"/") {
				e.Decimals = new(18)
			}
		}
	}
	c, err := catalog.New(d)
	need(t, err)
	w := newWorld(t)
	w.Catalog, w.Policy = c, verify.DefaultPolicy(w.Network, c)
	return w
}

// needing signs a call that needs USDC on Base, of which so much is there, and binds the deposits to what is promised.
// All are in base units of Base.
func (w *world) needing(needs, there, promised string) *verify.SignedPrepared {
	w.T.Helper()
	asset, err := caip.ParseAsset(baseUSDC)
	if err != nil {
		w.T.Fatal(err)
	}
	e, _ := w.Catalog.Entity(asset)
	w.Draft.TokensRequired[0].Amount = needs
	w.Lie = func(t *escrow.Terms) {
		v, _ := new(big.Int).SetString(promised, 10)
		t.Minimums = []escrow.Minimum{{Token: asset.Word(), To: escrow.Padded(w.Account), Amount: v}}
	}
	answer := w.PrepareResponse()
	answer.SourceAssetBalances[0].Balance, answer.SourceAssetBalances[0].Decimals = there, e.Decimals
	p, report := w.prepared(w.Document(answer))
	if p == nil {
		w.T.Fatalf("%+v", report.Reasons)
	}
	return signedBy(w.T, p, w.Key)
}

// judge expects a quote to be refused with a code, or for "" to be accepted.
func (w *world) judge(s *verify.SignedPrepared, q api.Quote, code string) {
	w.T.Helper()
	v, r := w.quote(s, w.Document(q))
	if code != "" && (v != nil || !r.Has(code, verify.Refuse)) || code == "" && (v == nil || r.Has("Q5", verify.Warn)) {
		w.T.Errorf("%q expected, got %+v", code, r.Reasons)
	}
}

// A chain that counts coarser pays its next unit. What it pays is promised, up to what is required, and what lies
// between is less than a unit.
func TestQ15_ACoarserPaymentIsPromisedUpToTheRequirement(t *testing.T) {
	const needs, none, part = "250500000000000000000001", "0", "25000000000000000000000"
	eighteen := 18
	for _, x := range []struct {
		name, there, promised string
		paid                  int64
		code                  string
	}{
		{"nothing there", none, needs, 250_980_000_001, ""},
		{"nothing there, a unit less promised", none, "250500000000000000000000", 250_980_000_001, "Q15"},
		{"nothing there, more than required promised", none, "250500000001000000000000", 250_980_000_001, "Q15"},
		{"nothing there, a unit more paid", none, needs, 250_980_000_002, "Q5"},
		{"a part there", part, "225500000001000000000000", 225_980_000_001, ""},
		{"a part there, only what lacks promised", part, "225500000000000000000001", 225_980_000_001, "Q15"},
		{"a part there, a unit less promised", part, "225500000000999999999999", 225_980_000_001, "Q15"},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := finer(t, "eip155:8453")
			s := w.needing(needs, x.there, x.promised)
			q := w.QuoteResponse(big.NewInt(x.paid).String(), map[string]string{arbUSDC: "480000000"},
				golden.Payment{Asset: arbUSDC, Amount: x.paid, Sequence: 4})
			q.DestinationToken.Amount, q.DestinationToken.MinimumAmount = needs, needs
			q.DestinationToken.Decimals = &eighteen
			w.judge(s, q, x.code)
		})
	}
}

// Payments of a chain that counts finer are added to the unit; the announced sum has no place for it and is never less.
func TestQ5_PaymentsInOtherDecimalsAreAddedToTheUnit(t *testing.T) {
	for _, x := range []struct{ name, announced, fee, promised, code string }{
		{"exact", "225980001", "180000000000000001", "225500000", ""},
		{"announced rounded down", "225980000", "180000000000000001", "225500000", "Q5"},
		{"a unit that is no fee and not promised", "225980001", "180000000000000000", "225500000", "Q15"},
		{"less promised", "225980001", "180000000000000001", "225499999", "Q15"},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := finer(t, "eip155:10")
			s := w.needing("250500000", "25000000", x.promised)
			w.judge(s, w.QuoteResponse(x.announced, map[string]string{arbUSDC: "300000", opUSDC: x.fee},
				golden.Payment{Asset: arbUSDC, Amount: 216_980_000, Sequence: 4},
				golden.Payment{Asset: opUSDC, Amount: 9_000_000_000_000_000_001, Deploy: true}), x.code)
		})
	}
}

// One asset that was named is announced in its own decimals.
func TestQ5_ANamedAssetIsAnnouncedInItsOwnDecimals(t *testing.T) {
	for announced, code := range map[string]string{"9000000000000000001": "", "9000001": "Q5"} {
		w := finer(t, "eip155:10")
		w.Draft.FundWith = opUSDC
		s := w.needing("8700000", "0", "8700000")
		q := w.QuoteResponse(announced, map[string]string{opUSDC: "300000000000000001"},
			golden.Payment{Asset: opUSDC, Amount: 9_000_000_000_000_000_001, Deploy: true})
		q.OriginToken.AggregatedAssetID = caip.Single.String()
		q.DestinationToken.Amount, q.DestinationToken.MinimumAmount = "8700000", "8700000"
		w.judge(s, q, code)
	}
}

// Without a payment the quote names what the calls take, no less than that.
func TestQ5_WhatTheCallsTakeIsNeverNamedTooSmall(t *testing.T) {
	const needs = "250500000000000000000001"
	eighteen := 18
	for announced, code := range map[string]string{"250500000001": "", "250500000000": "Q5"} {
		w := finer(t, "eip155:8453")
		w.CallType = api.CallSameChainExcludeSolver
		s := w.needing(needs, needs, needs)
		q := w.SameChain()
		q.OriginToken.Amount, q.DestinationToken.Decimals = announced, &eighteen
		q.DestinationToken.Amount, q.DestinationToken.MinimumAmount = needs, needs
		w.judge(s, q, code)
	}
}
