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

// capped sets the filler's cap of an asset, as its owner does.
func capped(w *World, a caip.Asset, capacity, refill int64) {
	w.TB.Helper()
	art, err := assets.Contract("Filler")
	Must(w.TB, err)
	filler, err := abi.JSON(bytes.NewReader(art.ABI))
	Must(w.TB, err)
	token, _ := a.Token()
	data, err := filler.Pack("setCap", token, big.NewInt(capacity), big.NewInt(refill))
	Must(w.TB, err)
	id, _ := a.Chain.EVMID()
	_, err = w.Installation.Chains[id].Seal(context.Background(), chain.SealRequest{
		Time: uint64(w.Clock.Now().Unix()), Accept: chain.AllSucceed,
		Txs: []chain.Tx{{From: w.Installation.Treasury, To: w.Installation.Pins.Paymaster, Data: data}},
	})
	Must(w.TB, err)
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
