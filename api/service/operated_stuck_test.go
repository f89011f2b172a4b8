package service_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api"
	"coffer/api/service"
)

// instead answers the calls of a method in the place of a node, unless answer returns nil.
func instead(h http.Handler, method string, answer func(params []json.RawMessage) any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var call struct {
			ID     json.RawMessage
			Method string
			Params []json.RawMessage
		}
		if err == nil && json.Unmarshal(body, &call) == nil && call.Method == method {
			if result := answer(call.Params); result != nil {
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": call.ID, "result": result})
				return
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	})
}

// TestADeliveryThatIsStuckPastItsDeadlineIsGivenBack: the node takes the delivery, and every one that pays more in its
// place, but no block does. Once the deadline is over and a final block says so, the deposits go back; the nonce is
// used up by the key itself, and the next payment takes its way.
func TestADeliveryThatIsStuckPastItsDeadlineIsGivenBack(t *testing.T) {
	t.Parallel()
	var stuck atomic.Bool
	var taken atomic.Int64
	var ahead atomic.Int64
	o := newOperated(t, func(h http.Handler) http.Handler {
		return instead(h, "eth_sendRawTransaction", func(params []json.RawMessage) any {
			if !stuck.Load() || !isFill(t, params) {
				return nil
			}
			taken.Add(1)
			var raw hexutil.Bytes
			var tx types.Transaction
			if json.Unmarshal(params[0], &raw) != nil || tx.UnmarshalBinary(raw) != nil {
				t.Error("a transaction that cannot be read")
			}
			return tx.Hash()
		})
	})
	clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load()) * time.Second) }
	s := o.open(func(from *service.Options) { from.Clock = clock })
	c := o.member(s, api.AccountKernelV31, 160)
	to := common.Address{0xbe, 0xef, 19: 160}
	stuck.Store(true)
	doc, id, _ := c.call(o.pay(c, to, 30e6), "ob:usdc")
	c.ask("POST", c.executePath(), string(doc.Raw()))
	o.settled(func() bool { return taken.Load() > 0 })
	if got := c.status(id); got.Status != api.StatusInProgress {
		t.Errorf("while the delivery is stuck: %+v", got)
	}
	ahead.Store(900)
	o.seals(clock())
	if got := c.ended(id); got.Status != api.StatusRefunded {
		t.Errorf("%+v", got)
	}
	if !o.back(c, 10) || !o.back(c, 42161) || o.has(8453, to) != 0 {
		t.Error("not all is back")
	}
	stuck.Store(false)
	until(t, "prices are known at that time", func() bool {
		status, _ := c.send("POST", c.preparePath(), o.pay(c, to, 30e6))
		return status == http.StatusOK
	})
	doc, id, _ = c.call(o.pay(c, to, 30e6), "ob:usdc")
	c.done(c.waited(doc, id), api.RecordCall)
	if got := o.has(8453, to); got != 30e6 {
		t.Errorf("%d arrived afterwards", got)
	}
}
