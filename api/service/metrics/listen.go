package metrics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrNotLoopback says that a metrics listener was asked for where others could reach it.
var ErrNotLoopback = errors.New("metrics are served on a loopback address only, such as 127.0.0.1:9464")

// Bounds of the listener.
const (
	readTimeout     = 5 * time.Second
	writeTimeout    = 15 * time.Second
	shutdownTimeout = 2 * time.Second
	maxHeader       = 16 << 10
	maxAtOnce       = 4
)

// Handler answers GET /metrics.
func (m *Metrics) Handler() http.Handler {
	places := make(chan struct{}, maxAtOnce)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			http.Error(w, "too many scrapers at once", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(m.exposition()) // the scraper may be gone
	})
	return mux
}

// localOnly refuses a request that names a host other than this machine. A page in the operator's browser could
// otherwise read the figures under a name of its own that it lets mean 127.0.0.1.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocal(r.Host) {
			http.Error(w, "metrics are given under a loopback address or localhost only", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLocal reports whether a Host header, with or without a port, names this machine.
func isLocal(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") || ip != nil && ip.IsLoopback()
}

// Running is a listener at work. URL is what a scraper is given.
type Running struct {
	URL  string
	done chan struct{}
	err  error
}

// Wait returns when the listener has stopped: nil after an orderly end.
func (r *Running) Wait() error {
	<-r.done
	return r.err
}

// CheckAddress returns ErrNotLoopback for an address, host:port, that others could reach. A name is looked up: all its
// addresses must be loopback ones.
func CheckAddress(address string) error {
	_, err := resolve(context.Background(), address)
	return err
}

// resolve turns a loopback address into one without a name.
func resolve(ctx context.Context, address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("%w: %q is not an address and a port", ErrNotLoopback, address)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("%w: %q is not a port from 0 to 65535", ErrNotLoopback, port)
	}
	ip, err := loopback(ctx, host)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(ip, port), nil
}

// Listen answers on a loopback address, port 0 for a free one, until ctx ends. Where CheckAddress has an error nothing
// listens.
func (m *Metrics) Listen(ctx context.Context, address string, log *slog.Logger) (*Running, error) {
	address, err := resolve(ctx, address)
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	r := &Running{URL: "http://" + l.Addr().String() + "/metrics", done: make(chan struct{})}
	server := &http.Server{
		Handler: localOnly(m.Handler()), ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: time.Minute,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	go r.run(ctx, server, l)
	return r, nil
}

func (r *Running) run(ctx context.Context, server *http.Server, l net.Listener) {
	defer close(r.done)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		r.err = fmt.Errorf("metrics: %w", err)
		return
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if server.Shutdown(grace) != nil {
		_ = server.Close() // a scraper that does not end is cut off
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		r.err = fmt.Errorf("metrics: %w", err)
	}
}

// loopback returns the address of a host whose every address is a loopback one.
func loopback(ctx context.Context, host string) (string, error) {
	if ip := net.ParseIP(host); ip != nil {
		if !ip.IsLoopback() {
			return "", fmt.Errorf("%w: %s is none", ErrNotLoopback, ip)
		}
		return host, nil
	}
	if host == "" {
		return "", fmt.Errorf("%w: no host means every address", ErrNotLoopback)
	}
	var r net.Resolver
	ips, err := r.LookupIPAddr(ctx, host)
	if err != nil || len(ips) == 0 {
		return "", fmt.Errorf("%w: %q cannot be looked up", ErrNotLoopback, host)
	}
	for _, ip := range ips {
		if !ip.IP.IsLoopback() {
			return "", fmt.Errorf("%w: %q also means %s", ErrNotLoopback, host, ip.IP)
		}
	}
	return ips[0].IP.String(), nil
}
