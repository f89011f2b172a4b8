package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"time"

	"coffer/api"
)

// call is one request to make. once selects the transport that sends at most once.
type call struct {
	op      string
	method  string
	path    string
	query   url.Values
	body    []byte
	timeout time.Duration
	most    int // bytes of the answer after decompression; 0: the limit of a document
	once    bool
}

// do makes the call under the retry rules of its method.
func (c *Client) do(ctx context.Context, k call) (Answer, error) {
	started := c.o.Clock()
	for attempt := 0; ; attempt++ {
		a, err := c.attempt(ctx, k)
		if err == nil {
			c.retries.success()
			return a, nil
		}
		wait, again := c.again(k, attempt, err)
		if !again || c.o.Clock().Add(wait).Sub(started) > retryBudget || ctx.Err() != nil || !c.retries.take() {
			return Answer{}, err
		}
		c.o.Log.Debug("retry", "call", k.op, "attempt", attempt+1, "wait", wait)
		if c.o.Sleep(ctx, wait) != nil {
			return Answer{}, err
		}
	}
}

// again decides whether a failed call may be tried once more, and after what delay.
func (c *Client) again(k call, attempt int, err error) (time.Duration, bool) {
	var no *api.Error
	var failed *Error
	switch {
	case k.once:
		return 0, false
	case errors.As(err, &failed):
		retriable := failed.Kind == KindNetwork || failed.Kind == KindTimeout
		if k.method != http.MethodGet {
			return c.delay(0), retriable && !failed.Sent && attempt == 0
		}
		return c.delay(attempt), retriable && attempt+1 < maxAttempts
	case errors.As(err, &no):
		wait := max(c.delay(attempt), no.RetryAfter)
		return wait, k.method == http.MethodGet && temporary(no.StatusCode) && attempt+1 < maxAttempts
	}
	return 0, false
}

// attempt sends the request once and reads the answer.
func (c *Client) attempt(ctx context.Context, k call) (Answer, error) {
	if c.limiter != nil {
		if err := c.limit(ctx); err != nil {
			return Answer{}, &Error{Op: k.op, Kind: KindCancelled, Err: err}
		}
	}
	var e exchange
	ctx, end := e.within(ctx, k.timeout, c.inside)
	defer end()
	req, err := c.request(ctx, k)
	if err != nil {
		return Answer{}, &Error{Op: k.op, Kind: KindRequest, Err: err}
	}
	hc := c.normal
	if k.once {
		hc = c.once
	}
	if c.inside {
		e.sent.Store(ctx.Err() == nil) // no trace reports when a handler in process starts
	}
	res, err := hc.Do(req)
	if err != nil {
		return Answer{}, e.failure(ctx, k.op, err)
	}
	a, err := c.read(ctx, k, res)
	_ = res.Body.Close() // the content was read; a cut connection gave an error there
	return a, err
}

// limit waits until the global rate admits a request (TH-N8).
func (c *Client) limit(ctx context.Context) error {
	now := c.o.Clock()
	r := c.limiter.ReserveN(now, 1)
	if d := r.DelayFrom(now); d > 0 {
		if err := c.o.Sleep(ctx, d); err != nil {
			r.CancelAt(c.o.Clock())
			return err
		}
	}
	return nil
}

func (c *Client) request(ctx context.Context, k call) (*http.Request, error) {
	u := *c.base
	u.Path += k.path
	u.RawQuery = k.query.Encode()
	var body io.Reader
	if k.body != nil {
		body = bytes.NewReader(k.body)
	}
	req, err := http.NewRequestWithContext(ctx, k.method, u.String(), body)
	if err != nil {
		return nil, err
	}
	if k.once {
		req.GetBody = nil // net/http must not be able to send the body again (TH-N6)
		req.Close = true
	}
	if k.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	return req, nil
}

// read checks the answer: status, size, redirects, content type, errors, lexical gate. The body of an answer 1xx has
// no end, so read never touches it.
func (c *Client) read(ctx context.Context, k call, res *http.Response) (Answer, error) {
	op := k.op
	if res.StatusCode < 200 {
		return Answer{}, failure(ctx, op, true, interimError(res.StatusCode))
	}
	limits := api.DefaultLimits()
	most := limits.Bytes
	if k.most > 0 {
		most = k.most
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, int64(most)+1))
	if err != nil {
		return Answer{}, failure(ctx, op, true, err)
	}
	if len(b) > most {
		return Answer{}, &Error{Op: op, Kind: KindTooLarge, Sent: true,
			Err: fmt.Errorf("the answer has more than %d KiB", most>>10)}
	}
	a := Answer{Received: c.o.Clock()}
	if date, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		a.ServerDate, a.Skew = date, skewOf(date, a.Received)
		c.skew.Store(int64(a.Skew))
	}
	c.noteWindow(res.Header)
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		return Answer{}, &Error{Op: op, Kind: KindRedirect, Sent: true,
			Err: fmt.Errorf("the service answered %d; redirects are not followed", res.StatusCode)}
	}
	if res.StatusCode < 200 || res.StatusCode >= 300 {
		no := api.ParseError(res.StatusCode, b)
		no.StatusCode = res.StatusCode
		no.RetryAfter = retryAfter(res.Header, a.Received)
		return Answer{}, no
	}
	if kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return Answer{}, &Error{Op: op, Kind: KindBadAnswer, Sent: true, Err: errors.New("the answer is not JSON")}
	}
	if a.Document, err = api.ParseDocument(b, limits); err != nil {
		if over := ctx.Err(); over != nil { // cancelling made the server end its answer early
			return Answer{}, failure(ctx, op, true, over)
		}
		return Answer{}, &Error{Op: op, Kind: KindBadAnswer, Sent: true, Err: err}
	}
	return a, nil
}

// skewOf is the service's clock minus the local one; a Date has whole seconds, so a difference below one second is 0.
func skewOf(date, received time.Time) time.Duration {
	d := date.Sub(received)
	if d > -time.Second && d <= 0 {
		return 0
	}
	return d
}

// failure classifies an error of net/http. It drops the address in a *url.Error.
func failure(ctx context.Context, op string, sent bool, err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	e := &Error{Op: op, Kind: KindNetwork, Sent: sent, Err: err}
	var ne net.Error
	var interim interimError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		e.Kind, e.Err = KindCancelled, context.Cause(ctx)
	case ctx.Err() != nil: // net/http reports only that the connection was closed
		e.Kind, e.Err = KindTimeout, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		e.Kind = KindTimeout
	case errors.As(err, &interim):
		e.Kind, e.Err = KindBadAnswer, interim
	case errors.Is(err, errElsewhere), final(err):
		e.Kind = KindRequest
	}
	return e
}

// final reports whether a transport declares that a retry changes nothing, as one without a network does: its error
// has a method Final.
func final(err error) bool {
	var f interface{ Final() bool }
	return errors.As(err, &f) && f.Final()
}
