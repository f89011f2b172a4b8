package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustParse(t testing.TB, s string) *Document {
	t.Helper()
	d, err := ParseDocument([]byte(s), DefaultLimits())
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return d
}

// TestL2 holds the bodies that two decoders could read differently.
func TestL2DuplicateAndCaseTwinNamesAreRefused(t *testing.T) {
	for name, s := range map[string]string{
		"duplicate":          `{"amount":"1","amount":"999"}`,
		"duplicate escaped":  `{"amount":"1","\u0061mount":"999"}`,
		"case twin":          `{"amount":"1","AMOUNT":"999"}`,
		"case twin, Kelvin":  `{"k":"1","` + "\u212a" + `":"2"}`,
		"nested":             `{"a":[{"b":1,"b":2}]}`,
		"trailing data":      `{"a":1} {"a":2}`,
		"trailing garbage":   `{"a":1}x`,
		"invalid UTF-8":      "{\"a\":\"\xff\"}",
		"invalid UTF-8 name": "{\"\xff\":1}",
		"lone surrogate":     `{"a":"\ud800"}`,
		"empty":              ``,
		"comment":            `{"a":1/**/}`,
		"leading zero":       `{"a":01}`,
		"control in string":  "{\"a\":\"\n\"}",
	} {
		_, err := ParseDocument([]byte(s), DefaultLimits())
		var de *DocumentError
		if !errors.As(err, &de) || de.Code != "L2" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestL1SizeDepthAndLengthAreBounded(t *testing.T) {
	limits := Limits{Bytes: 1 << 16, Depth: 32, Elements: 100, Values: 1000}
	for name, s := range map[string]string{
		"size":     `"` + strings.Repeat("a", 1<<16) + `"`,
		"depth":    strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		"elements": "[" + strings.Repeat("1,", 100) + "1]",
		"members":  manyMembers(101),
		"values":   "[" + strings.Repeat("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],", 80) + "1]",
	} {
		_, err := ParseDocument([]byte(s), limits)
		var de *DocumentError
		if !errors.As(err, &de) || de.Code != "L1" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func manyMembers(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(`"m%d":1`, i)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// jsonText generates documents with odd spacing, unknown members, escapes and numbers beyond any integer type.
func jsonText(depth int) *rapid.Generator[string] {
	space := rapid.SampledFrom([]string{"", " ", "\n\t", "  "})
	scalar := rapid.SampledFrom([]string{`null`, `true`, `"x"`, `"\u00e9\/"`, `""`, `0`, `-0.0`, `1e400`,
		`123456789012345678901234567890.5`, `"0x"`})
	return rapid.Custom(func(t *rapid.T) string {
		kind := 0
		if depth > 0 {
			kind = rapid.IntRange(0, 2).Draw(t, "kind")
		}
		pad := func(s string) string { return space.Draw(t, "before") + s + space.Draw(t, "after") }
		n := rapid.IntRange(0, 4).Draw(t, "n")
		parts := make([]string, n)
		switch kind {
		case 1:
			for i := range parts {
				parts[i] = jsonText(depth-1).Draw(t, "item")
			}
			return pad("[" + strings.Join(parts, ",") + space.Draw(t, "end") + "]")
		case 2:
			for i := range parts {
				name := rapid.SampledFrom([]string{"signature", "userOp", "a/b", "t~l", "\\u0061"}).Draw(t, "name")
				parts[i] = pad(fmt.Sprintf(`"%s%d"`, name, i)) + ":" + jsonText(depth-1).Draw(t, "value")
			}
			return pad("{" + strings.Join(parts, ",") + space.Draw(t, "end") + "}")
		}
		return pad(scalar.Draw(t, "scalar"))
	})
}

// TestL6SpliceChangesNothingElse: after a splice every byte outside the edited value is the byte that was received.
func TestL6SpliceChangesNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := jsonText(4).Draw(t, "document")
		d, err := ParseDocument([]byte(text), DefaultLimits())
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if !bytes.Equal(d.Raw(), []byte(text)) {
			t.Fatal("the raw bytes changed")
		}
		var pointers []string
		d.Leaves(func(p string, _ []byte) { pointers = append(pointers, p) })
		p := rapid.SampledFrom(pointers).Draw(t, "pointer")
		old, ok := d.At(p)
		if !ok {
			t.Fatalf("leaf %q is not found", p)
		}
		out, err := d.Splice(Edit{p, []byte(`"0xsigned"`)})
		if err != nil {
			t.Fatal(err)
		}
		back, err := out.Splice(Edit{p, old})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(back.Raw(), []byte(text)) {
			t.Fatalf("there and back: %q became %q", text, back.Raw())
		}
		if diff := len(out.Raw()) - len(text); diff != len(`"0xsigned"`)-len(old) {
			t.Fatalf("the length changed by %d", diff)
		}
		if got, _ := out.At(p); string(got) != `"0xsigned"` {
			t.Fatalf("the new value is %s", got)
		}
	})
}

func TestSpliceInsertsMembersAfterTheLast(t *testing.T) {
	for in, want := range map[string]string{
		`{ "a" : {"n": 1 } }`: `{ "a" : {"n": 1,"signature":{"r":1} } }`,
		`{ "a" : { } }`:       `{ "a" : {"signature":{"r":1} } }`,
	} {
		out, err := mustParse(t, in).Splice(Edit{"/a/signature", []byte(`{"r":1}`)})
		if err != nil || string(out.Raw()) != want {
			t.Errorf("got %s, %v", out.Raw(), err)
		}
	}
}

func TestSpliceRefusesWhatItCannotPlace(t *testing.T) {
	d := mustParse(t, `{"a":[1,{"b":2}]}`)
	for name, edits := range map[string][]Edit{
		"no such parent":  {{"/x/y", []byte(`1`)}},
		"array index":     {{"/a/7", []byte(`1`)}},
		"not JSON":        {{"/a", []byte(`{`)}},
		"not a pointer":   {{"a", []byte(`1`)}},
		"overlap":         {{"/a", []byte(`1`)}, {"/a/0", []byte(`1`)}},
		"leading zero":    {{"/a/00/b", []byte(`1`)}},
		"makes duplicate": {{"/a/1/B", []byte(`1`)}},
	} {
		if out, err := d.Splice(edits...); err == nil {
			t.Errorf("%s: made %s", name, out.Raw())
		}
	}
}

func TestCanonicalIsIndependentOfOrderAndSpacing(t *testing.T) {
	a := mustParse(t, `{"b":[1,{"signature":"0x1","z":"é"}],"a":"\u0041","tamperProofSignature":"x"}`)
	b := mustParse(t, `{ "tamperProofSignature" : "other", "a":"A", "b":[ 1, {"z":"\u00e9", "signature":"0x2"} ] }`)
	ca, err := a.Canonical("/tamperProofSignature", "/b/*/signature")
	if err != nil {
		t.Fatal(err)
	}
	cb, err := b.Canonical("/tamperProofSignature", "/b/*/signature", "/nothing/here")
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":"A","b":[1,{"z":"é"}]}`; string(ca) != want || string(cb) != want {
		t.Fatalf("got %s and %s", ca, cb)
	}
}

func TestCanonicalChangesWithEveryValue(t *testing.T) {
	d := mustParse(t, `{"a":"1","b":[true,{"c":null}],"d":7}`)
	base, _ := d.Canonical()
	d.Leaves(func(p string, old []byte) {
		out, err := d.Splice(Edit{p, []byte(`"changed"`)})
		if err != nil {
			t.Fatal(err)
		}
		if c, _ := out.Canonical(); bytes.Equal(c, base) {
			t.Errorf("%s: %s was changed and the form stayed", p, old)
		}
	})
}

func TestUnknownMembersStayInTheDocument(t *testing.T) {
	d := mustParse(t, `{"id":"0x1","surprise":{"deep":[1.50]},"accounts":[]}`)
	var q Quote
	if err := d.Decode(&q); err != nil || q.ID != "0x1" {
		t.Fatalf("%+v, %v", q, err)
	}
	if raw, ok := d.At("/surprise/deep/0"); !ok || string(raw) != "1.50" {
		t.Fatalf("got %s", raw)
	}
}

// A client that keeps every number as a double writes 137.0; the RFC 8785 form of that is 137, and so is what is read
// (protocol §4.1).
func TestAWholeNumberReadsTheSameHoweverItIsWritten(t *testing.T) {
	type view struct {
		N int     `json:"n"`
		F float64 `json:"f"`
		S string  `json:"s"`
	}
	for text, want := range map[string]int{"137": 137, "137.0": 137, "137.000": 137, "1.37e2": 137, "13700E-2": 137,
		"-0.0": 0, "-2.0": -2, "9007199254740991.0": maxSafe} {
		raw := `{"s": "137.0", "f":1.5,"n": ` + text + ` }`
		d := mustParse(t, raw)
		var v view
		if err := d.Decode(&v); err != nil || v != (view{want, 1.5, "137.0"}) {
			t.Errorf("%s: %+v, %v", text, v, err)
		}
		if string(d.Raw()) != raw {
			t.Errorf("%s: the bytes are now %s", text, d.Raw())
		}
		plain, err := mustParse(t, fmt.Sprintf(`{"s": "137.0", "f":1.5,"n": %d }`, want)).Canonical()
		if err != nil {
			t.Fatal(err)
		}
		if c, err := d.Canonical(); err != nil || !bytes.Equal(c, plain) {
			t.Errorf("%s: canonical form %s, %v", text, c, err)
		}
	}
	for _, text := range []string{"137.5", "1e-1", "1e400", "1e19", "9007199254740992.0"} {
		var v view
		if err := mustParse(t, `{"n":`+text+`}`).Decode(&v); err == nil {
			t.Errorf("%s was read as %d", text, v.N)
		}
	}
}

func TestDecodeMatchesNamesExactly(t *testing.T) {
	var q Quote
	if err := mustParse(t, `{"ID":"0x1"}`).Decode(&q); err != nil || q.ID != "" {
		t.Fatalf("a name in other case was taken: %+v, %v", q, err)
	}
}

func FuzzParseDocument(f *testing.F) {
	for _, s := range []string{`{"a":[1,"x",null]}`, `[]`, `{"a":{"b":1e9}}`, `"\ud83d\ude00"`, ` 1 `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := ParseDocument(b, DefaultLimits())
		if err != nil {
			return
		}
		if !json.Valid(b) {
			t.Fatal("accepted what the standard library refuses")
		}
		d.Leaves(func(p string, v []byte) {
			got, ok := d.At(p)
			if !ok || !bytes.Equal(got, v) {
				t.Fatalf("leaf %q: %s, %s", p, v, got)
			}
			out, err := d.Splice(Edit{p, v})
			if err != nil || !bytes.Equal(out.Raw(), b) {
				t.Fatalf("splicing a value into its own place changed the document: %v", err)
			}
		})
	})
}
