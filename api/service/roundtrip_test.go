package service_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"coffer/api/service"
)

func request(t testing.TB, ctx context.Context, method, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRoundTripCarriesTheWholeRequestAndAnswer(t *testing.T) {
	rt := service.RoundTripper(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/a b" || r.URL.RawQuery != "c=d" || r.Header.Get("X") != "y" ||
			r.ContentLength != 4 {
			t.Errorf("%v %v %v %d", err, r.URL, r.Header, r.ContentLength)
		}
		w.Header().Set("Early", "1")
		w.WriteHeader(http.StatusTeapot)
		w.Header().Set("Late", "1")
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(b)
	}))
	r := request(t, context.Background(), http.MethodPost, "https://host/a%20b?c=d", "body")
	r.Header.Set("X", "y")
	res, err := rt.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil || string(got) != "body" || res.StatusCode != http.StatusTeapot || res.Header.Get("Early") != "1" ||
		res.Header.Get("Late") != "" {
		t.Errorf("%v %q %d %v", err, got, res.StatusCode, res.Header)
	}
}

func TestRoundTripReturnsWhenTheContextEnds(t *testing.T) {
	entered, release, left := make(chan bool), make(chan bool), make(chan error, 1)
	rt := service.RoundTripper(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-release
		left <- r.Context().Err() // the handler sees the end too
	}))
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-entered; cancel() }()
	if _, err := rt.RoundTrip(request(t, ctx, http.MethodGet, "https://host/", "")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, expected context.Canceled", err)
	}
	close(release)
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the handler's context: %v", err)
	}
	if _, err := rt.RoundTrip(request(t, ctx, http.MethodGet, "https://host/", "")); !errors.Is(err, context.Canceled) {
		t.Errorf("a request whose context has ended: %v", err)
	}
}

func TestRoundTripSharesNoBuffer(t *testing.T) {
	kept := []byte("answer")
	var seen []byte
	rt := service.RoundTripper(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen, _ = io.ReadAll(r.Body)
		_, _ = w.Write(kept)
	}))
	sent := []byte("question")
	r, err := http.NewRequest(http.MethodPost, "https://host/", bytes.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	res, err := rt.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	copy(sent, "XXXXXXXX")
	copy(kept, "XXXXXX")
	if got, err := io.ReadAll(res.Body); err != nil || string(got) != "answer" || string(seen) != "question" {
		t.Errorf("%v: %q, %q", err, got, seen)
	}
}

func TestAnAnswerCutOffHalfWayIsAnError(t *testing.T) {
	rt := service.RoundTripper(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("half"))
		panic(http.ErrAbortHandler)
	}))
	if _, err := rt.RoundTrip(request(t, context.Background(), http.MethodGet, "https://host/", "")); !errors.Is(err,
		io.ErrUnexpectedEOF) {
		t.Errorf("%v, expected an unexpected end", err)
	}
}
