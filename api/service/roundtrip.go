package service

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"coffer/api"
)

// RoundTripper carries requests to a handler in this process, through the full HTTP layer and without a socket. The
// request body is read before the handler starts and the answer is complete before it is returned, so neither side
// holds a buffer of the other. When the context ends first, its cause is returned at once; the handler runs to its end
// unseen, as behind a cut connection.
func RoundTripper(h http.Handler) http.RoundTripper { return &roundTripper{h} }

type roundTripper struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (t *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	body, err := takeBody(req)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	in := serverRequest(req, body)
	done := make(chan *recorder, 1)
	go func() {
		out := &recorder{header: http.Header{}}
		defer func() {
			if p := recover(); p != nil { // the layer answers panics itself; this is an answer cut off half-way
				out.broken = true
			}
			done <- out
		}()
		t.handler.ServeHTTP(out, in)
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case out := <-done:
		return out.response(req)
	}
}

// takeBody reads the whole body and closes it. One byte more than the layer accepts is enough for it to say that the
// body is too large.
func takeBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	b, err := io.ReadAll(io.LimitReader(req.Body, int64(api.DefaultLimits().Bytes)+1))
	if closing := req.Body.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, fmt.Errorf("read the request body: %w", err)
	}
	return b, nil
}

// serverRequest is the request as a server would have read it.
func serverRequest(req *http.Request, body []byte) *http.Request {
	in := req.Clone(req.Context())
	in.Body = io.NopCloser(bytes.NewReader(body))
	in.ContentLength = int64(len(body))
	in.RequestURI = req.URL.RequestURI()
	in.RemoteAddr = "in process"
	in.Host = req.URL.Host
	in.GetBody, in.Response = nil, nil
	return in
}

// recorder collects an answer. Only the handler's goroutine touches it until it is handed over.
type recorder struct {
	header http.Header
	sent   http.Header // the header as it was when the status went out
	status int
	body   bytes.Buffer
	broken bool
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter; the first call counts.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status, r.sent = status, r.header.Clone()
	}
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(b)
}

func (r *recorder) response(req *http.Request) (*http.Response, error) {
	if r.broken {
		return nil, io.ErrUnexpectedEOF
	}
	r.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: strconv.Itoa(r.status) + " " + http.StatusText(r.status), StatusCode: r.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: r.sent, Request: req,
		Body: io.NopCloser(bytes.NewReader(r.body.Bytes())), ContentLength: int64(r.body.Len()),
	}, nil
}
