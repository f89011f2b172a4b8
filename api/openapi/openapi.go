// Package openapi describes the interface as an OpenAPI 3.1 document. The schemas are made by reflection from the types
// of package api that serve the requests: a member without omitzero is required, one with it is optional. What a type
// cannot say (patterns, enumerations, bounds, examples, words) stands in one table keyed by type and member.
//
// Promise: the same endpoints give the same bytes; every member of every type is described; a described member that no
// type has is an error. The HTTP layer takes its routes from Endpoints, so nothing is served that is not described and
// nothing is described that is not served.
//
// Sources: docs/interface.md, protocol §6 and §7.
package openapi

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
)

// Version is the version of the interface (docs/interface.md).
const Version = "1.6.2"

// Permissions of API keys: what a route demands.
const (
	PermitRead    = "read"
	PermitQuote   = "quote"
	PermitExecute = "execute"
)

// Parameter is one query parameter.
type Parameter struct {
	Name, Description, Example string
	Required                   bool
	Schema                     Note // type string unless Kind says otherwise
	Kind                       string
}

// Endpoint is one route of the service. Path is below the base path. Request is a value of the body's type, nil when
// there is none, Response one of the answer's. Errors are the statuses beside Status that an answer can have. Open
// routes need no key.
type Endpoint struct {
	ID, Method, Path, Group string
	Summary, Description    string
	Permission              string
	Open, Ours              bool // Ours: an addition to the interface
	Tagged                  bool // the answer has an ETag, and is 304 to who has it already
	Parameters              []Parameter
	Request, Response       any
	V1                      bool // operations in records carry chainId
	// members of the answer that this endpoint always has beside those its type requires
	Members []string
	Without []string // members of the answer's type that this endpoint never has
	Status  int
	Errors  []int
}

// Describe returns the OpenAPI document of the endpoints, served below the base path.
func Describe(base string, endpoints []Endpoint) ([]byte, error) {
	b := &builder{notes: notes(), used: map[string]bool{}, schemas: map[string]object{}}
	paths := object{}
	for _, e := range endpoints {
		op, err := b.operation(e)
		if err != nil {
			return nil, err
		}
		item := object{{strings.ToLower(e.Method), op}}
		if n := len(paths); n > 0 && paths[n-1].name == e.Path {
			paths[n-1].value = append(paths[n-1].value.(object), item...)
			continue
		}
		paths = paths.with(e.Path, item)
	}
	if err := b.errors(); err != nil {
		return nil, err
	}
	if base == "" {
		base = "/"
	}
	doc := object{
		{"openapi", "3.1.0"},
		{"jsonSchemaDialect", "https://spec.openapis.org/oas/3.1/dialect/base"},
		{"info", object{
			{"title", "Coffer"}, {"version", Version},
			{"summary", "Chain abstraction over HTTPS and JSON: accounts, balances, quotes, execution, history."},
			{"description", "Amounts are decimal strings in the smallest unit of their asset, chains CAIP-2, assets " +
				"CAIP-19, accounts CAIP-10, times Unix seconds in decimal strings."},
			{"license", object{{"name", "MIT"}, {"identifier", "MIT"}}},
		}},
		{"servers", []any{object{{"url", base}}}},
		{"security", []any{object{{"apiKey", []string{}}}}},
		{"tags", tags(endpoints)},
		{"paths", paths},
		{"components", object{
			{"schemas", b.sorted()},
			{"responses", failures(endpoints)},
			{"headers", headers()},
			{"securitySchemes", object{{"apiKey", object{{"type", "apiKey"}, {"in", "header"},
				{"name", "x-api-key"}}}}},
		}},
	}
	raw, err := json.Marshal(doc, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return append(raw, '\n'), nil
}

func tags(endpoints []Endpoint) []any {
	var out []any
	seen := map[string]bool{}
	for _, e := range endpoints {
		if !seen[e.Group] {
			seen[e.Group] = true
			out = append(out, object{{"name", e.Group}})
		}
	}
	return out
}

func failureName(status int) string { return "Error" + strconv.Itoa(status) }

// failures are the answers with an error body, by status.
func failures(endpoints []Endpoint) object {
	out := object{}
	for status := 400; status < 600; status++ {
		for _, e := range endpoints {
			if slices.Contains(e.Errors, status) {
				out = out.with(failureName(status), response(meaning(status), errorSchema(status), false))
				break
			}
		}
	}
	return out
}

func headers() object {
	integer := object{{"type", "integer"}}
	return object{
		{"RequestId", object{{"description", "Names the request in the service's log."},
			{"schema", object{{"type", "string"}}}}},
		{"RateLimit", object{{"description", "Requests that the key's window admits."}, {"schema", integer}}},
		{"RateRemaining", object{{"description", "Requests that are left in the window."}, {"schema", integer}}},
		{"RateReset", object{{"description", "When the oldest request of the window expires, Unix seconds."},
			{"schema", integer}}},
		{"ETag", object{{"description", "Names the answer, for If-None-Match."},
			{"schema", object{{"type", "string"}}}}},
		{"RetryAfter", object{{"description", "Seconds to wait."}, {"schema", integer}}},
	}
}

func (b *builder) operation(e Endpoint) (object, error) {
	op := object{{"operationId", e.ID}, {"tags", []string{e.Group}}, {"summary", e.Summary}}
	text := e.Description
	if e.Ours {
		text = strings.TrimSpace("An addition of this service to the interface. " + text)
	}
	if text != "" {
		op = op.with("description", text)
	}
	if e.Permission != "" {
		op = op.with("x-permission", e.Permission)
	}
	if e.Open {
		op = op.with("security", []any{})
	}
	if len(e.Parameters) > 0 {
		op = op.with("parameters", parameters(e.Parameters))
	}
	if e.Request != nil {
		schema, err := b.schema(reflect.TypeOf(e.Request), e.V1)
		if err != nil {
			return nil, fmt.Errorf("openapi: %s: %w", e.ID, err)
		}
		op = op.with("requestBody", object{{"required", true}, {"content", content(schema)}})
	}
	schema, err := b.answer(e)
	if err != nil {
		return nil, fmt.Errorf("openapi: %s: %w", e.ID, err)
	}
	responses := object{{strconv.Itoa(e.Status), response(http.StatusText(e.Status), schema, e.Open)}}
	if e.Tagged {
		tag := object{{"ETag", object{{"$ref", "#/components/headers/ETag"}}}}
		responses = object{
			{strconv.Itoa(e.Status), response(http.StatusText(e.Status), schema, e.Open, tag...)},
			{"304", object{{"description", "Unchanged since the answer that If-None-Match names."}, {"headers", tag}}},
		}
	}
	for _, status := range e.Errors {
		responses = responses.with(strconv.Itoa(status),
			object{{"$ref", "#/components/responses/" + failureName(status)}})
	}
	return op.with("responses", responses), nil
}

// answer is the schema of a success: the type's, with what this endpoint adds to it or leaves out.
func (b *builder) answer(e Endpoint) (object, error) {
	schema, err := b.schema(reflect.TypeOf(e.Response), e.V1)
	if err != nil || len(e.Members)+len(e.Without) == 0 {
		return schema, err
	}
	all := []any{schema}
	if len(e.Members) > 0 {
		all = append(all, object{{"required", e.Members}})
	}
	for _, m := range e.Without {
		all = append(all, object{{"not", object{{"required", []string{m}}}}})
	}
	return object{{"allOf", all}}, nil
}

func parameters(ps []Parameter) []any {
	var out []any
	for _, p := range ps {
		kind := p.Kind
		if kind == "" {
			kind = "string"
		}
		item := object{{"name", p.Name}, {"in", "query"}, {"description", p.Description}}
		if p.Required {
			item = item.with("required", true)
		}
		item = item.with("schema", p.Schema.onto(object{{"type", kind}}))
		if p.Example != "" {
			item = item.with("example", p.Example)
		}
		out = append(out, item)
	}
	return out
}

func content(schema object) object {
	return object{{"application/json", object{{"schema", schema}}}}
}

func response(description string, schema object, open bool, more ...member) object {
	ref := func(name string) object { return object{{"$ref", "#/components/headers/" + name}} }
	head := object{{"X-Request-Id", ref("RequestId")}}
	if !open {
		head = append(head, object{{"x-ratelimit-limit", ref("RateLimit")},
			{"x-ratelimit-remaining", ref("RateRemaining")}, {"x-ratelimit-reset", ref("RateReset")}}...)
	}
	if description == meaning(http.StatusTooManyRequests) || description == meaning(http.StatusServiceUnavailable) {
		head = head.with("Retry-After", ref("RetryAfter"))
	}
	return object{{"description", description}, {"headers", append(head, more...)}, {"content", content(schema)}}
}

// ErrorNames returns the names that an error of a status can have (protocol §6).
func ErrorNames(status int) []string {
	var out []string
	for _, name := range api.ErrorNames() {
		if api.NewError(name, "").StatusCode == status {
			out = append(out, name)
		}
	}
	return out
}

func errorSchema(status int) object {
	name := "Error"
	if status == http.StatusUnauthorized {
		name = "UnauthorizedError"
	}
	return object{{"allOf", []any{
		reference(name),
		object{{"properties", object{{"statusCode", object{{"const", status}}},
			{"error", object{{"enum", ErrorNames(status)}}}}}},
	}}}
}

func meaning(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "A rule of the request is broken; a validation failure lists all of them under details."
	case http.StatusUnauthorized:
		return "The API key is missing, wrong or expired, or plain HTTP was used."
	case http.StatusForbidden:
		return "The key lacks the permission for this endpoint."
	case http.StatusNotFound:
		return "No quote that the key may execute has the id."
	case http.StatusConflict:
		return "The quote was executed before."
	case http.StatusUnsupportedMediaType:
		return "The body is not application/json."
	case http.StatusUnprocessableEntity:
		return "The simulation of a call reverts; the message has the decoded reason."
	case http.StatusTooManyRequests:
		return "The key exceeds its limits."
	case http.StatusServiceUnavailable:
		return "The service cannot work now, for the reason that the message gives: its clock went back, or its disk " +
			"is full."
	}
	return "Something went wrong in the service."
}
