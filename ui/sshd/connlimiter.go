package sshd

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// CheckAddress refuses an address that is not host:port and, unless open is set, an address that other machines can
// reach.
func CheckAddress(address string, open bool) error {
	host, port, err := net.SplitHostPort(address)
	if _, number := strconv.ParseUint(port, 10, 16); err != nil || number != nil {
		return fmt.Errorf("--ssh takes an address and a port from 0 to 65535, such as 127.0.0.1:2222")
	}
	if open {
		return nil
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("others than this machine can reach %s; if that is meant, say so with --ssh-open, else take "+
		"127.0.0.1 and let people come through your own tunnel", address)
}

// spare is how many connections may exist beyond the dashboards: those that are proving their key, or reading why they
// are refused.
const spare = 16

// connLimiter admits connections before any byte of SSH: so many at once, so many from one address, and so many a
// minute. It closes the connections that it does not admit.
type connLimiter struct {
	net.Listener
	o     Options
	total int
	each  int

	mu     sync.Mutex
	open   map[*conn]struct{}
	from   map[netip.Addr]int
	pace   map[netip.Addr]*rate.Limiter
	turned int // closed since the last log line
	logged time.Time
	number atomic.Int64
}

func newConnLimiter(l net.Listener, o Options) *connLimiter {
	total := o.Sessions + spare
	return &connLimiter{
		Listener: l, o: o, total: total, each: max(1, total*3/4), open: map[*conn]struct{}{},
		from: map[netip.Addr]int{}, pace: map[netip.Addr]*rate.Limiter{},
	}
}

// conn is an admitted connection. Without a dashboard it is closed soon.
type conn struct {
	net.Conn
	limiter *connLimiter
	id      string
	from    netip.Addr
	alone   *time.Timer // closes it
	once    sync.Once

	slot chan struct{} // held by its open channel
}

// lull is how long the next channel of a connection waits for the previous one, which may still be closing.
const lull = 500 * time.Millisecond

// take takes the slot, or reports that another channel holds it.
func (c *conn) take() bool {
	select {
	case c.slot <- struct{}{}:
		return true
	case <-time.After(lull):
		return false
	}
}

// Accept implements net.Listener.
func (d *connLimiter) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		admitted, why := d.admit(c, time.Now())
		if why == "" {
			return admitted, nil
		}
		_ = c.Close()
		d.refused(why)
	}
}

// admit admits a connection, or returns why not.
func (d *connLimiter) admit(c net.Conn, now time.Time) (*conn, string) {
	from := addressOf(c.RemoteAddr())
	d.mu.Lock()
	defer d.mu.Unlock()
	pace := d.pace[from]
	if pace == nil {
		d.forget(now)
		if len(d.pace) >= maxAddresses {
			return nil, "too many addresses at once"
		}
		pace = rate.NewLimiter(rate.Limit(float64(d.o.Limits.PerMinute)/60), d.o.Limits.Burst)
		d.pace[from] = pace
	}
	switch {
	case !pace.AllowN(now, 1):
		return nil, "too many from one address in a minute"
	case d.from[from] >= d.each:
		return nil, "too many of one address at once"
	case len(d.open) >= d.total:
		return nil, "too many at once"
	}
	a := &conn{Conn: c, limiter: d, id: strconv.FormatInt(d.number.Add(1), 10), from: from,
		slot: make(chan struct{}, 1)}
	a.alone = time.AfterFunc(d.o.Limits.Waiting, func() { _ = a.Close() })
	d.open[a] = struct{}{}
	d.from[from]++
	return a, ""
}

// maxAddresses bounds the addresses that the limiter remembers.
const maxAddresses = 8192

// forget drops the addresses whose pace equals that of a new one. The lock is held.
func (d *connLimiter) forget(now time.Time) {
	if len(d.pace) < maxAddresses/2 {
		return
	}
	for a, p := range d.pace {
		if d.from[a] == 0 && p.TokensAt(now) >= float64(p.Burst()) {
			delete(d.pace, a)
		}
	}
}

// refused logs a refusal, at most once in ten seconds.
func (d *connLimiter) refused(why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turned++
	if now := time.Now(); now.Sub(d.logged) >= 10*time.Second {
		d.o.Log.Warn("ssh: connections are closed", "why", why, "closed", d.turned)
		d.logged, d.turned = now, 0
	}
}

// closeAll closes the open connections.
func (d *connLimiter) closeAll() {
	d.mu.Lock()
	var all []*conn
	for c := range d.open {
		all = append(all, c)
	}
	d.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
	}
}

// Close closes the connection and gives its place back.
func (c *conn) Close() error {
	c.once.Do(func() {
		c.limiter.mu.Lock()
		defer c.limiter.mu.Unlock()
		c.alone.Stop()
		delete(c.limiter.open, c)
		if c.limiter.from[c.from]--; c.limiter.from[c.from] <= 0 {
			delete(c.limiter.from, c.from)
		}
	})
	return c.Conn.Close()
}

// addressOf is the address that counts: one of IPv4, or a network of IPv6, because a host with one address of it has
// them all.
func addressOf(a net.Addr) netip.Addr {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	ip := at.Addr().Unmap()
	if ip.Is4() {
		return ip
	}
	if net, err := ip.Prefix(64); err == nil {
		return net.Addr()
	}
	return ip
}
