package quote_test

import (
	"errors"
	"sync"
	"testing"

	"coffer/api"
	"coffer/api/service/quote/smartaccount"
	. "coffer/api/service/settle/settletest"
)

// TestOffersMadeAtTheSameTimeAreDifferentOnes: quotes of one account, asked for at once, all succeed under ids of their
// own.
func TestOffersMadeAtTheSameTimeAreDifferentOnes(t *testing.T) {
	w := as(New(t, Options{}), api.AccountRoleBased+WithSolana, 8, map[uint64]int64{Arbitrum: 100, Solana: 100})
	body := w.SwapBody(Exchange{From: "ob:usdc", Amount: plain(150), Get: "ob:eth"})
	const many = 8
	var group sync.WaitGroup
	answers, errs := make([]*api.Document, many), make([]error, many)
	for i := range many {
		group.Go(func() { answers[i], errs[i] = w.Quoter.Quote(t.Context(), body) })
	}
	group.Wait()
	Must(t, errors.Join(errs...))
	ids := map[string]bool{}
	for _, a := range answers {
		q := w.Decode(a)
		if ids[q.ID] = true; len(q.OriginChainsOperations) != 2 {
			t.Errorf("%d operations", len(q.OriginChainsOperations))
		}
	}
	if len(ids) != many {
		t.Errorf("%d ids for %d quotes", len(ids), many)
	}
}

func TestEveryServedKindOfAccountIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, k := range evmKinds() {
		tested[k] = true
	}
	for _, k := range smartaccount.Served() {
		if !tested[k] || !tested[k+WithSolana] {
			t.Errorf("%s is served but not among the kinds of the tests", k)
		}
	}
}
