package settle_test

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/service/attest"
	"coffer/api/service/chain"
	"coffer/api/service/quotestore"
	"coffer/api/service/settle"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/signers"
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

// holding is an attester that signs nothing for the deposits of one chain.
type holding struct {
	attest.Port
	chainID uint64
}

func (h holding) Attest(ctx context.Context, c attest.Claim) ([]byte, error) {
	if c.Escrow.ChainID == h.chainID {
		return nil, errors.New("not this one")
	}
	return h.Port.Attest(ctx, c)
}

// legStates are the states of a quote's deposits by chain.
func legStates(w *World, id string) map[uint64]quotestore.LegState {
	out := map[uint64]quotestore.LegState{}
	for _, l := range record(w, id).Legs {
		out[l.ChainID] = l.State
	}
	return out
}

func TestADepositThatAttestersHoldKeepsNoOtherBack(t *testing.T) {
	w := New(t, Options{})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	own := attest.New(w.Installation.Attester, w.Installation.Network)
	attestedBy(w, []attest.Port{holding{own, Arbitrum}})
	Must(t, w.Execute(signed))
	if err := w.Settler.Idle(t.Context()); !errors.Is(err, attest.ErrTooFew) {
		t.Fatalf("%v, expected that attesters are missing", err)
	}
	id := w.Decode(signed).ID
	want := map[uint64]quotestore.LegState{Arbitrum: quotestore.LegDeposited, Polygon: quotestore.LegReleased,
		Optimism: quotestore.LegReleased}
	if got := legStates(w, id); !maps.Equal(got, want) || w.Status(id).Status != api.StatusCompleted {
		t.Errorf("%v, %s", got, w.Status(id).Status)
	}
	attestedBy(w, nil)
	Must(t, w.Settler.Resume(t.Context()))
	Must(t, w.Settler.Idle(t.Context()))
	nothingHeld(t, w)
}

func TestARefundThatItsChainRefusesKeepsNoOtherBack(t *testing.T) {
	var w *World
	w = New(t, Options{Pause: hourly, Faults: faultsOf(true), AfterStep: func(step string) {
		if step == "refused" {
			drained(w)
		}
	}})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	Must(t, w.Execute(signed))
	if err := w.Settler.Idle(t.Context()); err == nil {
		t.Fatal("a chain that refuses was not told")
	}
	id := w.Decode(signed).ID
	want := map[uint64]quotestore.LegState{Arbitrum: quotestore.LegDeposited, Polygon: quotestore.LegRefunded,
		Optimism: quotestore.LegRefunded}
	if got := legStates(w, id); !maps.Equal(got, want) || w.Status(id).Status != api.StatusInProgress {
		t.Errorf("%v, %s", got, w.Status(id).Status)
	}
	coins(w, w.Installation.Faucet, w.Installation.Operator.Address(), wei(1))
	Must(t, w.Settler.Resume(t.Context()))
	Must(t, w.Settler.Idle(t.Context()))
	if s := w.Status(id); s.Status != api.StatusRefunded {
		t.Errorf("status %s", s.Status)
	}
	nothingHeld(t, w)
}

// Whoever holds the deposits, what was asked for has arrived.
func TestADeliveryIsCompletedWhileItsChainRefusesTheRelease(t *testing.T) {
	var w *World
	w = New(t, Options{Pause: hourly, AfterStep: func(step string) {
		if step == "target" {
			drained(w)
		}
	}})
	w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 120*usdcPlain)
	signed := w.SignQuote(w.Quote(pay(w, Base, 50*usdcPlain), ""))
	Must(t, w.Execute(signed))
	if err := w.Settler.Idle(t.Context()); err == nil {
		t.Fatal("a chain that refuses was not told")
	}
	id := w.Decode(signed).ID
	if got := legStates(w, id); got[Arbitrum] != quotestore.LegDeposited ||
		w.Status(id).Status != api.StatusCompleted {
		t.Errorf("%v, %s", got, w.Status(id).Status)
	}
	coins(w, w.Installation.Faucet, w.Installation.Operator.Address(), wei(1))
	Must(t, w.Settler.Resume(t.Context()))
	Must(t, w.Settler.Idle(t.Context()))
	nothingHeld(t, w)
}

// coins sends coins on Arbitrum.
func coins(w *World, from signers.EVM, to common.Address, v *big.Int) {
	_, err := w.Installation.Chains[Arbitrum].Seal(context.Background(), chain.SealRequest{
		Time: uint64(w.Clock.Now().Unix()), Accept: chain.AllSucceed,
		Txs: []chain.Tx{{From: from, To: to, Value: v, Gas: 21_000}}})
	Must(w.TB, err)
}

// drained takes the operator's coins on Arbitrum away, so that what is left pays for no transaction.
func drained(w *World) {
	fee := zero().Mul(w.Installation.Chains[Arbitrum].Head().BaseFee, bigOf(21_000*9/8))
	has := w.Balance(w.Installation.Operator.Address(), caip.Native(Arbitrum))
	coins(w, w.Installation.Operator, payee(), has.Sub(has, fee))
}
