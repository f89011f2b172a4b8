package httpapi

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"coffer/api"
)

// maxURL bounds path and query of a request in bytes; the server's own header limit does not reach requests in process.
const maxURL = 64 << 10

// body reads the body of a route that takes one; it is nil for the others. The use case judges what it says. The caller
// calls leave, never nil, after the answer.
func (h *handler) body(w *answer, r *http.Request, rt route) (doc *api.Document, leave func(), err error) {
	leave = func() {}
	if len(r.URL.RawQuery) > maxURL {
		return nil, leave, api.Invalid("", "a query of at most "+strconv.Itoa(maxURL)+" bytes",
			strconv.Itoa(len(r.URL.RawQuery))+" bytes")
	}
	if !rt.post {
		return nil, leave, nil
	}
	if err := checkMediaType(r.Header); err != nil {
		return nil, leave, err
	}
	raw, leave, err := h.large.read(http.MaxBytesReader(w, r.Body, int64(h.limits.Bytes)), w.caller)
	if err != nil {
		return nil, leave, h.unread(err)
	}
	panicked := true
	defer func() {
		if panicked {
			leave()
		}
	}()
	doc, err = api.ParseDocument(raw, h.limits)
	panicked = false
	if err != nil {
		err = api.Invalid("", "a JSON document", err.Error())
	}
	return doc, leave, err
}

// unread says why a body could not be read.
func (h *handler) unread(err error) error {
	var large *http.MaxBytesError
	var known *api.Error
	switch {
	case errors.As(err, &large):
		// a validation failure like any other: the interface knows no status of its own for it (protocol §6)
		return api.Invalid("", "a body of at most "+strconv.Itoa(h.limits.Bytes)+" bytes", "a larger one")
	case errors.As(err, &known):
		return err
	}
	return api.Invalid("", "a complete body", "one that broke off")
}

func checkMediaType(head http.Header) error {
	media, params, err := mime.ParseMediaType(head.Get("Content-Type"))
	charset := strings.ToLower(params["charset"])
	if err != nil || media != "application/json" || (charset != "" && charset != "utf-8") {
		return api.NewError(api.ErrMediaType, "Content-Type must be application/json")
	}
	if e := head.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return api.NewError(api.ErrMediaType, "Content-Encoding must be absent: bodies are not compressed")
	}
	return nil
}

// query returns the value of each named parameter, "" when absent. A parameter that appears twice is refused: two
// readers could take different ones.
func query(r *http.Request, names ...string) ([]string, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, api.Invalid("", "a well-formed query", "a malformed one")
	}
	out := make([]string, len(names))
	var failures []api.Failure
	for i, name := range names {
		if len(values[name]) > 1 {
			failures = append(failures, api.Failure{Path: name, Expected: "the parameter once",
				Got: strconv.Itoa(len(values[name])) + " times"})
		}
		out[i] = values.Get(name)
	}
	return out, api.NewValidationError(failures)
}
