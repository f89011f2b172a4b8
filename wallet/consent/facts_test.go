package consent

import (
	"reflect"
	"testing"

	"coffer/wallet/verify"
)

// filled makes a value in which every field, slice and pointer has something in it, so that a walk meets all of them.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				filled(v.Field(i))
			}
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint64:
		v.SetUint(1)
	case reflect.Bool:
		v.SetBool(true)
	}
}

// Every field of every view is a fact with a rule, and every rule has a field: a field that verify adds fails here
// until somebody decides whether a person must see it.
func TestEveryFieldOfAViewIsAFact(t *testing.T) {
	var r Review
	r.Call, r.Quote = new(verify.PreparedView), new(verify.QuoteView)
	filled(reflect.ValueOf(r.Call).Elem())
	filled(reflect.ValueOf(r.Quote).Elem())
	left := rules()
	delete(left, "intent.overrides")
	for _, view := range []Review{{Call: r.Call}, {Quote: r.Quote}} {
		for _, f := range Facts(view) {
			delete(left, indexes.Regexp().ReplaceAllString(f.Path, ""))
		}
	}
	for place := range left {
		t.Errorf("a rule for %s, which no view has", place)
	}
}
