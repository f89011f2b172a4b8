package access_test

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/api/service/access"
	"coffer/api/service/store/storetest"
)

// TestK11_AKeyThatOnlyReadsBringsNoFunds: by its permissions, or because none of its endpoints prepares or prices.
func TestK11_AKeyThatOnlyReadsBringsNoFunds(t *testing.T) {
	k := openKeys(t, storetest.New(t), newClock())
	for name, c := range map[string]struct {
		permissions, endpoints []string
		permission, endpoint   string
		funds                  bool
	}{
		"all":              {nil, nil, access.Read, "/v3/balances/aggregated-balance", true},
		"read":             {[]string{access.Read}, nil, access.Read, "/v3/balances/aggregated-balance", false},
		"read and execute": {[]string{access.Read, access.Execute}, nil, access.Read, "/account/roles", false},
		"read and execute, relay": {[]string{access.Read, access.Execute}, nil, access.Execute, "/account/relay",
			true},
		"read and quote": {[]string{access.Read, access.Quote}, nil, access.Read,
			"/v2/balances/aggregated-balance", true},
		"quote": {[]string{access.Quote}, nil, access.Quote, "/v3/quote", true},
		"only balances": {nil, []string{"/v3/balances/"}, access.Read, "/v3/balances/aggregated-balance",
			false},
		"balances and predictions": {nil, []string{"/v3/balances/", "/account/predict-address"}, access.Read,
			"/v3/balances/aggregated-balance", true},
	} {
		spec := team()
		spec.Permissions, spec.Endpoints = c.permissions, c.endpoints
		text, _ := add(t, k, spec)
		g, err := ask(k, text, c.endpoint, c.permission)
		if err != nil || g.MayFund(false) != c.funds || g.MayFund(true) != c.funds {
			t.Errorf("%s: %v, %t %t", name, err, g.MayFund(false), g.MayFund(true))
		}
	}
	if (access.Grant{}).MayFund(false) || access.Of(context.Background()).MayFund(true) {
		t.Error("without a grant there are test funds")
	}
}

// TestK11_TheBudgetOfNewAccountsSlides: of the key, the same for all its requests, in any 24 hours; refused accounts do
// not count, and known ones are not asked about.
func TestK11_TheBudgetOfNewAccountsSlides(t *testing.T) {
	c := newClock()
	k, err := access.OpenKeys(storetest.New(t), access.KeysOptions{Clock: c.Now, Random: rand.Reader, FundLimit: 2})
	if err != nil {
		t.Fatal(err)
	}
	text, info := add(t, k, team())
	grant := func() access.Grant {
		t.Helper()
		g, err := ask(k, text, "/v3/quote", access.Quote)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	first := grant()
	if !first.MayFund(true) {
		t.Fatal("the first new account gets nothing")
	}
	if c.add(time.Hour); !grant().MayFund(true) || first.MayFund(true) || grant().MayFund(true) ||
		!grant().MayFund(false) {
		t.Error("two new accounts are the budget, whichever request names them")
	}
	if text, _, err = k.Rotate(info.ID, 0); err != nil || grant().MayFund(true) {
		t.Errorf("%v: a new text is a new budget", err)
	}
	if c.add(23*time.Hour - time.Second); grant().MayFund(true) {
		t.Error("the first one counts no longer before a day is over")
	}
	if c.add(time.Second); !grant().MayFund(true) || grant().MayFund(true) {
		t.Error("after a day there is room for one")
	}
}

// TestK11_OneOfManyAtOnceTakesTheLastOfTheBudget.
func TestK11_OneOfManyAtOnceTakesTheLastOfTheBudget(t *testing.T) {
	p := access.NewPasses(newClock().Now, access.PassPerMinute, 7)
	key, _, err := p.Issue(rand.Reader, "guest 1")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var funded atomic.Int64
	for range 50 {
		all.Go(func() {
			g, err := p.Admit(t.Context(), access.Attempt{Key: key})
			if err == nil && g.MayFund(true) {
				funded.Add(1)
			}
		})
	}
	all.Wait()
	if n := funded.Load(); n != 7 {
		t.Errorf("%d new accounts, the budget is 7", n)
	}
}
