package flow_test

import (
	"context"
	"math/big"
	"testing"

	"coffer/api"
	"coffer/wallet/journal"
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
	if len(closed) != all || closed[0].Block != 42 {
		t.Errorf("%+v", closed)
	}
	e.reach = func(*verify.Reached) { t.Error("what is closed is asked for again") }
	asks("again", 0, e.reach)
}

// An EIP-7702 authorization leaves the list when own nodes saw the account nonce of its EOA used in a final block.
func TestTH_J4_OnlyAnAccountNonceThatOwnNodesSawUsedClosesAnAuthorization(t *testing.T) {
	b := newRecorded(t, "v3-eip7702-funded")
	b.f.execute = func([]byte) (api.ExecuteResponse, error) { return api.ExecuteResponse{}, errUnclear }
	b.toUnknown()
	e := looks(b, nil)
	open := func() (n int) {
		for _, x := range b.j.Outstanding(b.now()) {
			if x.Role == journal.RoleDelegation {
				n++
			}
		}
		return n
	}
	all := open()
	if all == 0 {
		t.Fatal("no authorization is open")
	}
	for _, c := range []struct {
		what string
		past int64 // how far beyond that of the authorization the account nonce is
		left int
	}{{"no answer", -1, all}, {"it is the next", 0, all}, {"it is used", 1, 0}} {
		e.reach = func(r *verify.Reached) {
			for _, x := range b.j.Outstanding(b.now()) {
				if x.Role == journal.RoleDelegation && r.Own() && x.ChainID == r.Chain && c.past >= 0 {
					n, _ := new(big.Int).SetString(x.Nonce, 10)
					r.Next = n.Add(n, big.NewInt(c.past))
				}
			}
		}
		if err := b.flow.Observe(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := open(); got != c.left {
			t.Errorf("%s: %d are open, expected %d of %d", c.what, got, c.left, all)
		}
	}
	if closed := b.j.Closed(b.now()); len(closed) != all || closed[0].Role != journal.RoleDelegation {
		t.Errorf("%+v", closed)
	}
}
