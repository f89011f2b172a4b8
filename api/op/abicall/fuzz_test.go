package abicall_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"coffer/api/op/abicall"
	"coffer/assets"
)

func FuzzParseSignature(f *testing.F) {
	for _, s := range []string{
		"transfer(address to, uint256 amount)",
		"function foo((uint256 a, bytes[] b)[] items, address payable x) external returns (bool)",
		"f(tuple(uint a)[2][])", "error Bad(uint256)", "f(())", "f(uint[4096])", "f(uint8)returns(bool);",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		fn, err := abicall.ParseSignature(s)
		if err != nil {
			var syntax *abicall.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("untyped %v", err)
			}
			return
		}
		again, err := abicall.ParseSignature(fn.String())
		if err != nil || !reflect.DeepEqual(again, fn) {
			t.Fatalf("%q prints as %q: %v", s, fn, err)
		}
		if bare, err := abicall.ParseSignature(fn.Signature()); err != nil || bare.Selector() != fn.Selector() {
			t.Fatalf("%q has signature %q: %v", s, fn.Signature(), err)
		}
		reference(t, fn.Inputs())
		fn.Check(fn.Empty())
	})
}

func FuzzParseJSON(f *testing.F) {
	for _, name := range assets.ContractNames() {
		a, err := assets.Contract(name)
		if err != nil {
			f.Fatal(err)
		}
		var entries []json.RawMessage
		if err := json.Unmarshal(a.ABI, &entries); err != nil {
			f.Fatal(err)
		}
		for _, e := range entries[:min(4, len(entries))] {
			f.Add([]byte(e))
		}
	}
	f.Add([]byte(`[{"name":"f","inputs":[{"type":"tuple[2][]","components":[{"type":"uint256"}]}]}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		functions, err := abicall.ParseJSON(b)
		if err != nil {
			return
		}
		for _, fn := range functions {
			if again, err := abicall.ParseSignature(fn.String()); len(fn.String()) < 8<<10 &&
				(err != nil || again.Signature() != fn.Signature()) {
				t.Fatalf("%s: %v", fn, err)
			}
		}
	})
}

// Whatever Decode accepts encodes back to the same bytes.
func FuzzDecode(f *testing.F) {
	signatures := []string{
		"transfer(address,uint256)",
		"f((uint8 a, bytes b)[] items, bool ok, address who, bytes3 tag, int16 n, string[2] s)", "f(uint8[][])",
		"multicall(bytes[])", "f(string)", "f()",
	}
	for i, s := range signatures {
		fn := parse(f, s)
		selector := fn.Selector()
		f.Add(uint8(i), append(selector[:], make([]byte, 64)...))
		if i == 4 {
			data, err := fn.Encode(text("hello"))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), data)
		}
	}
	rich := parse(f, signatures[1])
	data, err := rich.Encode([]abicall.Value{list(list(text("1", "0x0102")...)), {Text: "true"},
		{Text: "0x000000000000000000000000000000000000dEaD"}, {Text: "0x010203"}, {Text: "-5"},
		list(text("x", "y")...)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(1), data)
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		fn := parse(t, signatures[int(which)%len(signatures)])
		values, err := fn.Decode(data)
		if err != nil {
			var refused *abicall.DecodeError
			if !errors.As(err, &refused) {
				t.Fatalf("untyped %v", err)
			}
			return
		}
		if again, err := fn.Encode(values); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%x became %x, %v", data, again, err)
		}
		fn.Lines(values)
	})
}
