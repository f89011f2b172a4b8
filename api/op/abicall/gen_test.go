package abicall_test

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"coffer/api/op/abicall"
)

// drawType draws a human-readable type, with names inside tuples.
func drawType(t *rapid.T, depth int) string {
	kinds := []string{"uint", "int", "bool", "address", "string", "bytes", "bytesN", "uintN", "intN", "address payable"}
	if depth < 3 {
		kinds = append(kinds, "array", "fixed", "tuple", "array", "tuple")
	}
	switch k := rapid.SampledFrom(kinds).Draw(t, "kind"); k {
	case "uintN", "intN":
		return k[:len(k)-1] + strconv.Itoa(8*rapid.IntRange(1, 32).Draw(t, "bits"))
	case "bytesN":
		return "bytes" + strconv.Itoa(rapid.IntRange(1, 32).Draw(t, "size"))
	case "array":
		return drawType(t, depth+1) + "[]"
	case "fixed":
		return drawType(t, depth+1) + "[" + strconv.Itoa(rapid.IntRange(1, 3).Draw(t, "length")) + "]"
	case "tuple":
		return "(" + drawParams(t, depth+1, 1) + ")"
	default:
		return k
	}
}

func drawParams(t *rapid.T, depth, atLeast int) string {
	n := rapid.IntRange(atLeast, 4).Draw(t, "n")
	parts := make([]string, n)
	for i := range parts {
		parts[i] = drawType(t, depth)
		if name := rapid.SampledFrom([]string{"", "a", "to", "amount_2", "$x"}).Draw(t, "name"); name != "" {
			parts[i] += " " + name
		}
	}
	return strings.Join(parts, rapid.SampledFrom([]string{",", ", ", " ,\n "}).Draw(t, "comma"))
}

func drawFunction(t *rapid.T) abicall.Function {
	s := rapid.SampledFrom([]string{"", "function "}).Draw(t, "keyword") +
		rapid.SampledFrom([]string{"f", "transfer", "_x9"}).Draw(t, "f")
	s += "(" + drawParams(t, 0, 0) + ")" + rapid.SampledFrom([]string{"",
		" external view returns (uint256, (bool a)[] b)", " payable;"}).Draw(t, "rest")
	f, err := abicall.ParseSignature(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return f
}

// drawValue draws a field in canonical text.
func drawValue(t *rapid.T, p abicall.Param) abicall.Value {
	switch {
	case p.IsTuple():
		return abicall.Value{Items: drawValues(t, p.Components)}
	case p.IsArray():
		n := p.Length
		if n < 0 {
			n = rapid.IntRange(0, 3).Draw(t, "items")
		}
		var v abicall.Value
		for range n {
			v.Items = append(v.Items, drawValue(t, *p.Elem))
		}
		return v
	}
	return abicall.Value{Text: drawText(t, p.Type)}
}

func drawValues(t *rapid.T, params []abicall.Param) []abicall.Value {
	var out []abicall.Value
	for _, p := range params {
		out = append(out, drawValue(t, p))
	}
	return out
}

func drawText(t *rapid.T, kind string) string {
	raw := func(atLeast, atMost int) []byte { return rapid.SliceOfN(rapid.Byte(), atLeast, atMost).Draw(t, kind) }
	switch {
	case kind == "bool":
		return strconv.FormatBool(rapid.Bool().Draw(t, kind))
	case kind == "address":
		return common.Address(raw(20, 20)).Hex()
	case kind == "string":
		// Canonical text of any bytes comes from decoding them.
		f, err := abicall.ParseSignature("f(bytes)")
		if err != nil {
			t.Fatal(err)
		}
		data, err := f.Encode([]abicall.Value{{Text: "0x" + hex.EncodeToString(raw(0, 70))}})
		if err != nil {
			t.Fatal(err)
		}
		g, err := abicall.ParseSignature("f(string)")
		if err != nil {
			t.Fatal(err)
		}
		selector := g.Selector()
		values, err := g.Decode(append(selector[:], data[4:]...))
		if err != nil {
			t.Fatal(err)
		}
		return values[0].Text
	case kind == "bytes":
		return "0x" + hex.EncodeToString(raw(0, 70))
	case strings.HasPrefix(kind, "bytes"):
		n, _ := strconv.Atoi(kind[5:])
		return "0x" + hex.EncodeToString(raw(n, n))
	case strings.HasPrefix(kind, "uint"):
		n, _ := strconv.Atoi(kind[4:])
		return new(big.Int).SetBytes(raw(0, n/8)).String()
	}
	n, _ := strconv.Atoi(kind[3:])
	v := new(big.Int).SetBytes(raw(0, n/8))
	if half := new(big.Int).Lsh(big.NewInt(1), uint(n-1)); v.Cmp(half) >= 0 {
		v.Sub(v, new(big.Int).Lsh(half, 1))
	}
	return v.String()
}

// reference builds go-ethereum's type for a parameter.
func reference(t testing.TB, params []abicall.Param) abi.Arguments {
	t.Helper()
	var out abi.Arguments
	for _, m := range marshaling(params) {
		typ, err := abi.NewType(m.Type, "", m.Components)
		if err != nil {
			t.Fatalf("go-ethereum refuses %s: %v", m.Type, err)
		}
		out = append(out, abi.Argument{Name: m.Name, Type: typ})
	}
	return out
}

func marshaling(params []abicall.Param) []abi.ArgumentMarshaling {
	var out []abi.ArgumentMarshaling
	for i, p := range params {
		kind, suffix := p, ""
		for kind.IsArray() {
			if kind.Length < 0 {
				suffix = "[]" + suffix
			} else {
				suffix = "[" + strconv.Itoa(kind.Length) + "]" + suffix
			}
			kind = *kind.Elem
		}
		m := abi.ArgumentMarshaling{Name: "f" + strconv.Itoa(i), Type: kind.Type + suffix}
		if kind.IsTuple() {
			m.Type, m.Components = "tuple"+suffix, marshaling(kind.Components)
		}
		out = append(out, m)
	}
	return out
}
