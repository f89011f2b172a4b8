package ethrpc

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/jsonrpc"
)

// wire is a connection: subscriptions run on it, and what they push is read in order.
type wire struct {
	ends   map[string]context.CancelFunc
	pushed chan any
}

func newWire(t *testing.T) *wire {
	w := &wire{ends: map[string]context.CancelFunc{}, pushed: make(chan any, 100)}
	t.Cleanup(func() {
		for _, end := range w.ends {
			end()
		}
	})
	return w
}

func (w *wire) Subscribe(s jsonrpc.Subscription) (any, error) {
	ctx, end := context.WithCancel(context.Background())
	id := "0x" + strconv.Itoa(len(w.ends)+1)
	w.ends[id] = end
	go s.Run(ctx, func(x any) error {
		w.pushed <- x
		return ctx.Err()
	})
	return id, nil
}

func (w *wire) Unsubscribe(id json.RawMessage) bool {
	var s string
	if json.Unmarshal(id, &s) != nil || w.ends[s] == nil {
		return false
	}
	w.ends[s]()
	delete(w.ends, s)
	return true
}

func next[T any](t *testing.T, w *wire) T {
	t.Helper()
	select {
	case x := <-w.pushed:
		raw, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		return into[T](t, raw)
	case <-t.Context().Done():
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func (w *wire) on(l *lab, params ...any) string {
	l.tb.Helper()
	raw, err := l.try(jsonrpc.WithSubscriber(context.Background(), w), "eth_subscribe", params...)
	if err != nil {
		l.tb.Fatal(err)
	}
	return into[string](l.tb, raw)
}

func TestHeadsArePushedInOrder(t *testing.T) {
	l, w := newLab(t), newWire(t)
	l.note(number(1))
	w.on(l, "newHeads")
	l.note(number(2))
	l.note(number(3))
	for n := uint64(2); n < 4; n++ {
		h := next[types.Header](t, w)
		b := into[struct{ Hash common.Hash }](t, l.call("eth_getBlockByNumber", quantity(n), false))
		if h.Number.Uint64() != n || h.Hash() != b.Hash {
			t.Errorf("%+v", h)
		}
	}
}

func TestLogsArePushedOneByOne(t *testing.T) {
	l, w := newLab(t), newWire(t)
	w.on(l, "logs", object{"address": notes.at, "topics": []any{[]any{number(2), number(3)}}})
	for n := range uint64(4) {
		l.note(number(n))
	}
	for _, want := range []uint64{2, 3} {
		if got := next[types.Log](t, w); got.Topics[0] != number(want) {
			t.Errorf("%+v", got)
		}
	}
}

func TestTransactionsArePushedWhenTheyAreAccepted(t *testing.T) {
	l, w := newLab(t), newWire(t)
	w.on(l, "newPendingTransactions")
	held := l.send(key(0), dynamic(1, &echoes.at, 0, nil))
	if got := next[common.Hash](t, w); got != held {
		t.Errorf("%s", got)
	}
	full := newWire(t)
	full.on(l, "newPendingTransactions", true)
	first := l.send(key(0), dynamic(0, &echoes.at, 0, nil))
	if got := next[Transaction](t, full); got.Hash != first || got.From != addr(key(0)) {
		t.Errorf("%+v", got)
	}
	if got := next[common.Hash](t, w); got != first {
		t.Errorf("%s", got)
	}
}

func TestReceiptsArePushedByBlock(t *testing.T) {
	l, w := newLab(t), newWire(t)
	w.on(l, "transactionReceipts", nil)
	some := newWire(t)
	wanted := sign(t, key(0), dynamic(1, &echoes.at, 0, nil))
	some.on(l, "transactionReceipts", object{"transactionHashes": []any{wanted.Hash()}})
	first := l.send(key(0), dynamic(0, &echoes.at, 0, nil))
	l.call("eth_sendRawTransaction", rawOf(t, wanted))
	if got := next[[]types.Receipt](t, w); len(got) != 1 || got[0].TxHash != first {
		t.Errorf("%+v", got)
	}
	if got := next[[]types.Receipt](t, some); len(got) != 1 || got[0].TxHash != wanted.Hash() {
		t.Errorf("%+v", got)
	}
}

func TestASubscriptionEnds(t *testing.T) {
	l, w := newLab(t), newWire(t)
	id := w.on(l, "newHeads")
	ctx := jsonrpc.WithSubscriber(context.Background(), w)
	if raw, err := l.try(ctx, "eth_unsubscribe", id); err != nil || string(raw) != "true" {
		t.Errorf("%s %v", raw, err)
	}
	if _, err := l.try(ctx, "eth_unsubscribe", id); err == nil || err.Message != "subscription not found" {
		t.Errorf("%v", err)
	}
}

func TestWhatCannotBeSubscribedToIsRefused(t *testing.T) {
	l, w := newLab(t), newWire(t)
	l.fails(-32601, "notifications not supported", "eth_subscribe", "newHeads")
	l.fails(-32601, "notifications not supported", "eth_unsubscribe", "0x1")
	ctx := jsonrpc.WithSubscriber(context.Background(), w)
	for _, c := range []struct {
		code   int
		text   string
		params []any
	}{
		{-32601, `no "nothing" subscription in eth namespace`, []any{"nothing"}},
		{-32602, "missing value for required argument 0", nil},
		{-32602, "too many arguments, want at most 1", []any{"newHeads", 1}},
		{-32000, "exceed max number of transaction hashes allowed per transactionReceipts subscription",
			[]any{"transactionReceipts", object{"transactionHashes": make([]common.Hash, 201)}}},
	} {
		_, err := l.try(ctx, "eth_subscribe", c.params...)
		if err == nil || err.Code != c.code || err.Message != c.text {
			t.Errorf("%v: %v", c.params, err)
		}
	}
	if len(w.ends) != 0 {
		t.Errorf("%d run", len(w.ends))
	}
}
