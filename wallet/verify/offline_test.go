package verify_test

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// savedBundle is a golden document as `coffer verify` reads it.
type savedBundle struct {
	Now        int64           `json:"now"`
	Intent     json.RawMessage `json:"intent"`
	Network    json.RawMessage `json:"network"`
	Prepared   string          `json:"prepared"`
	Signatures struct {
		Operation  string                   `json:"operation"`
		Delegation *api.DelegationSignature `json:"delegation"`
	} `json:"signatures"`
	Quote string `json:"quote"`
}

// savedCall is a saved call that can be judged again.
type savedCall struct {
	in       intent.Intent
	policy   verify.Policy
	now      time.Time
	prepared *verify.PreparedOp
	report   verify.Report // of prepared
	signed   *verify.SignedPrepared
	quote    *api.Document
}

func openSaved(t *testing.T, name string) savedCall {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(filepath.Join("testdata", "golden", name+".json"))
	must(err)
	var b savedBundle
	must(json.Unmarshal(raw, &b))
	n, err := network.Decode(b.Network)
	must(err)
	c := savedCall{now: time.Unix(b.Now, 0), policy: verify.DefaultPolicy(n, listCatalog(t))}
	c.in, err = intent.Parse(b.Intent, api.Rules{Catalog: c.policy.Catalog, Now: c.now})
	must(err)
	parse := func(s string) *api.Document {
		d, err := api.ParseDocument([]byte(s), api.DefaultLimits())
		must(err)
		return d
	}
	c.quote = parse(b.Quote)
	c.prepared, c.report = verify.Prepared(c.in, c.policy, verify.NoHistory{}, c.now, parse(b.Prepared))
	if c.prepared == nil {
		t.Fatalf("%+v", c.report.Reasons)
	}
	var s verify.Signatures
	s.Operation, err = hex.DecodeString(strings.TrimPrefix(b.Signatures.Operation, "0x"))
	must(err)
	if d := b.Signatures.Delegation; d != nil {
		a, err := op.AuthorizationFromWire(*d)
		must(err)
		s.Delegation = &a
	}
	c.signed, err = c.prepared.WithSignatures(s)
	must(err)
	return c
}

func TestTH_V5_AQuoteWithoutTheSignatureIsJudgedLikeOneWithIt(t *testing.T) {
	for _, name := range []string{"v3-kernel-same-chain", "v3-eip7702-funded", "v3-role-based-mixed",
		"v3-kernel-solana-funded", "v1-kernel-funded", "v1-role-based-same-chain"} {
		c := openSaved(t, name)
		q, want := verify.Quote(c.in, c.policy, verify.NoHistory{}, c.now, c.signed, c.quote)
		u, got := verify.Unsigned(c.in, c.policy, verify.NoHistory{}, c.now, c.prepared, c.quote)
		if q == nil || u == nil {
			t.Fatalf("%s: %+v %+v", name, want.Reasons, got.Reasons)
		}
		if !got.Has("U15", verify.Unknown) || len(got.Reasons) != len(want.Reasons)+1 ||
			len(got.Passed) != len(want.Passed) {
			t.Errorf("%s: %+v, with the signature %+v", name, got.Reasons, want.Reasons)
		}
		if u.View().Fingerprint != q.View().Fingerprint || len(u.Digests()) != len(q.Operations()) {
			t.Errorf("%s: another review", name)
		}
		for i, s := range q.Operations() {
			d := u.Digests()[i]
			delegated, ok := s.Delegation()
			if d.Hash != s.Hash() || d.Digest != s.Digest() || (d.Delegation != "") != ok ||
				ok && d.Delegation != delegated.Authorization().Hash().Hex() || d.Summary.Sender != s.Summary().Sender {
				t.Errorf("%s: digests %+v", name, d)
			}
		}
	}
}

func TestTH_V5_AQuoteWithoutTheSignatureIsRefusedLikeOneWithIt(t *testing.T) {
	c := openSaved(t, "v3-kernel-funded")
	for name, at := range map[string]time.Time{"expired": c.now.Add(time.Hour),
		"from the future": c.now.Add(-time.Hour)} {
		u, r := verify.Unsigned(c.in, c.policy, verify.NoHistory{}, at, c.prepared, c.quote)
		if u != nil || !r.Has("Q10", verify.Refuse) || !r.Has("U15", verify.Unknown) {
			t.Errorf("%s: %+v", name, r.Reasons)
		}
	}
	other := openSaved(t, "v3-kernel-several-chains")
	if u, r := verify.Unsigned(c.in, c.policy, verify.NoHistory{}, c.now, other.prepared, c.quote); u != nil ||
		!r.Has("Q14", verify.Refuse) {
		t.Errorf("another call's: %+v", r.Reasons)
	}
	if u, r := verify.Unsigned(c.in, c.policy, verify.NoHistory{}, c.now, nil, c.quote); u != nil ||
		!r.Has("Q14", verify.Refuse) {
		t.Errorf("nothing: %+v", r.Reasons)
	}
}

func TestTH_V5_WhatOnlyTheJournalKnowsIsUnknownWithoutIt(t *testing.T) {
	c := openSaved(t, "v3-kernel-funded")
	c.policy.Limits.MaxSpendPerDay = big.NewInt(1_000_000_000_000)
	_, prepared := verify.Prepared(c.in, c.policy, verify.NoHistory{}, c.now, c.prepared.Document())
	_, quote := verify.Quote(c.in, c.policy, verify.NoHistory{}, c.now, c.signed, c.quote)
	for name, x := range map[string]struct {
		report verify.Report
		codes  []string
	}{"prepared": {prepared, []string{"V4", "Y5"}}, "quote": {quote, []string{"Q1", "Y5"}}} {
		r := verify.WithoutHistory(x.report)
		if r.Refused() != x.report.Refused() || r.Has("V4", verify.Warn) {
			t.Errorf("%s: %+v", name, r.Reasons)
		}
		for _, code := range x.codes {
			if x.report.Has(code, verify.Unknown) || !r.Has(code, verify.Unknown) {
				t.Errorf("%s: %s is not unknown: %+v", name, code, r.Reasons)
			}
		}
		for _, p := range r.Passed {
			if p.Title == "the quote id is new" || p.Code == "Y5" && strings.Contains(p.Title, "within your policy") {
				t.Errorf("%s: %+v passed", name, p)
			}
		}
	}
}
