package solrpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coffer/api/op/solmsg"
	"coffer/api/service/jsonrpc"
)

// connection is a connection that can be written to later; it has one subscription.
type connection struct {
	context.Context
	got   chan string
	ended chan struct{}
	stop  context.CancelFunc
}

func connect(t *testing.T) *connection {
	c := &connection{got: make(chan string, 100), ended: make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	c.stop = stop
	c.Context = jsonrpc.WithSubscriber(ctx, c)
	return c
}

func (c *connection) Subscribe(s jsonrpc.Subscription) (any, error) {
	go func() {
		defer close(c.ended)
		s.Run(c, func(v any) error {
			raw, err := json.Marshal(v)
			c.got <- s.Method + " " + string(raw)
			return err
		})
	}()
	return 1, nil
}

func (c *connection) Unsubscribe(id json.RawMessage) bool {
	if string(id) != "1" {
		return false
	}
	c.stop()
	return true
}

// none fails when there is something to read or the subscription has ended.
func (c *connection) none(t *testing.T) {
	t.Helper()
	synctest.Wait()
	select {
	case got := <-c.got:
		t.Errorf("notified of %s", got)
	case <-c.ended:
		t.Error("the subscription ended")
	default:
	}
}

func (c *connection) next(t *testing.T) string {
	t.Helper()
	select {
	case got := <-c.got:
		return got
	case <-time.After(time.Minute):
		t.Fatal("not notified")
	}
	return ""
}

func (c *connection) end(t *testing.T) {
	t.Helper()
	select {
	case <-c.ended:
	case <-time.After(time.Minute):
		t.Error("the subscription did not end")
	}
}

func TestASignatureIsNotifiedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		wire := w.wire(t, w.alice, solmsg.SystemTransfer(w.alice.Key(), w.bob.Key(), 1e9))
		name := solmsg.FormatSignature(signatureOf(t, wire))
		early, late := connect(t), connect(t)
		if got := w.ask(early, t, "signatureSubscribe", `["`+name+`",{"commitment":"confirmed"}]`); got != "1" {
			t.Fatal(got)
		}
		early.none(t)
		w.send(t, w.alice, solmsg.Memo("another"))
		early.none(t)
		w.at.Add(^uint64(0))
		w.ask(t.Context(), t, "sendTransaction", `["`+wire+`",{"encoding":"base64"}]`)
		w.ask(late, t, "signatureSubscribe", `["`+name+`",{"enableReceivedNotification":true}]`)
		if got := late.next(t); got != "signatureNotification "+in(w.Slot(w.at.Load()), `"receivedSignature"`) {
			t.Error(got)
		}
		want := "signatureNotification " + in(w.Slot(w.at.Load()), `{"err":null}`)
		for _, c := range []*connection{early, late} {
			if got := c.next(t); got != want {
				t.Error(got)
			}
			c.end(t)
		}
	})
}

func signatureOf(t *testing.T, wire string) [64]byte {
	t.Helper()
	raw, err := json.Marshal(wire)
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	if err := json.Unmarshal(raw, &b); err != nil {
		t.Fatal(err)
	}
	return [64]byte(b[1:])
}

func TestAnAccountIsNotifiedWhenItChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := connect(t)
		w.ask(c, t, "accountSubscribe", `["`+w.bob.Key().String()+`",{"encoding":"base64"}]`)
		c.none(t)
		w.send(t, w.alice, solmsg.Memo("nothing of bob's"))
		c.none(t)
		w.send(t, w.alice, solmsg.SystemTransfer(w.alice.Key(), w.bob.Key(), 1e9))
		const account = `{"lamports":%d,"owner":"11111111111111111111111111111111","data":["","base64"],` +
			`"executable":false,"rentEpoch":0,"space":0}`
		if got := c.next(t); got != "accountNotification "+in(w.Slot(w.at.Load()),
			fmt.Sprintf(account, 1_000_000_000)) {
			t.Error(got)
		}
		w.send(t, w.bob, solmsg.SystemTransfer(w.bob.Key(), w.alice.Key(), 1e9-5_000))
		if got := c.next(t); got != "accountNotification "+in(w.Slot(w.at.Load()), fmt.Sprintf(account, 0)) {
			t.Errorf("an account that is gone: %s", got)
		}
		if got := w.ask(c, t, "accountUnsubscribe", `[2]`); !strings.Contains(got, "Invalid subscription id.") {
			t.Error(got)
		}
		if got := w.ask(c, t, "accountUnsubscribe", `[1]`); got != "true" {
			t.Error(got)
		}
		c.end(t)
	})
}

func TestSlotsAreNotifiedAsTheClockRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := connect(t)
		w.ask(c, t, "slotSubscribe", `[]`)
		if got := c.next(t); got != `slotNotification {"parent":2499,"root":2500,"slot":2500}` {
			t.Error(got)
		}
		time.Sleep(time.Second)
		c.none(t) // the clock of this test is w.at.Load()
		w.at.Add(1)
		if got := c.next(t); got != `slotNotification {"parent":2501,"root":2502,"slot":2502}` {
			t.Error(got)
		}
		c.stop()
		c.end(t)
	})
}

func TestLogsAreNotifiedInOrderAndOnlyOfWhomTheyMention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.send(t, w.alice, solmsg.Memo("before"))
		all, bobs := connect(t), connect(t)
		w.ask(all, t, "logsSubscribe", `["all"]`)
		w.ask(bobs, t, "logsSubscribe", `[{"mentions":["`+w.bob.Key().String()+`"]},{"commitment":"confirmed"}]`)
		all.none(t)
		first := w.send(t, w.alice, solmsg.Memo("x"))
		second := w.send(t, w.alice, solmsg.SystemTransfer(w.alice.Key(), w.bob.Key(), 1e9))
		for _, name := range []string{first, second} {
			if got := all.next(t); !strings.Contains(got, `"signature":"`+name+`"`) {
				t.Errorf("%s, want %s", got, name)
			}
		}
		const system = "Program 11111111111111111111111111111111 "
		if got := bobs.next(t); got != "logsNotification "+in(w.Slot(w.at.Load()), `{"err":null,"logs":["`+system+
			`invoke [1]","`+system+`success"],"signature":"`+second+`"}`) {
			t.Error(got)
		}
		bobs.none(t)
		if got := w.ask(all, t, "logsSubscribe", `[{"mentions":[]}]`); !strings.HasPrefix(got, `{"code":-32602,`) {
			t.Error(got)
		}
		all.stop()
		bobs.stop()
	})
}
