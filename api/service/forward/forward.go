// Package forward carries requests from a process that waits for its turn to the one that serves.
//
// Where that one is reached it has written into the database, with its claim; the process that waits reads it there
// and calls To. Between the two is TLS in both directions, on the port that clients use: each shows a certificate of
// the authority that both have a copy of, and what a connection carries is agreed on in its handshake (API, RPC). A
// client has no such certificate and can therefore not appear as a process, whatever headers it sends; no header is
// added either: a request keeps its key, and nothing else says who asks. A process that does not serve takes no such
// connection, so nothing goes in a circle.
//
// Promise: a request is carried out at most once. It is tried again only when no connection was made for it, or when
// it asks without changing anything (GET, HEAD) and no answer had begun. Without an answer it ends as one of unknown
// outcome, and the connection of the client is cut where the answer has begun. While nothing can be reached a request
// waits for Options.Hold at most. Bodies are streamed. Requests under way, those of them that a connection without a
// good key brings, connections to the other process and WebSocket connections are bounded.
//
// A version of the program may carry requests for another: they go through as they are.
package forward

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// What a connection between two processes carries, as the handshake of TLS names it (ALPN).
const (
	API = "coffer-api/1" // requests of the service
	RPC = "coffer-rpc/1" // JSON-RPC of the chains
)

// Bounds of what is under way. Those of connections leave room for clients: the process that serves takes a quarter of
// all its connections from one address.
const (
	maxRequests  = 512
	maxUnproven  = 384 // of them, from connections that brought no good key yet
	maxLinks     = 80  // that carry a request
	maxLinksOfNo = 56  // of them, without a good key
	maxSockets   = 64
	idleLinks    = 16
	idleFor      = time.Minute // shorter than the other side's, which may not close one that is about to be used
	answerWithin = 90 * time.Second
	maxHeader    = 96 << 10
)

// Process is one that serves. Address is where it is reached, https://HOST:PORT, "" when it does not tell.
type Process struct {
	Address string
	Name    string
	Since   time.Time
}

// Errors that Options.Refused is told. In each but ErrBroken the request was not carried out.
var (
	// ErrNobody says that the process that serves was not reached in time.
	ErrNobody = errors.New("no process serves at the moment")
	// ErrFull says that as many requests are under way as may be.
	ErrFull = errors.New("too many requests are under way")
	// ErrBroken says that the other process did not answer: what became of the request is not known.
	ErrBroken = errors.New("the process that serves did not answer")
)

// Options say how requests are carried. Carries is API or RPC. TLS shows the certificate of this process and knows the
// authority; the name of the server and what is carried are set here.
type Options struct {
	Carries string
	TLS     *tls.Config
	Hold    time.Duration // that a request waits at most for a process that serves; 0 means 5 s
	Log     *slog.Logger
	// Refused writes the answer to a request that was not answered, and returns its status.
	Refused func(w http.ResponseWriter, r *http.Request, why error) (status int)
	// Rewrite changes what is sent; nil for nothing.
	Rewrite func(out *http.Request)
	// Hurried reports whether a request is to be refused at once when it cannot be carried now; nil: none is.
	Hurried func(*http.Request) bool
	// Proven reports whether a request is of a client that has shown a good key; nil: all are.
	Proven func(*http.Request) bool
	// Answered is told of each answer of the other process, Done of each request that has ended here; nil for nothing.
	Answered func(*http.Response)
	Done     func(status int, took time.Duration)
}

// Forwarder carries requests. It is safe for concurrent use.
type Forwarder struct {
	o        Options
	requests places
	links    places
	sockets  chan struct{}

	mu      sync.Mutex
	link    *link         // to the process that serves; nil while none is known
	changed chan struct{} // closed and replaced when link or over changes
	over    error         // errHere, or ErrNobody once it has ended
}

// errHere hands a request back: this process serves by now.
var errHere = errors.New("this process serves")

// New makes a forwarder that knows no process yet.
func New(o Options) *Forwarder {
	o.Hold = cmp.Or(o.Hold, 5*time.Second)
	return &Forwarder{o: o, changed: make(chan struct{}), requests: newPlaces(maxRequests, maxUnproven),
		links: newPlaces(maxLinks, maxLinksOfNo), sockets: make(chan struct{}, maxSockets)}
}

// To says who serves now. Requests that wait go there; those under way at another one are cut off after a moment.
func (f *Forwarder) To(p Process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over != nil || f.link != nil && f.link.to == p {
		return
	}
	f.replace(newLink(f.o, p), grace)
}

// Here says that this process serves from now on: requests that wait are handed back.
func (f *Forwarder) Here() { f.end(errHere, grace) }

// Close refuses the requests that wait, and cuts off those that are under way after so long.
func (f *Forwarder) Close(within time.Duration) { f.end(ErrNobody, within) }

func (f *Forwarder) end(why error, within time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over == nil {
		f.over = why
		f.replace(nil, within)
	}
}

// replace takes another link; the lock is held.
func (f *Forwarder) replace(l *link, within time.Duration) {
	if f.link != nil {
		f.link.end(within)
	}
	f.link = l
	close(f.changed)
	f.changed = make(chan struct{})
}

// now is the link of the moment, and what is closed when there is another.
func (f *Forwarder) now() (*link, <-chan struct{}, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.link, f.changed, f.over
}

// task is one request on its way.
type task struct {
	ctx    context.Context // ends when it has waited as long as it may
	status int             // of the answer
}

// Forward carries a request out and reports true. It reports false, and has done nothing, when this process serves by
// now.
func (f *Forwarder) Forward(w http.ResponseWriter, r *http.Request) (done bool) {
	begun, hold := time.Now(), f.o.Hold
	if f.o.Hurried != nil && f.o.Hurried(r) {
		hold = 0
	}
	t := &task{}
	var waited context.CancelFunc
	t.ctx, waited = context.WithTimeout(r.Context(), hold)
	defer waited()
	leave, err := f.enter(t, r)
	if err == nil {
		defer leave()
		err = f.pass(t, w, r)
	}
	if errors.Is(err, errHere) {
		return false
	}
	if err != nil && r.Context().Err() == nil {
		t.status = f.o.Refused(w, r, err)
	}
	if f.o.Done != nil {
		f.o.Done(t.status, time.Since(begun))
	}
	return true
}

// enter takes the places of a request.
func (f *Forwarder) enter(t *task, r *http.Request) (leave func(), err error) {
	if f.isSocket(r) {
		select {
		case f.sockets <- struct{}{}:
			return func() { <-f.sockets }, nil
		default:
			return nil, ErrFull
		}
	}
	proven := f.o.Proven == nil || f.o.Proven(r)
	first, ok := f.requests.take(nil, proven)
	if !ok {
		return nil, ErrFull
	}
	second, ok := f.links.take(t.ctx.Done(), proven)
	if !ok {
		first()
		if _, _, over := f.now(); over != nil {
			return nil, over
		}
		return nil, ErrFull
	}
	return func() { second(); first() }, nil
}

// places are bounded, and so is the part of them for clients without a good key.
type places struct{ all, unproven chan struct{} }

func newPlaces(all, unproven int) places {
	return places{make(chan struct{}, all), make(chan struct{}, unproven)}
}

// take takes a place, at once where there is one; else until end is closed, nil for not at all.
func (p places) take(end <-chan struct{}, proven bool) (leave func(), ok bool) {
	if !proven && !occupy(p.unproven, end) {
		return nil, false
	}
	if !occupy(p.all, end) {
		if !proven {
			<-p.unproven
		}
		return nil, false
	}
	return func() {
		<-p.all
		if !proven {
			<-p.unproven
		}
	}, true
}

func occupy(place chan struct{}, end <-chan struct{}) bool {
	select {
	case place <- struct{}{}:
		return true
	default:
	}
	if end == nil {
		return false
	}
	select {
	case place <- struct{}{}:
		return true
	case <-end:
		return false
	}
}

// send waits for a process that serves and sends the request.
func (f *Forwarder) send(t *task, r *http.Request) (*http.Response, error) {
	for {
		l, changed, over := f.now()
		if over != nil {
			return nil, over
		}
		var reached <-chan struct{} // nil while no process is known
		if l != nil {
			select {
			case <-l.reached():
				res, err := l.try(r)
				if err == nil || r.Context().Err() != nil {
					return res, err
				}
				if !errors.Is(err, errDial) && !asks(r) {
					f.o.Log.Warn("a request was cut off: its outcome is not known", "what", f.o.Carries, "error", err)
					return nil, ErrBroken
				}
				l.fails(err)
			default:
			}
			reached = l.reached()
		}
		select {
		case <-changed:
		case <-reached:
		case <-t.ctx.Done():
			return nil, ErrNobody
		}
	}
}

// asks reports whether a request changes nothing, so that it may be sent again.
func asks(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && (r.Body == nil || r.Body == http.NoBody)
}

// body lets a try read the body of a request until it has ended, and leaves the body open for the next one.
type body struct {
	mu    sync.Mutex
	from  io.Reader
	ended bool
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return 0, http.ErrBodyReadAfterClose
	}
	return b.from.Read(p)
}

// Close ends the try.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	return nil
}
