package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync/atomic"
	"time"
)

// maxContinues is how many `100 Continue` of one request the client ignores. It never asks for one, but some servers
// send one unasked.
const maxContinues = 1

// exchange is one request under way. Its end is absolute: when its time is over, or the caller cancels, its connection
// is closed whatever the server does. net/http alone does not promise that: it leaves a connection that the server
// switched to another protocol to the caller.
type exchange struct {
	sent      atomic.Bool  // the request had a connection: from then on bytes may have left. This errs on the safe side
	over      atomic.Bool  // the answer was read or refused: the connection may serve other requests
	continues atomic.Int32 // answers `100 Continue`
	// the status of a refused answer 1xx; the error of net/http may be that of the request, which was still being
	// written
	refused atomic.Int32
}

// within returns a context that ends after d at the latest, and reports the connection and interim answers to e. The
// caller must call end once.
func (e *exchange) within(ctx context.Context, d time.Duration, inside bool) (_ context.Context, end func()) {
	ctx, cancel := context.WithTimeoutCause(ctx, d, fmt.Errorf("no whole answer within %v: %w", d,
		context.DeadlineExceeded))
	trace := httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			e.sent.Store(true)
			if !inside {
				context.AfterFunc(ctx, func() { e.shut(info.Conn) })
			}
		},
		Got1xxResponse: e.interim,
	}
	end = func() {
		e.over.Store(true)
		cancel()
	}
	return httptrace.WithClientTrace(ctx, &trace), end
}

// shut closes the connection below all layers of TLS, whose own Close waits for a server that does not read.
func (e *exchange) shut(c net.Conn) {
	if e.over.Load() {
		return
	}
	for {
		outer, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		c = outer.NetConn()
	}
	_ = c.Close() // pending reads and writes get the error
}

// interimError is an unrequested answer 1xx.
type interimError int

func (s interimError) Error() string {
	return fmt.Sprintf("the service answered %d, which is no answer to any request of this wallet", int(s))
}

// interim refuses answers 1xx before the final one, except a harmless 100.
func (e *exchange) interim(status int, _ textproto.MIMEHeader) error {
	if status == http.StatusContinue && e.continues.Add(1) <= maxContinues {
		return nil
	}
	e.refused.Store(int32(status)) //nolint:gosec // three digits
	return interimError(status)
}

// failure is the error of an exchange without an answer.
func (e *exchange) failure(ctx context.Context, op string, err error) error {
	if status := e.refused.Load(); status != 0 {
		err = interimError(status)
	}
	return failure(ctx, op, e.sent.Load(), err)
}
