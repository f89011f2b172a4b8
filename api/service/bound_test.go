package service

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"slices"
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
	what          string
	closed, bound int
}

func bounded(connections int) (*boundListener, *queue, *[]warning, *time.Time) {
	q, now, warned := &queue{}, time.Unix(1_760_000_000, 0), []warning{}
	l := newBoundListener(q, connections, func() time.Time { return now }, func(what string, closed, bound int) {
		warned = append(warned, warning{what, closed, bound})
	})
	return l, q, &warned, &now
}

// closedOf are the indices of the connections that were closed.
func closedOf(all []*from) (out []int) {
	for i, c := range all {
		if c.closed {
			out = append(out, i)
		}
	}
	return out
}

func prove(t *testing.T, conns ...net.Conn) {
	t.Helper()
	for _, c := range conns {
		boundBelow(c).proved()
	}
}

func TestNoAddressTakesMoreThanAQuarterOfTheConnections(t *testing.T) {
	l, q, warned, now := bounded(8)
	in, all := accepted(t, l, q, "203.0.113.1:1", "203.0.113.2:2", "[2001:db8::1]:3", "[2001:db8:0:1::3]:4")
	prove(t, in...)
	more, rest := accepted(t, l, q, "203.0.113.1:5")
	prove(t, more...)
	if _, third := accepted(t, l, q, "203.0.113.1:6", "[::ffff:203.0.113.1]:7"); !slices.Equal(closedOf(third),
		[]int{0, 1}) || closedOf(all) != nil || rest[0].closed {
		t.Fatalf("closed: %v of the third and fourth, %v of the first", closedOf(third), closedOf(all))
	}
	if len(*warned) != 1 || (*warned)[0].closed != 1 || (*warned)[0].bound != 2 {
		t.Errorf("%+v, expected one warning for a minute", *warned)
	}
	*now = now.Add(time.Minute)
	accepted(t, l, q, "203.0.113.1:10")
	if len(*warned) != 2 || (*warned)[1].closed != 2 {
		t.Errorf("%+v, expected what was closed since the last warning", *warned)
	}
	for range 2 { // closing twice gives one place back
		if err := in[0].Close(); err != nil {
			t.Fatal(err)
		}
	}
	in, _ = accepted(t, l, q, "203.0.113.1:11")
	if prove(t, in...); len(in) != 1 {
		t.Fatal("the free place is not given away")
	}
	if in, _ := accepted(t, l, q, "203.0.113.1:12"); len(in) != 0 {
		t.Error("one free place was given away twice")
	}
}

func TestTheConnectionsOfAPortAreBounded(t *testing.T) {
	l, q, warned, _ := bounded(3)
	in, _ := accepted(t, l, q, "127.0.0.1:1", "127.0.0.1:2", "[::1]:3")
	prove(t, in...)
	more, refused := accepted(t, l, q, "127.0.0.1:4", "203.0.113.1:5")
	if len(in) != 3 || len(more) != 0 || len(closedOf(refused)) != 2 || (*warned)[0].bound != 3 {
		t.Fatalf("%d connections came through, then %d, warned %+v", len(in), len(more), *warned)
	}
	for _, c := range in {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if l.total != (held{}) || len(l.of) != 0 || len(l.open) != 0 {
		t.Errorf("%+v of %d addresses are kept after the last was closed", l.total, len(l.of))
	}
}

// TestK12_WhoHasNoKeyMakesRoom: of the connections without a proof the longest silent one makes room, first of the same
// address; one with a proof never does, and a part of all is for those.
func TestK12_WhoHasNoKeyMakesRoom(t *testing.T) {
	l, q, _, _ := bounded(32) // 24 without a proof, 2 of one address
	var addrs []string
	for i := range 24 {
		addrs = append(addrs, fmt.Sprintf("127.0.0.%d:1", 1+i))
	}
	in, all := accepted(t, l, q, addrs...)
	prove(t, in[0])
	boundBelow(in[1]).state(http.StateActive) // a request is under way
	boundBelow(in[2]).state(http.StateIdle)   // one has just ended
	_, next := accepted(t, l, q, "127.0.0.40:1", "127.0.0.41:1", "127.0.0.42:1")
	if got := closedOf(all); !slices.Equal(got, []int{3, 4}) || closedOf(next) != nil {
		t.Errorf("closed: %v, %v", got, closedOf(next))
	}
	_, own := accepted(t, l, q, "203.0.113.1:1", "203.0.113.1:2", "203.0.113.1:3")
	if got := closedOf(own); !slices.Equal(got, []int{0}) {
		t.Errorf("of an address with more than two: %v", got)
	}
	prove(t, in[0]) // twice is once
	if l.total != (held{all: 25, unproven: 24}) {
		t.Errorf("%+v", l.total)
	}
}

// TestK12_TheReserveIsForProvenConnections: they may take every place, and then one without a proof finds none.
func TestK12_TheReserveIsForProvenConnections(t *testing.T) {
	l, q, _, _ := bounded(8)
	for i := range 8 {
		in, _ := accepted(t, l, q, fmt.Sprintf("127.0.0.1:%d", 1+i))
		prove(t, in...)
	}
	if in, _ := accepted(t, l, q, "127.0.0.2:1"); len(in) != 0 || l.total != (held{all: 8}) {
		t.Errorf("%d more came through; %+v", len(in), l.total)
	}
}

// TestK12_TheCountsComeOut looks for a sum that does not come out, over a long random life.
func TestK12_TheCountsComeOut(t *testing.T) {
	l, q, _, _ := bounded(16)
	draw := rand.New(rand.NewPCG(1, 12))
	var live []net.Conn
	for range 5000 {
		switch n := draw.IntN(10); {
		case n < 6:
			in, _ := accepted(t, l, q, fmt.Sprintf("203.0.113.%d:1", draw.IntN(20)))
			live = append(live, in...)
		case len(live) == 0:
		case n < 8:
			prove(t, live[draw.IntN(len(live))])
		default:
			at := draw.IntN(len(live))
			_ = live[at].Close()
			live = slices.Delete(live, at, at+1)
		}
		sum, of := held{}, map[netip.Addr]held{}
		for c := range l.open {
			own := of[c.from]
			sum.all, own.all = sum.all+1, own.all+1
			if !c.proven {
				sum.unproven, own.unproven = sum.unproven+1, own.unproven+1
			}
			of[c.from] = own
		}
		if sum != l.total || !maps.Equal(of, l.of) || sum.all > l.all || sum.unproven > l.unproven {
			t.Fatalf("counted %+v %v, kept %+v %v", sum, of, l.total, l.of)
		}
		for a, own := range of {
			if own.all > l.each || own.unproven > l.eachWithout {
				t.Fatalf("%s has %+v", a, own)
			}
		}
	}
}
