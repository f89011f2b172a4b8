package client

import (
	"context"
	"net/url"
	"strconv"
)

// ChainsDocument lists the supported chains and returns the answer as it arrived.
func (c *Client) ChainsDocument(ctx context.Context) (Answer, error) {
	return c.get(ctx, "list chains", "/chains/supported-list", nil)
}

// AssetsDocument lists the aggregated assets and returns the answer as it arrived.
func (c *Client) AssetsDocument(ctx context.Context) (Answer, error) {
	return c.get(ctx, "list assets", "/assets/list", nil)
}

// StatusDocument reads the status of a quote and returns the answer as it arrived.
func (c *Client) StatusDocument(ctx context.Context, quoteID string) (Answer, error) {
	return c.get(ctx, "read status", "/v3/status/get-execution-status", url.Values{"quoteId": {quoteID}})
}

// HistoryDocument reads a page of history and returns the answer as it arrived.
func (c *Client) HistoryDocument(ctx context.Context, q HistoryQuery) (Answer, error) {
	v := url.Values{"user": {q.User}}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if q.Continuation != "" {
		v.Set("continuation", q.Continuation)
	}
	if q.SortBy != "" {
		v.Set("sortBy", q.SortBy)
	}
	return c.get(ctx, "read history", "/v3/status/get-tx-history", v)
}
