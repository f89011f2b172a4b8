package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/service/renew"
	"coffer/api/service/store"
	"coffer/api/service/store/pg"
)

// DatabaseFile is the name of the database in the data directory.
const DatabaseFile = "coffer.db"

// attachWait bounds how long OpenOrAttach tries; attachPause is the pause between two tries.
const (
	attachWait  = 3 * time.Second
	attachPause = 40 * time.Millisecond
)

// errOtherNetwork says that the data directory was replaced while this process was attached to it.
var errOtherNetwork = errors.New("another network has taken the place of the one in the data directory")

// Attachment is a way to the service of a data directory: the service itself when this process is the first, or the
// local socket of the process that holds the database. It is an http.RoundTripper that needs no key over the socket; in
// process the key is APIKey.
type Attachment struct {
	Network network.Descriptor
	BaseURL string // for requests through this RoundTripper; the host is not dialled
	APIKey  string // good in this process only, unless Options.StoredKeys and a stored key rule it out

	dir  string
	opts Options
	turn chan struct{} // held by who looks for a way: it takes time, so waiting for it must be able to end
	life context.Context
	end  context.CancelFunc

	mu     sync.Mutex // guards the fields below, never held while waiting
	way    http.RoundTripper
	own    *owner // set when this process holds the database
	closed bool
}

// owner is what a process runs that holds the database.
type owner struct {
	store   store.Store
	service *Service
	nodes   *Nodes // nil without endpoints
	refused error  // why there are none that were asked for
	socket  string
	stop    context.CancelFunc
	stopped chan error
}

// OpenOrAttach opens the service in a data directory, or attaches to the process that has it open. A socket that a dead
// process left is taken over. It tries for 3 seconds at most; the error then wraps store.ErrInUse and says who holds
// the database. o.Store and o.Dir are set by it. Where there was a network and its seed cannot be read it is ErrLost:
// no other one takes its place in silence. A network of another generation is made anew (package renew); Earlier tells.
func OpenOrAttach(ctx context.Context, dir string, o Options) (*Attachment, error) {
	o, err := o.withDefaults()
	if err == nil {
		err = checkDir(dir)
	}
	if err != nil {
		return nil, err
	}
	if o.New {
		if o.Database != nil || InFile(dir) != nil {
			return nil, errors.New("a new network begins in an empty database and an empty data directory")
		}
		aside, err := moveAside(dir, o.Clock())
		if err != nil {
			return nil, err
		}
		if aside != "" {
			o.Log.Warn("a new network begins; what was there was moved aside", "to", aside)
		}
	}
	a := &Attachment{BaseURL: "https://" + localHost + o.BasePath, APIKey: o.APIKey, dir: dir, opts: o,
		turn: make(chan struct{}, 1)}
	a.life, a.end = context.WithCancel(context.Background())
	if _, err := a.takeOver(ctx, nil); err != nil {
		a.end()
		return nil, err
	}
	return a, nil
}

// Attached reports whether another process runs the service.
func (a *Attachment) Attached() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.own == nil
}

// Service is the service in this process, nil while attached to another one.
func (a *Attachment) Service() *Service {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.own == nil {
		return nil
	}
	return a.own.service
}

// StoreBytes is the size of the database that this process holds.
func (a *Attachment) StoreBytes() (int64, error) {
	a.mu.Lock()
	own := a.own
	a.mu.Unlock()
	if own == nil {
		return 0, store.ErrClosed
	}
	if s, ok := own.store.(*pg.Store); ok {
		return s.Size()
	}
	info, err := os.Stat(filepath.Join(a.dir, DatabaseFile))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Lost is a context that ends when another process has taken the database from this one, or when another database is in
// its place, which only PostgreSQL lets happen.
func (a *Attachment) Lost() context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.own != nil {
		if s, ok := a.own.store.(*pg.Store); ok {
			return s.Lost()
		}
	}
	return context.Background()
}

// Nodes are the endpoints of the chains in this process. None are in one that is attached to another: that one has
// them. The error says why there are none that Options.Nodes asked for.
func (a *Attachment) Nodes() ([]Node, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.own == nil && a.opts.Nodes != nil:
		return nil, ErrNoNodes
	case a.own == nil || a.own.nodes == nil:
		return nil, a.own.refusal()
	}
	return a.own.nodes.List, nil
}

func (o *owner) refusal() error {
	if o == nil {
		return nil
	}
	return o.refused
}

// RoundTrip implements http.RoundTripper. When the other process has gone before a byte was sent, its place is taken
// over and the request goes on; a request that was cut off later returns its error, as its outcome is unknown.
func (a *Attachment) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := takeBody(req)
	if err != nil {
		return nil, err
	}
	way, err := a.current()
	if err != nil {
		return nil, err
	}
	res, err := way.RoundTrip(prepared(way, req, body))
	if !errors.Is(err, errDial) || req.Context().Err() != nil {
		return res, err
	}
	if way, err = a.takeOver(req.Context(), way); err != nil {
		return nil, err
	}
	return way.RoundTrip(prepared(way, req, body))
}

func prepared(way http.RoundTripper, req *http.Request, body []byte) *http.Request {
	if _, socket := way.(*http.Transport); socket {
		return overSocket(req, body)
	}
	return serverRequest(req, body)
}

func (a *Attachment) current() (http.RoundTripper, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, store.ErrClosed
	}
	return a.way, nil
}

// takeOver finds a new way in place of a dead one, unless somebody else already has.
func (a *Attachment) takeOver(ctx context.Context, dead http.RoundTripper) (http.RoundTripper, error) {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	way, err := a.current()
	if err != nil || way != dead {
		return way, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.life, cancel)()
	if err := a.find(ctx); err != nil {
		return nil, err
	}
	return a.current()
}

// find opens the database or reaches its holder, whichever succeeds first within attachWait. The turn is held.
func (a *Attachment) find(ctx context.Context) error {
	d, err := toServe(a.dir, a.opts.Database)
	if err != nil {
		return err
	}
	wait := attachWait
	if a.opts.Once {
		wait = 0
	}
	return reachStore(ctx, a.dir, wait,
		func() error {
			if err := a.check(d.check()); err != nil {
				return err
			}
			err := a.open(ctx, d)
			if !renewable(err) {
				return err
			}
			if d.text != "" {
				return fmt.Errorf("%w (%w)", errGeneration, err)
			}
			if err := renew.Run(ctx, a.opts.renewal(a.dir)); err != nil {
				return err
			}
			a.opts.Log.Warn("the network was made anew with the contracts of this program; clients need the new "+
				NetworkFile, "directory", a.dir)
			return a.open(ctx, d)
		},
		func(way *http.Transport) (bool, error) { return false, a.reach(ctx, way) })
}

// open becomes the holder of the database. The turn is held.
func (a *Attachment) open(ctx context.Context, d database) error {
	money, err := a.opts.money()
	if err != nil {
		return err
	}
	s, err := d.open(ctx, pg.Options{Holder: "coffer", Address: a.opts.Address, Shared: a.opts.Shared, Money: money,
		Log: a.opts.Log})
	if err != nil {
		return err
	}
	return a.become(d, s)
}

// money reports whether the network is about more than play money.
func (o Options) money() (bool, error) {
	if o.Networks == "" {
		return false, nil
	}
	file, err := networks.Load(o.Networks)
	return err == nil && file.Kind != network.Lab, err
}

// check is what a check for a lost network found, unless a new one begins on purpose. The turn is held.
func (a *Attachment) check(err error) error {
	if a.opts.New && errors.Is(err, ErrLost) {
		return nil
	}
	return err
}

// use makes a way the current one.
func (a *Attachment) use(way http.RoundTripper, own *owner, d network.Descriptor) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Network.ID == "" {
		a.Network = d // once, before the Attachment is handed out: later ways lead to the same network
	}
	a.way, a.own = way, own
}

// reach attaches to the process behind the socket.
func (a *Attachment) reach(ctx context.Context, t *http.Transport) error {
	d, err := askDescriptor(ctx, t, a.opts.BasePath)
	if err != nil {
		return err
	}
	if a.Network.ID != "" && a.Network.ID != d.ID {
		return errOtherNetwork
	}
	a.use(t, nil, d)
	return nil
}

// become opens the service on the database and listens on the socket for others. Without a socket the service runs all
// the same: only a second process would miss it.
func (a *Attachment) become(d database, s store.Store) error {
	o := a.opts
	o.Store, o.Dir = s, a.dir
	err := a.check(checkSeed(a.dir, s))
	if err == nil {
		o.expected, err = d.expected()
	}
	if err != nil {
		return errors.Join(err, s.Close())
	}
	svc, err := Open(o)
	if err == nil && a.Network.ID != "" && a.Network.ID != svc.Network().ID {
		err = errors.Join(errOtherNetwork, svc.Close())
	}
	if err == nil {
		if err = d.remember(); err != nil {
			err = errors.Join(err, svc.Close())
		}
	}
	if err != nil {
		return errors.Join(err, s.Close())
	}
	own := &owner{store: s, service: svc, socket: filepath.Join(a.dir, SocketFile), stopped: make(chan error, 1)}
	var ctx context.Context
	ctx, own.stop = context.WithCancel(context.Background())
	if o.Nodes != nil { // the service runs all the same where the port is taken
		if own.nodes, own.refused = svc.ServeNodes(ctx, *o.Nodes); own.refused != nil {
			svc.opts.Log.Warn("the chains have no endpoints", "error", own.refused)
		}
	}
	if l, err := listenSocket(own.socket); err != nil {
		svc.opts.Log.Warn("no second process can attach", "error", err)
		own.stopped <- nil
	} else {
		go func() { own.stopped <- (port{log: svc.opts.Log}).run(ctx, l, svc.trusted, DefaultTimeouts()) }()
	}
	a.opts.New = false // it has begun: from now on it can be lost
	a.use(RoundTripper(svc.handler), own, svc.Network())
	return nil
}

// Close ends what this process runs: the socket, the service and the database. An attachment to another process is only
// let go. Requests after Close fail with store.ErrClosed.
func (a *Attachment) Close() error {
	a.end()              // whoever looks for a way gives up
	a.turn <- struct{}{} // and has given up
	defer func() { <-a.turn }()
	a.mu.Lock()
	own := a.own
	a.own, a.closed = nil, true
	a.mu.Unlock()
	if own == nil {
		return nil
	}
	err := removeSocket(own.socket) // first, so that nobody dials a socket that will not answer
	own.stop()
	if own.nodes != nil {
		err = errors.Join(err, own.nodes.Close())
	}
	return errors.Join(err, <-own.stopped, own.service.Close(), own.store.Close())
}
