package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"coffer/api"
	"coffer/api/openapi"
	"coffer/api/service/access"
)

const (
	healthPath      = "/healthz"
	descriptionPath = "/openapi.json"
)

// ExplorerEndpoint is what the pages of the explorer are called as an endpoint; their paths begin with it.
const ExplorerEndpoint = "/explorer"

// route is one endpoint. An open route asks for no key; a POST has a body, which run judges.
type route struct {
	status     int
	permission string
	open       bool
	steady     bool                   // it needs a clock that is not behind the chains
	tag        func() (string, error) // names an answer that seldom changes, for caches; nil for the others
	post       bool
	run        func(*http.Request, *api.Document) (*api.Document, error)
}

type (
	useCase func(context.Context, *api.Document) (*api.Document, error)
	reader  func(*http.Request, *api.Document) (*api.Document, error)
)

// build makes the routes out of the description: what is described and what is served are one list.
func (h *handler) build() error {
	endpoints := openapi.Endpoints()
	if h.Relay == nil {
		endpoints = slices.DeleteFunc(endpoints,
			func(e openapi.Endpoint) bool { return slices.Contains(openapi.RelayPaths(), e.Path) })
	}
	// when it is first asked for: a service starts often
	h.description = sync.OnceValues(func() (*api.Document, error) {
		raw, err := openapi.Describe(h.BasePath, endpoints)
		if err != nil {
			return nil, err
		}
		return api.ParseDocument(raw, h.limits)
	})
	posts, gets := h.posts(), h.gets()
	h.routes = map[string]map[string]route{}
	for _, e := range endpoints {
		rt := route{status: e.Status, permission: e.Permission, open: e.Open}
		if run, ok := posts[e.ID]; ok && e.Method == http.MethodPost {
			rt.post, rt.steady = true, e.ID != "predictAddress"
			rt.run = func(r *http.Request, d *api.Document) (*api.Document, error) { return run(r.Context(), d) }
		} else if g, ok := gets[e.ID]; ok && e.Method == http.MethodGet {
			rt.run = g
			if e.Tagged {
				rt.tag = sync.OnceValues(h.descriptionTag)
			}
		} else {
			return fmt.Errorf("the endpoint %s %s has a description and no handler", e.Method, e.Path)
		}
		delete(posts, e.ID)
		delete(gets, e.ID)
		h.route(e.Path, e.Method, rt)
	}
	if len(posts)+len(gets) > 0 {
		return fmt.Errorf("%d endpoints are served and not described", len(posts)+len(gets))
	}
	if h.Descriptor != nil {
		h.route("/network.json", http.MethodGet, route{status: http.StatusOK, permission: access.Read, run: h.network})
	}
	return nil
}

func (h *handler) descriptionTag() (string, error) {
	doc, err := h.description()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(doc.Raw())
	return `"` + hex.EncodeToString(sum[:16]) + `"`, nil
}

func (h *handler) route(path, method string, rt route) {
	if h.routes[path] == nil {
		h.routes[path] = map[string]route{}
	}
	h.routes[path][method] = rt
}

// posts are the endpoints with a body, by their id in the description.
func (h *handler) posts() map[string]useCase {
	out := map[string]useCase{
		"predictAddress":     h.predict,
		"prepareCallQuote":   h.Quoter.Prepare,
		"prepareCallQuoteV1": h.Quoter.PrepareV1,
		"getCallQuote":       h.Quoter.CallQuote,
		"getCallQuoteV1":     h.Quoter.CallQuoteV1,
		"getQuote":           h.Quoter.Quote,
		"getQuoteV1":         h.Quoter.QuoteV1,
		"executeQuote":       h.Settler.Execute,
		"executeQuoteV1":     h.Settler.ExecuteV1,
	}
	if h.Relay != nil {
		out["relay"], out["undelegate"] = h.Relay.Relay, h.Relay.Undelegate
	}
	return out
}

// gets are the endpoints that only read, by their id in the description.
func (h *handler) gets() map[string]reader {
	version := func(read func(*http.Request, bool) (*api.Document, error), v1 bool) reader {
		return func(r *http.Request, _ *api.Document) (*api.Document, error) { return read(r, v1) }
	}
	out := map[string]reader{
		"listChains":             h.chains,
		"listAssets":             h.assets,
		"getAggregatedBalance":   h.balances,
		"getAggregatedBalanceV2": h.balancesV2,
		"getExecutionStatus":     version(h.status, false),
		"getExecutionStatusV1":   version(h.status, true),
		"getTxHistory":           version(h.history, false),
		"getTxHistoryV1":         version(h.history, true),
		"getHealth":              h.health,
		"getDescription":         h.describe,
	}
	if h.Relay != nil {
		out["getCode"], out["getRoles"] = h.code, h.roles
	}
	return out
}
