// Package abicall turns contract functions into forms and forms into call data: it
// parses function signatures and ABI JSON, encodes a tree of text fields, decodes call
// data back into the same tree, and puts revert data into words. The builder screen,
// the verifier's decoded view and the service's revert messages use it.
//
// Promise: Decode accepts only the canonical encoding – decoding and encoding again
// gives the same bytes – so a decoded view cannot differ from what a contract sees
// (TH-U6). Form → call data → form is the identity for fields in canonical text.
// Nothing panics or grows beyond the size limits on foreign input.
//
// Canonical text of a field: integers in decimal (0x hex is accepted too), addresses
// with EIP-55 checksum (TH-L5), bool "true" or "false", bytes as 0x hex, strings as
// they are with \\, \n, \r, \t, \xNN and \u{N} for what cannot be shown.
//
// Errors: *SyntaxError from parsers, *FieldError from Encode, *DecodeError from Decode.
// Left out on purpose: the type `function` and fixed point numbers, which no compiler
// in use encodes.
package abicall

import (
	"slices"
	"strconv"
	"strings"

	"coffer/api/op/internal/word"
)

// Limits. A function whose arguments need more cannot be called in one operation.
const (
	maxCallData  = 128 << 10        // bytes
	maxWords     = maxCallData / 32 // smallest encoding of all arguments, in words
	maxSignature = 8 << 10          // bytes of a human-readable signature
	maxJSON      = 1 << 20          // bytes of ABI JSON
	maxDepth     = 16               // nesting of tuples and arrays
	maxFixed     = maxWords         // length of one fixed array
	maxShown     = 256              // runes of foreign text in a message
	dynamic      = -1               // Param.Length of a T[]
	mark         = "…"
)

// Function is one contract function or custom error. The zero value is not usable; it
// comes from ParseSignature or ParseJSON.
type Function struct {
	name   string
	inputs []Param
}

// Param is one argument, tuple member or array element.
//
// A tuple has Components, an array has Elem and Length (-1 for a dynamic one), any
// other type is a leaf. Type is the canonical type, "(uint256,bytes[])[2]" for an array
// of two tuples. Name is "" when the signature does not give one.
type Param struct {
	Name       string
	Type       string
	Components []Param
	Elem       *Param
	Length     int

	leaf leaf
	size int // bits of an integer, bytes of bytesN
}

// IsArray and IsTuple tell the three kinds of parameters apart.
func (p Param) IsArray() bool { return p.Elem != nil }

// IsTuple reports whether the parameter has members.
func (p Param) IsTuple() bool { return len(p.Components) > 0 }

// Value is what a person typed into a form: Text for a leaf, Items for the members of
// a tuple and the elements of an array.
type Value struct {
	Text  string
	Items []Value
}

// Name is the function's name.
func (f Function) Name() string { return f.name }

// Signature is the canonical form, "transfer(address,uint256)".
func (f Function) Signature() string { return f.name + tupleType(f.inputs) }

// Selector is the first four bytes of a call.
func (f Function) Selector() [4]byte { return [4]byte(word.Selector(f.Signature())) }

// Inputs describes the arguments. The result is the caller's own.
func (f Function) Inputs() []Param { return cloneParams(f.inputs) }

// String is the human-readable form with parameter names.
func (f Function) String() string {
	parts := make([]string, len(f.inputs))
	for i, p := range f.inputs {
		parts[i] = p.declaration()
	}
	return f.name + "(" + strings.Join(parts, ", ") + ")"
}

// Empty is the form before anything was typed: fixed arrays and tuples have their
// items, dynamic arrays have none, leaves have no text.
func (f Function) Empty() []Value { return emptyValues(f.inputs) }

// EmptyValue is the empty form of one parameter.
func EmptyValue(p Param) Value {
	switch {
	case p.IsTuple():
		return Value{Items: emptyValues(p.Components)}
	case p.IsArray() && p.Length > 0:
		items := make([]Value, p.Length)
		for i := range items {
			items[i] = EmptyValue(*p.Elem)
		}
		return Value{Items: items}
	}
	return Value{}
}

func emptyValues(params []Param) []Value {
	out := make([]Value, len(params))
	for i, p := range params {
		out[i] = EmptyValue(p)
	}
	return out
}

func (p Param) declaration() string {
	kind := p.Type
	if p.IsTuple() {
		parts := make([]string, len(p.Components))
		for i, c := range p.Components {
			parts[i] = c.declaration()
		}
		kind = "(" + strings.Join(parts, ", ") + ")"
	} else if p.IsArray() {
		elem := *p.Elem
		elem.Name = ""
		kind = elem.declaration() + arraySuffix(p.Length)
	}
	if p.Name == "" {
		return kind
	}
	return kind + " " + p.Name
}

func arraySuffix(length int) string {
	if length == dynamic {
		return "[]"
	}
	return "[" + strconv.Itoa(length) + "]"
}

func tupleType(params []Param) string {
	types := make([]string, len(params))
	for i, p := range params {
		types[i] = p.Type
	}
	return "(" + strings.Join(types, ",") + ")"
}

func cloneParams(params []Param) []Param {
	out := slices.Clone(params)
	for i := range out {
		out[i] = out[i].clone()
	}
	return out
}

func (p Param) clone() Param {
	if p.Components != nil {
		p.Components = cloneParams(p.Components)
	}
	if p.Elem != nil {
		elem := p.Elem.clone()
		p.Elem = &elem
	}
	return p
}

// isDynamic reports whether the encoding stands in the tail.
func (p *Param) isDynamic() bool {
	switch {
	case p.IsArray():
		return p.Length == dynamic || p.Elem.isDynamic()
	case p.IsTuple():
		return slices.ContainsFunc(p.Components, func(c Param) bool { return c.isDynamic() })
	}
	return p.leaf == leafBytes || p.leaf == leafString
}

// headWords is the number of words in the head of the surrounding tuple.
func (p *Param) headWords() int {
	if p.isDynamic() {
		return 1
	}
	switch {
	case p.IsArray():
		return p.Length * p.Elem.headWords()
	case p.IsTuple():
		n := 0
		for i := range p.Components {
			n += p.Components[i].headWords()
		}
		return n
	}
	return 1
}

// minWords is the smallest number of words that any value takes, capped above
// maxWords so that nested fixed arrays cannot overflow it.
func (p *Param) minWords() int {
	n := 1
	switch {
	case p.IsArray() && p.Length == dynamic:
		n = 2
	case p.IsArray():
		n = p.Length * p.Elem.minWords()
	case p.IsTuple():
		n = 0
		for i := range p.Components {
			n += p.Components[i].minWords()
		}
	case p.isDynamic():
		n = 2
	}
	return min(n, maxWords+1)
}
