package httpapi

import (
	"html"
	"reflect"
	"strings"
	"testing"
)

// fill puts a text into every string of a view, those of its lists and addresses too, and counts them.
func fill(v reflect.Value, text string) int {
	n := 0
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
		return 1
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fill(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			n += fill(v.Index(i), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += fill(v.Field(i), text)
		}
	}
	return n
}

// pages are the forms of the page with a text in every place: found and missing, with facts of each kind.
func pages(text string) []string {
	var v view
	fill(reflect.ValueOf(&v).Elem(), text)
	missing := v
	v.Missing = ""
	v.Facts = append(v.Facts, fact{Name: text, Value: text}, fact{Name: text, Value: text, Code: true})
	return []string{string(v.page()), string(missing.page())}
}

func TestEveryTextOnThePageIsEscaped(t *testing.T) {
	const plain = "plainword"
	want := pages(plain)
	for i, least := range []int{36, 4} {
		if n := strings.Count(want[i], plain); n < least || strings.Contains(want[i], "$") {
			t.Errorf("page %d shows %d texts, expected %d at least:\n%s", i, n, least, want[i])
		}
	}
	for _, hostile := range []string{
		"<script>alert(1)</script>", "</title><img src=x onerror=alert(1)>", `" onload="alert(1)`, "' onload='alert(1)",
		"</pre></td></table>", "javascript:alert(1)", "<a href=javascript:alert(1)>", "&lt;b&gt;", "$", "%s{{.}}",
	} {
		for i, got := range pages(hostile) {
			if got != strings.ReplaceAll(want[i], plain, html.EscapeString(hostile)) {
				t.Errorf("%q changes page %d:\n%s", hostile, i, got)
			}
			if strings.ContainsAny(hostile, "<\"'") && strings.Contains(got, hostile) {
				t.Errorf("%q is on page %d as it is", hostile, i)
			}
		}
	}
}

// The page refers to nothing: no address of it can be a script, and nothing is loaded.
func TestThePageHasNoLinks(t *testing.T) {
	for _, p := range pages("x") {
		for _, way := range []string{"href", "src=", "<script", "<form", "url("} {
			if strings.Contains(p, way) {
				t.Errorf("the page has %q", way)
			}
		}
	}
}
