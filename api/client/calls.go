package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"coffer/api"
)

// BalanceQuery selects balances: accounts in CAIP-10 or `solana:<address>` form, and at least one aggregated asset id
// or CAIP-19 asset.
type BalanceQuery struct {
	Accounts, Aggregates, Assets []string
}

// HistoryQuery selects a page of history. Limit 0 and empty strings use the service's defaults; SortBy is "createdAt"
// or "updatedAt".
type HistoryQuery struct {
	User         string
	Limit        int
	Continuation string
	SortBy       string
}

// PredictAddress asks for the address of a counterfactual account. The answer is the service's claim; package op
// computes the same address.
func (c *Client) PredictAddress(ctx context.Context, r api.PredictRequest) (api.PredictResponse, error) {
	return view[api.PredictResponse](c.post(ctx, call{op: "predict address", path: "/account/predict-address",
		timeout: getTimeout}, r))
}

// Chains lists the supported chains.
func (c *Client) Chains(ctx context.Context) ([]api.SupportedChain, error) {
	return view[[]api.SupportedChain](c.ChainsDocument(ctx))
}

// Assets lists the aggregated assets.
func (c *Client) Assets(ctx context.Context) ([]api.AggregatedAsset, error) {
	return view[[]api.AggregatedAsset](c.AssetsDocument(ctx))
}

// Balances reads aggregated balances.
func (c *Client) Balances(ctx context.Context, q BalanceQuery) (api.AggregatedBalance, error) {
	return view[api.AggregatedBalance](c.BalancesDocument(ctx, q))
}

// BalancesDocument reads aggregated balances and returns the answer as it arrived.
func (c *Client) BalancesDocument(ctx context.Context, q BalanceQuery) (Answer, error) {
	v := url.Values{"account": {strings.Join(q.Accounts, ",")}}
	if len(q.Aggregates) > 0 {
		v.Set("aggregatedAssetId", strings.Join(q.Aggregates, ","))
	}
	if len(q.Assets) > 0 {
		v.Set("assetId", strings.Join(q.Assets, ","))
	}
	return c.get(ctx, "read balances", "/v3/balances/aggregated-balance", v)
}

// PrepareCallQuote posts the body to prepare-call-quote (v3).
func (c *Client) PrepareCallQuote(ctx context.Context, body []byte) (Answer, error) {
	return c.quote(ctx, "prepare", "/v3/quote/prepare-call-quote", body)
}

// PrepareCallQuoteV1 posts the body to prepare-call-quote (v1).
func (c *Client) PrepareCallQuoteV1(ctx context.Context, body []byte) (Answer, error) {
	return c.quote(ctx, "prepare", "/quotes/prepare-call-quote", body)
}

// CallQuote posts the body to call-quote (v3).
func (c *Client) CallQuote(ctx context.Context, body []byte) (Answer, error) {
	return c.quote(ctx, "quote", "/v3/quote/call-quote", body)
}

// CallQuoteV1 posts the body to call-quote (v1).
func (c *Client) CallQuoteV1(ctx context.Context, body []byte) (Answer, error) {
	return c.quote(ctx, "quote", "/quotes/call-quote", body)
}

// Quote posts the body of a swap or a transfer to quote (v3). The client retries it as it does prepare and call-quote:
// only when no byte left.
func (c *Client) Quote(ctx context.Context, body []byte) (Answer, error) {
	return c.quote(ctx, "quote", "/v3/quote", body)
}

// QuoteV1 posts the body of a swap or a transfer to quote (v1).
func (c *Client) QuoteV1(ctx context.Context, body []byte) (Answer, error) {
	return c.quote(ctx, "quote", "/v1/quote", body)
}

// ExecuteQuote posts the body to execute-quote (v3), exactly once. A nil error means that the service answered; only
// ExecuteResponse.Success true means that it accepted, and nothing here means that the operation is done. An *Error
// with Sent true, or an *api.Error of 500 and above, leaves the outcome unknown.
func (c *Client) ExecuteQuote(ctx context.Context, body []byte) (api.ExecuteResponse, error) {
	return c.execute(ctx, "/v3/quote/execute-quote", body)
}

// ExecuteQuoteV1 posts the body of a v1 quote to execute-quote (v1), under the rules of ExecuteQuote.
func (c *Client) ExecuteQuoteV1(ctx context.Context, body []byte) (api.ExecuteResponse, error) {
	return c.execute(ctx, "/quotes/execute-quote", body)
}

func (c *Client) execute(ctx context.Context, path string, body []byte) (api.ExecuteResponse, error) {
	const op = "execute"
	a, err := c.do(ctx, call{op: op, method: http.MethodPost, path: path, body: body, timeout: executeTimeout,
		once: true})
	if err != nil {
		return api.ExecuteResponse{}, err
	}
	if raw, ok := a.At("/success"); !ok || (string(raw) != "true" && string(raw) != "false") {
		return api.ExecuteResponse{}, &Error{Op: op, Kind: KindBadAnswer, Sent: true, Err: errNoSuccess}
	}
	return view[api.ExecuteResponse](a, nil)
}

// Status reads the execution status of a quote; every member is empty when the service does not know the quote.
func (c *Client) Status(ctx context.Context, quoteID string) (api.ExecutionStatus, error) {
	return view[api.ExecutionStatus](c.StatusDocument(ctx, quoteID))
}

// History reads a page of history.
func (c *Client) History(ctx context.Context, q HistoryQuery) (api.HistoryPage, error) {
	return view[api.HistoryPage](c.HistoryDocument(ctx, q))
}

// LostPlace reports whether err is the refusal of a continuation that History returned before: 400, 404 or 410.
func LostPlace(err error) bool {
	var refused *api.Error
	return errors.As(err, &refused) && (refused.StatusCode == http.StatusBadRequest ||
		refused.StatusCode == http.StatusNotFound || refused.StatusCode == http.StatusGone)
}

// Code reads what is at addresses; the accounts are CAIP-10. The answer is the service's claim.
func (c *Client) Code(ctx context.Context, accounts ...string) (api.CodeResponse, error) {
	return view[api.CodeResponse](c.get(ctx, "read code", "/account/code",
		url.Values{"account": {strings.Join(accounts, ",")}}))
}

// Roles reads the roles of a role-based account on one chain; account is CAIP-10. The answer is the service's claim.
func (c *Client) Roles(ctx context.Context, account string) (api.RolesResponse, error) {
	return view[api.RolesResponse](c.get(ctx, "read roles", "/account/roles", url.Values{"account": {account}}))
}

// Relay posts what the admin of a role-based account signed, for the service to put on chain, exactly once. An *Error
// with Sent true, or an *api.Error of 500 and above, leaves the outcome unknown: Roles shows whether the admin nonce
// was used.
func (c *Client) Relay(ctx context.Context, r api.RelayRequest) (api.RelayResponse, error) {
	return view[api.RelayResponse](c.post(ctx, call{op: "relay", path: "/account/relay", timeout: executeTimeout,
		once: true}, r))
}

// Undelegate posts the authorization with which an EOA ends its delegation, exactly once. After an *Error with Sent
// true, or an *api.Error of 500 and above, Code shows whether the account is still delegated.
func (c *Client) Undelegate(ctx context.Context, r api.UndelegateRequest) (api.UndelegateResponse, error) {
	return view[api.UndelegateResponse](c.post(ctx, call{op: "undelegate", path: "/account/undelegate",
		timeout: executeTimeout, once: true}, r))
}

// post carries out a call with a value as its body.
func (c *Client) post(ctx context.Context, k call, v any) (a Answer, err error) {
	k.method = http.MethodPost
	if k.body, err = json.Marshal(v); err != nil {
		return a, &Error{Op: k.op, Kind: KindRequest, Err: err}
	}
	return c.do(ctx, k)
}

func (c *Client) get(ctx context.Context, op, path string, q url.Values) (Answer, error) {
	return c.do(ctx, call{op: op, method: http.MethodGet, path: path, query: q, timeout: getTimeout})
}

// quote posts a prepare or a quote, whose answer goes into the journal as it arrived.
func (c *Client) quote(ctx context.Context, op, path string, body []byte) (Answer, error) {
	return c.do(ctx, call{op: op, method: http.MethodPost, path: path, body: body, timeout: quoteTimeout,
		most: maxQuoteBytes})
}

// view decodes a document into its typed form.
func view[T any](a Answer, err error) (T, error) {
	var v T
	if err != nil {
		return v, err
	}
	if err := a.Decode(&v); err != nil {
		var none T
		return none, &Error{Op: "read answer", Kind: KindBadAnswer, Sent: true, Err: err}
	}
	return v, nil
}
