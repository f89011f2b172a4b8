package app

import (
	"context"
	"net/http"
	"strings"
)

// steady carries requests to the service in this process for a guest whose line may break at any moment. A request to
// execute that was handed over runs to its end although no caller waits for the answer any more, as at a service
// behind a network; otherwise a broken line would leave the guest to wait for the expiry of its quote. Every other
// request ends with its caller.
type steady struct{ to http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (s steady) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if !strings.HasSuffix(r.URL.Path, "/execute-quote") || ctx.Err() != nil {
		return s.to.RoundTrip(r)
	}
	type answer struct {
		response *http.Response
		err      error
	}
	got := make(chan answer, 1)
	go func() {
		//nolint:bodyclose // by the reader of the answer
		response, err := s.to.RoundTrip(r.WithContext(context.WithoutCancel(ctx)))
		got <- answer{response, err}
	}()
	select {
	case a := <-got:
		return a.response, a.err
	case <-ctx.Done():
		go func() {
			if a := <-got; a.err == nil {
				_ = a.response.Body.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}
