package abicall_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/crypto"
	"pgregory.net/rapid"

	"coffer/api/op/abicall"
	"coffer/assets"
)

func parse(t testing.TB, s string) abicall.Function {
	t.Helper()
	f, err := abicall.ParseSignature(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return f
}

func text(values ...string) []abicall.Value {
	var out []abicall.Value
	for _, s := range values {
		out = append(out, abicall.Value{Text: s})
	}
	return out
}

func list(values ...abicall.Value) abicall.Value { return abicall.Value{Items: values} }

func TestFormToCallDataToFormIsTheIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFunction(t)
		values := drawValues(t, f.Inputs())
		data, err := f.Encode(values)
		if err != nil {
			t.Fatalf("%s %+v: %v", f, values, err)
		}
		got, err := f.Decode(data)
		if err != nil || !reflect.DeepEqual(got, values) {
			t.Fatalf("%s: %+v became %+v, %v", f, values, got, err)
		}
	})
}

func TestEncodingIsThatOfTheABIPackage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := drawFunction(rt)
		args := reference(t, f.Inputs())
		if m := abi.NewMethod(f.Name(), f.Name(), abi.Function, "", false, false, args, nil); m.Sig != f.Signature() ||
			!bytes.Equal(m.ID, first4(f.Selector())) {
			rt.Fatalf("%s against %s", m.Sig, f.Signature())
		}
		data, err := f.Encode(drawValues(rt, f.Inputs()))
		if err != nil {
			rt.Fatal(err)
		}
		values, err := args.Unpack(data[4:])
		if err != nil {
			rt.Fatalf("%s: %v", f, err)
		}
		again, err := args.Pack(values...)
		if err != nil || !bytes.Equal(again, data[4:]) {
			rt.Fatalf("%s: %x, go-ethereum writes %x, %v", f, data[4:], again, err)
		}
	})
}

func first4(s [4]byte) []byte { return s[:] }

func TestParseSignatureReadsWhatPeopleWrite(t *testing.T) {
	for _, c := range [][2]string{
		{"transfer(address to, uint256 amount)", "transfer(address,uint256)"},
		{"transfer(address,uint256)", "transfer(address,uint256)"},
		{"function foo((uint256 a, bytes[] b)[] items, address payable x) external returns (bool)",
			"foo((uint256,bytes[])[],address)"},
		{"foo(tuple(uint a, int8 b)[2][] x)", "foo((uint256,int8)[2][])"},
		{"function f() public view virtual override returns (uint256[] memory);", "f()"},
		{" f ( string calldata s , bytes32 ) ", "f(string,bytes32)"},
		{"error Bad(address payable[] who)", "Bad(address[])"},
		{"error(uint256)", "error(uint256)"},
		{"function(bytes24)", "function(bytes24)"},
		{"f(((uint8)))", "f(((uint8)))"},
		{"f(bytes1, bytes32, uint8, int256, bool[1])", "f(bytes1,bytes32,uint8,int256,bool[1])"},
	} {
		in, want := c[0], c[1]
		f := parse(t, in)
		if f.Signature() != want {
			t.Errorf("%q: %s, want %s", in, f.Signature(), want)
		}
		if s := f.Selector(); !bytes.Equal(s[:], crypto.Keccak256([]byte(want))[:4]) {
			t.Errorf("%q: selector %x", in, s)
		}
		if again := parse(t, f.String()); !reflect.DeepEqual(again, f) {
			t.Errorf("%q prints as %q, which is %s", in, f, again)
		}
	}
	f := parse(t, "f((uint256 a, bytes[] b)[3] items, address x)")
	in := f.Inputs()
	items := in[0]
	if items.Name != "items" || !items.IsArray() || items.Length != 3 || !items.Elem.IsTuple() ||
		items.Elem.Components[1].Elem.Type != "bytes" || items.Elem.Components[1].Length != -1 || in[1].Name != "x" {
		t.Errorf("%+v", in)
	}
	in[0].Elem.Components[0].Type = "changed"
	if f.Signature() != "f((uint256,bytes[])[3],address)" {
		t.Error("the function was changed through its inputs")
	}
}

func TestParseSignatureSaysWhereItStopsMakingSense(t *testing.T) {
	for in, problem := range map[string]string{
		"": "name", "(": "name", "f": "want (", "f(": "want a type", "f(uint": "a comma or )",
		"f(uint256,)": "want a type", "f(,)": "want a type",
		"f(uint257)": "unknown type", "f(uint7)": "unknown type", "f(uint08)": "unknown type",
		"f(bytes33)": "unknown type", "f(bytes0)": "unknown type",
		"f(IERC20 token)": "contracts as address", "f(function)": "not supported", "f(fixed128x18)": "not supported",
		"f(ufixed)": "not supported",
		"f(uint[)":  "want ]", "f(uint[0])": "length of an array", "f(uint[01])": "length of an array",
		"f(uint[99999999999999999999])": "length of an array",
		"f(uint[-1])":                   "want ]", "f(())": "want a type", "f(uint payable x)": "only an address",
		"f(uint) hello": "unknown text", "f(uint); x": "semicolon",
		"f(uint))": "unknown text", "f(uint a b)": "a comma or )", "f(uint)returns": "want (",
		"f(uint)returns()": "want a type", "1f()": "name", "f(uint256\x00)": "a comma or )",
		"f(uint[4096][2])": "need more than", "f(string[4096])": "need more than", "f(tuple)": "want a type",
		strings.Repeat("f(", 9000):                             "longer than",
		"f" + strings.Repeat("(", 40):                          "levels deep",
		"f(uint" + strings.Repeat("[]", 40) + ")":              "dimensions",
		"f(uint" + strings.Repeat("[4000]", 10) + ")":          "need more than",
		"f(uint8" + strings.Repeat("[1]", 16) + "[1])":         "dimensions",
		"f((uint256[64])[64] a, uint256 b, (bytes[64])[64] c)": "need more than",
	} {
		f, err := abicall.ParseSignature(in)
		var syntax *abicall.SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(syntax.Problem, problem) || syntax.At < 0 ||
			syntax.At > len(in) {
			t.Errorf("%.60q: %v (%+v), want %q", in, f, err, problem)
		}
	}
}

func TestParseJSONReadsTheContractsOfThisProject(t *testing.T) {
	total := 0
	for _, name := range assets.ContractNames() {
		a, err := assets.Contract(name)
		if err != nil {
			t.Fatal(err)
		}
		var want abi.ABI
		if err := json.Unmarshal(a.ABI, &want); err != nil {
			t.Fatal(err)
		}
		functions, err := abicall.ParseJSON(a.ABI)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got, wanted []string
		for _, f := range functions {
			got = append(got, f.Signature())
		}
		for _, m := range want.Methods {
			wanted = append(wanted, m.Sig)
		}
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("%s: %v, want %v", name, got, wanted)
		}
		total += len(got)
	}
	if total < 40 {
		t.Errorf("only %d functions", total)
	}
}

func TestParseJSONRefusesWhatItCannotCall(t *testing.T) {
	one, err := abicall.ParseJSON([]byte(
		`{"name":"f","inputs":[{"name":"x","type":"tuple[2][]","components":[{"type":"uint256"}]}]}`))
	if err != nil || len(one) != 1 || one[0].Signature() != "f((uint256)[2][])" {
		t.Errorf("%v, %v", one, err)
	}
	for _, in := range []string{
		``, `null`, `7`, `"f"`, `{}`, `[]`, `[{"type":"event","name":"E","inputs":[]}]`,
		`{"name":"f","inputs":[{"type":"function"}]}`,
		`{"name":"f","inputs":[{"type":"tuple"}]}`, `{"name":"f","inputs":[{"type":"uint256[","name":"x"}]}`,
		`{"name":"f","inputs":[{"type":"uint256]["}]}`,
		`{"name":"f","inputs":[{"type":"uint256[]x"}]}`, `{"name":"f(","inputs":[]}`,
		`{"name":"f","inputs":[{"type":"uint256","name":"a b"}]}`,
		`{"name":"f","inputs":[]} {"name":"g"}`, `{"name":"f","inputs":[{"type":""}]}`,
		`{"name":"f","inputs":[{"type":"uint256[1]` + strings.Repeat("[1]", 20) + `"}]}`,
		`{"name":"f","inputs":[{"type":"uint256[4096][4096]"}]}`, `{"name":"f","inputs":[{"type":"uint256 "}]}`,
		strings.Repeat(" ", 1<<20+1),
		`{"name":"f","inputs":` + strings.Repeat(`[{"type":"tuple","components":`, 20) + `[]` +
			strings.Repeat(`}]`, 20) + `}`,
	} {
		if f, err := abicall.ParseJSON([]byte(in)); err == nil {
			t.Errorf("%.80s was read as %v", in, f)
		}
	}
}
