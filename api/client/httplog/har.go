package httplog

import (
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The parts of an HTTP archive, version 1.2, that HAR uses; unknown sizes are -1, times are whole milliseconds.
type (
	har struct {
		Log harLog `json:"log"`
	}
	harLog struct {
		Version string     `json:"version"`
		Creator harCreator `json:"creator"`
		Entries []harEntry `json:"entries"`
	}
	harCreator struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	harEntry struct {
		Started  string      `json:"startedDateTime"`
		Time     int64       `json:"time"`
		Request  harRequest  `json:"request"`
		Response harResponse `json:"response"`
		Cache    struct{}    `json:"cache"`
		Timings  harTimings  `json:"timings"`
		Comment  string      `json:"comment,omitzero"`
	}
	harRequest struct {
		Method      string    `json:"method"`
		URL         string    `json:"url"`
		Version     string    `json:"httpVersion"`
		Cookies     []string  `json:"cookies"`
		Headers     []harPair `json:"headers"`
		Query       []harPair `json:"queryString"`
		Body        *harText  `json:"postData,omitzero"`
		HeadersSize int       `json:"headersSize"`
		BodySize    int       `json:"bodySize"`
	}
	harResponse struct {
		Status      int       `json:"status"`
		StatusText  string    `json:"statusText"`
		Version     string    `json:"httpVersion"`
		Cookies     []string  `json:"cookies"`
		Headers     []harPair `json:"headers"`
		Content     harText   `json:"content"`
		Redirect    string    `json:"redirectURL"`
		HeadersSize int       `json:"headersSize"`
		BodySize    int       `json:"bodySize"`
	}
	harPair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	harText struct {
		Size int    `json:"size,omitzero"`
		Type string `json:"mimeType"`
		Text string `json:"text"`
	}
	harTimings struct {
		Send    int64 `json:"send"`
		Wait    int64 `json:"wait"`
		Receive int64 `json:"receive"`
	}
)

// HAR writes exchanges in the form of an HTTP archive. version is that of the program. What the Log left out is
// missing here as well.
func HAR(all []Exchange, version string) ([]byte, error) {
	doc := har{harLog{Version: "1.2", Creator: harCreator{"coffer", version}, Entries: []harEntry{}}}
	for _, e := range all {
		doc.Log.Entries = append(doc.Log.Entries, entry(e))
	}
	b, err := json.Marshal(doc, jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true))
	return append(b, '\n'), err
}

func entry(e Exchange) harEntry {
	ms := e.Took.Milliseconds()
	out := harEntry{
		Started: e.At.UTC().Format(time.RFC3339Nano), Time: ms, Timings: harTimings{Wait: ms}, Comment: e.Err,
		Request: harRequest{
			Method: e.Method, URL: e.Base + e.Path, Version: "HTTP/1.1", Cookies: []string{},
			Headers: pairs(e.RequestHeader), Query: query(e.Query),
			HeadersSize: -1, BodySize: e.RequestSize,
		},
		Response: harResponse{
			Status: e.Status, Version: "HTTP/1.1", Cookies: []string{}, Headers: pairs(e.ResponseHeader),
			HeadersSize: -1, BodySize: e.ResponseSize,
			Content: harText{Size: e.ResponseSize, Type: e.ResponseHeader["content-type"], Text: string(e.Response)},
		},
	}
	if e.Query != "" {
		out.Request.URL += "?" + e.Query
	}
	if len(e.Request) > 0 {
		out.Request.Body = &harText{Type: e.RequestHeader["content-type"], Text: string(e.Request)}
	}
	if !e.Done {
		out.Comment = "no answer yet"
	}
	return out
}

func pairs(m map[string]string) []harPair {
	out := []harPair{}
	for _, n := range slices.Sorted(maps.Keys(m)) {
		out = append(out, harPair{n, m[n]})
	}
	return out
}

func query(raw string) []harPair {
	out := []harPair{}
	values, _ := url.ParseQuery(raw) // what does not parse is in the address
	for _, n := range slices.Sorted(maps.Keys(values)) {
		for _, v := range values[n] {
			out = append(out, harPair{n, v})
		}
	}
	return out
}
