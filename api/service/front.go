package service

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"coffer/api"
	"coffer/api/files"
	"coffer/api/service/forward"
	"coffer/api/service/httpapi"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/store/pg"
	"coffer/api/text"
)

// ErrAdvertise says that other processes could not reach this one where it says.
var ErrAdvertise = errors.New("the address for other processes")

// ErrEndpoints says that the ports of the endpoints could not be opened.
var ErrEndpoints = errors.New("endpoints")

// FrontOptions say where a Front listens and how others of the same database reach it. Advertise is an URL,
// https://HOST:PORT; "" means that of Listen, which then must name one address where Alone is not set. RPC, when its
// Listen is set, is where the chains will have endpoints. Meter is told of what was forwarded, nil for none.
type FrontOptions struct {
	ServeOptions
	Advertise string
	Alone     bool          // no other process has to reach this one
	Hold      time.Duration // that a request waits for a process that serves, 0 for the usual
	BasePath  string
	RPC       NodesOptions
	Database  *pg.Address // that the processes have, which the data directory remembers from Keep on; nil: it does not
	Meter     Meter
	Log       *slog.Logger
}

// Front is a port that is open from the start. Until this process serves it forwards what comes in to the one that does
// (package forward), and takes nothing from others; then the same port is that of the service.
type Front struct {
	*Running
	Address string // where other processes of the same database reach this one, "" when they cannot

	o        FrontOptions
	names    *httpapi.RequestIDs
	api, rpc *forward.Forwarder
	known    forward.Process // that was named last
	to       atomic.Pointer[string]
	between  *tls.Config // of connections of other processes
	begun    chan struct{}
	service  atomic.Pointer[Service] // once it serves

	ports  *Nodes // of the endpoints
	handed atomic.Pointer[http.Server]
	at     string // their address
	noNext bool   // another program has the port above
	hosts  jsonrpc.Options
	main   atomic.Pointer[http.Handler] // of the endpoints, once they are there
	next   atomic.Pointer[http.Handler] // of the port above
}

// OpenFront listens until ctx ends. It writes nothing.
func OpenFront(ctx context.Context, o FrontOptions) (_ *Front, err error) {
	if o.Advertise, err = checkAdvertised(o); err != nil {
		return nil, err
	}
	f := &Front{o: o, begun: make(chan struct{}), ports: &Nodes{}}
	if f.names, err = httpapi.NewRequestIDs(rand.Reader); err != nil {
		return nil, err
	}
	if u, err := url.Parse(o.Advertise); err == nil && u.Host != "" && !slices.Contains(o.Host, u.Hostname()) {
		f.o.Host = append(slices.Clone(o.Host), u.Hostname())
	}
	f.o.Certified = Certify(o.Dir, f.o.Host, time.Now())
	if err := f.trust(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer func() {
		if err != nil {
			stop()
		}
	}()
	p := port{clock: time.Now, log: o.Log, names: f.names, base: o.BasePath,
		refused: f.plainRefused, between: f.process, calls: &f.handed}
	if f.Running, err = p.serve(ctx, f.o.ServeOptions, f); err != nil {
		return nil, err
	}
	if o.Advertise != "" {
		f.Address = o.Advertise
		if u, err := url.Parse(o.Advertise); err == nil && u.Port() == "0" { // that of Listen, which took a free one
			f.Address = "https://" + net.JoinHostPort(u.Hostname(), portOf(f.Addr.String()))
		}
	}
	if err := f.openEndpoints(ctx); err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() {
		f.api.Close(shutdownTimeout)
		f.rpc.Close(0)
		_ = f.endCalls()
	})
	return f, nil
}

// trust makes what this process shows to others of the database, and what it demands of them.
func (f *Front) trust() error {
	c := f.o.Certified
	if err := c.made(); err != nil {
		return err
	}
	shown, err := c.ca.certificate(nil, x509.ExtKeyUsageClientAuth, time.Now())
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AddCert(c.ca.cert)
	f.between = &tls.Config{Certificates: []tls.Certificate{c.leaf}, MinVersion: tls.VersionTLS13,
		NextProtos: []string{forward.API, forward.RPC}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: roots,
		SessionTicketsDisabled: true}
	o := forward.Options{Carries: forward.API, Hold: f.o.Hold, Log: f.o.Log, Refused: f.refuse,
		TLS: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{shown}, RootCAs: roots},
		// whoever watches asks how it is now
		Hurried: func(r *http.Request) bool { return r.URL.Path == "/healthz" },
		Proven:  func(r *http.Request) bool { return proven(r.Context()) },
		Answered: func(res *http.Response) {
			if res.Header.Get("X-Ratelimit-Limit") != "" { // only a good key is told of its window
				httpapi.Proved(res.Request.Context())
			}
		},
	}
	if f.o.Meter != nil {
		o.Done = func(status int, took time.Duration) {
			if status != 0 {
				f.o.Meter.Request(forwardedEndpoint, noPermission, status, took)
			}
		}
	}
	f.api = forward.New(o)
	o.Carries, o.Refused, o.Hurried, o.Proven, o.Answered, o.Done = forward.RPC, f.refuseCall, nil, nil, nil, nil
	o.Rewrite = func(out *http.Request) { out.Host = "localhost" } // this process has looked whose name it was
	f.rpc = forward.New(o)
	return nil
}

// forwardedEndpoint is what requests that another process answers are counted as.
const forwardedEndpoint = "forwarded"

// notYet is how long a connection of another process waits for this one to serve.
const notYet = time.Second

// process is the TLS of a connection on which another process hands requests over; nil for every other one. While this
// process does not serve there is none.
func (f *Front) process(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	wanted := hello.SupportedProtos
	if !slices.Contains(wanted, forward.API) && !slices.Contains(wanted, forward.RPC) {
		return nil, nil
	}
	wait := time.NewTimer(notYet)
	defer wait.Stop()
	select {
	case <-f.begun:
		return f.between, nil
	case <-hello.Context().Done():
	case <-wait.C:
	}
	return nil, errors.New("another process hands requests over, and this one does not serve")
}

// Keep writes to the data directory which database it is of, and a new certificate authority. Where they are, a network
// was served.
func (f *Front) Keep() error {
	err := f.o.Certified.kept(files.Replace)
	if err == nil && f.o.Database != nil {
		err = database{dir: f.o.Dir, text: f.o.Database.String()}.remember()
	}
	return err
}

// Lead says which process serves the database.
func (f *Front) Lead(p forward.Process) {
	if f.known == p {
		return
	}
	f.known = p
	f.to.Store(&p.Address)
	if p.Address != "" {
		f.o.Log.Info("forwarding to the process that serves", "address", p.Address, "process", p.Name, "since", p.Since)
	} else {
		f.o.Log.Error("the process that serves does not tell where it is reached, so nothing can be forwarded: start "+
			"it with this version, and with --advertise where it listens on every address", "process", p.Name)
	}
	f.api.To(p)
	f.rpc.To(p)
}

// To is where requests are forwarded to, "" when they are not.
func (f *Front) To() string {
	if to := f.to.Load(); to != nil && f.service.Load() == nil {
		return *to
	}
	return ""
}

// Serve lets a service answer from now on. Its endpoints, if any, were opened with NodesOptions.Front.
func (f *Front) Serve(s *Service) (*Running, error) {
	if err := f.Keep(); err != nil {
		return nil, err
	}
	if s.opts.ExplorerBase == "" {
		base := f.BaseURL
		if f.Address != "" {
			base = f.Address + f.o.BasePath
		}
		s.explorer.Store(&base)
	}
	f.service.Store(s)
	close(f.begun)
	f.api.Here()
	f.rpc.Here()
	return f.Running, nil
}

// ServeHTTP answers what came in at the port.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s, carries := f.service.Load(), ""
	if r.TLS != nil {
		carries = r.TLS.NegotiatedProtocol
	}
	if carries == forward.API || carries == forward.RPC {
		httpapi.Proved(r.Context()) // by its certificate
	}
	switch {
	case carries == forward.RPC:
		f.call(w, r, s != nil)
	case s != nil:
		s.handler.ServeHTTP(w, r)
	case carries == forward.API:
		f.refuse(w, r, forward.ErrNobody)
	case !f.api.Forward(w, r):
		f.service.Load().handler.ServeHTTP(w, r)
	}
}

// call answers a request for an endpoint that another process hands over.
func (f *Front) call(w http.ResponseWriter, r *http.Request, serves bool) {
	switch h := f.main.Load(); {
	case h != nil:
		(*h).ServeHTTP(w, r)
	case serves:
		http.Error(w, "the process that serves has no endpoints: start it with --rpc", http.StatusNotFound)
	default:
		f.refuseCall(w, r, forward.ErrNobody)
	}
}

// refusal is what a caller is told, and after how many seconds it may ask again, 0 for never.
func refusal(why error) (status int, message string, again int) {
	switch {
	case errors.Is(why, forward.ErrBroken):
		return http.StatusBadGateway, "The process that serves went away before it answered. It is not known what " +
			"became of the request: look it up before anything is sent again", 0
	case errors.Is(why, forward.ErrFull):
		return http.StatusServiceUnavailable, "Too many requests are under way here. Nothing was carried out: ask " +
			"again in a moment", 1
	}
	return http.StatusServiceUnavailable, "No process of the service answers at the moment. Nothing was carried out: " +
		"ask again in a moment", 2
}

// refuse answers a request that no process of the service has answered.
func (f *Front) refuse(w http.ResponseWriter, r *http.Request, why error) int {
	status, message, again := refusal(why)
	e := api.NewError(api.ErrUnavailable, "%s", message)
	e.StatusCode = status
	head, id := w.Header(), f.names.Next()
	head.Set("X-Request-Id", id)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Content-Type", "application/json")
	head.Set("Cache-Control", "no-store")
	if again > 0 {
		head.Set("Retry-After", strconv.Itoa(again))
	}
	doc, err := api.Encode(e)
	if err != nil { // it is bounded and always encodes
		w.WriteHeader(status)
		return status
	}
	raw := doc.Raw()
	head.Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(raw) // the caller may be gone
	}
	f.o.Log.Warn("request", "request", id, "method", text.Clean(r.Method, 16), "path",
		text.Clean(r.URL.Path, maxPath), "status", status, "error", why)
	return status
}

// refuseCall answers a call of an endpoint that no process has answered.
func (f *Front) refuseCall(w http.ResponseWriter, r *http.Request, why error) int {
	status, message, again := refusal(why)
	if again > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(again))
	}
	http.Error(w, message, status)
	f.o.Log.Warn("a call of an endpoint", "path", text.Clean(r.URL.Path, maxPath), "status", status, "error", why)
	return status
}

func (f *Front) plainRefused(r plainRequest) {
	if s := f.service.Load(); s != nil {
		s.plainRefused(r)
		return
	}
	f.o.Log.Warn("request", "request", r.id, "method", r.method, "path", r.path, "status", http.StatusUnauthorized,
		"plain", true)
}

// openEndpoints opens the ports of the endpoints.
func (f *Front) openEndpoints(ctx context.Context) error {
	o := f.o.RPC
	if o.Listen == "" {
		return nil
	}
	o.Front, o.Log = f, f.o.Log
	address, err := loopbackOnly(ctx, o.Listen, o.Remote)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return err
	}
	f.hosts = jsonrpc.Options{Hosts: append(slices.Clone(o.Hosts), host), Remote: o.Remote}
	l, err := f.ports.bind(ctx, address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrEndpoints, err)
	}
	f.at = reachable(l.Addr())
	f.ports.serve(l, f.calls(&f.main), o)
	if l, err = f.ports.bind(ctx, above(f.at, 1)); err != nil {
		f.noNext = true
		return nil
	}
	f.ports.serve(l, f.calls(&f.next), o)
	return nil
}

// calls answers one port of the endpoints: forwards until they are there.
func (f *Front) calls(here *atomic.Pointer[http.Handler]) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := here.Load()
		if h == nil {
			if !f.hosts.Answers(r.Host) {
				http.Error(w, "invalid host specified", http.StatusForbidden)
				return
			}
			if f.rpc.Forward(w, r) {
				return
			}
			h = here.Load()
		}
		(*h).ServeHTTP(w, r)
	})
}

// RPC is where the endpoints of the chains are, http://HOST:PORT, each below it at the id of its chain; "" without.
func (f *Front) RPC() string {
	if f.at == "" {
		return ""
	}
	return "http://" + f.at
}

// answer lets the endpoints be those of this process.
func (f *Front) answer(main, next http.Handler) {
	f.main.Store(&main)
	f.next.Store(&next)
}

// endCalls cuts off the calls of endpoints, those that other processes hand over too, before the chains end: a call
// that ends with them would say something else.
func (f *Front) endCalls() error {
	if s := f.handed.Load(); s != nil {
		_ = s.Close()
	}
	return f.ports.Close()
}

// waits reports whether this process does not serve.
func (f *Front) waits() bool { return f.service.Load() == nil }

// checkAdvertised is the URL by which other processes reach this one, with the port of Listen where it names none; ""
// when they cannot. Each error says what to write instead.
func checkAdvertised(o FrontOptions) (string, error) {
	const such = "such as https://10.0.0.1:8443"
	if o.Advertise == "" {
		host, number, err := net.SplitHostPort(o.Listen)
		if err != nil {
			return "", err
		}
		if ip := net.ParseIP(host); host != "" && (ip == nil || !ip.IsUnspecified()) {
			return "https://" + net.JoinHostPort(host, number), nil
		}
		if o.Alone {
			return "", nil
		}
		return "", fmt.Errorf("%w: %s is every address of this machine; name the one by which other processes reach "+
			"it, %s", ErrAdvertise, o.Listen, such)
	}
	u, err := url.Parse(o.Advertise)
	if err != nil {
		return "", fmt.Errorf("%w is no URL; give one %s", ErrAdvertise, such)
	}
	number, bad := strconv.ParseUint(u.Port(), 10, 16)
	ip := net.ParseIP(u.Hostname())
	switch {
	case u.User != nil:
		return "", fmt.Errorf("%w has a name or a password; leave it out: processes know each other by their "+
			"certificates", ErrAdvertise)
	case u.Scheme == "http":
		return "", fmt.Errorf("%w is for plain HTTP; the service speaks TLS alone: https://%s", ErrAdvertise,
			text.Clean(u.Host, math.MaxUint8))
	case u.Scheme != "https" || u.Hostname() == "":
		return "", fmt.Errorf("%w is no URL of HTTPS; give one %s", ErrAdvertise, such)
	case u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return "", fmt.Errorf("%w ends after its port: https://%s", ErrAdvertise, text.Clean(u.Host, math.MaxUint8))
	case u.Port() != "" && (bad != nil || number == 0):
		return "", fmt.Errorf("%w has a port from 1 to 65535, %s", ErrAdvertise, such)
	case ip != nil && ip.IsUnspecified():
		return "", fmt.Errorf("%w names every address of a machine; name one, %s", ErrAdvertise, such)
	}
	return "https://" + u.Host, nil
}
