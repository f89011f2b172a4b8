package settle_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/service/attest"
	"coffer/api/service/settle"
	. "coffer/api/service/settle/settletest"
)

// attestedBy settles with the given attesters from here on; nil is the installation's own.
func attestedBy(w *World, attesters []attest.Port) {
	Must(w.TB, w.Settler.Close())
	w.Settler = settle.New(settle.Deps{Network: w.Installation.Network, Signers: w.Installation.Set, Book: w.Book,
		Prices: w.Prices, Clock: w.Clock.Now, Pause: hourly, Attesters: attesters})
	w.TB.Cleanup(func() { Must(w.TB, w.Settler.Close()) })
}

// deliveredUnattested settles a call whose deposits no attester releases, and returns the id of its quote.
func deliveredUnattested(t *testing.T, w *World) string {
	t.Helper()
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	attestedBy(w, []attest.Port{})
	Must(t, w.Execute(signed))
	if err := w.Settler.Idle(t.Context()); !errors.Is(err, attest.ErrTooFew) {
		t.Fatalf("%v, expected that attesters are missing", err)
	}
	id := w.Decode(signed).ID
	if s := w.Status(id); s.Status != api.StatusCompleted {
		t.Fatalf("status %s: what was delivered waits for a release", s.Status)
	}
	if held := w.Balance(w.Installation.Pins.Escrow, w.Asset("usdc", Arbitrum)); held.Sign() == 0 {
		t.Fatal("a deposit was released without an attester")
	}
	return id
}

func TestWhatWasDeliveredIsCompletedAndReleasedWhenAttestersSign(t *testing.T) {
	w := New(t, Options{})
	id := deliveredUnattested(t, w)
	before := w.Sums(payee())
	attestedBy(w, nil)
	Must(t, w.Settler.Resume(context.Background()))
	Must(t, w.Settler.Idle(context.Background()))
	if s := w.Status(id); s.Status != api.StatusCompleted {
		t.Errorf("status %s", s.Status)
	}
	nothingHeld(t, w)
	w.SameSums(before, w.Sums(payee()))
}

// The operator bears what attesters never release; the user loses nothing.
func TestADepositThatNoAttesterReleasesGoesBackAfterItsDeadline(t *testing.T) {
	w := New(t, Options{})
	id := deliveredUnattested(t, w)
	usdc := w.Asset("usdc", Arbitrum)
	had := w.Balance(w.User.Address, usdc)
	held := w.Balance(w.Installation.Pins.Escrow, usdc)
	w.Clock.Advance(3 * time.Hour)
	w.RunDirect(Arbitrum, 7, false, op.Call{To: w.Installation.Pins.Escrow, Value: zero(),
		Data: escrow.RefundCalldata(common.HexToHash(id), w.User.Address)})
	if got := w.Balance(w.User.Address, usdc); got.Sub(got, had).Cmp(held) != 0 {
		t.Errorf("%s came back, %s were held", got, held)
	}
	attestedBy(w, nil)
	Must(t, w.Settler.Resume(context.Background()))
	Must(t, w.Settler.Idle(context.Background()))
	if s := w.Status(id); s.Status != api.StatusCompleted {
		t.Errorf("status %s", s.Status)
	}
	nothingHeld(t, w)
}
