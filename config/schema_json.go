package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// JSONSchema describes the configuration file for editors (JSON Schema, draft 7): keys, types, values and defaults. It
// leaves rules over several keys to Parse.
func JSONSchema() ([]byte, error) {
	s := schemaOf(reflect.TypeFor[File](), nil)
	s["$schema"], s["title"] = "http://json-schema.org/draft-07/schema#", "Configuration of coffer"
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("schema of the configuration: %w", err)
	}
	return b.Bytes(), nil
}

// schemaOf describes a struct; key is its name in Settings.
func schemaOf(t reflect.Type, key []string) map[string]any {
	members, required := map[string]any{}, []string{}
	for f := range fieldsOf(t) {
		own := append(slices.Clone(key), f.name)
		members[f.name] = memberSchema(f.t, own)
		if settingWords()[strings.Join(own, ".")].Required {
			required = append(required, f.name)
		}
	}
	s := map[string]any{"type": "object", "properties": members, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func memberSchema(t reflect.Type, key []string) map[string]any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Struct:
		return schemaOf(t, key)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), key)}
	case t.Kind() == reflect.Map:
		return mapSchema(t, append(slices.Clone(key), "*"))
	}
	return valueSchema(t, strings.Join(key, "."))
}

// mapSchema describes a table whose keys the user chooses.
func mapSchema(t reflect.Type, key []string) map[string]any {
	s := map[string]any{"type": "object"}
	if t.Elem().Kind() == reflect.Struct {
		s["propertyNames"], s["additionalProperties"] = map[string]any{"pattern": reName.Regexp().String()},
			schemaOf(t.Elem(), key)
		return s
	}
	value := valueSchema(t.Elem(), strings.Join(key, "."))
	if t.Elem() == reflect.TypeFor[Color]() {
		s["propertyNames"] = map[string]any{"enum": ColorNames()}
		value["type"] = []string{"string", "integer"}
		value["minimum"], value["maximum"] = 0, 255
	}
	s["additionalProperties"] = value
	return s
}

// valueSchema describes one value.
func valueSchema(t reflect.Type, key string) map[string]any {
	said := settingWords()[key]
	s := map[string]any{"description": said.What, "type": "string"}
	switch t.Kind() {
	case reflect.Bool:
		s["type"] = "boolean"
	case reflect.Int:
		s["type"] = "integer"
	case reflect.Slice:
		s["type"], s["items"] = "array", map[string]any{"type": "string"}
	}
	var fallback any
	// the default is in TOML, which is JSON for texts and booleans
	if json.Unmarshal([]byte(said.Default), &fallback) == nil {
		s["default"] = fallback
	}
	switch {
	case t.Kind() == reflect.Int:
		s["const"] = SchemaVersion // the only valid number
	case len(said.Values) > 0:
		s["enum"] = said.Values
	}
	return s
}
