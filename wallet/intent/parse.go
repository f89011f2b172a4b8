package intent

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/pattern"
	"coffer/api/text"
)

// Parse reads the JSON form strictly and freezes it. Errors are those of ParseDraft and of Freeze.
func Parse(b []byte, rules api.Rules) (Intent, error) {
	d, err := ParseDraft(b)
	if err != nil {
		return Intent{}, err
	}
	return Freeze(d, rules)
}

// ParseDraft reads the JSON form strictly and checks nothing but its form and version: a template may leave members
// out. Duplicate names, unknown members, null, wrong types, other versions and documents beyond api.DefaultLimits are
// refused. The error is an *Error with the places, or wraps an
// *api.DocumentError with the byte.
func ParseDraft(b []byte) (Draft, error) {
	doc, err := api.ParseDocument(b, api.DefaultLimits())
	if err != nil {
		return Draft{}, fmt.Errorf("intent: %w", err)
	}
	if v, ok := doc.At("/version"); !ok || string(v) != strconv.Itoa(Version) {
		return Draft{}, &Error{Failures: []api.Failure{failure("version", fmt.Sprintf("version %d", Version),
			string(v))}}
	}
	var nulls []api.Failure
	doc.Leaves(func(pointer string, value []byte) {
		if string(value) == "null" {
			nulls = append(nulls, failure(place(pointer), "a value, or leave the member out", "null"))
		}
	})
	if len(nulls) > 0 {
		return Draft{}, &Error{Failures: nulls}
	}
	var d Draft
	if err := json.Unmarshal(b, &d, json.RejectUnknownMembers(true)); err != nil {
		return Draft{}, &Error{Failures: []api.Failure{shapeFailure(err)}}
	}
	return d, nil
}

// Fill returns a copy of the draft with the network and the accounts that a template left out; what it names stays. A
// v1 draft takes the EVM account.
func (d Draft) Fill(network string, accounts []api.Account) Draft {
	d = copyDraft(d)
	if d.Network == "" {
		d.Network = network
	}
	if len(d.Accounts) > 0 {
		return d
	}
	d.Accounts = slices.Clone(accounts)
	if d.Interface == InterfaceV1 {
		d.Accounts = slices.DeleteFunc(d.Accounts, func(a api.Account) bool { return !a.IsEVM() })
	}
	return d
}

// shapeFailure says where a document does not have the types of a draft.
func shapeFailure(err error) api.Failure {
	var se *json.SemanticError
	if !errors.As(err, &se) {
		return failure("", "an intent", err.Error())
	}
	at := place(string(se.JSONPointer))
	if errors.Is(err, json.ErrUnknownName) {
		return failure(at, "no such member", "one")
	}
	want := "another type"
	if se.GoType != nil {
		want = kindName(se.GoType.Kind().String())
	}
	return failure(at, want, kindName(se.JSONKind.String()))
}

// kindName puts a kind of Go or of JSON into plain words.
func kindName(kind string) string {
	switch kind {
	case "struct", "map", "ptr", "{":
		return "an object"
	case "slice", "[":
		return "an array"
	case "int":
		return "an integer"
	case "number":
		return "another number"
	case "true", "false":
		return "true or false"
	}
	return "a " + kind
}

var reIndex = pattern.New(`^(0|[1-9][0-9]*)$`)

// place writes a JSON pointer the way rules name places: /calls/0/to is calls[0].to.
func place(pointer string) string {
	var out strings.Builder
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch {
		case reIndex.MatchString(part):
			out.WriteString("[" + part + "]")
		case out.Len() > 0:
			out.WriteString("." + part)
		default:
			out.WriteString(part)
		}
	}
	return text.Clean(out.String(), 200)
}
