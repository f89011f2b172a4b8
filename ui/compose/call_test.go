package compose

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"coffer/api/catalog"
	"coffer/api/op/abicall"
	"coffer/api/op/erc20"
)

// tokenWith is a target with so many decimals, or one that is no known token.
func tokenWith(decimals int) Target {
	return Target{Token: catalog.Entity{Decimals: decimals, Symbol: "TOK"}, Known: decimals >= 0}
}

// aType draws a type with up to depth levels of tuples and arrays.
func aType(t *rapid.T, depth int) string {
	leaf := rapid.SampledFrom([]string{"uint256", "uint8", "int128", "bool", "address", "bytes", "bytes4", "bytes32",
		"string"})
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case depth > 0 && kind == 0:
		return aType(t, depth-1) + "[]"
	case depth > 0 && kind == 1:
		return aType(t, depth-1) + "[2]"
	case depth > 0 && kind == 2:
		return "(" + aType(t, depth-1) + " a, " + aType(t, depth-1) + " b)"
	}
	return leaf.Draw(t, "leaf")
}

// typeIn fills a form with text as a person would, and grows arrays.
func typeIn(t *rapid.T, nodes []*Arg) {
	for _, n := range nodes {
		if n.IsList() {
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				n.Add()
			}
		}
		if !n.IsLeaf() {
			typeIn(t, n.Items)
			continue
		}
		text := ""
		switch n.Param.Type {
		case "bool":
			text = rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
		case "address":
			text = common.BytesToAddress(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "address")).Hex()
		case "string":
			text = rapid.StringMatching(`[ -\[\]-~äß語🙂]{0,40}`).Draw(t, "string")
		case "bytes":
			text = Hex(rapid.SliceOfN(rapid.Byte(), 0, 70).Draw(t, "bytes"))
		case "bytes4":
			text = Hex(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "bytes4"))
		case "bytes32":
			text = Hex(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "bytes32"))
		case "uint8":
			text = big.NewInt(int64(rapid.Byte().Draw(t, "uint8"))).String()
		case "int128":
			text = big.NewInt(rapid.Int64().Draw(t, "int128")).String()
		default:
			text = new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "uint256")).String()
		}
		n.Text = text
	}
}

func texts(nodes []*Arg) string {
	var b strings.Builder
	Walk(nodes, func(path []int, n *Arg) {
		b.WriteString(pathText(path) + "=")
		b.WriteString(n.Text)
		b.WriteByte('\n')
	})
	return b.String()
}

func TestFormToCallDataToFormIsTheIdentityForRandomSignatures(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var types []string
		for range rapid.IntRange(0, 4).Draw(rt, "arguments") {
			types = append(types, aType(rt, 3))
		}
		c := &Call{}
		c.Signature = "someFunction(" + strings.Join(types, ", ") + ")"
		c.ReadSignature(false)
		if c.Fn == nil {
			rt.Fatalf("%s: %s", c.Signature, c.SigErr)
		}
		typeIn(rt, c.Args)
		data, ok := c.Calldata(Target{})
		if !ok {
			values, bad := valuesOf(c.Args, Target{})
			rt.Fatalf("%s: %v %v", c.Signature, bad, c.Fn.Check(values))
		}
		again := &Call{}
		again.Fn = c.Fn
		if !again.TakeData(data, Target{}) {
			rt.Fatalf("%s: not decoded", c.Signature)
		}
		if a, b := texts(c.Args), texts(again.Args); a != b {
			rt.Fatalf("%s\n%s\n%s", c.Signature, a, b)
		}
	})
}

func TestUnitsThereAndBackKeepTheAmount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fn, err := abicall.ParseSignature("f(uint256 v)")
		if err != nil {
			rt.Fatal(err)
		}
		v := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(rt, "v"))
		d := rapid.IntRange(0, 18).Draw(rt, "decimals")
		at := tokenWith(d)
		nodes := argsOf(fn.Inputs(), []abicall.Value{{Text: v.String()}})
		nodes[0].SetUnits(true, at)
		values, bad := valuesOf(nodes, at)
		if len(bad) > 0 || values[0].Text != v.String() {
			rt.Fatalf("%s with %d decimals: %v %v", v, d, values, bad)
		}
		nodes[0].SetUnits(false, at)
		if nodes[0].Text != v.String() {
			rt.Fatalf("%s became %s", v, nodes[0].Text)
		}
	})
}

func FuzzCallDataThroughTheFormIsUnchanged(f *testing.F) {
	f.Add("transfer(address to, uint256 amount)", erc20.Transfer(common.Address{19: 1}, big.NewInt(5)), 6)
	f.Add("f(string s)", []byte{1, 2, 3, 4}, -1)
	f.Add("", []byte{}, 0)
	if fn, err := abicall.ParseSignature("f(string s, bytes b)"); err == nil {
		data, _ := fn.Encode([]abicall.Value{{Text: `a\u{fffd}b\n`}, {Text: "0x00"}})
		f.Add("f(string s, bytes b)", data, -1)
		data, _ = fn.Encode([]abicall.Value{{Text: "a\uFFFDb"}, {Text: "0x"}})
		f.Add("f(string s, bytes b)", data, -1)
	}
	f.Fuzz(func(t *testing.T, sig string, data []byte, decimals int) {
		c := &Call{}
		if fn, err := abicall.ParseSignature(sig); err == nil {
			c.Fn = &fn
		}
		at := tokenWith(min(77, decimals))
		c.TakeData(data, at)
		if got, ok := c.Calldata(at); !ok || !bytes.Equal(got, data) {
			t.Fatalf("%x became %x (%v)", data, got, ok)
		}
	})
}
