package service

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// queue is a listener that hands out what it was given.
type queue struct {
	net.Listener
	conns []net.Conn
}

func (q *queue) Accept() (net.Conn, error) {
	if len(q.conns) == 0 {
		return nil, io.EOF
	}
	c := q.conns[0]
	q.conns = q.conns[1:]
	return c, nil
}

// from is a connection of an address that notes whether it was closed.
type from struct {
	net.Conn
	addr   string
	closed bool
}

func (f *from) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", f.addr)
	return a
}

func (f *from) Close() error { f.closed = true; return nil }

// accepted hands connections of these addresses in and returns those that came through.
func accepted(t *testing.T, l *boundListener, q *queue, addrs ...string) (in []net.Conn, all []*from) {
	t.Helper()
	for _, a := range addrs {
		f := &from{addr: a}
		all = append(all, f)
		q.conns = append(q.conns, f)
	}
	for {
		c, err := l.Accept()
		if errors.Is(err, io.EOF) {
			return in, all
		}
		in = append(in, c)
	}
}

type warning struct {
	what           string
	refused, bound int
}

func bounded(connections int) (*boundListener, *queue, *[]warning, *time.Time) {
	q, now, warned := &queue{}, time.Unix(1_760_000_000, 0), []warning{}
	l := newBoundListener(q, connections, func() time.Time { return now }, func(what string, refused, bound int) {
		warned = append(warned, warning{what, refused, bound})
	})
	return l, q, &warned, &now
}

func TestNoAddressTakesMoreThanAQuarterOfTheConnections(t *testing.T) {
	l, q, warned, now := bounded(8)
	in, all := accepted(t, l, q, "203.0.113.1:1", "203.0.113.1:2", "203.0.113.1:3", "[::ffff:203.0.113.1]:4", "203.0.113.2:5",
		"[2001:db8::1]:6", "[2001:db8::2]:7", "[2001:db8::3]:8", "[2001:db8:0:1::3]:9")
	if len(in) != 6 || !all[2].closed || !all[3].closed || !all[7].closed || all[4].closed || all[8].closed {
		t.Fatalf("%d connections came through", len(in))
	}
	if len(*warned) != 1 || (*warned)[0].refused != 1 || (*warned)[0].bound != 2 {
		t.Errorf("%+v, expected one warning for a minute", *warned)
	}
	*now = now.Add(time.Minute)
	accepted(t, l, q, "203.0.113.1:10")
	if len(*warned) != 2 || (*warned)[1].refused != 3 {
		t.Errorf("%+v, expected the refusals since the last warning", *warned)
	}
	for range 2 { // closing twice gives one place back
		if err := in[0].Close(); err != nil {
			t.Fatal(err)
		}
	}
	if in, _ := accepted(t, l, q, "203.0.113.1:11", "203.0.113.1:12"); len(in) != 1 {
		t.Errorf("%d connections took one place", len(in))
	}
}

func TestTheConnectionsOfAPortAreBounded(t *testing.T) {
	l, q, warned, _ := bounded(3)
	in, all := accepted(t, l, q, "127.0.0.1:1", "127.0.0.1:2", "[::1]:3", "127.0.0.1:4", "203.0.113.1:5")
	if len(in) != 3 || !all[3].closed || !all[4].closed || (*warned)[0].bound != 3 {
		t.Fatalf("%d connections came through, warned %+v", len(in), *warned)
	}
	for _, c := range in {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if l.open != 0 || len(l.of) != 0 {
		t.Errorf("%d connections and %d addresses are kept after the last was closed", l.open, len(l.of))
	}
}
