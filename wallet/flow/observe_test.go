package flow_test

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"coffer/api"
	"coffer/wallet/verify"
)

// Reach says what the test makes of it.
func (e *eyes) Reach(_ context.Context, places []verify.Place) (out []verify.Reached) {
	for _, p := range places {
		r := verify.Reached{Place: p, Block: 42}
		if e.reach != nil {
			e.reach(&r)
		}
		out = append(out, r)
	}
	return out
}

// A signature leaves the list when own nodes saw its nonce used in a final block, and for nothing less: not for the
// service's word, an answer that is missing, or a nonce that is only the next.
func TestTH_J4_OnlyANonceThatOwnNodesSawUsedClosesASignature(t *testing.T) {
	b := onLab(t)
	e := looks(b, nil)
	b.ended(api.StatusCompleted)
	all := len(b.j.Outstanding(b.now()))
	if all == 0 {
		t.Fatal("nothing is open")
	}
	asks := func(what string, left int, reach func(r *verify.Reached)) {
		t.Helper()
		e.reach = reach
		if _, err := b.flow.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(b.j.Outstanding(b.now())); got != left {
			t.Errorf("%s: %d are open, expected %d of %d", what, got, left, all)
		}
	}
	next := func(r *verify.Reached, sequence int64) {
		r.Next = new(big.Int).Add(new(big.Int).Lsh(r.Key, 64), big.NewInt(sequence))
	}
	asks("no answer", all, func(r *verify.Reached) { r.Trouble = "not answered within 3 s" })
	asks("the nonce is the next", all, func(r *verify.Reached) { next(r, 0) })
	target := b.record().Signatures[0].ChainID
	asks("one chain", all-1, func(r *verify.Reached) {
		if r.Chain == target {
			next(r, 1_000)
		}
	})
	asks("all chains", 0, func(r *verify.Reached) { next(r, 1_000) })
	closed := b.j.Closed(b.now())
	if len(closed) != all || !strings.Contains(closed[0].Note, "seen by your node") ||
		!strings.Contains(closed[0].Note, "block 42") {
		t.Errorf("%+v", closed)
	}
	e.reach = func(*verify.Reached) { t.Error("what is closed is asked for again") }
	asks("again", 0, e.reach)
}
