package service_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"coffer/api/openapi"
)

// description is the OpenAPI document of the service, made strict: an object that lists its members may have no others.
type description struct {
	mu        sync.Mutex
	compiler  *jsonschema.Compiler
	doc       map[string]any
	schemas   map[string]*jsonschema.Schema
	endpoints map[string]openapi.Endpoint // method and path
}

var describe = sync.OnceValues(func() (*description, error) {
	raw, err := openapi.Describe("/api", openapi.Endpoints())
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	d := &description{compiler: jsonschema.NewCompiler(), doc: doc.(map[string]any),
		schemas: map[string]*jsonschema.Schema{}, endpoints: map[string]openapi.Endpoint{}}
	for _, s := range d.doc["components"].(map[string]any)["schemas"].(map[string]any) {
		closeObject(s.(map[string]any))
	}
	d.compiler.AssertFormat()
	for _, e := range openapi.Endpoints() {
		d.endpoints[e.Method+" "+e.Path] = e
	}
	return d, d.compiler.AddResource("openapi.json", doc)
})

func closeObject(s map[string]any) {
	if _, lists := s["properties"]; s["type"] == "object" && lists {
		s["additionalProperties"] = false
	}
}

// pointer writes the parts of a JSON pointer.
func pointer(parts ...string) string {
	out := "openapi.json#"
	for _, p := range parts {
		out += "/" + strings.ReplaceAll(strings.ReplaceAll(p, "~", "~0"), "/", "~1")
	}
	return out
}

// schema is that of an answer to a request: of the endpoint with this status, or of a failure.
func (d *description) schema(method, path string, status int) (*jsonschema.Schema, error) {
	at := pointer("components", "schemas", "Error")
	if _, known := d.endpoints[method+" "+path]; known {
		code := fmt.Sprint(status)
		operations := d.doc["paths"].(map[string]any)[path].(map[string]any)
		responses := operations[strings.ToLower(method)].(map[string]any)["responses"].(map[string]any)
		answer, documented := responses[code].(map[string]any)
		if !documented {
			return nil, fmt.Errorf("status %d is not described for %s %s", status, method, path)
		}
		at = pointer("paths", path, strings.ToLower(method), "responses", code, "content", "application/json", "schema")
		if ref, ok := answer["$ref"].(string); ok {
			at = "openapi.json" + ref + "/content/application~1json/schema"
		}
	} else if status != http.StatusNotFound {
		return nil, fmt.Errorf("%s %s is not described and was answered with %d", method, path, status)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.schemas[at]; s != nil {
		return s, nil
	}
	s, err := d.compiler.Compile(at)
	d.schemas[at] = s
	return s, err
}

// checked validates every answer that passes against the description of the interface.
type checked struct {
	tb   testing.TB
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (c checked) RoundTrip(r *http.Request) (*http.Response, error) {
	c.tb.Helper()
	res, err := c.next.RoundTrip(r)
	if err != nil {
		return res, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(raw))
	c.check(r, res, raw)
	return res, nil
}

func (c checked) check(r *http.Request, res *http.Response, raw []byte) {
	c.tb.Helper()
	path := strings.TrimPrefix(r.URL.Path, "/api")
	if strings.HasPrefix(path, "/explorer/") || path == "/network.json" {
		return
	}
	if err := judge(r.Method, path, res.StatusCode, res.Header.Get("Content-Type"), raw); err != nil {
		c.tb.Errorf("%s %s was answered %d with what the description does not allow: %v\n%.2000s", r.Method, path,
			res.StatusCode, err, raw)
	}
}

// judge says why an answer is none that the description knows.
func judge(method, path string, status int, contentType string, raw []byte) error {
	d, err := describe()
	if err != nil {
		return err
	}
	schema, err := d.schema(method, path, status)
	if err != nil {
		return err
	}
	if contentType != "application/json" {
		return fmt.Errorf("Content-Type %q", contentType)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

// The judge of all answers lets nothing pass that is not described.
func TestAnswersThatAreNotDescribedAreFound(t *testing.T) {
	const list, status = "/chains/supported-list", "/v3/status/get-execution-status"
	good := `[{"chain":{"chain":"eip155:1","namespace":"eip155","reference":"1"},"isTestnet":false}]`
	ref := `{"hash":"0x` + strings.Repeat("a", 64) + `","chain":"eip155:1","explorerUrl":"https://x/y"%s}`
	known := `{"quoteId":"0x` + strings.Repeat("a", 64) + `","status":"PENDING","user":"` + account +
		`","recipientAccountId":"eip155:1/0x12","originChainOperations":[` + ref + `]}`
	for name, c := range map[string]struct {
		path, body, contentType string
		code                    int
		fine                    bool
	}{
		"as described": {list, good, "application/json", 200, true},
		"a member too many": {list, strings.Replace(good, `"isTestnet"`, `"more":1,"isTestnet"`, 1),
			"application/json", 200, false},
		"a member missing": {list, strings.Replace(good, `,"isTestnet":false`, ``, 1), "application/json", 200,
			false},
		"a string for a boolean": {list, strings.Replace(good, `false`, `"false"`, 1), "application/json", 200, false},
		"an object for the list": {list, `{"chains":` + good + `}`, "application/json", 200, false},
		"another content type":   {list, good, "text/plain", 200, false},
		"another status":         {list, good, "application/json", 201, false},
		"an unknown quote":       {status, `{}`, "application/json", 200, true},
		"a known quote":          {status, fmt.Sprintf(known, ""), "application/json", 200, true},
		"chainId in v3":          {status, fmt.Sprintf(known, `,"chainId":1`), "application/json", 200, false},
		"half a status":          {status, `{"status":"PENDING"}`, "application/json", 200, false},
		"an error": {list, `{"error":"ForbiddenException","message":"m","statusCode":403}`,
			"application/json", 403, true},
		"an error of no name": {list, `{"error":"Forbidden","message":"m","statusCode":403}`, "application/json",
			403, false},
		"an error of another one": {list, `{"error":"NotFound","message":"m","statusCode":403}`, "application/json",
			403, false},
		"401 without a path": {list, `{"error":"UnauthorizedException","message":"m","statusCode":401}`,
			"application/json", 401, false},
		"an undescribed status": {list, `{"error":"QuoteAlreadyExecuted","message":"m","statusCode":409}`,
			"application/json", 409, false},
	} {
		if err := judge("GET", c.path, c.code, c.contentType, []byte(c.body)); (err == nil) != c.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// everyEndpoint lists the described endpoints that need a key.
func everyEndpoint(t testing.TB) []openapi.Endpoint {
	t.Helper()
	var out []openapi.Endpoint
	for _, e := range openapi.Endpoints() {
		if !e.Open {
			out = append(out, e)
		}
	}
	return out
}
