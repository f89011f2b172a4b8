package client

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"coffer/api/secret"
)

// The deadlines (TH-N3).
const (
	dialTimeout    = 5 * time.Second
	tlsTimeout     = 5 * time.Second
	headerTimeout  = 20 * time.Second
	getTimeout     = 10 * time.Second
	quoteTimeout   = 30 * time.Second
	executeTimeout = 60 * time.Second
	idleTimeout    = 60 * time.Second
)

// maxQuoteBytes bounds an answer to a prepare or a quote. Honest ones have some kilobytes; the journal keeps each.
const maxQuoteBytes = 256 << 10

func (c *Client) build() {
	normal, once := c.o.Transport, c.o.Transport
	if !c.inside {
		n, x := c.network(headerTimeout), c.network(executeTimeout)
		x.DisableKeepAlives = true
		normal, once = n, x
		c.closers = append(c.closers, n.CloseIdleConnections, x.CloseIdleConnections)
	}
	c.normal = c.httpClient(normal)
	c.once = c.httpClient(once)
}

func (c *Client) httpClient(rt http.RoundTripper) *http.Client {
	var transport http.RoundTripper = &keyTransport{base: rt, at: c.base, key: c.o.APIKey}
	if c.o.Wrap != nil {
		transport = c.o.Wrap(transport)
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (c *Client) network(header time.Duration) *http.Transport {
	d := &net.Dialer{Timeout: dialTimeout}
	return &http.Transport{
		Proxy:                  c.o.Proxy,
		DialContext:            d.DialContext,
		TLSHandshakeTimeout:    tlsTimeout,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.o.RootCAs},
		ResponseHeaderTimeout:  header,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConnsPerHost:    4,
		MaxResponseHeaderBytes: 64 << 10,
		// HTTP/1.1 only (TH-N5, N6): over HTTP/2 a server that refuses a stream, or sends GOAWAY, makes net/http send
		// a POST again by itself.
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
}

var errElsewhere = errors.New("refused to send the key anywhere but to the service")

// keyTransport adds the API key to a copy of the request, and only when the request goes to the service over https.
// The caller's request never carries it (TH-K2).
type keyTransport struct {
	base http.RoundTripper
	at   *url.URL
	key  secret.Secret
}

// RoundTrip sends a copy of the request with the key, or nothing.
func (t *keyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" || r.URL.Host != t.at.Host {
		if r.Body != nil {
			return nil, errors.Join(errElsewhere, r.Body.Close())
		}
		return nil, errElsewhere
	}
	with := r.Clone(r.Context())
	with.GetBody = r.GetBody
	if !t.key.Empty() {
		with.Header.Set("x-api-key", string(t.key.Reveal()))
	}
	return t.base.RoundTrip(with)
}
