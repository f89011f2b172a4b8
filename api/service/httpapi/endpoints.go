package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/pattern"
	"coffer/api/service/portfolio"
	"coffer/api/service/quotestore"
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
	q, failures := portfolio.ParseQuery(h.Network.Catalog, v[0], v[1], v[2])
	if err := api.NewValidationError(failures); err != nil {
		return nil, err
	}
	out, err := h.Portfolio.Balances(r.Context(), q)
	if err != nil {
		return nil, err
	}
	return api.Encode(out)
}

// balancesV2 answers for one EVM address over all aggregated assets.
func (h *handler) balancesV2(r *http.Request, _ *api.Document) (*api.Document, error) {
	v, err := query(r, "address", "assetId")
	if err != nil {
		return nil, err
	}
	address, assets, failures := portfolio.ParseQueryV2(h.Network.Catalog, v[0], v[1])
	if err := api.NewValidationError(failures); err != nil {
		return nil, err
	}
	out, err := h.Portfolio.BalancesV2(r.Context(), address, assets)
	if err != nil {
		return nil, err
	}
	return api.Encode(out)
}

func (h *handler) health(*http.Request, *api.Document) (*api.Document, error) {
	if h.Condition != nil {
		if err := h.Condition.Health(); err != nil {
			return nil, err
		}
	}
	return api.Encode(api.Health{Status: "ok"})
}

func (h *handler) describe(*http.Request, *api.Document) (*api.Document, error) {
	return h.description()
}

func (h *handler) roles(r *http.Request, _ *api.Document) (*api.Document, error) {
	v, err := query(r, "account")
	if err != nil {
		return nil, err
	}
	account, err := caip.ParseAccount(v[0])
	if err != nil {
		return nil, api.Invalid("account", "a CAIP-10 account such as eip155:8453:0x…", text.Named(v[0]))
	}
	address, evm := account.EVM()
	if _, known := h.Network.Catalog.Chain(account.Chain); !evm || !known {
		return nil, api.Invalid("account", "an account on a supported EVM chain", text.Named(v[0]))
	}
	if err := h.Portfolio.FundAccounts(r.Context(), []api.Account{{AccountAddress: address.Hex()}}); err != nil {
		return nil, err
	}
	out, err := h.Relay.Roles(r.Context(), account.Chain, address)
	if err != nil {
		return nil, err
	}
	return api.Encode(out)
}

// maxCode bounds the addresses of one question for code.
const maxCode = 50

func (h *handler) code(r *http.Request, _ *api.Document) (*api.Document, error) {
	v, err := query(r, "account")
	if err != nil {
		return nil, err
	}
	var failures []api.Failure
	var accounts []caip.Account
	items := strings.Split(v[0], ",")
	if len(items) > maxCode {
		return nil, api.Invalid("account", "at most "+strconv.Itoa(maxCode)+" accounts", strconv.Itoa(len(items)))
	}
	for i, item := range items {
		account, err := caip.ParseAccount(item)
		_, evm := account.EVM()
		if _, known := h.Network.Catalog.Chain(account.Chain); err != nil || !evm || !known {
			failures = append(failures, api.Failure{Path: "account[" + strconv.Itoa(i) + "]",
				Expected: "a CAIP-10 account on a supported EVM chain, such as eip155:8453:0x…", Got: text.Named(item)})
		}
		accounts = append(accounts, account)
	}
	if err := api.NewValidationError(failures); err != nil {
		return nil, err
	}
	out, err := h.Relay.Code(r.Context(), accounts)
	if err != nil {
		return nil, err
	}
	return api.Encode(out)
}

// Page sizes of history; more than MaxLimit is capped, as the specification allows.
const (
	DefaultLimit = 20
	MaxLimit     = 100
)

var reLimit = pattern.New(`^[1-9][0-9]*$`)

// maxCursor bounds a continuation in bytes.
const maxCursor = 1024

// ParseHistory reads the parameters of a history request and returns every failure. User is an EVM address in any case,
// which becomes lower case, or a Solana address.
func ParseHistory(user, limit, continuation, sortBy string) (quotestore.HistoryQuery, []api.Failure) {
	q := quotestore.HistoryQuery{Limit: DefaultLimit, Continuation: continuation, SortBy: "createdAt"}
	var failures []api.Failure
	fail := func(path, expected, got string) {
		failures = append(failures, api.Failure{Path: path, Expected: expected, Got: text.Named(got)})
	}
	if a, err := caip.ParseAddress(user); err == nil {
		q.User = strings.ToLower(a.Hex())
	} else if _, err := caip.ParseSolanaKey(user); err == nil {
		q.User = user
	} else {
		fail("user", "an EVM or Solana address", user)
	}
	if limit != "" {
		if !reLimit.MatchString(limit) {
			fail("limit", "a whole number from 1", limit)
		}
		q.Limit = MaxLimit
		if n, err := strconv.Atoi(limit); err == nil { // one with more digits is capped, too
			q.Limit = min(n, MaxLimit)
		}
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
