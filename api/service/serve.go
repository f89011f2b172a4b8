package service

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"coffer/api/files"
	"coffer/api/service/httpapi"
)

// ServeOptions say where a service listens: Listen is host:port, port 0 for a free one; Dir is the data directory,
// where the certificate authority is kept; Host are further names or addresses that the certificate is for; Timeouts
// that are zero are those of DefaultTimeouts; Connections bounds those that are open at once, 0 means
// DefaultConnections. Certified is of the same directory and names, nil makes it now. Plain, for ServeHandler alone,
// listens without TLS where only this machine reaches it.
type ServeOptions struct {
	Listen      string
	Dir         string
	Host        []string
	Timeouts    Timeouts
	Connections int
	Certified   *Certified
	Plain       bool
}

// Timeouts bound a connection: Header the handshake and the header of a request, Read a whole request, Write the time
// from the end of the header to the end of the answer, Idle the pause between two requests.
type Timeouts struct{ Header, Read, Write, Idle time.Duration }

// DefaultTimeouts let the largest body through on a slow line and the slowest use case answer.
func DefaultTimeouts() Timeouts {
	return Timeouts{Header: 10 * time.Second, Read: 30 * time.Second, Write: writeTimeout, Idle: 2 * time.Minute}
}

func (t Timeouts) withDefaults() Timeouts {
	d := DefaultTimeouts()
	return Timeouts{cmp.Or(t.Header, d.Header), cmp.Or(t.Read, d.Read), cmp.Or(t.Write, d.Write),
		cmp.Or(t.Idle, d.Idle)}
}

// Bounds of a server that nobody has to change.
const (
	writeTimeout    = 90 * time.Second
	shutdownTimeout = 10 * time.Second
	maxHeader       = 96 << 10 // bytes of a request's header
	maxStreams      = 100      // requests under way on one HTTP/2 connection
	pingAfter       = 30 * time.Second
)

// Running is a service that listens. BaseURL is what a client is given, such as https://127.0.0.1:8443/api; CAFile is
// the certificate that the client must trust.
type Running struct {
	BaseURL string
	CAFile  string
	Addr    net.Addr

	done chan struct{}
	err  error
}

// Done is closed when the server has stopped.
func (r *Running) Done() <-chan struct{} { return r.done }

// Wait returns when the server has stopped: nil after an orderly end.
func (r *Running) Wait() error {
	<-r.done
	return r.err
}

// Serve listens on TLS 1.2 or later until the context ends; then it finishes the requests that are under way and stops.
// Plain HTTP gets one 401 and its connection is closed. The service itself stays open.
func (s *Service) Serve(ctx context.Context, o ServeOptions) (*Running, error) {
	p := port{clock: s.opts.Clock, log: s.opts.Log, names: s.requests, refused: s.plainRefused, base: s.opts.BasePath,
		writer: s.opts.writer()}
	if s.opts.ExplorerBase == "" { // a listener gives its address unless Options named one
		p.named = func(url string) { s.explorer.Store(&url) }
	}
	return p.serve(ctx, o, s.handler)
}

// ServeHandler listens as Serve does, for another handler than that of a service.
func ServeHandler(ctx context.Context, o ServeOptions, h http.Handler, clock func() time.Time, random io.Reader,
	log *slog.Logger) (*Running, error) {
	names, err := httpapi.NewRequestIDs(random)
	if err != nil {
		return nil, err
	}
	if o.Plain {
		if err := CheckLocal(ctx, o.Listen, false); err != nil {
			return nil, err
		}
	}
	p := port{clock: clock, log: log, names: names, writer: files.Replace, refused: func(r plainRequest) {
		log.Warn("request", "request", r.id, "method", r.method, "path", r.path, "status", http.StatusUnauthorized,
			"plain", true)
	}}
	return p.serve(ctx, o, h)
}

// port is a listener over TLS: what it needs of its owner. named, when set, is told the URL before anything is served;
// between, when set, is the TLS of connections of other processes. Without a writer a new certificate authority is not
// written.
type port struct {
	clock   func() time.Time
	log     *slog.Logger
	names   *httpapi.RequestIDs
	refused func(plainRequest)
	base    string
	writer  writer
	named   func(url string)
	between func(*tls.ClientHelloInfo) (*tls.Config, error)
	calls   *atomic.Pointer[http.Server] // gets the server of calls that other processes hand over
}

func (p port) serve(ctx context.Context, o ServeOptions, h http.Handler) (_ *Running, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("serve: %w", err)
		}
	}()
	r := &Running{done: make(chan struct{})}
	var certified *Certified
	if o.Plain {
		err = errors.Join(os.MkdirAll(o.Dir, 0o700), checkDir(o.Dir))
	} else if certified, err = p.certify(o); err == nil {
		r.CAFile = certified.ca.file
	}
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return nil, err
	}
	r.BaseURL, r.Addr = "https://"+reachable(listener.Addr())+p.base, listener.Addr()
	if p.named != nil {
		p.named(r.BaseURL)
	}
	few := newBoundListener(listener, o.Connections, p.clock, func(what string, closed, bound int) {
		p.log.Warn("connections are closed: "+what, "closed", closed, "bound", bound)
	})
	if o.Plain {
		r.BaseURL = "http://" + reachable(listener.Addr()) + p.base
		go func() {
			r.err = p.run(ctx, few, h, o.Timeouts.withDefaults())
			close(r.done)
		}()
		return r, nil
	}
	secure := tls.NewListener(plainListener{few, p.clock, p.names, p.refused}, &tls.Config{
		Certificates: []tls.Certificate{certified.leaf}, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"}, Time: p.clock, GetConfigForClient: p.between,
	})
	context.AfterFunc(ctx, func() {
		p.log.Info("stopping: requests under way are finished first", "within", shutdownTimeout.String())
	})
	go func() {
		r.err = p.run(ctx, secure, h, o.Timeouts.withDefaults())
		close(r.done)
	}()
	return r, nil
}

// certify is what TLS needs, with its files written.
func (p port) certify(o ServeOptions) (*Certified, error) {
	certified := o.Certified
	if certified == nil {
		certified = Certify(o.Dir, o.Host, p.clock())
	}
	if p.writer == nil {
		return certified, certified.made()
	}
	return certified, certified.kept(p.writer)
}

// reachable is host:port for a client on this machine: the address listened on, or the loopback address when that is
// every address.
func reachable(at net.Addr) string {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return at.String()
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// run serves one listener until the context ends or the listener fails.
func (p port) run(ctx context.Context, l net.Listener, h http.Handler, t Timeouts) error {
	server := p.server(h, t)
	if p.between != nil {
		calls := p.server(h, t)
		p.calls.Store(calls)
		takeHanded(server, p.server(h, t), calls, l.Addr())
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err := server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if ended := <-failed; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// server is one of net/http with the bounds of a port.
func (p port) server(h http.Handler, t Timeouts) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: t.Header, ReadTimeout: t.Read, WriteTimeout: t.Write, IdleTimeout: t.Idle,
		MaxHeaderBytes: maxHeader,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams, SendPingTimeout: pingAfter,
			PingTimeout: t.Header, WriteByteTimeout: t.Write},
		ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelWarn),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if b := boundBelow(c); b != nil {
				return httpapi.WithProof(context.WithValue(ctx, connKey{}, b), b.proved)
			}
			return ctx
		},
		ConnState: func(c net.Conn, now http.ConnState) {
			if b := boundBelow(c); b != nil {
				b.state(now)
			}
		},
	}
}
