package service

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"

	"coffer/api/service/forward"
)

// handed is a listener of the connections on which other processes hand requests over. A server of net/http leaves what
// was agreed on in their handshake to another one.
type handed struct {
	at    net.Addr
	conns chan net.Conn
	end   chan struct{}
	once  sync.Once
}

// takeHanded lets two more servers have the connections of other processes that come in at first, until that is shut
// down: requests are finished then, calls of endpoints cut off.
func takeHanded(first, requests, calls *http.Server, at net.Addr) {
	first.Protocols = new(http.Protocols)
	first.Protocols.SetHTTP1(true)
	first.Protocols.SetHTTP2(true) // the map below would turn it off
	first.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
		forward.API: hand(requests, at), forward.RPC: hand(calls, at),
	}
	first.RegisterOnShutdown(func() { _ = calls.Close() })
	first.RegisterOnShutdown(func() { // it waits for these connections, which are not idle to it
		grace, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
		defer cancel()
		if requests.Shutdown(grace) != nil {
			_ = requests.Close()
		}
	})
}

// hand lets a server have connections.
func hand(to *http.Server, at net.Addr) func(*http.Server, *tls.Conn, http.Handler) {
	l := &handed{at: at, conns: make(chan net.Conn), end: make(chan struct{})}
	go func() { _ = to.Serve(l) }() // it ends with Close
	return l.take
}

// take gives a connection away, and returns when it is closed.
func (l *handed) take(_ *http.Server, c *tls.Conn, _ http.Handler) {
	one := &handedConn{Conn: c, closed: make(chan struct{})}
	select {
	case l.conns <- one:
		<-one.closed
	case <-l.end:
	}
}

// Accept implements net.Listener.
func (l *handed) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.end:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *handed) Close() error {
	l.once.Do(func() { close(l.end) })
	return nil
}

// Addr implements net.Listener.
func (l *handed) Addr() net.Addr { return l.at }

// handedConn tells when it is closed.
type handedConn struct {
	*tls.Conn
	closed chan struct{}
	once   sync.Once
}

// Close implements net.Conn.
func (c *handedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
