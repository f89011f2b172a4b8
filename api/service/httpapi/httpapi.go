// Package httpapi is the HTTP layer of the service: it finds the route, asks the authenticator, bounds and checks the body, calls one use case
// and writes the answer. No use case knows HTTP.
//
// Promise: every answer is application/json (the explorer page is HTML) and every failure has the documented error body with an `error` from
// protocol §6; a panic becomes a 500 without detail; no key reaches a log line; encoding is deterministic. The handler is safe for
// concurrent use.
//
// Sources: service specification (endpoints, errors), interface-facts §1 and §2.5, protocol §6 and §7.
package httpapi

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/service/access"
	"coffer/api/service/book"
	"coffer/api/service/genesis"
	"coffer/api/service/portfolio"
)

// Quoter prepares and prices; the documents have passed api.Rules.
type Quoter interface {
	Prepare(context.Context, *api.Document) (*api.Document, error)
	CallQuote(context.Context, *api.Document) (*api.Document, error)
}

// Settler executes quotes; the document has passed api.Rules.
type Settler interface {
	Execute(context.Context, *api.Document) (*api.Document, error)
}

// Records answers status and history. The bool of Status is false for an unknown quote id.
type Records interface {
	Status(ctx context.Context, quoteID string) (api.ExecutionStatus, bool, error)
	History(context.Context, book.HistoryQuery) (api.HistoryPage, error)
}

// Config is what the layer stands on. BasePath is "" or begins with a slash and does not end with one.
type Config struct {
	BasePath     string
	Auth         access.Authenticator
	Installation *genesis.Installation
	Portfolio    *portfolio.Portfolio
	Quoter       Quoter
	Settler      Settler
	Records      Records
	Clock        func() time.Time
	Random       io.Reader // for the first part of request ids
	Log          *slog.Logger
	// ExplorerBase is the URL up to and with the base path under which a browser finds the explorer pages.
	ExplorerBase func() string
	// Descriptor, when set, makes GET {base}/network.json answer with the network's descriptor: the local socket has it, the open port
	// does not, as a wallet must not take pins from an answer.
	Descriptor *network.Descriptor
}

type handler struct {
	Config
	routes   map[string]map[string]route // path below the base → method → route
	limits   api.Limits
	idPrefix string
	requests atomic.Uint64
	explorer *explorer
}

// New makes the handler. It fails only when Random does.
func New(c Config) (http.Handler, error) {
	var id [4]byte
	if _, err := io.ReadFull(c.Random, id[:]); err != nil {
		return nil, fmt.Errorf("draw a request id: %w", err)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	h := &handler{Config: c, limits: api.DefaultLimits(), idPrefix: hex.EncodeToString(id[:]), explorer: newExplorer(c.Installation)}
	h.routes = h.table()
	return h, nil
}

// route is one endpoint: rules check the body of a POST, run answers.
type route struct {
	status int
	rules  func(api.Rules, *api.Document) []api.Failure
	run    func(*http.Request, *api.Document) (*api.Document, error)
}

func (h *handler) table() map[string]map[string]route {
	get := func(run func(*http.Request, *api.Document) (*api.Document, error)) map[string]route {
		return map[string]route{http.MethodGet: {status: http.StatusOK, run: run}}
	}
	post := func(status int, rules func(api.Rules, *api.Document) []api.Failure, run func(context.Context, *api.Document) (*api.Document, error)) map[string]route {
		return map[string]route{http.MethodPost: {status, rules, func(r *http.Request, d *api.Document) (*api.Document, error) { return run(r.Context(), d) }}}
	}
	t := map[string]map[string]route{
		"/account/predict-address":        post(http.StatusCreated, api.Rules.Predict, h.predict),
		"/chains/supported-list":          get(h.chains),
		"/assets/list":                    get(h.assets),
		"/v3/balances/aggregated-balance": get(h.balances),
		"/v3/quote/prepare-call-quote":    post(http.StatusOK, api.Rules.Prepare, h.Quoter.Prepare),
		"/v3/quote/call-quote":            post(http.StatusOK, api.Rules.CallQuote, h.Quoter.CallQuote),
		"/v3/quote/execute-quote":         post(http.StatusOK, api.Rules.Execute, h.Settler.Execute),
		"/v3/status/get-execution-status": get(h.status),
		"/v3/status/get-tx-history":       get(h.history),
	}
	if h.Descriptor != nil {
		t["/network.json"] = get(h.network)
	}
	return t
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := h.Clock()
	out := &answer{ResponseWriter: w}
	id := fmt.Sprintf("%s-%d", h.idPrefix, h.requests.Add(1))
	out.Header().Set("X-Request-Id", id)
	out.Header().Set("X-Content-Type-Options", "nosniff")
	log := h.Log.With("request", id)
	defer func() {
		if p := recover(); p != nil {
			h.panicked(out, r, log, p)
		}
		h.logEnd(log, out, r, h.Clock().Sub(start))
	}()
	h.serve(out, r, log)
}

func (h *handler) serve(w *answer, r *http.Request, log *slog.Logger) {
	path, below := strings.CutPrefix(r.URL.Path, h.BasePath)
	if chain, hash, ok := explorerPath(path); below && ok && r.Method == http.MethodGet {
		h.explorer.serve(w, chain, hash)
		return
	}
	rt, ok := h.routes[path][r.Method]
	if !below || !ok {
		h.fail(w, r, log, notFound(r, h.routes[path]))
		return
	}
	grant, err := h.Auth.Admit(r.Context(), access.Attempt{Key: r.Header.Get("X-Api-Key"), Endpoint: path, Remote: r.RemoteAddr})
	if err != nil {
		h.fail(w, r, log, err)
		return
	}
	w.caller = grant.Caller
	if grant.Release != nil {
		defer grant.Release()
	}
	doc, err := h.body(w, r, rt)
	if err != nil {
		h.fail(w, r, log, err)
		return
	}
	answer, err := rt.run(r, doc)
	if err != nil {
		h.fail(w, r, log, err)
		return
	}
	h.write(w, rt.status, answer.Raw())
}
