package config

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"coffer/api/pattern"
)

// tomlError explains why a file does not decode: the place, the setting and a plain description, without the Go types
// in the decoder's message.
func tomlError(path string, data []byte, err error) *Error {
	var de *toml.DecodeError
	if !errors.As(err, &de) {
		return &Error{Path: path, Problem: "this is no TOML that can be read"}
	}
	line, col := de.Position()
	e := &Error{Path: path, Line: line, Column: col, Key: strings.Join(de.Key(), ".")}
	var whole map[string]any
	switch {
	case unquotedAction(de.Key()):
		e.Problem = "put the name of the action in quotes: \"" + strings.Join(de.Key()[2:], ".") + "\""
	// the file is TOML, but a value has another type than its setting
	case reGot.MatchString(de.Error()), toml.Unmarshal(data, &whole) == nil:
		e.Key, e.Problem = mistyped(de)
	default:
		// a number out of range names a Go function
		e.Problem, _, _ = strings.Cut(strings.TrimPrefix(de.Error(), "toml: "), ": strconv.")
	}
	return e
}

// reGot matches the decoder's word for the type in the file.
var reGot = pattern.New(`^toml: cannot (?:decode TOML|store an?) ([a-z ]+?) (?:into|in) `)

// mistyped names the setting whose value has the wrong type, what it takes, with an example, and what the file has.
func mistyped(de *toml.DecodeError) (key, problem string) {
	parts := de.Key()
	name, n, t := settingAt(parts)
	problem = "expected " + expected(name, parts[:n], t)
	if m := reGot.Regexp().FindStringSubmatch(de.Error()); n < len(parts) {
		problem += ", got a table"
	} else if m != nil {
		problem += ", got " + gotWord(m[1])
	}
	return strings.Join(parts[:n], "."), problem
}

// settingAt finds the setting that a key of the file belongs to: its name in Settings, how many parts of the key lead
// to it, and the type of its value.
func settingAt(parts []string) (name []string, n int, t reflect.Type) {
	t = reflect.TypeFor[File]()
	for n < len(parts) {
		switch in := element(t); in.Kind() {
		case reflect.Map:
			name, n, t = append(name, "*"), n+1, in.Elem()
			continue
		case reflect.Struct:
			found := false
			for f := range fieldsOf(in) {
				if strings.EqualFold(f.name, parts[n]) { // as the decoder compares
					name, n, t, found = append(name, f.name), n+1, f.t, true
					break
				}
			}
			if found {
				continue
			}
		}
		break
	}
	return name, n, t
}

// element is the type that the file holds: the target of a pointer, one table of a list of tables.
func element(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
		return t.Elem()
	}
	return t
}

// expected describes what a setting takes. parts is its key in the file.
func expected(name, parts []string, t reflect.Type) string {
	header := strings.Join(parts, ".")
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
		return "tables with names, such as [" + header + ".team]"
	case t.Kind() == reflect.Map, t.Kind() == reflect.Struct:
		return "a table such as [" + header + "]"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return "tables such as [[" + header + "]], each with lines such as type = " +
			exampleOf(reflect.ValueOf(sample()), append(slices.Clone(name), "type"))
	case t.Kind() == reflect.Bool:
		return "true or false"
	}
	says := map[string]string{"number": "a number", "list of texts": "a list of texts"}[typeWord(t)]
	if says == "" {
		says = "text"
	}
	says += " such as " + exampleOf(reflect.ValueOf(sample()), name)
	if t == reflect.TypeFor[Color]() {
		says += ", or a number from 0 to 255"
	}
	return says
}

// exampleOf is the first value of a setting in v, as TOML; "" for none.
func exampleOf(v reflect.Value, name []string) string {
	switch {
	case len(name) == 0 && v.IsZero():
		return ""
	case len(name) == 0:
		return literal(v)
	case v.Kind() == reflect.Map:
		for _, k := range slices.Sorted(maps.Keys(asMap(v))) {
			if s := exampleOf(v.MapIndex(reflect.ValueOf(k)), name[1:]); s != "" {
				return s
			}
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			if s := exampleOf(v.Index(i), name); s != "" {
				return s
			}
		}
	case v.Kind() == reflect.Struct:
		for f := range fieldsOf(v.Type()) {
			if f.name == name[0] {
				return exampleOf(v.Field(f.index), name[1:])
			}
		}
	}
	return ""
}

// gotWord turns the decoder's word for the value in the file into a plain one.
func gotWord(toml string) string {
	switch toml {
	case "string":
		return "text"
	case "integer":
		return "an integer"
	case "boolean":
		return "true or false"
	case "array":
		return "a list"
	case "array table":
		return "a list of tables"
	case "inline table":
		return "a table"
	case "datetime", "local datetime", "local date", "local time":
		return "a date or a time"
	}
	return "a " + toml
}
