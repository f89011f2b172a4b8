package tap_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"coffer/api/client/internal/tap"
)

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(body io.Reader) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(body)}
}

func request(t *testing.T, body string, again bool) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://x.invalid/v3/quote",
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if !again {
		r.GetBody = nil
	}
	return r
}

// TH-N6: a request that must not be sent twice still cannot be sent twice.
func TestN6_TheRequestIsTheSameAndGainsNoMeansToBeSentAgain(t *testing.T) {
	for _, again := range []bool{true, false} {
		var heard []byte
		rt := tap.Transport(trip(func(r *http.Request) (*http.Response, error) {
			b, err := io.ReadAll(r.Body)
			if err != nil || string(b) != "the body" || (r.GetBody != nil) != again || r.ContentLength != 8 {
				t.Errorf("again %v: %q, %v, length %d", again, b, err, r.ContentLength)
			}
			return answer(strings.NewReader("{}")), nil
		}), func(_ *http.Request, body []byte) func(tap.Outcome) {
			heard = body
			return func(tap.Outcome) {}
		})
		res, err := rt.RoundTrip(request(t, "the body", again))
		if err != nil || string(heard) != "the body" {
			t.Fatalf("%q, %v", heard, err)
		}
		_ = res.Body.Close()
	}
}

func TestTheOutcomeIsToldOnce(t *testing.T) {
	cut := errors.New("cut")
	for name, c := range map[string]struct {
		body io.Reader
		read bool
		want error
		size int
	}{
		"whole":    {strings.NewReader("abc"), true, nil, 3},
		"broken":   {io.MultiReader(strings.NewReader("ab"), failing{cut}), true, cut, 2},
		"given up": {strings.NewReader("abc"), false, tap.ErrGivenUp, 0},
		"large":    {bytes.NewReader(make([]byte, tap.Limit()+10)), true, nil, tap.Limit() + 10},
	} {
		var told []tap.Outcome
		rt := tap.Transport(trip(func(*http.Request) (*http.Response, error) { return answer(c.body), nil }),
			func(*http.Request, []byte) func(tap.Outcome) { return func(o tap.Outcome) { told = append(told, o) } })
		res, err := rt.RoundTrip(request(t, "x", true))
		if err != nil {
			t.Fatal(err)
		}
		if c.read {
			_, _ = io.ReadAll(res.Body)
		}
		_ = res.Body.Close()
		_ = res.Body.Close()
		if len(told) != 1 || !errors.Is(told[0].Err, c.want) || told[0].Size != c.size ||
			len(told[0].Body) > tap.Limit() || told[0].Status != 200 {
			t.Errorf("%s: %d times, %v, %d bytes", name, len(told), told[0].Err, told[0].Size)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestAFailureIsAnOutcome(t *testing.T) {
	no := errors.New("no route")
	var told tap.Outcome
	rt := tap.Transport(trip(func(*http.Request) (*http.Response, error) { return nil, no }),
		func(*http.Request, []byte) func(tap.Outcome) { return func(o tap.Outcome) { told = o } })
	if _, err := rt.RoundTrip(request(t, "x", true)); !errors.Is(err, no) || !errors.Is(told.Err, no) ||
		told.Status != 0 {
		t.Errorf("%v, %+v", err, told)
	}
}
