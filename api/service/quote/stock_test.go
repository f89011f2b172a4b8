package quote_test

import (
	"bytes"
	"context"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/chain"
	. "coffer/api/service/settle/settletest"
	"coffer/assets"
)

// owned calls the filler of a chain as its owner.
func owned(w *World, chainID uint64, method string, args ...any) {
	w.TB.Helper()
	art, err := assets.Contract("Filler")
	Must(w.TB, err)
	filler, err := abi.JSON(bytes.NewReader(art.ABI))
	Must(w.TB, err)
	data, err := filler.Pack(method, args...)
	Must(w.TB, err)
	_, err = w.Installation.Chains[chainID].Seal(context.Background(), chain.SealRequest{
		Time: uint64(w.Clock.Now().Unix()), Accept: chain.AllSucceed,
		Txs: []chain.Tx{{From: w.Installation.Treasury, To: w.Installation.Pins.Paymaster, Data: data}},
	})
	Must(w.TB, err)
}

// capped sets the filler's cap of an asset.
func capped(w *World, a caip.Asset, capacity, refill int64) {
	w.TB.Helper()
	token, _ := a.Token()
	id, _ := a.Chain.EVMID()
	owned(w, id, "setCap", token, big.NewInt(capacity), big.NewInt(refill))
}

// Nothing is promised that the filler may not pay out: its fill would revert with OverCap. What leaves the bucket comes
// back by the clock, also while no block is made.
func TestMoreThanTheFillersCapIsNoRoute(t *testing.T) {
	w := funded(t)
	usdc := w.Asset("usdc", Base)
	swap := Exchange{From: "ob:usdt", Amount: plain(50), Get: usdc.String()}
	w.Fund(w.User.Address, w.Asset("usdt", Arbitrum), 500*usdcPlain)
	capped(w, usdc, 40*usdcPlain, usdcPlain)
	_, err := w.Prepare(pay(w, Base, 100*usdcPlain))
	if e := Refused(t, err, api.ErrNoRoute); !strings.Contains(e.Message, "no solver can deliver that much") {
		t.Error(e.Message)
	}
	_, err = w.TrySwap(swap)
	Refused(t, err, api.ErrNoRoute)

	capped(w, usdc, 80*usdcPlain, usdcPlain)
	offered := w.Swap(swap)
	capped(w, usdc, 40*usdcPlain, usdcPlain)
	Refused(t, w.Execute(w.SignQuote(offered)), api.ErrNoRoute)

	capped(w, usdc, 80*usdcPlain, usdcPlain)
	if s := w.Settle(w.SignQuote(w.Quote(pay(w, Base, 70*usdcPlain), ""))); s.Status != api.StatusCompleted {
		t.Fatalf("%+v", s)
	}
	_, err = w.TrySwap(swap) // the bucket is nearly full now
	Refused(t, err, api.ErrNoRoute)
	w.Clock.Advance(time.Minute)
	if s := w.Settle(w.SignQuote(w.Swap(swap))); s.Status != api.StatusCompleted {
		t.Errorf("%+v", s)
	}

	capped(w, caip.Native(Optimism), 0, 0)
	_, err = w.TrySwap(Exchange{From: "ob:usdc", Amount: plain(20), Get: caip.Native(Optimism).String()})
	Refused(t, err, api.ErrNoRoute)
}

// While the filler is paused nothing is delivered and no deposit is made: that is for want of a solver, and neither the
// recipient's doing nor that of the calls.
func TestAPausedFillerIsNoRouteAndThenNoCapacity(t *testing.T) {
	for _, paused := range []uint64{Base, Arbitrum} {
		after := ""
		var w *World
		w = New(t, Options{AfterStep: func(step string) {
			if step == after {
				owned(w, paused, "setPaused", true)
			}
		}})
		w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 500*usdcPlain)
		whole := pay(w, Arbitrum, 10*usdcPlain)
		for name, offer := range map[string]func() (*api.Document, error){
			"a swap": func() (*api.Document, error) {
				return w.TrySwap(Exchange{From: "ob:usdc", Amount: plain(50), Get: caip.Native(Base).String()})
			},
			"a transfer": func() (*api.Document, error) {
				return w.TrySwap(Exchange{From: "ob:usdc", Amount: plain(50), Get: w.Asset("usdc", Base).String(),
					To: caip.EVMAccount(Base, payee()).String()})
			},
			"a call": func() (*api.Document, error) {
				p, err := w.Prepare(pay(w, Base, 50*usdcPlain))
				if err != nil {
					return nil, err
				}
				return w.CallQuote(p, "")
			},
		} {
			made := func() *api.Document {
				doc, err := offer()
				Must(t, err)
				return w.SignQuote(doc)
			}
			refused, failed := made(), "accepted"
			if paused == Base {
				failed = "deposit eip155:42161"
			}
			owned(w, paused, "setPaused", true)
			if _, err := offer(); paused == Base {
				Refused(t, err, api.ErrNoRoute)
			}
			if paused == Arbitrum {
				p, err := w.Prepare(whole)
				if err == nil {
					_, err = w.CallQuote(p, "")
				}
				Refused(t, err, api.ErrNoRoute)
			}
			Refused(t, w.Execute(refused), api.ErrNoRoute)
			owned(w, paused, "setPaused", false)
			after = failed
			s := w.Settle(made())
			if after = ""; s.FailReason != "SOLVER_CAPACITY_EXCEEDED" {
				t.Errorf("%s, paused on %d: %+v", name, paused, s)
			}
			owned(w, paused, "setPaused", false)
		}
	}
}
