package service_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"coffer/api/openapi"
)

// object reads a member of a JSON object as an object.
func object(x any, name string) map[string]any {
	o, _ := x.(map[string]any)
	out, _ := o[name].(map[string]any)
	return out
}

func (d *description) component(ref string) (name string, schema map[string]any) {
	name = ref[strings.LastIndexByte(ref, '/')+1:]
	return name, object(object(object(d.doc, "components"), "schemas"), name)
}

func (d *description) operation(e openapi.Endpoint) map[string]any {
	return object(object(object(d.doc, "paths"), e.Path), strings.ToLower(e.Method))
}

func schemaIn(x map[string]any) map[string]any {
	return object(object(object(x, "content"), "application/json"), "schema")
}

// answerOf is the schema of an endpoint's success, bodyOf that of its request, nil when it has none.
func (d *description) answerOf(e openapi.Endpoint) map[string]any {
	return schemaIn(object(object(d.operation(e), "responses"), fmt.Sprint(e.Status)))
}

func (d *description) bodyOf(e openapi.Endpoint) map[string]any {
	return schemaIn(object(d.operation(e), "requestBody"))
}

// parts are the schemas that a schema is made of besides its own members.
func parts(schema map[string]any) []map[string]any {
	var out []map[string]any
	for _, word := range []string{"oneOf", "anyOf", "allOf"} {
		list, _ := schema[word].([]any)
		for _, x := range list {
			out = append(out, x.(map[string]any))
		}
	}
	for _, word := range []string{"items", "additionalProperties"} {
		if x, ok := schema[word].(map[string]any); ok {
			out = append(out, x)
		}
	}
	return out
}

// fields are the members of components that a schema leads to, as Component.member.
func (d *description) fields(schema map[string]any) map[string]bool {
	out, seen := map[string]bool{}, map[string]bool{}
	var walk func(s map[string]any)
	walk = func(s map[string]any) {
		if ref, ok := s["$ref"].(string); ok {
			name, c := d.component(ref)
			if seen[name] {
				return
			}
			seen[name] = true
			for member, p := range object(c, "properties") {
				out[name+"."+member] = true
				walk(p.(map[string]any))
			}
			return
		}
		for _, p := range parts(s) {
			walk(p)
		}
	}
	walk(schema)
	return out
}

// everyField lists the members of all components but the error bodies.
func (d *description) everyField() []string {
	var out []string
	for name, c := range object(object(d.doc, "components"), "schemas") {
		if name == "Error" || name == "UnauthorizedError" || name == "Failure" {
			continue
		}
		for member := range object(c, "properties") {
			out = append(out, name+"."+member)
		}
	}
	slices.Sort(out)
	return out
}

// ruleOf says in a few words what a member must be.
func (d *description) ruleOf(field string) string {
	name, member, _ := strings.Cut(field, ".")
	_, c := d.component(name)
	p := object(object(c, "properties"), member)
	var words []string
	required, _ := c["required"].([]any)
	if slices.Contains(required, any(member)) {
		words = append(words, "required")
	} else {
		words = append(words, "optional")
	}
	words = append(words, typeOf(p))
	for _, word := range []string{"pattern", "format"} {
		if v, ok := p[word].(string); ok {
			words = append(words, "`"+strings.ReplaceAll(v, "|", `\|`)+"`")
		}
	}
	if list, ok := p["enum"].([]any); ok {
		words = append(words, strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", " or "), "[]"))
	}
	for _, word := range []string{"minimum", "maximum", "minItems", "maxItems", "maxLength"} {
		if v, ok := p[word]; ok {
			words = append(words, fmt.Sprintf("%s %v", word, v))
		}
	}
	return strings.Join(words, ", ")
}

func typeOf(p map[string]any) string {
	if ref, ok := p["$ref"].(string); ok {
		return ref[strings.LastIndexByte(ref, '/')+1:]
	}
	if kinds, ok := p["type"].([]any); ok {
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(kinds), "[]"), " ", " or ")
	}
	if items, ok := p["items"].(map[string]any); ok {
		return "array of " + typeOf(items)
	}
	if values, ok := p["additionalProperties"].(map[string]any); ok {
		return "map to " + typeOf(values)
	}
	if list, ok := p["oneOf"].([]any); ok {
		var of []string
		for _, x := range list {
			of = append(of, typeOf(x.(map[string]any)))
		}
		return strings.Join(of, " or ")
	}
	kind, _ := p["type"].(string)
	return kind
}

// seen notes the members of components that a value has.
func (d *description) seen(schema map[string]any, v any, out map[string]bool) {
	if ref, ok := schema["$ref"].(string); ok {
		name, c := d.component(ref)
		o, ok := v.(map[string]any)
		if !ok {
			return
		}
		for member, p := range object(c, "properties") {
			if inner, there := o[member]; there {
				out[name+"."+member] = true
				d.seen(p.(map[string]any), inner, out)
			}
		}
		return
	}
	if list, ok := schema["oneOf"].([]any); ok && len(list) == 2 { // the two operations
		at := 0
		if o, _ := v.(map[string]any); o["type"] == "solana" {
			at = 1
		}
		d.seen(list[at].(map[string]any), v, out)
		return
	}
	all, _ := schema["allOf"].([]any)
	for _, s := range all {
		d.seen(s.(map[string]any), v, out)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		list, _ := v.([]any)
		for _, x := range list {
			d.seen(items, x, out)
		}
	}
	if values, ok := schema["additionalProperties"].(map[string]any); ok {
		o, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(o)) {
			d.seen(values, o[name], out)
		}
	}
}
