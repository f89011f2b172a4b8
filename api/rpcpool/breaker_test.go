package rpcpool_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/rpcpool"
	"coffer/api/rpcpool/faultproxy"
)

// hands is a clock that a test sets.
type hands struct {
	mu sync.Mutex
	at time.Time
}

func (h *hands) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hands) add(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

// clocked is a pool of an endpoint that is preferred and one that always works.
func clocked(t *testing.T, first *faultproxy.Proxy) (*rpcpool.Pool, *hands) {
	t.Helper()
	clock := &hands{at: time.Unix(1_760_000_000, 0)}
	p := pool(t, func(o *rpcpool.Options) { o.Clock = clock.now }, first, proxied(t, newNode().set("eth_call", "0x07")))
	return p, clock
}

func called(t *testing.T, p *rpcpool.Pool) {
	t.Helper()
	var out hexutil.Bytes
	if err := p.Call(t.Context(), &out, "eth_call"); err != nil || len(out) != 1 || out[0] != 7 {
		t.Fatal(out, err)
	}
}

// settled waits for what goes on behind the caller.
func settled(t *testing.T, what string, is func() bool) {
	t.Helper()
	for until := time.Now().Add(5 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal(what)
		}
	}
}

func TestAPauseThatAnEndpointAsksForIsKept(t *testing.T) {
	for name, fault := range map[string]faultproxy.Fault{
		"Retry-After": faultproxy.Status(429, "120", ""),
		"backoff": faultproxy.Refuse(-32005, "request rate exceeded",
			map[string]any{"rate": map[string]any{"backoff_seconds": 120.0}}),
	} {
		t.Run(name, func(t *testing.T) {
			first := proxied(t, newNode().set("eth_call", "0x07"), on("eth_call", fault))
			p, clock := clocked(t, first)
			called(t, p)
			asked := first.Calls("")
			for range 11 {
				clock.add(10*time.Second + 900*time.Millisecond)
				called(t, p)
			}
			if first.Calls("") != asked {
				t.Errorf("it was asked %d times in the pause", first.Calls("")-asked)
			}
			clock.add(time.Second)
			called(t, p)
			settled(t, "it was not tried after the pause", func() bool { return p.Health()[0].State == rpcpool.Up })
		})
	}
}

func TestPausesDoubleUpToAMinute(t *testing.T) {
	first := proxied(t, newNode(), always(faultproxy.Status(503, "", "")))
	p, clock := clocked(t, first)
	called(t, p)
	want := 250 * time.Millisecond
	for range 12 {
		h := p.Health()[0]
		if h.State != rpcpool.Resting || h.Retry.Sub(clock.now()) != want {
			t.Fatalf("it rests for %v, expected %v", h.Retry.Sub(clock.now()), want)
		}
		clock.add(want)
		faults := h.Faults
		called(t, p)
		settled(t, "it was not tried", func() bool { return p.Health()[0].Faults == faults+1 })
		want = min(2*want, time.Minute)
	}
	if n := first.Calls("eth_chainId"); n != 13 {
		t.Errorf("13 attempts made %d requests", n)
	}
}

// Of many callers one at a time tries an endpoint whose pause has passed.
func TestAHalfOpenEndpointGetsOneRequest(t *testing.T) {
	only := proxied(t, newNode().set("eth_call", "0x07"), faultproxy.Rule{Times: 1, Fault: faultproxy.Drop()},
		faultproxy.Rule{Skip: 1, Times: 1, Fault: faultproxy.Delay(200 * time.Millisecond)})
	p := pool(t, func(o *rpcpool.Options) { o.Timeout = 10 * time.Second }, only)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { called(t, p) })
	}
	all.Wait()
	if n := only.Calls("eth_chainId"); n > 3 {
		t.Errorf("it was tried %d times at once", n)
	}
}

// A caller with little time says nothing about an endpoint.
func TestAnImpatientCallerOpensNoBreaker(t *testing.T) {
	slow := proxied(t, newNode().set("eth_call", "0x07"), on("eth_call", faultproxy.Delay(100*time.Millisecond)))
	p := pool(t, func(o *rpcpool.Options) { o.Timeout, o.Hedge = 10*time.Second, 5*time.Second }, slow)
	for range 6 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := p.Call(ctx, nil, "eth_call"); err == nil {
			t.Error("an answer before it was given")
		}
		cancel()
	}
	called(t, p)
	if h := p.Health()[0]; h.Faults != 0 {
		t.Errorf("%+v", h)
	}
}

func TestFaultsSayWhatToDo(t *testing.T) {
	gone := faultproxy.New(newNode(), 1)
	gone.Close()
	broke := func(f faultproxy.Fault) *faultproxy.Proxy { return proxied(t, newNode(), always(f)) }
	status := func(code int) *faultproxy.Proxy { return broke(faultproxy.Status(code, "", "")) }
	bill := faultproxy.Status(402, "", `{"error":{"code":-32000,"message":"pay the bill"},"id":null}`)
	for want, proxy := range map[string]*faultproxy.Proxy{
		"it refuses the connection: is the node running?":              gone,
		"it refuses access (HTTP 403): check this endpoint's key":      status(403),
		"no node answers at this path (HTTP 404): check the address":   status(404),
		"a web page: is this the address of a node?":                   broke(faultproxy.HTML()),
		"no answer within 1s":                                          broke(faultproxy.Hang()),
		"which is not followed: name the final address":                broke(faultproxy.Redirect("/")),
		"it serves chain 1, not 8453: check the address":               proxied(t, newNode().set("eth_chainId", "0x1")),
		"it does not say which chain it serves":                        proxied(t, newNode().set("eth_chainId", "x")),
		"it limits requests (HTTP 429)":                                status(429),
		"its plan does not cover the request (HTTP 402): pay the bill": broke(bill),
	} {
		err := pool(t, nil, proxy).Call(t.Context(), nil, "eth_call")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), proxy.URL) {
			t.Errorf("%v\n\twithout %q", err, want)
		}
	}
}
