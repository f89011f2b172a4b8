package service_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api"
	"coffer/api/op/erc20"
	"coffer/api/op/filler"
	"coffer/api/service"
	"coffer/api/service/chain"
	"coffer/api/service/settle"
)

// seals makes a block of Base at a time.
func (o *operated) seals(at time.Time) {
	o.t.Helper()
	if _, err := o.in.Chains[8453].Seal(o.t.Context(), chain.SealRequest{Time: uint64(at.Unix()),
		Accept: chain.AllSucceed,
		Txs:    []chain.Tx{{From: o.in.Faucet, To: common.Address{0xbe, 0xef, 1}, Value: big.NewInt(1)}}}); err != nil {
		o.t.Fatal(err)
	}
}

// isUsed reports whether the filler took an id.
func (o *operated) isUsed(id string) bool {
	o.t.Helper()
	var out hexutil.Bytes
	o.ask(8453, &out, "eth_call", map[string]any{"to": o.filler, "data": hexutil.Encode(
		filler.UsedCalldata(common.HexToHash(id)))}, "latest")
	return new(big.Int).SetBytes(out).Sign() != 0
}

// TestAfterTheEndOfADeliveryAFinalBlockTellsThatNoneCame: bytes of the delivery were signed and failed, and by the
// clock its time is over. Nothing goes back before a final block of the target chain is later than that and shows the
// id unused; then everything does, and the id is not used up for it.
func TestAfterTheEndOfADeliveryAFinalBlockTellsThatNoneCame(t *testing.T) {
	t.Parallel()
	var o *operated
	var ahead atomic.Int64
	var pauses atomic.Bool
	o = newOperated(t, func(h http.Handler) http.Handler {
		return before(h, "eth_sendRawTransaction", func(params []json.RawMessage) {
			if pauses.Load() && isFill(t, params) {
				pauses.Store(false)
				o.owner(8453, "setPaused(bool)", []byte{1})
				ahead.Store(900)
			}
		})
	})
	clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load()) * time.Second) }
	log := new(lines)
	s := o.open(func(from *service.Options) {
		from.Clock, from.Log = clock, slog.New(slog.NewTextHandler(io.MultiWriter(log, t.Output()), nil))
	})
	c := o.member(s, api.AccountKernelV31, 140)
	to := common.Address{0xbe, 0xef, 19: 140}
	pauses.Store(true)
	doc, id, _ := c.call(o.pay(c, to, 30e6), "ob:usdc")
	c.ask("POST", c.executePath(), string(doc.Raw()))
	o.settled(func() bool { return ahead.Load() > 0 })
	until(t, "it is looked for such a block", func() bool {
		return log.count(id, "no final block of eip155:8453 is later than the end of its delivery") > 2
	})
	if got := c.status(id); got.Status != api.StatusInProgress || o.has(10, o.escrow)+o.has(42161, o.escrow) == 0 {
		t.Fatalf("before a final block is later: %+v", got)
	}
	o.seals(clock())
	if got := c.ended(id); got.Status != api.StatusRefunded {
		t.Errorf("%+v", got)
	}
	if o.has(10, c.user.Address) != 20e6 || o.has(42161, c.user.Address) != 20e6 || o.has(8453, to) != 0 {
		t.Errorf("%d and %d are back, %d arrived", o.has(10, c.user.Address), o.has(42161, c.user.Address),
			o.has(8453, to))
	}
	if o.isUsed(id) {
		t.Error("the id was used up, which costs gas")
	}
}

// TestASilentChainKeepsBackItsOwnDepositAlone: a payment turns back while a chain that it came from does not answer:
// before its refund was sent, after it, or before it was known whether a deposit landed there at all. The other deposit
// goes back meanwhile, and that of the chain once it answers.
func TestASilentChainKeepsBackItsOwnDepositAlone(t *testing.T) {
	t.Parallel()
	var silent [3]atomic.Bool // of Optimism, Base and Arbitrum
	chains := 0
	o := newOperated(t, func(h http.Handler) http.Handler {
		is := &silent[chains]
		chains++
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if is.Load() {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	var when atomic.Value // the name of the moment
	when.Store("")
	at := func(moment string, i int) bool {
		if when.Load() != moment {
			return false
		}
		silent[i].Store(true)
		return true
	}
	s := o.open(func(from *service.Options) {
		from.Faults.NoCapacity = func(string) bool { return at("before", 0) || when.Load() == "after" }
		from.Faults.Refuse = func(m settle.Moment, _ string) string {
			if m == settle.AtLastDeposit && at("landed", 2) {
				return "TRANSACTION_REVERTED"
			}
			return ""
		}
		from.AfterStep = func(step string) {
			if strings.HasPrefix(step, "refund eip155:10, sent") {
				at("after", 0)
			}
		}
	})
	for i, moment := range []string{"before", "after", "landed"} {
		c := o.member(s, api.AccountKernelV31, uint64(150+i))
		to := common.Address{0xbe, 0xef, 19: byte(150 + i)}
		doc, id, _ := c.call(o.pay(c, to, 30e6), "ob:usdc")
		when.Store(moment)
		c.ask("POST", c.executePath(), string(doc.Raw()))
		answers, mute := uint64(42161), 0
		if moment == "landed" {
			answers, mute = 10, 2
		}
		o.settled(func() bool { return silent[mute].Load() && o.back(c, answers) })
		if got := c.status(id); moment != "after" && got.Status != api.StatusInProgress {
			t.Errorf("%s: %+v", moment, got)
		}
		when.Store("")
		silent[mute].Store(false)
		if got := c.ended(id); got.Status != api.StatusRefunded {
			t.Errorf("%s: %+v", moment, got)
		}
		if !o.back(c, 10) || !o.back(c, 42161) || o.has(8453, to) != 0 {
			t.Errorf("%s: not all is back", moment)
		}
	}
}

// back reports whether an account has on a chain what it had before it paid, as the chain itself says.
func (o *operated) back(c *client, id uint64) bool {
	o.t.Helper()
	st, err := o.in.Chains[id].State(o.t.Context(), 0)
	if err != nil {
		o.t.Fatal(err)
	}
	defer st.Close()
	got := st.Call(chain.Message{To: o.usdc[id], Data: erc20.BalanceOf(c.user.Address)})
	return new(big.Int).SetBytes(got.Return).Int64() == 20e6
}
