package service

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Bounds of the connections of the open port. A connection is proven once a request with a good key came over it.
// The others take what the reserve leaves, and the one of them that is silent the longest makes room for the next,
// so that no number of them keeps a key out; a proven one never makes room. One address may hold a quarter of all
// and a sixteenth without a proof; from a loopback address, where a reverse proxy can stand, these two do not
// hold.
const (
	DefaultConnections = 1024
	perAddressPart     = 4
	unprovenPart       = 16 // of one address
	reservePart        = 4  // for proven connections alone
	refusedEvery       = time.Minute
)

// boundListener closes what is beyond the bounds at once, so that it costs neither a handshake nor a goroutine,
// and goes on accepting.
type boundListener struct {
	net.Listener
	all, unproven     int                                      // connections in total, and of those without a proof
	each, eachWithout int                                      // the same of one address
	clock             func() time.Time                         // for the pause between two warnings
	warn              func(what string, closed int, bound int) // is told of what was closed, once a refusedEvery

	mu     sync.Mutex
	open   map[*boundConn]struct{}
	of     map[netip.Addr]held // as many entries as addresses that have a connection
	total  held
	turn   uint64
	closed int
	warned time.Time
}

// held counts connections.
type held struct{ all, unproven int }

func newBoundListener(l net.Listener, connections int, clock func() time.Time,
	warn func(string, int, int)) *boundListener {
	if connections <= 0 {
		connections = DefaultConnections
	}
	return &boundListener{
		Listener: l, all: connections, unproven: max(connections-connections/reservePart, 1),
		each:        max(connections/perAddressPart, 1),
		eachWithout: max(connections/unprovenPart, 1), clock: clock, warn: warn, open: map[*boundConn]struct{}{},
		of: map[netip.Addr]held{},
	}
}

// Accept implements net.Listener.
func (l *boundListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		in, out := l.admit(c)
		if out != nil {
			_ = out.Close() // whatever it said, it has no key
		}
		if in != nil {
			return in, nil
		}
	}
}

// peer is who is at the other end; the zero address stands for what has none. An address is counted by itself,
// IPv6 by its /64, which one machine commonly has for itself.
func peer(c net.Conn) netip.Addr {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	a := tcp.AddrPort().Addr().Unmap().WithZone("")
	if a.Is6() && !a.IsLoopback() {
		p, err := a.Prefix(64)
		if err == nil {
			return p.Addr()
		}
	}
	return a
}

// admit takes a connection in; out is closed, either one that makes room or c itself.
func (l *boundListener) admit(c net.Conn) (in *boundConn, out net.Conn) {
	from := peer(c)
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.of[from]
	full, whose, bound := "", netip.Addr{}, l.all
	switch {
	case !from.IsLoopback() && (own.all >= l.each || own.unproven >= l.eachWithout):
		full, whose, bound = "an address has as many connections as one may", from, l.each
	case l.total.all >= l.all || l.total.unproven >= l.unproven:
		full = "the port has as many connections as it may"
	}
	if full != "" {
		l.tell(full, bound)
		victim := l.silent(whose)
		if victim == nil {
			return nil, c
		}
		l.drop(victim)
		out = victim.Conn
	}
	in = &boundConn{Conn: c, l: l, from: from, since: l.next()}
	l.open[in] = struct{}{}
	l.count(in, 1)
	return in, out
}

// silent is the connection that makes room: of those without a proof (of an address, unless it is the zero one)
// the one that did nothing for the longest time, and one with a request under way only when there is no other.
// nil: all have a proof.
func (l *boundListener) silent(of netip.Addr) (found *boundConn) {
	for c := range l.open {
		if c.proven || of.IsValid() && c.from != of {
			continue
		}
		if found == nil || found.busy && !c.busy || found.busy == c.busy && c.since < found.since {
			found = c
		}
	}
	return found
}

// next orders connections by when they did something last; the lock is held.
func (l *boundListener) next() uint64 {
	l.turn++
	return l.turn
}

// tell counts what is closed and tells now and then; the lock is held.
func (l *boundListener) tell(what string, bound int) {
	l.closed++
	if now := l.clock(); l.warned.IsZero() || now.Sub(l.warned) >= refusedEvery {
		l.warn(what, l.closed, bound)
		l.warned, l.closed = now, 0
	}
}

// drop gives the place of a connection back, once; the lock is held.
func (l *boundListener) drop(c *boundConn) {
	if _, here := l.open[c]; here {
		delete(l.open, c)
		l.count(c, -1)
	}
}

// count adds a connection, or takes it away; the lock is held.
func (l *boundListener) count(c *boundConn, n int) {
	own := l.of[c.from]
	own.all, l.total.all = own.all+n, l.total.all+n
	if !c.proven {
		own.unproven, l.total.unproven = own.unproven+n, l.total.unproven+n
	}
	if l.of[c.from] = own; own.all == 0 {
		delete(l.of, c.from)
	}
}

// boundConn gives its place back when it is closed.
type boundConn struct {
	net.Conn
	l    *boundListener
	from netip.Addr

	// Under the listener's lock.
	proven, busy bool
	since        uint64
}

// Close implements net.Conn; the place is given back once.
func (c *boundConn) Close() error {
	defer func() {
		c.l.mu.Lock()
		defer c.l.mu.Unlock()
		c.l.drop(c)
	}()
	return c.Conn.Close()
}

// proved says that a good key came over the connection.
func (c *boundConn) proved() {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	if _, here := c.l.open[c]; here && !c.proven {
		c.l.count(c, -1)
		c.proven = true
		c.l.count(c, 1)
	}
}

// connKey is that of the bound connection in the context of its requests.
type connKey struct{}

// proven reports whether a good key came over the connection of a request.
func proven(ctx context.Context) bool {
	c, bound := ctx.Value(connKey{}).(*boundConn)
	if !bound {
		return false
	}
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	return c.proven
}

// state follows what the server does with the connection.
func (c *boundConn) state(now http.ConnState) {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	c.busy, c.since = now == http.StateActive, c.l.next()
}

// boundBelow is the bound connection below others; nil when there is none.
func boundBelow(c net.Conn) *boundConn {
	for {
		switch layer := c.(type) {
		case *boundConn:
			return layer
		case interface{ NetConn() net.Conn }:
			c = layer.NetConn()
		case *firstByte:
			c = layer.Conn
		default:
			return nil
		}
	}
}

// CloseWrite ends the sending half where the connection can.
func (c *boundConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Conn.Close()
}
