package builder

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/api/op/abicall"
	"coffer/ui/tui/kit"
)

// node is one argument, member or element of a form: a text field, or items. With units, its text is in whole tokens of
// the call's target.
type node struct {
	param abicall.Param
	field *kit.Field // nil for tuples and arrays
	items []*node
	units bool
}

// isArray reports whether items can be added and removed.
func (n *node) isArray() bool { return n.param.IsArray() && n.param.Length < 0 }

func (n *node) isLeaf() bool { return !n.param.IsArray() && !n.param.IsTuple() }

func newNode(p abicall.Param) *node {
	n := &node{param: p}
	switch {
	case p.IsTuple():
		n.items = emptyNodes(p.Components)
	case p.IsArray():
		for range max(0, p.Length) {
			n.items = append(n.items, newNode(*p.Elem))
		}
	default:
		n.field = kit.NewField("", maxText)
		n.field.Empty = example(p.Type)
	}
	return n
}

func emptyNodes(params []abicall.Param) []*node {
	out := make([]*node, len(params))
	for i, p := range params {
		out[i] = newNode(p)
	}
	return out
}

// example is the dim placeholder of an empty field.
func example(t string) string {
	switch {
	case t == "address":
		return "0x and 40 digits, or a name"
	case t == "bool":
		return "true or false"
	case t == "string":
		return "text"
	case strings.HasPrefix(t, "bytes"):
		return "0x and hex digits"
	}
	return t
}

// nodesOf makes a form from decoded values.
func nodesOf(params []abicall.Param, values []abicall.Value) []*node {
	out := make([]*node, 0, len(params))
	for i, v := range values {
		out = append(out, nodeOf(params[i], v))
	}
	return out
}

func nodeOf(p abicall.Param, v abicall.Value) *node {
	n := &node{param: p}
	switch {
	case p.IsTuple():
		n.items = nodesOf(p.Components, v.Items)
	case p.IsArray():
		for _, it := range v.Items {
			n.items = append(n.items, nodeOf(*p.Elem, it))
		}
	default:
		n = newNode(p)
		n.field.Set(v.Text)
	}
	return n
}

// valuesOf reads a form. bad maps the path of each whole-token field that cannot be read to its problem.
func valuesOf(nodes []*node, decimals int) (values []abicall.Value, bad map[string]string) {
	bad = map[string]string{}
	return readNodes(nodes, nil, decimals, bad), bad
}

func readNodes(nodes []*node, path []int, decimals int, bad map[string]string) []abicall.Value {
	out := make([]abicall.Value, len(nodes))
	for i, n := range nodes {
		at := append(slices.Clone(path), i)
		if !n.isLeaf() {
			out[i].Items = readNodes(n.items, at, decimals, bad)
			continue
		}
		text := n.field.Value()
		if n.param.Type != "string" {
			text = trim(text)
		}
		if text != "" {
			var problem string
			if text, problem = n.base(text, decimals); problem != "" {
				bad[pathText(at)] = problem
			}
		}
		out[i].Text = text
	}
	return out
}

// base converts the text of a number field for the codec: base units, without a unit behind it. Text of other fields
// stays unchanged.
func (n *node) base(text string, decimals int) (out, problem string) {
	_, unit := splitUnit(text)
	if !n.isNumber() || !n.units && unit == "" {
		return text, ""
	}
	if unit != "" && !n.units || decimals < 0 {
		if decimals < 0 && unit == "" {
			return text, "the decimals of this contract are not known: switch to base units"
		}
		decimals = 18 // the unit fixes the decimals
	}
	v, err := quantity(text, decimals, "")
	if err != nil {
		return text, err.Error()
	}
	return v.String(), ""
}

// isNumber reports whether the type is an integer.
func (n *node) isNumber() bool {
	return n.isLeaf() && (strings.HasPrefix(n.param.Type, "uint") || strings.HasPrefix(n.param.Type, "int"))
}

// amountOf is the number of a field in base units; nil when it cannot be read.
func (n *node) amountOf(decimals int) *big.Int {
	text, problem := n.base(trim(n.field.Value()), decimals)
	v, err := amount.ParseBase(text)
	if problem != "" || err != nil {
		return nil
	}
	return v
}

// walk visits every node with its path, from the arguments down.
func walk(nodes []*node, visit func(path []int, n *node)) { walkFrom(nodes, nil, visit) }

func walkFrom(nodes []*node, path []int, visit func([]int, *node)) {
	for i, n := range nodes {
		at := append(slices.Clone(path), i)
		visit(at, n)
		walkFrom(n.items, at, visit)
	}
}

// find follows a path; nil when it leads nowhere.
func find(nodes []*node, path []int) *node {
	var n *node
	for _, i := range path {
		if i < 0 || i >= len(nodes) {
			return nil
		}
		n = nodes[i]
		nodes = n.items
	}
	return n
}

func pathText(path []int) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = strconv.Itoa(p)
	}
	return strings.Join(parts, ".")
}

// canUnits reports whether a number may be an amount of tokens.
func (n *node) canUnits() bool { return n.isLeaf() && n.param.Type == "uint256" }

// setUnits switches between whole tokens and base units and rewrites the text of the field.
func (n *node) setUnits(on bool, decimals int) {
	if on == n.units || !n.canUnits() {
		return
	}
	v := n.amountOf(decimals)
	n.units = on
	switch {
	case v == nil:
	case on:
		n.field.Set(amount.Trim(amount.Format(v, decimals)))
	default:
		n.field.Set(v.String())
	}
}

// toUnits rewrites base units as whole tokens in the fields that take those, after decoding.
func toUnits(nodes []*node, decimals int) {
	walk(nodes, func(_ []int, n *node) {
		if !n.units {
			return
		}
		n.units = false
		if decimals >= 0 {
			n.setUnits(true, decimals)
		}
	})
}

// unitNote gives the value of a number field in the other unit; decimals are -1 when they are unknown.
func (n *node) unitNote(decimals int, symbol string) string {
	v := n.amountOf(decimals)
	_, unit := splitUnit(n.field.Value())
	switch {
	case v == nil:
		return ""
	case n.units || unit != "":
		return baseNote(v, decimals, symbol)
	case decimals < 0:
		return scaled(v)
	}
	return "= " + amount.Human(v, decimals) + " " + symbol
}

// baseNote writes base units beside an amount in whole tokens.
func baseNote(v *big.Int, decimals int, symbol string) string {
	if decimals < 0 {
		return "= " + spaced(v)
	}
	return symbol + " = " + spaced(v) + " base units (" + strconv.Itoa(decimals) + " decimals)"
}

// spaced groups digits with spaces, the way base units are written.
func spaced(v *big.Int) string { return strings.ReplaceAll(amount.Group(v.String()), ",", " ") }

// cloneNodes copies a form with its texts.
func cloneNodes(nodes []*node) []*node {
	out := make([]*node, len(nodes))
	for i, n := range nodes {
		c := *n
		c.items = cloneNodes(n.items)
		if n.items == nil {
			c.items = nil
		}
		if n.field != nil {
			c.field = kit.NewField("", maxText)
			c.field.Empty = n.field.Empty
			c.field.Set(n.field.Value())
		}
		out[i] = &c
	}
	return out
}
