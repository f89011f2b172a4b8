// Package httpapi is the HTTP layer of the service: it finds the route, asks the authenticator, bounds and checks the
// body, calls one use case and writes the answer. No use case knows HTTP.
//
// Promise: every answer is application/json (the explorer page is HTML) and every failure has the documented error body
// with an `error` from protocol §6; a panic becomes a 500 without detail; no key reaches a log line; encoding is
// deterministic. The handler is safe for concurrent use.
//
// Sources: docs/interface.md, protocol §6 and §7.
package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/service/access"
	"coffer/api/service/deployment"
	"coffer/api/service/portfolio"
	"coffer/api/service/quotestore"
	"coffer/api/service/store"
	"coffer/api/text"
)

// Quoter prepares and prices; the documents have passed api.Rules.
type Quoter interface {
	Prepare(context.Context, *api.Document) (*api.Document, error)
	PrepareV1(context.Context, *api.Document) (*api.Document, error)
	CallQuote(context.Context, *api.Document) (*api.Document, error)
	CallQuoteV1(context.Context, *api.Document) (*api.Document, error)
	Quote(context.Context, *api.Document) (*api.Document, error)
	QuoteV1(context.Context, *api.Document) (*api.Document, error)
}

// Settler executes quotes; the document has passed api.Rules.
type Settler interface {
	Execute(context.Context, *api.Document) (*api.Document, error)
	ExecuteV1(context.Context, *api.Document) (*api.Document, error)
}

// Relay answers for the code at addresses and the roles of role-based accounts, and carries what their admins or
// EOAs signed; the document has passed api.Rules.
type Relay interface {
	Code(context.Context, []caip.Account) (api.CodeResponse, error)
	Relay(context.Context, *api.Document) (*api.Document, error)
	Undelegate(context.Context, *api.Document) (*api.Document, error)
	Roles(ctx context.Context, chain caip.Chain, account common.Address) (api.RolesResponse, error)
}

// Records answers status and history. The bool of Status is false for an unknown quote id.
type Records interface {
	Status(ctx context.Context, quoteID string) (api.ExecutionStatus, bool, error)
	History(context.Context, quotestore.HistoryQuery) (quotestore.Page, error)
}

// Condition is whether the service can work. Both errors say why not; Ready may wait a little before it returns one.
type Condition interface {
	Ready(context.Context) error
	Health() error
}

// Config is what the layer stands on. BasePath is "" or begins with a slash and does not end with one.
type Config struct {
	BasePath string
	Auth     access.Authenticator
	Network  *deployment.Network
	// Earlier, when set, are the networks whose place this one took; the explorer shows their transactions, too.
	Earlier       func() []*deployment.Network
	YieldToWriter func() // waits, before a request reads, while the store wants to be alone
	Portfolio     *portfolio.Portfolio
	Quoter        Quoter
	Settler       Settler
	Records       Records
	Relay         Relay // nil: the routes of openapi.RelayPaths are absent
	Clock         func() time.Time
	IDs           *RequestIDs // names the requests; nil: New draws names from Random
	Random        io.Reader   // for the names of requests
	Log           *slog.Logger
	// Private puts the explorer pages behind a key that may read.
	Private bool
	// ExplorerBase is the URL up to and with the base path under which a browser finds the explorer pages.
	ExplorerBase func() string
	// Descriptor, when set, makes GET {base}/network.json answer with the network's descriptor: the local socket has
	// it, the open port does not, as a wallet must not take pins from an answer.
	Descriptor *network.Descriptor
	// Condition, when set, keeps quotes and executions back while the service cannot make them, and is what GET
	// /healthz tells.
	Condition Condition
	// Observe, when set, is told of every request: the route's path below the base, "/explorer" for its pages, "" when
	// there is no such route, the status and the time taken.
	Observe func(endpoint string, status int, took time.Duration)
}

type handler struct {
	Config
	routes      map[string]map[string]route // path below the base → method → route
	limits      api.Limits
	explorer    *explorer
	large       largeBodies
	description func() (*api.Document, error) // GET /openapi.json
}

// New makes the handler. It fails when Random does, or when what is described and what is served differ.
func New(c Config) (http.Handler, error) {
	if c.IDs == nil {
		ids, err := NewRequestIDs(c.Random)
		if err != nil {
			return nil, err
		}
		c.IDs = ids
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	h := &handler{Config: c, limits: api.DefaultLimits(), explorer: newExplorer(c.Network, c.Earlier)}
	return h, h.build()
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := h.Clock()
	r = r.WithContext(store.Reading(r.Context()))
	out := &answer{ResponseWriter: w, bodiless: r.Method == http.MethodHead}
	id := h.IDs.Next()
	out.Header().Set("X-Request-Id", id)
	out.Header().Set("X-Content-Type-Options", "nosniff")
	log := h.Log.With("request", id)
	h.YieldToWriter()
	defer func() {
		if p := recover(); p != nil {
			defer h.logEnd(log, out, r, start) // also when the connection is cut
			h.panicked(out, r, log, p)
			return
		}
		h.logEnd(log, out, r, start)
	}()
	var held []func()
	defer func() { // once the answer is written, also one that says no
		for _, leave := range held {
			leave()
		}
	}()
	if err := h.serve(out, r, func(leave func()) { held = append(held, leave) }); err != nil {
		h.fail(out, r, log, err)
	}
}

// serve answers a request, or says why it cannot. It hands what ends with the request to hold.
func (h *handler) serve(w *answer, r *http.Request, hold func(leave func())) error {
	method := r.Method
	if method == http.MethodHead { // as GET, only without a body
		method = http.MethodGet
	}
	path, below := strings.CutPrefix(r.URL.Path, h.BasePath)
	if chain, hash, ok := explorerPath(path); below && ok && method == http.MethodGet {
		w.endpoint = ExplorerEndpoint
		return h.page(w, r, hold, chain, hash)
	}
	if r.URL.Path == healthPath || r.URL.Path == descriptionPath {
		path, below = r.URL.Path, true // whoever watches the process, or wants to learn the base path, need not know it
	}
	rt, ok := h.routes[path][method]
	if !below {
		return api.NewError(api.ErrNotFound, "Cannot %s %s: the interface is below %s",
			text.Clean(r.Method, 16), text.Clean(r.URL.Path, maxShown), h.BasePath)
	}
	if !ok {
		return notFound(r, h.routes[path])
	}
	w.endpoint = path
	if !rt.open {
		grant, err := h.admit(w, r, path, rt.permission)
		if err != nil {
			return err
		}
		if grant.Release != nil {
			hold(grant.Release)
		}
		r = r.WithContext(grant.Within(r.Context()))
	}
	doc, leave, err := h.body(w, r, rt)
	hold(leave)
	if err != nil {
		return err
	}
	if rt.tag != nil {
		tag, err := rt.tag()
		if err != nil {
			return err
		}
		if unchanged(w, r, tag) {
			return nil
		}
	}
	if rt.steady && h.Condition != nil {
		if err := h.Condition.Ready(r.Context()); err != nil {
			return err
		}
	}
	answer, err := rt.run(r, doc)
	if err != nil {
		return err
	}
	h.write(w, rt.status, answer.Raw())
	return nil
}

// admit asks the authenticator and tells the caller of its window.
func (h *handler) admit(w *answer, r *http.Request, endpoint, permission string) (access.Grant, error) {
	grant, err := h.Auth.Admit(r.Context(), access.Attempt{
		Key: r.Header.Get("X-Api-Key"), Endpoint: endpoint, Permission: permission,
	})
	window(w.Header(), grant)
	w.caller = grant.Caller
	if grant.Caller != "" {
		proved(r.Context())
	}
	return grant, err
}

// page answers with a page of the explorer.
func (h *handler) page(w *answer, r *http.Request, hold func(leave func()), chain, hash string) error {
	if h.Private {
		grant, err := h.admit(w, r, ExplorerEndpoint, access.Read)
		if err != nil {
			return err
		}
		if grant.Release != nil {
			hold(grant.Release)
		}
		w.Header().Set("Cache-Control", "no-store")
	}
	h.explorer.serve(r.Context(), w, chain, hash)
	return nil
}

// unchanged tells caches what the answer is called and that they must ask again each time, and answers 304 when the
// caller has it already.
func unchanged(w http.ResponseWriter, r *http.Request, tag string) bool {
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "no-cache")
	for known := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		if known = strings.TrimSpace(known); known == "*" || strings.TrimPrefix(known, "W/") == tag {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// window tells the caller how much of its limit is left (docs/interface.md#errors); a key without a window has no such
// headers.
func window(head http.Header, g access.Grant) {
	if g.Reset.IsZero() {
		return
	}
	head.Set("X-Ratelimit-Limit", strconv.Itoa(g.Limit))
	head.Set("X-Ratelimit-Remaining", strconv.Itoa(g.Remaining))
	// no earlier than a Retry-After
	head.Set("X-Ratelimit-Reset", strconv.FormatInt(g.Reset.Add(time.Second-time.Nanosecond).Unix(), 10))
}
