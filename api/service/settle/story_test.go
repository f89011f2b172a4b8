package settle_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/solmsg"
	"coffer/api/service/settle"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/store"
)

// story is one settlement that is cut off at every commit.
type story struct {
	name   string
	kind   string
	faults []string
	ask    func(w *World) *api.Document
	status string
}

func stories() []story {
	call := func(w *World) *api.Document { return w.Quote(pay(w, Base, 300*usdcPlain), "ob:usdc") }
	cross := func(w *World) *api.Document { return w.Quote(crossChain(w), "") }
	toSolana := func(w *World) *api.Document {
		return w.Swap(Exchange{From: "ob:usdc", Amount: bigOf(300 * usdcPlain), Get: "ob:sol"})
	}
	return []story{
		{"call", api.AccountKernelV31, nil, cross, api.StatusCompleted},
		{"call, reverted", api.AccountKernelV31, []string{"revert"}, cross, api.StatusRefunded},
		{"role-based call with Solana", api.AccountRoleBased + WithSolana, nil, call, api.StatusCompleted},
		{"role-based call with Solana, refunded", api.AccountRoleBased + WithSolana, []string{"bad-signature"}, call,
			api.StatusRefunded},
		{"7702 call with Solana", api.AccountKernelV33 + WithSolana, nil, call, api.StatusCompleted},
		{"7702 swap to Solana", api.AccountKernelV33 + WithSolana, nil, toSolana, api.StatusCompleted},
		{"role-based swap to Solana, refunded", api.AccountRoleBased + WithSolana, []string{"price-jump=400"}, toSolana,
			api.StatusRefunded},
		{"swap within Solana, failed", api.AccountSolana, []string{"no-capacity"}, func(w *World) *api.Document {
			return w.Swap(Exchange{From: "ob:sol", Amount: bigOf(sol), Get: usdcOnSolana})
		}, api.StatusFailed},
	}
}

// open is the world of a story; each hears of every commit with its number from 1.
func (y story) open(t *testing.T, s store.Store, each func(n int, step string)) *World {
	n := 0
	w := New(t, Options{Store: s, Pause: hourly, Faults: faultsFrom(t, y.faults...), AfterStep: func(step string) {
		n++
		if each != nil {
			each(n, step)
		}
	}})
	w.User = w.AddUser(y.kind, 7)
	return w
}

// tell runs the whole story.
func (y story) tell(t *testing.T, s store.Store, each func(n int, step string)) *World {
	w := y.open(t, s, each)
	stock(w, w.User)
	if st := w.Settle(w.SignQuote(y.ask(w))); st.Status != y.status {
		t.Fatalf("%s ended with %+v", y.name, st)
	}
	return w
}

func faultsOf(revert bool) *settle.Faults {
	return &settle.Faults{Revert: func(string) bool { return revert }}
}

// sameEnd compares with a run that was never interrupted: balances of everybody, nonces, blocks and the record.
func (y story) sameEnd(t *testing.T, w, clean *World) {
	t.Helper()
	operator := func(w *World) common.Address { return w.Installation.Operator.Address() }
	for _, of := range []func(*World) common.Address{
		func(w *World) common.Address { return w.User.Address }, solverOf, operator,
		func(*World) common.Address { return payee() },
	} {
		sameBalances(t, balances(clean, of(clean)), balances(w, of(w)))
	}
	in := w.Installation
	for _, k := range []solmsg.Key{w.User.Wallet, w.Vault(), in.Sponsor.Key(),
		in.SolanaSolver.Key()} {
		for _, a := range w.SolanaAssets {
			if x, y := w.SolanaBalance(k, a), clean.SolanaBalance(k, a); x.Cmp(y) != 0 {
				t.Errorf("%s holds %s of %s, expected %s", k, x, a, y)
			}
		}
	}
	if x, y := in.Ledger.Transactions(), clean.Installation.Ledger.Transactions(); x != y {
		t.Errorf("Solana has %d transactions, expected %d: a step happened twice or never", x, y)
	}
	for _, id := range in.ChainIDs {
		for _, lane := range []uint16{op.LanePrepared, op.LaneFunding} {
			if x, y := w.Nonce(id, lane), clean.Nonce(id, lane); x != y {
				t.Errorf("nonce of lane %d on %d is %d, expected %d", lane, id, x, y)
			}
		}
		if x, y := in.Chains[id].Head(), clean.Installation.Chains[id].Head(); x.Hash != y.Hash {
			t.Errorf("%d ends with block %d %s, expected %d %s: a step happened twice or never", id, x.Number, x.Hash,
				y.Number, y.Hash)
		}
	}
	nothingHeld(t, w)
	id := onlyRecord(t, w, y.status)
	if y, x := w.Status(id), clean.Status(onlyRecord(t, clean, y.status)); fmt.Sprint(x) != fmt.Sprint(y) {
		t.Errorf("record %+v, expected %+v", y, x)
	}
	erased(t, w, id)
	supplies(t, w)
}

// onlyRecord is the one record of the user, which must have a status.
func onlyRecord(t *testing.T, w *World, status string) string {
	t.Helper()
	q := query(w)
	q.User = w.User.Accounts()[0].AccountAddress
	page, err := w.Book.History(context.Background(), q)
	Must(t, err)
	if len(page.Transactions) != 1 || page.Transactions[0].Status != status {
		t.Fatalf("history %+v", page.Transactions)
	}
	return page.Transactions[0].QuoteID
}

// supplies checks that each token's sum is what genesis made, and each coin's is that minus burned fees (protocol
// §5.3).
func supplies(t *testing.T, w *World) {
	t.Helper()
	for a, sum := range w.Sums(payee()) {
		e, _ := w.Installation.Catalog.Entity(a)
		want := zero().Exp(bigOf(10), bigOf(int64(9+e.Decimals)), nil)
		if sum.Cmp(want) != 0 {
			t.Errorf("%s: %s exist, genesis made %s", a, sum, want)
		}
	}
}
