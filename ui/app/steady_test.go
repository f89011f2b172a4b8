package app

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// slow answers when the test lets it, and records whether its request was cancelled.
type slow struct {
	begun, answer chan struct{}
	ended         chan error
}

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	s.begun <- struct{}{}
	select {
	case <-s.answer:
		s.ended <- nil
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	case <-r.Context().Done():
		s.ended <- r.Context().Err()
		return nil, r.Context().Err()
	}
}

// A broken line cancels everything but an execute that was handed over; the caller does not wait for that one.
func TestAnExecuteThatWasHandedOverIsCarriedOut(t *testing.T) {
	for path, goesOn := range map[string]bool{"/api/v3/quote/execute-quote": true, "/api/v3/quote/call-quote": false} {
		s := slow{make(chan struct{}), make(chan struct{}), make(chan error, 1)}
		ctx, cut := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "https://here"+path, strings.NewReader("{}"))
		told := make(chan error, 1)
		go func() {
			response, err := steady{s}.RoundTrip(r)
			if response != nil {
				_ = response.Body.Close()
			}
			told <- err
		}()
		<-s.begun
		cut()
		if err := <-told; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: told %v", path, err)
		}
		if goesOn {
			close(s.answer)
		}
		if err := <-s.ended; (err == nil) != goesOn {
			t.Errorf("%s: it ended with %v", path, err)
		}
	}
}
