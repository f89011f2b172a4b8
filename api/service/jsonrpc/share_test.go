package jsonrpc

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// While the service works one call runs at a time, otherwise as many as there are processors, long ones on one less.
func TestCallsTakeTurns(t *testing.T) {
	for _, c := range []struct{ kind, busy, want int }{{short, 0, 4}, {long, 0, 3}, {short, 1, 1}, {long, 2, 1}} {
		s := newShare()
		s.all, s.long = 4, 3
		for range c.busy {
			defer s.occupied()()
		}
		var now, most atomic.Int64
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				leave, err := s.enter(t.Context(), c.kind)
				if err != nil {
					t.Error(err)
					return
				}
				if n := now.Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(time.Millisecond)
				now.Add(-1)
				leave()
			})
		}
		all.Wait()
		if got := most.Load(); got != int64(c.want) || s.running != 0 || s.runningLong != 0 {
			t.Errorf("%+v: %d at once, %d and %d left", c, got, s.running, s.runningLong)
		}
	}
}

// Long calls keep no short one back, and a stream of short ones no long one.
func TestNeitherKindOfCallStarvesTheOther(t *testing.T) {
	s := newShare()
	s.all, s.long = 2, 1
	leave, _ := s.enter(t.Context(), long)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	var waits sync.WaitGroup
	for range 3 {
		waits.Go(func() {
			if l, err := s.enter(ctx, long); err == nil {
				l()
			} else {
				t.Error(err)
			}
		})
	}
	for range 100 {
		l, err := s.enter(ctx, short)
		if err != nil {
			t.Fatal("a short call waits behind long ones")
		}
		l()
	}
	stop := make(chan struct{})
	var stream sync.WaitGroup
	for range 4 {
		stream.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if l, err := s.enter(ctx, short); err == nil {
					time.Sleep(10 * time.Microsecond)
					l()
				}
			}
		})
	}
	leave()
	waits.Wait()
	close(stop)
	stream.Wait()
}

func TestWhoGivesUpLeavesNoTrace(t *testing.T) {
	s := newShare()
	s.all, s.long = 1, 1
	first, _ := s.enter(t.Context(), short)
	for range 50 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Microsecond)
		if _, err := s.enter(ctx, long); err == nil {
			t.Fatal("two at once")
		}
		cancel()
	}
	first()
	if s.waiting[long].Len() != 0 || s.running != 0 {
		t.Errorf("%d wait, %d run", s.waiting[long].Len(), s.running)
	}
	if leave, err := s.enter(t.Context(), long); err != nil {
		t.Error(err)
	} else {
		leave()
	}
}

// While the service works the endpoints take a part of one processor; once it is done they go on at once.
func TestCallsPauseWhileTheServiceWorks(t *testing.T) {
	s := newShare()
	const call, n = 2 * time.Millisecond, 10
	run := func() time.Duration {
		start := time.Now()
		for range n {
			leave, err := s.enter(t.Context(), short)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(call)
			leave()
		}
		return time.Since(start)
	}
	free := s.occupied()
	if took := run(); took < (n-1)*(1+restful)*call {
		t.Errorf("%d calls of %s took %s", n, call, took)
	}
	entered := make(chan time.Time, 1)
	s.mu.Lock()
	s.rest = time.Now().Add(time.Hour)
	s.mu.Unlock()
	go func() {
		if leave, err := s.enter(t.Context(), short); err == nil {
			entered <- time.Now()
			leave()
		}
	}()
	time.Sleep(10 * time.Millisecond)
	if len(entered) > 0 {
		t.Error("a call ran in the pause")
	}
	free()
	select {
	case <-entered:
	case <-time.After(5 * time.Second):
		t.Error("a call waits for a service that is done")
	}
}

// A call that has sent and waits for what comes of it leaves its place to others that send.
func TestAWaitingSendKeepsNoPlace(t *testing.T) {
	sent := make(chan struct{}, 2*maxSends)
	h := httptest.NewServer(NewServer(Options{}).Endpoint(Methods{
		"eth_sendRawTransactionSync": func(ctx context.Context, _ Params) (any, error) {
			Sent(ctx)
			sent <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"eth_sendRawTransaction": func(context.Context, Params) (any, error) { return "0x", nil },
	}))
	t.Cleanup(h.Close)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	t.Cleanup(cancel)
	for range maxSends {
		all.Go(func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL,
				strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransactionSync"}`))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Content-Type", "application/json")
			if res, err := h.Client().Do(r); err == nil {
				_ = res.Body.Close()
			}
		})
	}
	for range maxSends {
		<-sent
	}
	answered := make(chan string, 1)
	go func() {
		_, got := post(t, h, `{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction"}`)
		answered <- got
	}()
	select {
	case got := <-answered:
		if got != `{"jsonrpc":"2.0","id":1,"result":"0x"}` {
			t.Error(got)
		}
	case <-time.After(5 * time.Second):
		t.Error("a send waits for those that wait for their receipts")
	}
}
