package httpapi

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/book"
	"coffer/api/service/portfolio"
	"coffer/api/text"
)

func (h *handler) predict(ctx context.Context, doc *api.Document) (*api.Document, error) {
	out, err := h.Portfolio.PredictAddress(ctx, doc)
	if err != nil {
		return nil, err
	}
	return api.Encode(out)
}

func (h *handler) chains(*http.Request, *api.Document) (*api.Document, error) {
	return api.Encode(h.Portfolio.Chains())
}

func (h *handler) assets(*http.Request, *api.Document) (*api.Document, error) {
	return api.Encode(h.Portfolio.Assets())
}

func (h *handler) network(*http.Request, *api.Document) (*api.Document, error) {
	return api.Encode(h.Descriptor)
}

func (h *handler) balances(r *http.Request, _ *api.Document) (*api.Document, error) {
	v, err := query(r, "account", "aggregatedAssetId", "assetId")
	if err != nil {
		return nil, err
	}
	q, failures := portfolio.ParseQuery(h.Installation.Catalog, v[0], v[1], v[2])
	if err := api.NewValidationError(failures); err != nil {
		return nil, err
	}
	out, err := h.Portfolio.Balances(r.Context(), q)
	if err != nil {
		return nil, err
	}
	return api.Encode(out)
}

var reQuoteID = regexp.MustCompile(`^0x[0-9a-fA-F]{64}$`)

// status answers {} with 200 for a quote id that never was executed (interface-facts §1.4).
func (h *handler) status(r *http.Request, _ *api.Document) (*api.Document, error) {
	v, err := query(r, "quoteId")
	if err != nil {
		return nil, err
	}
	if !reQuoteID.MatchString(v[0]) {
		return nil, invalid("quoteId", "a quote id: 0x and 64 hex digits", orNothing(v[0]))
	}
	out, known, err := h.Records.Status(r.Context(), strings.ToLower(v[0]))
	if err != nil {
		return nil, err
	}
	if !known {
		return api.Encode(struct{}{})
	}
	h.link(out.OriginChainOperations)
	h.link(out.DestinationChainOperations)
	doc, err := api.Encode(out)
	if err != nil || len(out.OriginChainOperations) > 0 {
		return doc, err
	}
	return doc.Splice(api.Edit{Pointer: "/originChainOperations", Value: []byte("[]")}) // required of a known quote
}

func (h *handler) history(r *http.Request, _ *api.Document) (*api.Document, error) {
	v, err := query(r, "user", "limit", "continuation", "sortBy")
	if err != nil {
		return nil, err
	}
	q, failures := ParseHistory(v[0], v[1], v[2], v[3])
	if err := api.NewValidationError(failures); err != nil {
		return nil, err
	}
	out, err := h.Records.History(r.Context(), q)
	if err != nil {
		return nil, err
	}
	if out.Transactions == nil {
		out.Transactions = []api.HistoryRecord{}
	}
	for _, r := range out.Transactions {
		h.link(r.OriginChainOperations)
		h.link(r.DestinationChainOperations)
	}
	return api.Encode(out)
}

// link makes explorer addresses of this moment: a record outlives the port that the service listened on when it was written.
func (h *handler) link(ops []api.OperationRef) {
	for i, o := range ops {
		chain, err := caip.ParseChain(o.Chain)
		if err == nil && reHash.MatchString(o.Hash) {
			ops[i].ExplorerURL = h.ExplorerBase() + ExplorerPath(chain, common.HexToHash(o.Hash))
		}
	}
}

// Page sizes of history; more than MaxLimit is capped, as the specification allows.
const (
	DefaultLimit = 20
	MaxLimit     = 100
)

// maxCursor bounds a continuation in bytes.
const maxCursor = 1024

// ParseHistory reads the parameters of a history request and returns every failure. User is an EVM address in any case, which becomes lower
// case, or a Solana address.
func ParseHistory(user, limit, continuation, sortBy string) (book.HistoryQuery, []api.Failure) {
	q := book.HistoryQuery{Limit: DefaultLimit, Continuation: continuation, SortBy: "createdAt"}
	var failures []api.Failure
	fail := func(path, expected, got string) {
		failures = append(failures, api.Failure{Path: path, Expected: expected, Got: orNothing(got)})
	}
	if a, err := caip.ParseAddress(user); err == nil {
		q.User = strings.ToLower(a.Hex())
	} else if _, err := caip.ParseSolanaKey(user); err == nil {
		q.User = user
	} else {
		fail("user", "an EVM or Solana address", user)
	}
	if limit != "" {
		n, err := strconv.ParseUint(limit, 10, 32)
		if err != nil || n < 1 || strconv.FormatUint(n, 10) != limit {
			fail("limit", "a whole number from 1", limit)
		}
		q.Limit = int(min(n, MaxLimit))
	}
	if len(continuation) > maxCursor {
		fail("continuation", "a continuation of an earlier page", "a longer text")
	}
	switch sortBy {
	case "":
	case "createdAt", "updatedAt":
		q.SortBy = sortBy
	default:
		fail("sortBy", "createdAt or updatedAt", sortBy)
	}
	return q, failures
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return text.Clean(s, 80)
}
