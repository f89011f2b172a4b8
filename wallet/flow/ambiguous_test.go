//go:build unix

package flow_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/client"
	"coffer/wallet/flow"
	"coffer/wallet/internal/golden"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// The ways in which a connection ends.
const (
	reset  = "RST"
	finish = "FIN"
	stall  = "stall"
)

// cut says where the next connection breaks: after so many bytes in one direction. What it carried is told once both
// directions have ended, and that it stalls once it does.
type cut struct {
	response bool
	after    int64
	end      string
	carried  chan [2]int64 // bytes of request and response
	stalls   chan struct{}
}

// wire is a cable to the service that can be cut; it knows nothing of what it carries.
type wire struct {
	t      *testing.T
	listen net.Listener
	to     string

	mu   sync.Mutex
	next *cut
	wg   sync.WaitGroup
}

func lay(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, listen: l, to: to}
	w.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.wg.Go(func() { w.carry(c.(*net.TCPConn)) })
		}
	})
	t.Cleanup(func() { l.Close(); w.wg.Wait() })
	return w
}

func (w *wire) arm(c *cut) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next = c
}

// carry moves the bytes of one connection until one side ends it or the cut comes.
func (w *wire) carry(near *net.TCPConn) {
	defer near.Close()
	w.mu.Lock()
	c := w.next
	w.next = nil
	w.mu.Unlock()
	conn, err := net.Dial("tcp", w.to)
	if err != nil {
		w.t.Error(err)
		return
	}
	far := conn.(*net.TCPConn)
	defer far.Close()
	limit := [2]int64{1 << 40, 1 << 40}
	if c != nil {
		limit[0] = c.after
		if c.response {
			limit[0], limit[1] = limit[1], c.after
		}
	}
	var moved [2]int64
	broken := make(chan bool, 2)
	move := func(i int, to, from *net.TCPConn) {
		moved[i], _ = io.CopyN(to, from, limit[i])
		broken <- c != nil && moved[i] == limit[i]
	}
	w.wg.Go(func() { move(0, far, near) })
	w.wg.Go(func() { move(1, near, far) })
	first := <-broken
	if c != nil && c.carried != nil {
		near.Close() // one side has ended, so both have what they were to get
		far.Close()
		<-broken
		c.carried <- moved
		return
	}
	if !first {
		return
	}
	switch c.end {
	case reset:
		_ = near.SetLinger(0)
		_ = far.SetLinger(0)
	case stall:
		close(c.stalls)
		_, _ = io.Copy(io.Discard, near) // until the other side gives up
	}
}

// shortFuse arms the wire for an execute. It gives up after a while, or when the connection that arm broke stalls, as a
// person would.
type shortFuse struct {
	*client.Client
	arm  func() (stalls <-chan struct{})
	wait time.Duration
}

func (f shortFuse) ExecuteQuote(ctx context.Context, body []byte) (api.ExecuteResponse, error) {
	stalls := f.arm()
	ctx, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	go func() {
		select {
		case <-stalls:
			cancel()
		case <-ctx.Done():
		}
	}()
	return f.Client.ExecuteQuote(ctx, body)
}

// ambiguity is a wallet beside a service, with a wire between them that breaks during execute.
type ambiguity struct {
	*bench
	s    *countingService
	wire *wire
}

func newAmbiguity(t *testing.T) *ambiguity {
	s := serveCounting(t, nil)
	a := &ambiguity{bench: newBench(t), s: s, wire: lay(t, s.https.Listener.Addr().String())}
	return a
}

func (a *ambiguity) now() time.Time {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	return a.s.clock
}

// run takes one call through an execute during which arm breaks something, and returns it at its end. The execute is
// given up after wait, or when stalls closes.
func (a *ambiguity) run(arm func(), wait time.Duration, stalls <-chan struct{}) flow.Snapshot {
	t := a.t
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(a.s.https.Certificate())
	c, err := client.New(client.Options{
		BaseURL: "https://" + a.wire.listen.Addr().String() + "/api", RootCAs: roots,
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }, Clock: a.now,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	armed := false
	once := func() <-chan struct{} {
		if armed {
			return nil
		}
		armed = true
		arm()
		return stalls
	}
	f := flow.New(flow.Deps{
		Client: shortFuse{c, once, wait}, Signer: a.pen, Journal: a.j,
		Policy: verify.DefaultPolicy(a.w.Network, a.w.Catalog), Clock: a.now,
		Sleep: func(ctx context.Context, d time.Duration) error {
			a.s.mu.Lock()
			defer a.s.mu.Unlock()
			a.s.clock = a.s.clock.Add(d)
			a.clock.Store(int64(a.s.clock.Sub(golden.Clock()).Seconds()))
			return ctx.Err()
		},
	})
	o, err := f.Start(t.Context(), a.w.Intent())
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.Prepare(t.Context())
	if err == nil {
		s, err = o.SignPrepared(t.Context(), consent1(o))
	}
	if err != nil {
		t.Fatalf("%v %+v %+v", err, s.Report1.Reasons, s.Report2.Reasons)
	}
	s, err = o.Execute(t.Context(), consent2(o), nil)
	// proven not to have been accepted: the person tries again, on a busy machine more than once
	for s.State == flow.StateReview2 && t.Context().Err() == nil {
		if err == nil {
			t.Fatal("back in review without a reason")
		}
		s, err = o.Execute(t.Context(), consent2(o), nil)
	}
	if err != nil && s.State != flow.StateUnknown {
		t.Fatal(s.State, err)
	}
	if s, err = o.Watch(t.Context(), nil); err != nil || !s.State.Terminal() {
		t.Fatal(s.State, err)
	}
	return s
}

// judge compares the end of an operation with what the service did.
func (a *ambiguity) judge(s flow.Snapshot) {
	a.t.Helper()
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	if accepted := a.s.accepted[s.QuoteID]; accepted != (s.State == flow.StateDone) ||
		!accepted && s.State != flow.StateNotExecuted {
		a.t.Errorf("accepted %v, ended as %s", accepted, s.State)
	}
	if n := a.s.attempts[s.QuoteID]; n > 1 {
		a.t.Errorf("executed %d times", n)
	}
}

// TestF7_ABrokenConnectionNeverExecutesTwice breaks the connection of execute in two hundred ways.
func TestF7_ABrokenConnectionNeverExecutesTwice(t *testing.T) {
	a := newAmbiguity(t)
	whole := &cut{after: 1 << 40, carried: make(chan [2]int64, 1)}
	if s := a.run(func() { a.wire.arm(whole) }, time.Minute, nil); s.State != flow.StateDone {
		t.Fatal(s.State)
	}
	sizes := <-whole.carried
	if sizes[0] < 4000 || sizes[1] < 500 {
		t.Fatalf("an execute of %d bytes was answered with %d", sizes[0], sizes[1])
	}
	ends := map[flow.State]int{}
	cases, rounds, wanted := 0, int64(6), 200
	if testing.Short() {
		rounds, wanted = 1, 50
	}
	for round := range rounds {
		for _, percent := range []int64{0, 25, 50, 75, 100} {
			for _, end := range []string{reset, finish, stall} {
				for _, response := range []bool{false, true} {
					size := sizes[0]
					if response {
						size = sizes[1]
					}
					c := cut{response: response, after: min(size*percent/100+round, size), end: end,
						stalls: make(chan struct{})}
					wait, stalls := time.Minute, c.stalls
					if round == 0 { // a deadline instead
						wait, stalls = 80*time.Millisecond, nil
					}
					s := a.run(func() { a.wire.arm(&c) }, wait, stalls)
					a.judge(s)
					ends[s.State]++
					if cases++; t.Failed() {
						t.Fatalf("%+v of %v bytes", c, sizes)
					}
				}
			}
		}
	}
	for _, percent := range []int{0, 25, 50, 75, 100} {
		for _, accepted := range []bool{false, true} {
			for range 2 {
				a.s.setFault(fmt.Sprintf("502 %v %d", accepted, percent))
				s := a.run(func() {}, time.Minute, nil)
				a.s.setFault(noFault)
				a.judge(s)
				ends[s.State]++
				cases++
			}
		}
	}
	if cases < wanted || ends[flow.StateDone] < 10 || ends[flow.StateNotExecuted] < 10 {
		t.Errorf("%d cases, ends %v", cases, ends)
	}
	open := 0
	for _, o := range a.j.Operations() {
		if o.State != journal.Done && o.State != journal.NotExecuted {
			open++
		}
	}
	if open != 0 {
		t.Errorf("%d operations have no end", open)
	}
}

// cutError is an answer of 502 of which only a part arrives.
func cutError(w http.ResponseWriter, percent int) {
	page := strings.Repeat("<html>bad gateway</html>", 40)
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Content-Length", fmt.Sprint(len(page)))
	w.WriteHeader(http.StatusBadGateway)
	_, _ = io.WriteString(w, page[:len(page)*percent/100])
	if percent < 100 {
		panic(http.ErrAbortHandler)
	}
}
