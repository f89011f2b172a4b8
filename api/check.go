package api

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/text"
)

// checker walks a document and collects every broken rule, so that one answer tells the sender all of them.
type checker struct {
	doc      *Document
	failures []Failure
}

// check applies rules to a body. Where they find nothing, it also checks the types of view, the Go form of the body: a
// request without failures can always be decoded. Members that view does not know are ignored.
func check(doc *Document, view any, rules func(body place)) []Failure {
	c := &checker{doc: doc}
	body := place{c, "", doc.root}
	if !body.object() {
		return c.failures
	}
	rules(body)
	broken := map[string]bool{}
	for _, f := range c.failures {
		broken[f.Path] = true
	}
	c.shape(body, reflect.TypeOf(view), broken)
	return c.failures
}

// shape walks a value along a type.
func (c *checker) shape(p place, t reflect.Type, broken map[string]bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !p.present() || broken[p.path] {
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		if !p.object() {
			return
		}
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			c.shape(p.get(name), f.Type, broken)
		}
	case reflect.Slice:
		if p.e.kind != '[' {
			p.fail("an array")
			return
		}
		for _, it := range p.items() {
			c.shape(it, t.Elem(), broken)
		}
	case reflect.Map:
		if !p.object() {
			return
		}
		for _, m := range p.entries() {
			c.shape(m, t.Elem(), broken)
		}
	default:
		c.scalar(p, t)
	}
}

func (c *checker) scalar(p place, t reflect.Type) {
	raw := c.doc.scalar(p.e)
	switch t.Kind() {
	case reflect.String:
		if p.e.kind != '"' {
			p.fail("a string")
		}
	case reflect.Bool:
		if raw != "true" && raw != "false" {
			p.fail("true or false")
		}
	case reflect.Int:
		if _, err := strconv.ParseInt(raw, 10, t.Bits()); err != nil {
			p.fail("an integer")
		}
	case reflect.Uint64, reflect.Uint8:
		if _, err := strconv.ParseUint(raw, 10, t.Bits()); err != nil {
			p.fail("an integer from 0")
		}
	}
}

// place is a value of the document together with its path; e is nil when the member is absent.
type place struct {
	c    *checker
	path string
	e    *element
}

func (p place) present() bool { return p.e != nil && p.e.kind != 'n' }

// got describes what stands at the place, cut short and cleaned.
func (p place) got() string {
	if p.e == nil {
		return "nothing"
	}
	switch p.e.kind {
	case '{':
		return "an object"
	case '[':
		return fmt.Sprintf("an array of %d", len(p.e.items))
	}
	return text.Clean(string(p.c.doc.raw[p.e.start:p.e.end]), 80)
}

func (p place) fail(expected string) { p.failGot(expected, p.got()) }

func (p place) failGot(expected, got string) {
	p.c.failures = append(p.c.failures, Failure{Path: p.path, Expected: expected, Got: got})
}

// get returns the member of an object; anything else has no members.
func (p place) get(name string) place {
	path := name
	if p.path != "" {
		path = p.path + "." + name
	}
	if p.e == nil || p.e.kind != '{' {
		return place{p.c, path, nil}
	}
	return place{p.c, path, p.e.child(name)}
}

// object demands an object.
func (p place) object() bool {
	if p.e == nil || p.e.kind != '{' {
		p.fail("an object")
		return false
	}
	return true
}

// list demands an array with between min and max elements and returns them.
func (p place) list(what string, min, max int) []place {
	if p.e == nil || p.e.kind != '[' {
		p.fail("an array of " + what)
		return nil
	}
	if n := len(p.e.items); n < min || n > max {
		p.fail(fmt.Sprintf("%d to %d %s", min, max, what))
	}
	return p.items()
}

// items returns the elements of an array.
func (p place) items() []place {
	out := make([]place, len(p.e.items))
	for i, it := range p.e.items {
		out[i] = place{p.c, p.path + "[" + strconv.Itoa(i) + "]", it}
	}
	return out
}

// optionalList is list for a member that may be absent.
func (p place) optionalList(what string, max int) []place {
	if !p.present() {
		return nil
	}
	return p.list(what, 0, max)
}

// text returns the string at the place without any rule, and false when it is no string.
func (p place) text() (string, bool) {
	if p.e == nil || p.e.kind != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, p.c.doc.raw[p.e.start:p.e.end])
	return string(b), err == nil
}

// str demands a string that passes ok.
func (p place) str(expected string, ok func(string) bool) (string, bool) {
	s, is := p.text()
	if !is || !ok(s) {
		p.fail(expected)
		return "", false
	}
	return s, true
}

// optional is str for a member that may be absent; the bool is false when it is absent or broken.
func (p place) optional(expected string, ok func(string) bool) (string, bool) {
	if !p.present() {
		return "", false
	}
	return p.str(expected, ok)
}

// boolean demands true or false.
func (p place) boolean() {
	if p.e == nil || p.e.kind != 't' && p.e.kind != 'f' {
		p.fail("true or false")
	}
}

// entries returns the values of an object's members, whatever their names.
func (p place) entries() []place {
	out := make([]place, len(p.e.members))
	for i, m := range p.e.members {
		out[i] = place{p.c, p.path + "." + m.name, m.val}
	}
	return out
}

// integer demands a JSON integer between min and max.
func (p place) integer(min, max int) (int, bool) {
	if p.e != nil {
		if n, err := strconv.Atoi(p.c.doc.scalar(p.e)); err == nil && n >= min && n <= max {
			return n, true
		}
	}
	p.fail(fmt.Sprintf("an integer from %d to %d", min, max))
	return 0, false
}
