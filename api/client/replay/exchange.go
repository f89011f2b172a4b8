package replay

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/api/pattern"
	"coffer/api/text"
)

// exchange is one recorded request with its answer. Status 0 means that it has no answer; failure says why.
type exchange struct {
	number  int
	at      time.Time
	took    time.Duration
	method  string
	path    string // escaped
	query   string
	request []byte
	status  int
	headers map[string]string
	answer  []byte
	failure string
}

// exchangeFile is an exchange on disk. A body that is JSON in its shortest form is stored as JSON, so that people can
// read it; any other as text, and one that is no text in base64.
type exchangeFile struct {
	Version     int               `json:"version"`
	Number      int               `json:"number"`
	At          string            `json:"at"`
	TookMS      int64             `json:"tookMs"`
	Method      string            `json:"method"`
	Path        string            `json:"path"`
	Query       string            `json:"query,omitzero"`
	Request     jsontext.Value    `json:"request,omitzero"`
	RequestText string            `json:"requestText,omitzero"`
	Status      int               `json:"status"`
	Headers     map[string]string `json:"headers,omitzero"`
	Answer      jsontext.Value    `json:"answer,omitzero"`
	AnswerText  string            `json:"answerText,omitzero"`
	AnswerBytes []byte            `json:"answerBytes,omitzero"`
	Failure     string            `json:"failure,omitzero"`
}

// encode writes the file of an exchange. It reads the file back, and writes a body that would not come back byte for
// byte as text instead.
func (e exchange) encode() ([]byte, error) {
	f := exchangeFile{
		Version: Version, Number: e.number, At: e.at.UTC().Format(time.RFC3339Nano), TookMS: e.took.Milliseconds(),
		Method: e.method, Path: e.path, Query: e.query,
		Status: e.status, Headers: e.headers, Failure: e.failure,
	}
	if exact(e.request) {
		f.Request = e.request
	} else {
		f.RequestText = string(bytes.ToValidUTF8(e.request, []byte("\uFFFD"))) // only compared, never sent
	}
	switch {
	case exact(e.answer):
		f.Answer = e.answer
	case utf8.Valid(e.answer):
		f.AnswerText = string(e.answer)
	default:
		f.AnswerBytes = e.answer
	}
	b, err := json.Marshal(f, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("record exchange %d: %w", e.number, err)
	}
	return append(b, '\n'), nil
}

// exact reports whether a body is JSON that a file can hold unchanged.
func exact(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	if _, err := api.ParseDocument(b, api.DefaultLimits()); err != nil {
		return false
	}
	again, err := json.Marshal(struct {
		V jsontext.Value `json:"v"`
	}{b})
	return err == nil && bytes.Equal(again, append(append([]byte(`{"v":`), b...), '}'))
}

var reMethod = pattern.New(`^(GET|POST)$`)

// parseExchange reads the file of an exchange; name is its name. The error is a *FormatError.
func parseExchange(name string, b []byte) (exchange, error) {
	bad := func(problem string, err error) (exchange, error) {
		return exchange{}, &FormatError{File: name, Problem: problem, Err: err}
	}
	var f exchangeFile
	if err := decode(b, maxFile, &f); err != nil {
		return bad("it cannot be read", err)
	}
	at, err := moment(f.At)
	u, errPath := url.ParseRequestURI(f.Path)
	switch {
	case f.Version != Version:
		return bad(fmt.Sprintf("version %d, this program reads %d", f.Version, Version), nil)
	case name != fileName(f.Number):
		return bad("the number does not belong to the name", nil)
	case err != nil:
		return bad("at", err)
	case f.TookMS < 0 || f.TookMS > int64(time.Hour/time.Millisecond):
		return bad("tookMs is not within an hour", nil)
	case !reMethod.MatchString(f.Method):
		return bad("the method is neither GET nor POST", nil)
	case errPath != nil || u.EscapedPath() != f.Path || f.Path[0] != '/':
		return bad("path is no path", nil)
	case f.Status != 0 && (f.Status < 100 || f.Status > 599):
		return bad("the status is no HTTP status", nil)
	case (f.Status == 0) != (f.Failure != ""):
		return bad("there is either an answer or a failure", nil)
	case len(f.Headers) > 16:
		return bad("too many headers", nil)
	case more(len(f.Request) > 0, f.RequestText != "") ||
		more(len(f.Answer) > 0, f.AnswerText != "", len(f.AnswerBytes) > 0):
		return bad("one body in two forms", nil)
	}
	e := exchange{
		number: f.Number, at: at, took: time.Duration(f.TookMS) * time.Millisecond, method: f.Method, path: f.Path,
		query: f.Query, status: f.Status,
		headers: f.Headers, failure: text.Clean(f.Failure, 500), request: f.Request, answer: f.Answer,
	}
	if f.RequestText != "" {
		e.request = []byte(f.RequestText)
	}
	if f.AnswerText != "" {
		e.answer = []byte(f.AnswerText)
	}
	if len(f.AnswerBytes) > 0 {
		e.answer = f.AnswerBytes
	}
	if limit := api.DefaultLimits().Bytes; len(e.answer) > limit || len(e.request) > limit {
		return bad(fmt.Sprintf("a body of more than %d bytes", limit), nil)
	}
	return e, nil
}

func more(set ...bool) bool {
	n := 0
	for _, s := range set {
		if s {
			n++
		}
	}
	return n > 1
}

func fileName(number int) string { return fmt.Sprintf("%06d.json", number) }

// place is what a request asks for, without its parameters.
func place(method, path string) string { return method + " " + path }

// exactly is a request with its parameters: the query in one order, the body in its canonical form.
func exactly(method, path, query string, body []byte) string {
	if v, err := url.ParseQuery(query); err == nil {
		query = v.Encode()
	}
	if v := jsontext.Value(bytes.Clone(body)); len(body) > 0 && v.Canonicalize() == nil {
		body = v
	}
	return fmt.Sprintf("%s?%s %x", place(method, path), query, sha256.Sum256(body))
}

// response is the recorded answer without the date of the recording, which would look like a stopped clock.
func (e exchange) response(r *http.Request) *http.Response {
	h := http.Header{}
	for _, name := range []string{"content-type", "retry-after", "x-request-id"} {
		if v := e.headers[name]; v != "" {
			h.Set(name, v)
		}
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", e.status, http.StatusText(e.status)), StatusCode: e.status, Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1, Header: h,
		Body: io.NopCloser(bytes.NewReader(e.answer)), ContentLength: int64(len(e.answer)), Request: r,
	}
}
