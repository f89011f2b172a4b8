package service

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// Bounds of the connections of the open port. One address may hold a quarter of them, so that no single peer takes the place of all others; from a
// loopback address, where a reverse proxy can stand, that bound does not hold.
const (
	DefaultConnections = 1024
	perAddressPart     = 4
	refusedEvery       = time.Minute
)

// boundListener closes what is beyond the bounds at once, so that it costs neither a handshake nor a goroutine, and goes on accepting.
type boundListener struct {
	net.Listener
	all, each int                                       // connections in total and of one address
	clock     func() time.Time                          // for the pause between two warnings
	warn      func(what string, refused int, bound int) // is told of refusals, once a refusedEvery

	mu      sync.Mutex
	open    int
	of      map[netip.Addr]int // as many entries as addresses that have a connection
	refused int
	warned  time.Time
}

func newBoundListener(l net.Listener, connections int, clock func() time.Time, warn func(string, int, int)) *boundListener {
	if connections <= 0 {
		connections = DefaultConnections
	}
	return &boundListener{
		Listener: l, all: connections, each: max(connections/perAddressPart, 1), clock: clock, warn: warn, of: map[netip.Addr]int{},
	}
}

// Accept implements net.Listener.
func (l *boundListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := peer(c)
		if l.admit(from) {
			return &boundConn{Conn: c, leave: sync.OnceFunc(func() { l.release(from) })}, nil
		}
		_ = c.Close() // nothing was said; there is nothing to finish
	}
}

// peer is who is at the other end; the zero address stands for what has none. An address is counted by itself, IPv6 by its /64, which one
// machine commonly has for itself.
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

func (l *boundListener) admit(from netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.open >= l.all:
		l.refuse("the port has as many connections as it may", l.all)
		return false
	case !from.IsLoopback() && l.of[from] >= l.each:
		l.refuse("an address has as many connections as one may", l.each)
		return false
	}
	l.open++
	l.of[from]++
	return true
}

// refuse counts and tells now and then; the lock is held.
func (l *boundListener) refuse(what string, bound int) {
	l.refused++
	if now := l.clock(); l.warned.IsZero() || now.Sub(l.warned) >= refusedEvery {
		l.warn(what, l.refused, bound)
		l.warned, l.refused = now, 0
	}
}

func (l *boundListener) release(from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.of[from]--; l.of[from] == 0 {
		delete(l.of, from)
	}
}

// boundConn gives its place back when it is closed.
type boundConn struct {
	net.Conn
	leave func()
}

// Close implements net.Conn; the place is given back once.
func (c *boundConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// CloseWrite ends the sending half where the connection can.
func (c *boundConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Conn.Close()
}
