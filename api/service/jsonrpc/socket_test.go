package jsonrpc

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

func TestAnAnswerLeavesBeforeItsNotifications(t *testing.T) {
	_, h := begin(t, Options{})
	c := dial(t, h)
	for range 50 {
		for _, batch := range []bool{false, true} {
			message := `{"jsonrpc":"2.0","id":1,"method":"count","params":[3]}`
			if batch {
				message = `[` + message + `]`
			}
			first := ask(t, c, message)
			if !strings.Contains(first, `"result":"0x`) {
				t.Fatalf("first came %s", first)
			}
			id := first[strings.Index(first, `"0x`)+1:]
			id = id[:strings.Index(id, `"`)]
			for i := range 3 {
				want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"eth_subscription",`+
					`"params":{"subscription":"%s","result":[%d,""]}}`, id, i)
				if got := next(t, c); got != want {
					t.Fatalf("%s, expected %s", got, want)
				}
			}
		}
	}
}

func TestSolanaHasNumbersForItsSubscriptions(t *testing.T) {
	_, h := begin(t, Options{})
	c := dial(t, h)
	if got := ask(t, c, `{"jsonrpc":"2.0","id":"x","method":"count","params":[1,0,true]}`); got !=
		`{"jsonrpc":"2.0","id":"x","result":1}` {
		t.Error(got)
	}
	if got := next(t, c); got !=
		`{"jsonrpc":"2.0","method":"eth_subscription","params":{"result":[0,""],"subscription":1}}` {
		t.Error(got)
	}
}

func TestASubscriptionEndsWhenItIsTold(t *testing.T) {
	_, h := begin(t, Options{})
	c := dial(t, h)
	got := ask(t, c, `{"jsonrpc":"2.0","id":1,"method":"count","params":[-1]}`)
	id := got[strings.Index(got, `"0x`):]
	id = strings.TrimSuffix(id, "}")
	got = ask(t, c, `{"jsonrpc":"2.0","id":2,"method":"stop","params":[`+id+`]}`)
	for strings.Contains(got, "eth_subscription") {
		got = next(t, c)
	}
	if got != `{"jsonrpc":"2.0","id":2,"result":true}` {
		t.Errorf("%s", got)
	}
	// nothing more comes, and a second time there is none
	if got = ask(t, c, `{"jsonrpc":"2.0","id":3,"method":"stop","params":[`+id+`]}`); got !=
		`{"jsonrpc":"2.0","id":3,"result":false}` {
		t.Errorf("%s", got)
	}
}

func TestThereIsNothingToSubscribeToOverHTTP(t *testing.T) {
	_, h := begin(t, Options{})
	if _, got := post(t, h, `{"jsonrpc":"2.0","id":1,"method":"count","params":[1]}`); got !=
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"notifications not supported"}}` {
		t.Error(got)
	}
}

func TestSubscriptionsOfAConnectionAreBounded(t *testing.T) {
	_, h := begin(t, Options{Limits: Limits{Subscriptions: 4}})
	c := dial(t, h)
	const call = `{"jsonrpc":"2.0","id":1,"method":"count","params":[0,1]}`
	for range 4 {
		if got := ask(t, c, call); !strings.Contains(got, "result") {
			t.Fatal(got)
		}
	}
	if got := ask(t, c, call); !strings.Contains(got, `"error":{"code":-32000,"message":"too many subscriptions`) {
		t.Error(got)
	}
	if got := ask(t, dial(t, h), call); !strings.Contains(got, "result") {
		t.Errorf("another connection: %s", got)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	_, h := begin(t, Options{Limits: Limits{Sockets: 2}})
	first := dial(t, h)
	dial(t, h)
	again := func() int {
		c, res, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(h.URL, "http"), nil)
		if err == nil {
			_ = c.Close()
		}
		return res.StatusCode
	}
	if got := again(); got != http.StatusServiceUnavailable {
		t.Errorf("a third one: %d", got)
	}
	_ = first.Close()
	for end := time.Now().Add(5 * time.Second); again() != http.StatusSwitchingProtocols; {
		if time.Now().After(end) {
			t.Fatal("the place of a closed connection was not given back")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestAPageOfAnotherOriginOpensNoSocket(t *testing.T) {
	_, h := begin(t, Options{CORS: []string{"https://app.example"}})
	for origin, want := range map[string]int{"https://evil.example": 403, "http://" + h.Listener.Addr().String(): 403,
		"https://app.example": 101, "": 101} {
		head := http.Header{}
		if origin != "" {
			head.Set("Origin", origin)
		}
		c, res, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(h.URL, "http"), head)
		if err == nil {
			_ = c.Close()
		}
		if res.StatusCode != want {
			t.Errorf("%q: %d", origin, res.StatusCode)
		}
	}
}

// A caller that does not read loses its connection, and what is sent to it meanwhile is not kept.
func TestASlowReaderIsClosedAndMemoryStaysBounded(t *testing.T) {
	s, h := begin(t, Options{Limits: Limits{Write: 200 * time.Millisecond}})
	before := allocated()
	const slow = 8
	for range slow {
		c := dial(t, h)
		for range 4 {
			if err := c.WriteMessage(websocket.TextMessage,
				[]byte(`{"jsonrpc":"2.0","id":1,"method":"count","params":[-1,100000]}`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	most := uint64(0)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		most = max(most, allocated())
		s.mu.Lock()
		left := s.sockets
		s.mu.Unlock()
		if left == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d connections of slow readers are open", left)
		}
	}
	if grown := int64(most) - int64(before); grown > slow*4<<20 {
		t.Errorf("%d bytes more than before", grown)
	}
}

// allocated is what lives on the heap.
func allocated() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestASilentConnectionIsAskedAndClosed(t *testing.T) {
	_, h := begin(t, Options{Limits: Limits{Ping: 50 * time.Millisecond}})
	c := dial(t, h)
	asked := make(chan struct{}, 100)
	c.SetPingHandler(func(string) error { // it does not answer
		asked <- struct{}{}
		return nil
	})
	start := time.Now()
	if _, _, err := c.ReadMessage(); err == nil || time.Since(start) > 5*time.Second {
		t.Errorf("%v after %s", err, time.Since(start))
	}
	if len(asked) == 0 {
		t.Error("it was not asked")
	}
	s, h := begin(t, Options{Limits: Limits{Ping: time.Second}}) // a busy machine may answer late
	lively := dial(t, h)                                         // the library answers pings while it reads
	go func() {
		time.Sleep(2500 * time.Millisecond)
		_ = lively.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":1,"method":"none"}`))
	}()
	next(t, lively)
	s.Close()
	if _, _, err := lively.ReadMessage(); err == nil {
		t.Error("a connection outlived its server")
	}
}

func TestAMessageOverTheLimitEndsTheConnection(t *testing.T) {
	_, h := begin(t, Options{Limits: Limits{Body: 100_000}})
	c := dial(t, h)
	ask(t, c, strings.Repeat(" ", 90_000)+`{"jsonrpc":"2.0","id":1,"method":"none"}`)
	_ = c.WriteMessage(websocket.TextMessage, []byte(strings.Repeat(" ", 100_001)))
	if _, _, err := c.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseMessageTooBig) {
		t.Errorf("%v", err)
	}
}

// A call that waits keeps no other of its connection back.
func TestCallsOfAConnectionRunSideBySide(t *testing.T) {
	_, h := begin(t, Options{Limits: Limits{Time: 2 * time.Second}})
	c := dial(t, h)
	_ = c.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":"late","method":"sleep"}`))
	start := time.Now()
	if got := ask(t, c, `{"jsonrpc":"2.0","id":"early","method":"none"}`); !strings.Contains(got, "early") ||
		time.Since(start) > time.Second {
		t.Errorf("%s after %s", got, time.Since(start))
	}
	if got := next(t, c); !strings.Contains(got, "request timed out") {
		t.Error(got)
	}
}
