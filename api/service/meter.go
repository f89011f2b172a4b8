package service

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/service/access"
	"coffer/api/service/httpapi"
	"coffer/api/service/quotestore"
)

// Meter is told what happens, for figures. Nothing that it is told is foreign text: endpoints are those of the route
// table or "other", permissions those of package access or "none", call types, statuses and reasons words of this
// service. It must be safe for concurrent use and must not wait.
type Meter interface {
	Request(endpoint, permission string, status int, took time.Duration)
	Quoted(callType string)
	Settled(status, failReason string)
}

// otherEndpoint stands for every path without a route, noPermission for endpoints that need no key.
const (
	otherEndpoint = "other"
	noPermission  = "none"
)

// observer passes requests on to a Meter. The permission that an endpoint demands is learnt from what the authenticator
// is asked.
type observer struct {
	meter     Meter
	endpoints sync.Map // endpoint → permission
}

// admitting notes the endpoint of each attempt.
func (o *observer) admitting(next access.Authenticator) access.Authenticator {
	return admission(func(ctx context.Context, a access.Attempt) (access.Grant, error) {
		o.endpoints.Store(a.Endpoint, a.Permission)
		return next.Admit(ctx, a)
	})
}

type admission func(context.Context, access.Attempt) (access.Grant, error)

// Admit implements access.Authenticator.
func (f admission) Admit(ctx context.Context, a access.Attempt) (access.Grant, error) {
	return f(ctx, a)
}

// request is the hook of the HTTP layer, which names routes only.
func (o *observer) request(endpoint string, status int, took time.Duration) {
	if endpoint == "" {
		endpoint = otherEndpoint
	}
	permission := noPermission
	if p, known := o.endpoints.Load(endpoint); known && p != "" {
		permission, _ = p.(string)
	}
	o.meter.Request(endpoint, permission, status, took)
}

// counted tells a Meter of every quote that is given.
type counted struct {
	httpapi.Quoter
	meter Meter
	book  *quotestore.Book
}

// CallQuote quotes and counts.
func (c counted) CallQuote(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return c.count(ctx, doc, c.Quoter.CallQuote)
}

// CallQuoteV1 quotes and counts.
func (c counted) CallQuoteV1(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return c.count(ctx, doc, c.Quoter.CallQuoteV1)
}

// Quote quotes and counts.
func (c counted) Quote(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return c.count(ctx, doc, c.Quoter.Quote)
}

// QuoteV1 quotes and counts.
func (c counted) QuoteV1(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return c.count(ctx, doc, c.Quoter.QuoteV1)
}

// count finds the call type of a quote in the book, as the answer does not carry it; a swap or a transfer counts as
// that.
func (c counted) count(ctx context.Context, doc *api.Document,
	quote func(context.Context, *api.Document) (*api.Document, error)) (*api.Document, error) {
	doc, err := quote(ctx, doc)
	if err != nil {
		return doc, err
	}
	raw, _ := doc.At("/id")
	var id string
	if json.Unmarshal(raw, &id) != nil {
		return doc, nil
	}
	q, prepared, failed := c.book.Prepared(ctx, id)
	if failed != nil {
		return doc, nil
	}
	if kind := cmp.Or(prepared.CallType, strings.ToLower(q.Type)); kind != "" {
		c.meter.Quoted(kind)
	}
	return doc, nil
}

// settledLog passes a log on and tells a Meter of every settlement that ends. Each step of a settlement is one line
// with its status.
type settledLog struct {
	slog.Handler
	meter Meter
}

// Enabled implements slog.Handler: lines of settlement are read even where they are not written.
func (h settledLog) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelInfo || h.Handler.Enabled(ctx, l)
}

// Handle implements slog.Handler.
func (h settledLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "settlement" {
		var status, reason string
		r.Attrs(func(a slog.Attr) bool {
			switch a.Key {
			case "status":
				status = a.Value.String()
			case "failReason":
				reason = a.Value.String()
			}
			return true
		})
		if api.Terminal(status) {
			h.meter.Settled(status, reason)
		}
	}
	if !h.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h settledLog) WithAttrs(as []slog.Attr) slog.Handler {
	return settledLog{h.Handler.WithAttrs(as), h.meter}
}

// WithGroup implements slog.Handler.
func (h settledLog) WithGroup(name string) slog.Handler {
	return settledLog{h.Handler.WithGroup(name), h.meter}
}
