// Package traffic is a crowd of foreign clients for load and crash tests: people with keys of their own who know the
// interface and nothing else. Each asks for quotes, signs what comes back, executes, and says what every completed
// quote must have done to balances and nonces. Outsiders send to the chains themselves, through JSON-RPC.
//
// Promise: a request is sent once and never again. What the service answers with an error body is an *api.Error; every
// other error of a request means that its outcome is unknown, and [Client.Status] is the way to learn it (TH-N7).
// Answers are not verified as a wallet does: the service under test is trusted not to cheat, and its books are compared
// with the effects afterwards.
//
// Units: amounts in base units. Sources: protocol §1, §3 and §8.
package traffic

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"coffer/api"
)

// Client is a way to a running service. It is safe for concurrent use.
type Client struct {
	base, key string
	http      *http.Client
}

// NewClient makes the client of a base URL such as https://127.0.0.1:8443/api. The round tripper may lead to a service
// in process.
func NewClient(base, key string, rt http.RoundTripper) *Client {
	return &Client{base: strings.TrimSuffix(base, "/"), key: key, http: &http.Client{Transport: rt}}
}

// Served is the line that `coffer serve --json` prints.
type Served struct {
	Role        string `json:"role"` // "forwarding" of a process that waits for its turn
	RPC         string `json:"rpc"`  // of such a one: the endpoints are below it
	BaseURL     string `json:"baseUrl"`
	CAFile      string `json:"caFile"`
	APIKey      string `json:"apiKey"`
	NetworkFile string `json:"networkFile"`
	MetricsURL  string `json:"metricsUrl"`
	Endpoints   []struct {
		ID   uint64 `json:"id"` // 0: Solana
		HTTP string `json:"http"`
	} `json:"endpoints"`
}

// Through is what a process says that forwards to this one, with the key and the endpoints that clients need.
func (s Served) Through(key string, line []byte) (out Served, err error) {
	if err := json.Unmarshal(line, &out); err != nil {
		return out, fmt.Errorf("the process that waits says %q: %w", line, err)
	}
	out.APIKey, out.NetworkFile = key, s.NetworkFile
	out.Endpoints = slices.Clone(s.Endpoints)
	for i, e := range out.Endpoints {
		out.Endpoints[i].HTTP = out.RPC + e.HTTP[strings.LastIndex(e.HTTP, "/"):]
	}
	return out, nil
}

// Connect makes the client of a service that printed a line, with one connection for each of n people.
func Connect(line []byte, n int) (*Client, Served, error) {
	var at Served
	if err := json.Unmarshal(line, &at); err != nil {
		return nil, at, fmt.Errorf("the service says %q: %w", line, err)
	}
	client, err := at.Client(n)
	return client, at, err
}

// Client makes the client of a service, with one connection for each of n people.
func (s Served) Client(n int) (*Client, error) {
	roots, err := s.Roots()
	// HTTP/1.1 only: over HTTP/2 a server that says goodbye makes net/http send a POST again by itself (TH-N6).
	return NewClient(s.BaseURL, s.APIKey, &http.Transport{
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots,
			ClientSessionCache: tls.NewLRUClientSessionCache(n)},
		TLSNextProto:        map[string]func(string, *tls.Conn) http.RoundTripper{},
		MaxIdleConnsPerHost: n,
	}), err
}

// Roots are the certificate authority that the line names.
func (s Served) Roots() (*x509.CertPool, error) {
	pem, err := os.ReadFile(s.CAFile)
	roots := x509.NewCertPool()
	if err == nil && !roots.AppendCertsFromPEM(pem) {
		err = fmt.Errorf("%s holds no certificate", s.CAFile)
	}
	return roots, err
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Get asks for a resource and decodes the answer.
func (c *Client) Get(ctx context.Context, path string, query url.Values, into any) error {
	doc, err := c.do(ctx, http.MethodGet, path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	return doc.Decode(into)
}

// Post sends a document.
func (c *Client) Post(ctx context.Context, path string, body *api.Document) (*api.Document, error) {
	return c.do(ctx, http.MethodPost, path, body.Raw())
}

func (c *Client) do(ctx context.Context, method, path string, body []byte) (*api.Document, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.GetBody = nil // net/http must not be able to send the body again
	req.Header.Set("x-api-key", c.key)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 {
		return nil, api.ParseError(res.StatusCode, raw)
	}
	return api.ParseDocument(raw, api.DefaultLimits())
}

// Status asks what became of a quote; its Status is empty when the quote was never accepted.
func (c *Client) Status(ctx context.Context, id string) (s api.ExecutionStatus, err error) {
	err = c.Get(ctx, "/v3/status/get-execution-status", url.Values{"quoteId": {id}}, &s)
	return s, err
}

// History reads one page of an account's history, newest first; continuation is "" for the first.
func (c *Client) History(ctx context.Context, user, continuation string, limit int) (page api.HistoryPage, err error) {
	q := url.Values{"user": {user}, "limit": {fmt.Sprint(limit)}}
	if continuation != "" {
		q.Set("continuation", continuation)
	}
	err = c.Get(ctx, "/v3/status/get-tx-history", q, &page)
	return page, err
}
