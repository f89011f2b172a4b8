package abicall_test

import (
	"bytes"
	"errors"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op/abicall"
)

func TestEncodeMarksTheFieldThatIsWrong(t *testing.T) {
	f := parse(t, "f((uint8 a, bool[] ok)[] items, address who, bytes4 tag)")
	item := func(a string, ok ...abicall.Value) abicall.Value { return list(abicall.Value{Text: a}, list(ok...)) }
	good := []abicall.Value{list(item("1"), item("2", text("true")...)),
		{Text: "0x000000000000000000000000000000000000dEaD"}, {Text: "0x01020304"}}
	if _, err := f.Encode(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spoil   func(v []abicall.Value)
		field   string
		path    []int
		problem string
	}{
		{func(v []abicall.Value) { v[0].Items[1].Items[0].Text = "256" }, "items[1].a", []int{0, 1, 0}, "2^8-1"},
		{func(v []abicall.Value) { v[0].Items[1].Items[0].Text = "-1" }, "items[1].a", []int{0, 1, 0}, "from 0"},
		{func(v []abicall.Value) { v[0].Items[1].Items[0].Text = "01" }, "items[1].a", []int{0, 1, 0}, "start with 0"},
		{func(v []abicall.Value) { v[0].Items[1].Items[0].Text = "1e3" }, "items[1].a", []int{0, 1, 0}, "whole number"},
		{func(v []abicall.Value) { v[0].Items[1].Items[0].Text = "" }, "items[1].a", []int{0, 1, 0}, "whole number"},
		{func(v []abicall.Value) { v[0].Items[1].Items[1].Items[0].Text = "yes" }, "items[1].ok[0]", []int{0, 1, 1, 0},
			"true or false"},
		{func(v []abicall.Value) { v[0].Items[0].Items = v[0].Items[0].Items[:1] }, "items[0]", []int{0, 0},
			"want 2 items"},
		{func(v []abicall.Value) { v[0].Text = "x" }, "items", []int{0}, "items, not text"},
		{func(v []abicall.Value) { v[1].Text = "0x000000000000000000000000000000000000DEaD" }, "who", []int{1},
			"checksum"},
		{func(v []abicall.Value) { v[1].Text = "0xdead" }, "who", []int{1}, "40 hexadecimal"},
		{func(v []abicall.Value) { v[1].Items = text("x") }, "who", []int{1}, "text, not items"},
		{func(v []abicall.Value) { v[2].Text = "0x0102" }, "tag", []int{2}, "want 4 bytes"},
		{func(v []abicall.Value) { v[2].Text = "0102" }, "tag", []int{2}, "want 0x"},
	} {
		v := clone(good)
		c.spoil(v)
		_, err := f.Encode(v)
		var field *abicall.FieldError
		if !errors.As(err, &field) || field.Field != c.field || !slices.Equal(field.Path, c.path) ||
			!strings.Contains(field.Problem, c.problem) {
			t.Errorf("%s: got %v (%+v), want %q", c.field, err, field, c.problem)
		}
	}
	v := clone(good)
	v[0].Items[0].Items[0].Text, v[2].Text = "x", "y"
	if all := f.Check(v); len(all) != 2 || all[0].Field != "items[0].a" || all[1].Field != "tag" {
		t.Errorf("%v", all)
	}
	if _, err := f.Encode(nil); err == nil || !strings.HasPrefix(err.Error(), "arguments: want 3 items") {
		t.Error(err)
	}
	unnamed := parse(t, "f(uint8,(bool,uint8[2]))")
	_, err := unnamed.Encode([]abicall.Value{{Text: "1"}, list(abicall.Value{Text: "true"}, list(text("1", "x")...))})
	if err == nil || !strings.HasPrefix(err.Error(), "#1[1][1]: ") {
		t.Error(err)
	}
	long := parse(t, "f(bytes)")
	if _, err := long.Encode(text("0x" + strings.Repeat("00", 128<<10))); err == nil {
		t.Error("a call above the limit was encoded")
	}
}

func clone(values []abicall.Value) []abicall.Value {
	out := slices.Clone(values)
	for i := range out {
		out[i].Items = clone(out[i].Items)
	}
	return out
}

func TestIntegersAcceptDecimalAndHexInsideTheirRange(t *testing.T) {
	for _, c := range []struct{ kind, in, want string }{
		{"uint8", "0xff", "255"}, {"uint256", "0x00ff", "255"}, {"int8", "-128", "-128"}, {"int8", "127", "127"},
		{"int16", "-0x10", "-16"}, {"int256", "-1", "-1"}, {"int8", "-0", "0"},
		{"uint256", "115792089237316195423570985008687907853269984665640564039457584007913129639935",
			"115792089237316195423570985008687907853269984665640564039457584007913129639935"},
		{"int256", "-57896044618658097711785492504343953926634992332820282019728792003956564819968",
			"-57896044618658097711785492504343953926634992332820282019728792003956564819968"},
	} {
		f := parse(t, "f("+c.kind+")")
		data, err := f.Encode(text(c.in))
		if err != nil {
			t.Errorf("%s %s: %v", c.kind, c.in, err)
			continue
		}
		if got, err := f.Decode(data); err != nil || got[0].Text != c.want {
			t.Errorf("%s %s: %v, %v", c.kind, c.in, got, err)
		}
	}
	for _, c := range []struct{ kind, in string }{
		{"int8", "128"}, {"int8", "-129"}, {"uint8", "256"}, {"uint256", "0x1" + strings.Repeat("0", 64)},
		{"uint8", "0x"}, {"uint8", "+1"}, {"uint8", "--1"}, {"uint8", "1_0"}, {"uint8", "0x_1"},
		{"uint8", " 1"}, {"uint8", "1 "}, {"uint8", "１"}, {"uint256", strings.Repeat("9", 100)}, {"int8", "0x-1"},
		{"int8", "-"}, {"uint8", "0X1"},
	} {
		f := parse(t, "f("+c.kind+")")
		if data, err := f.Encode(text(c.in)); err == nil {
			t.Errorf("%s %q was encoded as %x", c.kind, c.in, data)
		}
	}
}

func TestStringsAreLossless(t *testing.T) {
	f := parse(t, "f(string)")
	for raw, want := range map[string]string{
		"plain ÄÖ 漢字 🦀": "plain ÄÖ 漢字 🦀", "a\nb\r\tc\\": `a\nb\r\tc\\`, "\x00\x1b[2J": `\x00\x1b[2J`,
		"\xff\xfe":              `\xff\xfe`,
		"\u202eabc\u200b\u00a0": `\u{202e}abc\u{200b}\u{a0}`, "": "", "\u0085": `\u{85}`,
	} {
		data, err := f.Encode(text(want))
		if err != nil || !bytes.Contains(data, []byte(raw)) {
			t.Errorf("%q: %x, %v", want, data, err)
			continue
		}
		if got, err := f.Decode(data); err != nil || got[0].Text != want {
			t.Errorf("%q became %q, %v", want, got, err)
		}
	}
	for _, bad := range []string{`\`, `\q`, `\x1`, `\xzz`, `\u{}`, `\u{110000}`, `\u{d800}`, `\u1234`, `\u{1`, `\u`,
		`C:\Users`} {
		if _, err := f.Encode(text(bad)); err == nil {
			t.Errorf("%q was encoded", bad)
		}
	}
}

func TestDecodeRefusesEveryNonCanonicalByte(t *testing.T) {
	f := parse(t, "f((uint8 a, bytes b)[] items, bool ok, address who, bytes3 tag, int16 n, string[2] s)")
	values := []abicall.Value{
		list(list(text("1", "0x0102")...), list(text("2", "0x")...)), {Text: "true"},
		{Text: "0x000000000000000000000000000000000000dEaD"}, {Text: "0x010203"}, {Text: "-5"},
		list(text("x", "yy")...),
	}
	data, err := f.Encode(values)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		for _, delta := range []byte{1, 0x20, 0x80, 0xff} {
			spoiled := bytes.Clone(data)
			spoiled[i] ^= delta
			got, err := f.Decode(spoiled)
			if err == nil && reflect.DeepEqual(got, values) {
				t.Fatalf("byte %d changed and the form stayed the same", i)
			}
			var refused *abicall.DecodeError
			if err != nil && (!errors.As(err, &refused) || refused.Function != f.Signature()) {
				t.Fatalf("byte %d: untyped %v", i, err)
			}
		}
		if _, err := f.Decode(data[:i]); err == nil {
			t.Fatalf("the first %d bytes were accepted", i)
		}
	}
	if _, err := f.Decode(append(bytes.Clone(data), make([]byte, 32)...)); err == nil {
		t.Error("a word after the end was accepted")
	}
	if _, err := f.Decode(make([]byte, 1<<20)); err == nil {
		t.Error("a megabyte was accepted")
	}
}

// Two offsets that point at the same bytes are read by a contract as two arguments.
func TestDecodeRefusesOverlappingOffsets(t *testing.T) {
	f := parse(t, "f(bytes a, bytes b)")
	selector := f.Selector()
	w := func(v int64) []byte { return common.BigToHash(big.NewInt(v)).Bytes() }
	data := slices.Concat(selector[:], w(64), w(64), w(1), append([]byte{9}, make([]byte, 31)...))
	if _, err := f.Decode(data); err == nil {
		t.Error("overlapping arguments were accepted")
	}
	nested := parse(t, "f(uint8[][][][] x)")
	selector = nested.Selector()
	bomb := slices.Concat(selector[:], w(32), w(2), w(0), w(0), w(2), w(0), w(0))
	if _, err := nested.Decode(bomb); err == nil {
		t.Error("a self-referring array was accepted")
	}
}
