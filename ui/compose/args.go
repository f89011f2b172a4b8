package compose

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/abicall"
)

// Arg is one argument, member or element of a call: a text, or items. With Units, the text is in whole tokens of the
// call's target.
type Arg struct {
	Param abicall.Param `json:"-"`
	Text  string        `json:"text,omitzero"`
	Units bool          `json:"units,omitzero"`
	Items []*Arg        `json:"items,omitempty"`
}

// Target is what a call goes to: the known token there, if it is one, gives its amounts their decimals.
type Target struct {
	Chain caip.Chain
	Token catalog.Entity
	Known bool
	w     *World
}

// Target is the target of a call to an address.
func (w *World) Target(chain caip.Chain, address string) Target {
	e, ok := w.TokenAt(chain, address)
	return Target{chain, e, ok, w}
}

// IsList reports whether items can be added and removed.
func (n *Arg) IsList() bool { return n.Param.IsArray() && n.Param.Length < 0 }

// IsLeaf reports whether the argument has a text of its own.
func (n *Arg) IsLeaf() bool { return !n.Param.IsArray() && !n.Param.IsTuple() }

func newArg(p abicall.Param) *Arg {
	n := &Arg{Param: p}
	switch {
	case p.IsTuple():
		n.Items = EmptyArgs(p.Components)
	case p.IsArray():
		for range max(0, p.Length) {
			n.Items = append(n.Items, newArg(*p.Elem))
		}
	}
	return n
}

// EmptyArgs are the arguments of a function before anything is typed.
func EmptyArgs(params []abicall.Param) []*Arg {
	out := make([]*Arg, len(params))
	for i, p := range params {
		out[i] = newArg(p)
	}
	return out
}

// argsOf makes a form from decoded values.
func argsOf(params []abicall.Param, values []abicall.Value) []*Arg {
	out := make([]*Arg, 0, len(params))
	for i, v := range values {
		out = append(out, argOf(params[i], v))
	}
	return out
}

func argOf(p abicall.Param, v abicall.Value) *Arg {
	n := &Arg{Param: p}
	switch {
	case p.IsTuple():
		n.Items = argsOf(p.Components, v.Items)
	case p.IsArray():
		for _, it := range v.Items {
			n.Items = append(n.Items, argOf(*p.Elem, it))
		}
	default:
		n = newArg(p)
		n.Text = v.Text
	}
	return n
}

// valuesOf reads arguments. bad maps the path of each amount that cannot be read to its problem.
func valuesOf(args []*Arg, t Target) (values []abicall.Value, bad map[string]string) {
	bad = map[string]string{}
	return readArgs(args, nil, t, bad), bad
}

func readArgs(args []*Arg, path []int, t Target, bad map[string]string) []abicall.Value {
	out := make([]abicall.Value, len(args))
	for i, n := range args {
		at := append(slices.Clone(path), i)
		if !n.IsLeaf() {
			out[i].Items = readArgs(n.Items, at, t, bad)
			continue
		}
		out[i].Text = n.Text
		if n.Param.Type != "string" {
			out[i].Text = trim(n.Text)
		}
		text, problem := n.base(out[i].Text, t)
		if out[i].Text != "" && problem != "" {
			bad[pathText(at)] = problem
		} else if out[i].Text != "" {
			out[i].Text = text
		}
	}
	return out
}

// base converts the text of a number for the codec: base units, without a unit behind it. Text of other types stays
// unchanged. A unit is wei, gwei or ether, or the symbol of an asset of the chain.
func (n *Arg) base(text string, t Target) (out, problem string) {
	_, unit := SplitUnit(text)
	decimals, symbol := 18, "" // the unit fixes the decimals
	switch {
	case !n.IsNumber() || !n.Units && unit == "":
		return text, ""
	case n.Units && t.Known:
		decimals, symbol = t.Token.Decimals, t.Token.Symbol
	case unit == "":
		return text, "the decimals of this contract are not known: switch to base units"
	default:
		if _, word := unitDecimals(unit); !word && t.w != nil {
			if e, ok := t.w.AssetOn(t.Chain, unit); ok {
				decimals, symbol = e.Decimals, unit
			}
		}
	}
	v, problem := Amount(text, decimals, symbol)
	if problem != "" {
		return text, problem
	}
	return v.String(), ""
}

// IsNumber reports whether the type is an integer.
func (n *Arg) IsNumber() bool {
	return n.IsLeaf() && (strings.HasPrefix(n.Param.Type, "uint") || strings.HasPrefix(n.Param.Type, "int"))
}

// amountOf is the number of a field in base units; nil when it cannot be read.
func (n *Arg) amountOf(t Target) *big.Int {
	text, problem := n.base(trim(n.Text), t)
	v, err := amount.ParseBase(text)
	if problem != "" || err != nil {
		return nil
	}
	return v
}

// Walk visits every node with its path, from the arguments down.
func Walk(nodes []*Arg, visit func(path []int, n *Arg)) { walkFrom(nodes, nil, visit) }

func walkFrom(nodes []*Arg, path []int, visit func([]int, *Arg)) {
	for i, n := range nodes {
		at := append(slices.Clone(path), i)
		visit(at, n)
		walkFrom(n.Items, at, visit)
	}
}

// Find follows a path; nil when it leads nowhere.
func Find(nodes []*Arg, path []int) *Arg {
	var n *Arg
	for _, i := range path {
		if i < 0 || i >= len(nodes) {
			return nil
		}
		n = nodes[i]
		nodes = n.Items
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

// CanUnits reports whether a number may be an amount of tokens.
func (n *Arg) CanUnits() bool { return n.IsLeaf() && n.Param.Type == "uint256" }

// SetUnits switches between whole tokens of the target and base units and rewrites the text.
func (n *Arg) SetUnits(on bool, t Target) {
	if on == n.Units || !n.CanUnits() {
		return
	}
	v := n.amountOf(t)
	n.Units = on
	switch {
	case v == nil:
	case on:
		n.Text = amount.Plain(v, t.Token.Decimals)
	default:
		n.Text = v.String()
	}
}

// toUnits rewrites base units as whole tokens in the fields that take those, after decoding.
func toUnits(args []*Arg, t Target) {
	Walk(args, func(_ []int, n *Arg) {
		if !n.Units {
			return
		}
		n.Units = false
		if t.Known {
			n.SetUnits(true, t)
		}
	})
}

// Note gives the value of a number in the other unit.
func (n *Arg) Note(t Target) string {
	v := n.amountOf(t)
	_, unit := SplitUnit(n.Text)
	known := t.Known && n.CanUnits()
	switch {
	case v == nil:
		return ""
	case (n.Units || unit != "") && !known:
		return "= " + Spaced(v)
	case n.Units || unit != "":
		return BaseNote(v, t.Token.Decimals, t.Token.Symbol)
	case !known:
		return scaled(v)
	}
	return "= " + amount.Human(v, t.Token.Decimals) + " " + t.Token.Symbol
}

// BaseNote writes base units beside an amount in whole tokens.
func BaseNote(v *big.Int, decimals int, symbol string) string {
	return symbol + " = " + Spaced(v) + " base units (" + strconv.Itoa(decimals) + " decimals)"
}

// Spaced groups digits with spaces, the way base units are written.
func Spaced(v *big.Int) string { return strings.ReplaceAll(amount.Group(v.String()), ",", " ") }

// fit gives read arguments the shape of a signature; ok is false when they have another.
func fit(params []abicall.Param, args []*Arg) (ok bool) {
	if len(params) != len(args) {
		return false
	}
	for i, p := range params {
		if !args[i].fit(p) {
			return false
		}
	}
	return true
}

func (n *Arg) fit(p abicall.Param) bool {
	if n == nil {
		return false
	}
	n.Param = p
	switch {
	case p.IsTuple():
		return fit(p.Components, n.Items)
	case p.IsArray():
		for _, it := range n.Items {
			if !it.fit(*p.Elem) {
				return false
			}
		}
		return p.Length < 0 || len(n.Items) == p.Length
	}
	n.Units = n.Units && n.CanUnits()
	return len(n.Items) == 0
}

func cloneArg(n *Arg) *Arg {
	c := *n
	c.Items = clones(n.Items, cloneArg)
	return &c
}

func clones[T any](list []*T, clone func(*T) *T) []*T {
	var out []*T
	for _, x := range list {
		out = append(out, clone(x))
	}
	return out
}

func shallow[T any](x *T) *T {
	c := *x
	return &c
}

// Read takes a text: a list or a tuple is JSON in which every value is text, or true or false.
func (n *Arg) Read(text string) (problem string) {
	if n.IsLeaf() {
		n.Text = text
		return ""
	}
	if !n.readJSON(jsontext.Value(text)) {
		return "a list or a tuple is JSON with every value as text"
	}
	return ""
}

func (n *Arg) readJSON(raw jsontext.Value) bool {
	if n.IsLeaf() {
		k := raw.Kind()
		if n.Text = string(raw); n.Param.Type == "bool" && (k == 't' || k == 'f') {
			return true
		}
		b, err := jsontext.AppendUnquote(nil, raw)
		n.Text = string(b)
		return k == '"' && err == nil
	}
	var items []jsontext.Value
	if raw.Kind() != '[' || json.Unmarshal(raw, &items) != nil {
		return false
	}
	for n.IsList() && len(n.Items) < len(items) {
		n.Add()
	}
	if len(items) != len(n.Items) {
		return false
	}
	for i, it := range n.Items {
		if !it.readJSON(items[i]) {
			return false
		}
	}
	return true
}

// Add appends an empty item to a list.
func (n *Arg) Add() { n.Items = append(n.Items, newArg(*n.Param.Elem)) }
