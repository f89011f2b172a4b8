package jsonrpc

import (
	"container/list"
	"context"
	"runtime"
	"strings"
	"sync"
	"time"
)

// maxSends bounds the transactions that are handed over at once. They wait for their block and its commit, so they
// take no turn of those that compute.
const maxSends = 64

// share divides the processors between the calls of all endpoints and the service beside them. As many calls run at
// once as there are processors, long ones on all but one of them. While the service answers a request one call runs at
// a time, and after each there is a pause of restful times its length, so that the endpoints take a quarter of one
// processor. Calls that wait go on in the order in which they came.
type share struct {
	all, long int
	sends     chan struct{}

	mu          sync.Mutex
	running     int
	runningLong int
	busy        int
	rest        time.Time    // end of the pause
	resting     *time.Timer  // ends it; nil when there is none
	waiting     [2]list.List // short ones, long ones
	turn        uint64
}

// waiter waits for its turn; the channel is closed when it has come.
type waiter struct {
	turn uint64
	come chan struct{}
}

func newShare() *share {
	n := max(2, runtime.GOMAXPROCS(0))
	return &share{all: n, long: n - 1, sends: make(chan struct{}, maxSends)}
}

// The kinds of calls.
const (
	short = iota
	long
	send
)

// kindOf says how a call takes part. A long one may compute for seconds: it runs contracts or reads many blocks.
func kindOf(method string) int {
	switch {
	case strings.HasPrefix(method, "debug_"), strings.HasPrefix(method, "trace_"):
		return long
	case strings.HasPrefix(method, "eth_send"), method == "sendTransaction", method == "requestAirdrop":
		return send
	}
	switch method {
	case "eth_call", "eth_estimateGas", "eth_createAccessList", "eth_simulateV1", "eth_getLogs", "eth_getFilterLogs",
		"eth_getFilterChanges", "eth_getProof", "eth_getStorageValues", "eth_getBlockReceipts", "eth_fillTransaction",
		"eth_estimateUserOperationGas", "simulateTransaction", "getProgramAccounts", "getSignaturesForAddress":
		return long
	}
	return short
}

// enter waits for the turn of a call; leave gives it back.
func (s *share) enter(ctx context.Context, kind int) (leave func(), err error) {
	if kind == send {
		select {
		case s.sends <- struct{}{}:
			return func() { <-s.sends }, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.mu.Lock()
	if s.isFree(kind) {
		s.mu.Unlock()
		return s.leaving(kind), nil
	}
	s.turn++
	w := &waiter{turn: s.turn, come: make(chan struct{})}
	at := s.waiting[kind].PushBack(w)
	s.admit()
	s.mu.Unlock()
	select {
	case <-w.come:
	case <-ctx.Done():
		s.mu.Lock()
		select {
		case <-w.come: // at the last moment
			s.mu.Unlock()
			s.leave(kind, 0)
		default:
			s.waiting[kind].Remove(at)
			s.mu.Unlock()
		}
		return nil, ctx.Err()
	}
	return s.leaving(kind), nil
}

func (s *share) leaving(kind int) func() {
	start := time.Now()
	return func() { s.leave(kind, time.Since(start)) }
}

// isFree reports whether a call can begin at once, as no other waits; it takes its place. The lock is held.
func (s *share) isFree(kind int) bool {
	if s.busy > 0 || s.running >= s.all || s.waiting[short].Len()+s.waiting[long].Len() > 0 ||
		kind == long && s.runningLong >= s.long {
		return false
	}
	if s.running++; kind == long {
		s.runningLong++
	}
	return true
}

// While the service is busy the pause after a call is restful times as long as the call, to which overhead is added:
// what it takes to read a request and to write its answer, more than a short call itself.
const (
	restful  = 3
	overhead = 100 * time.Microsecond
)

func (s *share) leave(kind int, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	if s.busy > 0 {
		s.rest = time.Now().Add(restful * (took + overhead))
	}
	if kind == long {
		s.runningLong--
	}
	s.admit()
}

// admit lets in the calls that may go on; the lock is held.
func (s *share) admit() {
	for {
		bound := s.all
		if s.busy > 0 {
			bound = 1
		}
		if s.running >= bound || s.busy > 0 && s.paused() {
			return
		}
		next := s.waiting[short].Front()
		kind := short
		if l := s.waiting[long].Front(); l != nil && s.runningLong < s.long &&
			(next == nil || l.Value.(*waiter).turn < next.Value.(*waiter).turn) {
			next, kind = l, long
			s.runningLong++
		}
		if next == nil {
			return
		}
		s.running++
		s.waiting[kind].Remove(next)
		close(next.Value.(*waiter).come)
	}
}

// paused reports whether the pause after a call is not over; then its end admits. The lock is held.
func (s *share) paused() bool {
	left := time.Until(s.rest)
	if left > 0 && s.resting == nil {
		s.resting = time.AfterFunc(left, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.resting = nil
			s.admit()
		})
	}
	return left > 0
}

// occupied says that the service has work to do, until free is called.
func (s *share) occupied() (free func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy--
		s.admit()
	}
}
