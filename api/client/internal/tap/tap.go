// Package tap listens to what a transport carries: the body of each request before it leaves, and the answer as the
// caller reads it.
//
// Promise: the exchange itself does not change: the request has the same bytes and the same means to be sent again
// (TH-N6), the answer passes on as it arrives. A tap keeps at most Limit bytes of a body and counts the size to the
// end. It reports the outcome exactly once, when the answer was read or given up. It sees nothing that the inner
// transport adds to a request, such as the API key.
package tap

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"

	"coffer/api"
)

// Limit is how many bytes of one body are kept: one more than a client accepts, so that an answer that is too large
// shows as such.
func Limit() int { return api.DefaultLimits().Bytes + 1 }

// Outcome is how an exchange ended. Body holds at most Limit bytes, Size counts all that arrived. Err is set when
// there was no answer (Status 0) or it broke off.
type Outcome struct {
	Status int
	Header http.Header
	Body   []byte
	Size   int
	Err    error
}

// ErrGivenUp means that the caller closed the answer before its end.
var ErrGivenUp = errors.New("the answer was not read to its end")

// Transport returns a transport that calls heard for each request with a copy of its body (nil: none), and calls the
// function that heard returns with the outcome.
func Transport(inner http.RoundTripper, heard func(r *http.Request, body []byte) func(Outcome)) http.RoundTripper {
	return &transport{inner, heard}
}

type transport struct {
	inner http.RoundTripper
	heard func(*http.Request, []byte) func(Outcome)
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, r, err := take(r)
	if err != nil {
		return nil, err
	}
	tell := t.heard(r, body)
	res, err := t.inner.RoundTrip(r)
	if err != nil {
		tell(Outcome{Err: err})
		return nil, err
	}
	res.Body = &ear{ReadCloser: res.Body, out: Outcome{Status: res.StatusCode, Header: res.Header}, tell: tell}
	return res, nil
}

// take copies the body of a request. It leaves a body that can be made again alone; it reads any other and puts it
// back on a copy of the request.
func take(r *http.Request) ([]byte, *http.Request, error) {
	switch {
	case r.Body == nil || r.Body == http.NoBody:
		return nil, r, nil
	case r.GetBody != nil:
		again, err := r.GetBody()
		if err != nil {
			return nil, r, errors.Join(err, r.Body.Close())
		}
		b, err := io.ReadAll(again)
		if err = errors.Join(err, again.Close()); err != nil {
			return nil, r, errors.Join(err, r.Body.Close())
		}
		return b, r, nil
	}
	b, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		return nil, r, err
	}
	with := r.Clone(r.Context())
	with.Body, with.GetBody = io.NopCloser(bytes.NewReader(b)), nil
	return b, with, nil
}

// ear keeps what the caller reads of an answer.
type ear struct {
	io.ReadCloser
	out   Outcome
	ended bool
	once  sync.Once
	tell  func(Outcome)
}

// Read passes on what arrives.
func (e *ear) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	e.out.Size += n
	if room := Limit() - len(e.out.Body); n > 0 && room > 0 {
		e.out.Body = append(e.out.Body, p[:min(n, room)]...)
	}
	switch {
	case err == io.EOF:
		e.ended = true
		e.done(nil)
	case err != nil:
		e.done(err)
	}
	return n, err
}

// Close ends the exchange.
func (e *ear) Close() error {
	err := e.ReadCloser.Close()
	if !e.ended {
		e.done(ErrGivenUp)
	}
	return err
}

func (e *ear) done(err error) {
	e.once.Do(func() {
		e.out.Err = err
		e.tell(e.out)
	})
}
