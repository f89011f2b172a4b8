package openapi

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"coffer/api"
)

// builder makes component schemas out of types.
type builder struct {
	notes   map[string]Note
	used    map[string]bool
	schemas map[string]object
}

func reference(name string) object { return object{{"$ref", "#/components/schemas/" + name}} }

// sorted are the component schemas by name.
func (b *builder) sorted() object {
	out := object{}
	for name, s := range b.schemas {
		out = append(out, member{name, s})
	}
	slices.SortFunc(out, func(x, y member) int { return strings.Compare(x.name, y.name) })
	return out
}

// schema returns the schema of a type; structs become components. v1 chooses the v1 form of what has two: records with
// chainId.
func (b *builder) schema(t reflect.Type, v1 bool) (object, error) {
	switch t {
	case reflect.TypeFor[api.Number]():
		return object{{"type", []string{"number", "null"}}}, nil
	case reflect.TypeFor[any]():
		return object{{"type", []string{"object", "null"}}}, nil
	case reflect.TypeFor[api.ChainOperation]():
		return b.chainOperation(v1)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return b.schema(t.Elem(), v1)
	case reflect.String:
		return object{{"type", "string"}}, nil
	case reflect.Bool:
		return object{{"type", "boolean"}}, nil
	case reflect.Int:
		return object{{"type", "integer"}}, nil
	case reflect.Uint64, reflect.Uint8:
		return object{{"type", "integer"}, {"minimum", 0}}, nil
	case reflect.Slice:
		items, err := b.schema(t.Elem(), v1)
		return object{{"type", "array"}, {"items", items}}, err
	case reflect.Map:
		values, err := b.schema(t.Elem(), v1)
		return object{{"type", "object"}, {"additionalProperties", values}}, err
	case reflect.Struct:
		return b.component(t, v1)
	}
	return nil, fmt.Errorf("no schema for %s", t)
}

// records are the types that exist in a v1 form with chainId and a v3 form without.
func records(t reflect.Type) bool {
	return t == reflect.TypeFor[api.OperationRef]() || t == reflect.TypeFor[api.ExecutionStatus]() ||
		t == reflect.TypeFor[api.HistoryRecord]() || t == reflect.TypeFor[api.HistoryPage]()
}

func (b *builder) component(t reflect.Type, v1 bool) (object, error) {
	name := t.Name()
	if v1 && records(t) {
		name += "V1"
	}
	if name == "" {
		return object{{"type", "object"}}, nil // struct{}
	}
	if _, done := b.schemas[name]; done {
		return reference(name), nil
	}
	b.schemas[name] = nil // a type that holds itself ends here
	properties, required, err := b.properties(t, t.Name(), v1, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := object{{"type", "object"}}
	if words := b.note(t.Name()).Text; words != "" {
		s = s.with("description", words)
	}
	s = s.with("properties", properties)
	if t == reflect.TypeFor[api.Account]() {
		required = append([]string{"type"}, required...) // absent in v1 bodies only
	}
	if len(required) > 0 {
		s = s.with("required", required)
	}
	b.schemas[name] = append(s, b.conditions(t)...)
	return reference(name), nil
}

// field is a member of a JSON object as a struct declares it.
type field struct {
	name     string
	optional bool
	typ      reflect.Type
}

// fieldsOf lists the members of a struct; embedded structs are part of it.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for f := range t.Fields() {
		if f.Anonymous {
			out = append(out, fieldsOf(f.Type)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "-" {
			out = append(out, field{name, strings.Contains(options, "omitzero") ||
				strings.Contains(options, "omitempty"), f.Type})
		}
	}
	return out
}

// properties describes the members of a struct that only names, all when only is nil. Owner is the name under which the
// table has them.
func (b *builder) properties(t reflect.Type, owner string, v1 bool, only []string) (object, []string, error) {
	properties, required := object{}, []string{}
	for _, f := range fieldsOf(t) {
		if only != nil && !slices.Contains(only, f.name) {
			continue
		}
		if f.name == "chainId" && !v1 && (t == reflect.TypeFor[api.OperationRef]() ||
			t == reflect.TypeFor[api.RelayResponse]()) {
			continue // v1 records only
		}
		s, err := b.schema(f.typ, v1)
		if err != nil {
			return nil, nil, err
		}
		n, ok := b.find(owner, f.name)
		if !ok {
			return nil, nil, fmt.Errorf("%s.%s is not described", owner, f.name)
		}
		if n.Ref != "" {
			if s, err = b.named(n.Ref); err != nil {
				return nil, nil, err
			}
		}
		if kind, ok := s.get("type").(string); ok && f.typ.Kind() == reflect.Pointer && !f.optional {
			s = object{{"type", []string{kind, "null"}}} // always written, so nil is null
		}
		properties = properties.with(f.name, n.onto(s))
		if !f.optional {
			required = append(required, f.name)
		}
	}
	return properties, required, nil
}

// find returns the row of a member: its own, the one of the type that it is the v1 form of, or the one that all types
// share.
func (b *builder) find(owner, name string) (Note, bool) {
	for _, key := range []string{owner + "." + name, strings.TrimSuffix(owner, "V1") + "." + name, "*." + name} {
		if n, ok := b.notes[key]; ok {
			b.used[key] = true
			return n, true
		}
	}
	return Note{}, false
}

func (b *builder) note(key string) Note {
	if _, ok := b.notes[key]; ok {
		b.used[key] = true
	}
	return b.notes[key]
}

// named builds the schemas that are forms of a type rather than types.
func (b *builder) named(name string) (object, error) {
	switch name {
	case "AccountV1":
		return b.accountV1()
	case "EvmChainOperation":
		if _, err := b.chainOperation(false); err != nil {
			return nil, err
		}
		return reference(name), nil
	}
	return nil, fmt.Errorf("no schema is called %s", name)
}

// conditions are what a struct cannot say of its members.
func (b *builder) conditions(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[api.Account]():
		return object{{"oneOf", []any{
			variant(api.AccountRoleBased, "type", "sessionAddress", "adminAddress"),
			variant(api.AccountKernelV31, "type", "signerAddress"),
			variant(api.AccountKernelV33, "type", "signerAddress", "deploymentType"),
			variant(api.AccountSolana, "type"),
		}}}
	case reflect.TypeFor[api.StateOverride]():
		return object{{"anyOf", []any{
			object{{"required", []string{"balance"}}},
			object{{"required", []string{"code"}}},
			object{{"properties", object{{"stateDiff", object{{"minProperties", 1}}}}},
				{"required", []string{"stateDiff"}}},
		}}}
	case reflect.TypeFor[api.PredictRequest]():
		return object{{"oneOf", []any{variant(api.AccountRoleBased, "sessionAddress", "adminAddress"),
			variant(api.AccountKernelV31, "type", "signerAddress")}}}
	case reflect.TypeFor[api.ExecutionStatus]():
		return object{{"anyOf", []any{
			object{{"title", "unknown quote"}, {"maxProperties", 0}},
			object{{"title", "executed quote"}, {"required",
				[]string{"quoteId", "status", "user", "recipientAccountId", "originChainOperations"}}},
		}}}
	}
	return nil
}

func variant(kind string, required ...string) object {
	return object{{"title", kind}, {"properties", object{{"type", object{{"const", kind}}}}}, {"required", required}}
}

// accountV1 is the account of a v1 request: an EVM account whose type may be absent when it is role-based.
func (b *builder) accountV1() (object, error) {
	const name = "AccountV1"
	if _, done := b.schemas[name]; done {
		return reference(name), nil
	}
	properties, _, err := b.properties(reflect.TypeFor[api.Account](), name, true, nil)
	b.schemas[name] = object{
		{"type", "object"}, {"description", "An EVM account; without a type it is role-based."},
		{"properties", properties}, {"required", []string{"accountAddress"}},
		{"oneOf", []any{
			variant(api.AccountRoleBased, "sessionAddress", "adminAddress"),
			variant(api.AccountKernelV31, "type", "signerAddress"),
			variant(api.AccountKernelV33, "type", "signerAddress", "deploymentType"),
		}},
	}
	return reference(name), err
}

// chainOperation is the union of what gets signed on an EVM chain and on Solana.
func (b *builder) chainOperation(v1 bool) (object, error) {
	if _, done := b.schemas["EvmChainOperation"]; !done {
		for _, form := range []struct {
			name, words       string
			members, required []string
		}{
			{"EvmChainOperation", "A user operation of ERC-4337 v0.7 on one EVM chain.",
				[]string{"userOp", "typedDataToSign", "delegation", "assetType", "amount"},
				[]string{"userOp", "typedDataToSign", "assetType", "amount"}},
			{"SolanaChainOperation", "A message of a Solana transaction; its signature stands at the top level.",
				[]string{"type", "instructions", "recentBlockHash", "feePayer", "addressLookupTableAddresses",
					"dataToSign", "signature", "assetType", "amount"},
				[]string{"type", "instructions", "recentBlockHash", "feePayer", "dataToSign", "assetType", "amount"}},
		} {
			b.schemas[form.name] = object{}
			properties, _, err := b.properties(reflect.TypeFor[api.ChainOperation](), "ChainOperation", v1,
				form.members)
			if err != nil {
				return nil, err
			}
			b.schemas[form.name] = object{{"type", "object"}, {"description", form.words}, {"properties", properties},
				{"required", form.required}}
		}
	}
	if v1 {
		return reference("EvmChainOperation"), nil
	}
	return object{{"oneOf", []any{reference("EvmChainOperation"), reference("SolanaChainOperation")}}}, nil
}

// errors are the two bodies of failures.
func (b *builder) errors() error {
	t := reflect.TypeFor[api.Error]()
	for _, form := range []struct {
		name     string
		members  []string
		required []string
	}{
		{"Error", []string{"error", "message", "statusCode", "details"}, []string{"error", "message", "statusCode"}},
		{"UnauthorizedError", []string{"error", "message", "statusCode", "timestamp", "path"},
			[]string{"error", "message", "statusCode", "timestamp", "path"}},
	} {
		properties, _, err := b.properties(t, "Error", false, form.members)
		if err != nil {
			return err
		}
		b.schemas[form.name] = object{{"type", "object"}, {"properties", properties}, {"required", form.required}}
	}
	return nil
}
