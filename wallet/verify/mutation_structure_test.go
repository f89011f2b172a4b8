package verify_test

import (
	"strings"

	"coffer/api"
)

// part is an object or an array of a document: the pointer, the raw bytes of what is in it, and the names of an
// object's members.
type part struct {
	pointer string
	object  bool
	names   []string
	values  []string
}

// parts are all objects and arrays of a document that are not empty, the whole document first.
func parts(d *api.Document) []part {
	var out []part
	var walk func(pointer string)
	walk = func(pointer string) {
		raw, _ := d.At(pointer)
		if raw[0] != '{' && raw[0] != '[' {
			return
		}
		p := part{pointer: pointer, object: raw[0] == '{'}
		var children []string
		if p.object {
			p.names, _ = d.Members(pointer)
			for _, n := range p.names {
				children = append(children, pointer+"/"+strings.ReplaceAll(strings.ReplaceAll(n, "~", "~0"), "/", "~1"))
			}
		} else {
			for i := range elements(d, pointer) {
				children = append(children, pointer+"/"+number(i))
			}
		}
		for _, c := range children {
			v, _ := d.At(c)
			p.values = append(p.values, string(v))
		}
		if len(children) > 0 {
			out = append(out, p)
		}
		for _, c := range children {
			walk(c)
		}
	}
	walk("")
	return out
}

// text writes a part again with other members or elements.
func (p part) text(names, values []string) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		if p.object {
			b.WriteString(jsonText(names[i]) + ":")
		}
		b.WriteString(v)
	}
	if p.object {
		return "{" + b.String() + "}"
	}
	return "[" + b.String() + "]"
}

// intruders are members that no operation has, or has only of another kind: name and value.
func intruders() [][2]string {
	return [][2]string{
		{"initCode", `"0x"`}, {"paymasterAndData", `"0x00"`}, {"operation", "1"},
		{"to", `"0x000000000000000000000000000000000000dEaD"`}, {"salt", `"0x01"`},
		{"delegation", `{"contractAddress":"0x000000000000000000000000000000000000dEaD","nonce":0}`},
		{"type", `"solana"`}, {"signature", `"0xab"`},
		{"addressLookupTableAddresses", `["11111111111111111111111111111111"]`}, {"destinationChainOperation", "{}"},
		{"deploymentType", `"ERC4337"`},
		{"EIP712Domain", `[{"name":"name","type":"string"}]`}, {"eip7702Auth", "null"}, {"nonce", "0"}, {"", `""`},
		{"allowances", "[]"}, {"extra", "{}"},
		{"fees", `{"assets":{},"cumulativeUSD":"0.00"}`}, {"__proto__", "{}"}, {"ACCOUNTS", "[]"},
	}
}

// structures are the mutants of a part: what is in it is left out, doubled, exchanged, put in another order, replaced
// by nothing, and joined by intruders.
func (p part) structures() []string {
	n := len(p.values)
	names := p.names
	if !p.object {
		names = make([]string, n)
	}
	out := []string{"null", "{}", "[]", `""`}
	for i := range n {
		out = append(out, p.text(without(names, i), without(p.values, i)))
		out = append(out, p.text(with(names, i, names[i]), with(p.values, i, p.values[i])))
		if p.object {
			out = append(out, p.text(with(names, n, strings.ToUpper(names[i])), with(p.values, n, p.values[i])),
				p.text(with(names, n, names[i]), with(p.values, n, "null")))
		}
		for k := range i {
			out = append(out, p.text(names, exchanged(p.values, i, k)))
			if p.object {
				// another order of the same members
				out = append(out, p.text(exchanged(names, i, k), exchanged(p.values, i, k)))
			}
		}
	}
	if !p.object {
		for _, v := range []string{"null", "{}", "[]", `""`, "0"} {
			out = append(out, p.text(nil, with(p.values, n, v)))
		}
		return out
	}
	for _, m := range intruders() {
		out = append(out, p.text(with(names, n, m[0]), with(p.values, n, m[1])))
	}
	return out
}

func without(s []string, i int) []string { return append(append([]string{}, s[:i]...), s[i+1:]...) }

func with(s []string, i int, v string) []string {
	return append(append(append([]string{}, s[:i]...), v), s[i:]...)
}

func exchanged(s []string, i, k int) []string {
	c := append([]string{}, s...)
	c[i], c[k] = c[k], c[i]
	return c
}
