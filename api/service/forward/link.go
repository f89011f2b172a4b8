package forward

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Times of a link.
const (
	dialWithin = 2 * time.Second
	lookEvery  = 100 * time.Millisecond // whether a process that was not reached can be
	grace      = 2 * time.Second        // for what is under way at a process when another one serves
)

// link is the way to one process.
type link struct {
	to        Process
	tls       *tls.Config
	log       *slog.Logger
	transport *http.Transport
	life      context.Context
	stop      context.CancelFunc

	mu    sync.Mutex
	ready chan struct{} // closed while the process is believed to be reached
	down  bool
	open  map[*tracked]struct{} // nil once it has ended
}

// newLink makes a link without a connection.
func newLink(o Options, to Process) *link {
	l := &link{to: to, log: o.Log, ready: make(chan struct{}), open: map[*tracked]struct{}{}}
	close(l.ready)
	l.life, l.stop = context.WithCancel(context.Background())
	l.tls = o.TLS.Clone()
	l.tls.NextProtos = []string{o.Carries}
	if u, err := url.Parse(to.Address); err == nil {
		l.tls.ServerName = u.Hostname()
	}
	l.transport = &http.Transport{
		DialTLSContext:         l.dial,
		DisableCompression:     true, // an answer goes through as it is
		MaxIdleConnsPerHost:    idleLinks,
		IdleConnTimeout:        idleFor,
		ResponseHeaderTimeout:  answerWithin,
		MaxResponseHeaderBytes: maxHeader,
	}
	return l
}

// end closes the connections, those that are in use after so long.
func (l *link) end(within time.Duration) {
	l.stop()
	l.transport.CloseIdleConnections()
	time.AfterFunc(within, func() {
		l.mu.Lock()
		all := l.open
		l.open = nil
		l.mu.Unlock()
		for c := range all {
			_ = c.Conn.Close()
		}
	})
}

// errDial says that no connection was made, so nothing was sent.
var errDial = errors.New("no connection")

func undialled(err error) error { return fmt.Errorf("%w: %w", errDial, err) }

// dial makes a connection on which the other side has agreed to take what is carried.
func (l *link) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	if l.to.Address == "" {
		return nil, undialled(errors.New("it does not say where it is reached"))
	}
	u, err := url.Parse(l.to.Address)
	if err != nil || u.Scheme != "https" {
		return nil, undialled(fmt.Errorf("%q is no address of a process", l.to.Address))
	}
	at := u.Host
	if u.Port() == "" {
		at = net.JoinHostPort(u.Hostname(), "443")
	}
	d := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 5 * time.Second,
		Count: 3}}
	raw, err := d.DialContext(ctx, "tcp", at)
	if err != nil {
		return nil, undialled(err)
	}
	c := &tracked{Conn: raw, of: l}
	if !l.track(c) {
		_ = raw.Close()
		return nil, undialled(net.ErrClosed)
	}
	secure := tls.Client(c, l.tls)
	if err = secure.HandshakeContext(ctx); err == nil && secure.ConnectionState().NegotiatedProtocol == "" {
		err = errors.New("what answers there does not take requests of other processes")
	}
	if err != nil {
		_ = c.Close()
		return nil, undialled(err)
	}
	return secure, nil
}

// tracked is a connection that the link closes when it ends.
type tracked struct {
	net.Conn
	of *link
}

func (l *link) track(c *tracked) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		return false
	}
	l.open[c] = struct{}{}
	return true
}

// Close implements net.Conn.
func (c *tracked) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// try sends a request once.
func (l *link) try(r *http.Request) (*http.Response, error) {
	out := r.WithContext(r.Context())
	var b *body
	if r.Body != nil && r.Body != http.NoBody {
		b = &body{from: r.Body}
		out.Body = b
	}
	res, err := l.transport.RoundTrip(out)
	if err != nil {
		if b != nil {
			_ = b.Close() // whatever still reads is too late
		}
		return nil, err
	}
	return res, nil
}

// reached is closed while the process is believed to be reached.
func (l *link) reached() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ready
}

// fails notes that the process was not reached, and looks until it is.
func (l *link) fails(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return
	}
	l.down, l.ready = true, make(chan struct{})
	if l.life.Err() == nil {
		l.log.Warn("the process that serves is not reached", "address", l.to.Address, "error", explain(err))
	}
	go l.look()
}

func (l *link) look() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.life.Done():
			return
		case <-tick.C:
		}
		c, err := l.dial(l.life, "", "")
		if err != nil {
			continue
		}
		_ = c.Close()
		l.mu.Lock()
		l.down = false
		close(l.ready)
		l.mu.Unlock()
		l.log.Info("the process that serves is reached again", "address", l.to.Address)
		return
	}
}

// explain says what to do about an error that has a remedy.
func explain(err error) error {
	what := ""
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	switch {
	case unknown:
		what = "it has another certificate authority: copy ca.pem and ca-key.pem of one data directory to the other"
	case name:
		what = "its certificate is for other names: another machine answers there; --advertise of the process that " +
			"serves names its own"
	case strings.Contains(err.Error(), "no application protocol"):
		what = "what answers there does not take requests of other processes: an earlier version, or something in " +
			"between that ends TLS"
	case strings.Contains(err.Error(), "remote error: tls: internal error"):
		what = "it does not serve yet, or no longer"
	default:
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}
