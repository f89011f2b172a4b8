package abicall

import (
	"strconv"
	"strings"
)

// SyntaxError says where a signature stops making sense. At is a byte offset into
// Input; for ABI JSON it is -1 and Input is the name of the entry.
type SyntaxError struct {
	Input   string
	At      int
	Problem string
}

// Error returns one line of plain words.
func (e *SyntaxError) Error() string {
	if e.At < 0 {
		return "ABI entry " + showText(e.Input) + ": " + e.Problem
	}
	return "signature, character " + strconv.Itoa(e.At+1) + ": " + e.Problem
}

// ParseSignature reads a human-readable signature: "transfer(address to, uint256
// amount)", "function foo((uint256 a, bytes[] b)[] items, address payable x) external
// returns (bool)", "error Bad(uint256)", or the bare "transfer(address,uint256)".
// Everything after the arguments is checked and dropped.
func ParseSignature(s string) (Function, error) {
	if len(s) > maxSignature {
		return Function{}, &SyntaxError{Input: s[:64] + mark, At: 0,
			Problem: "longer than " + strconv.Itoa(maxSignature) + " bytes"}
	}
	p := &parser{s: s}
	f, problem := p.function()
	if problem != "" {
		return Function{}, &SyntaxError{Input: s, At: p.at, Problem: problem}
	}
	return f, nil
}

// parser reads left to right. Methods return a problem in words, "" when all is well;
// p.at is then the place to show.
type parser struct {
	s  string
	at int
}

func (p *parser) function() (Function, string) {
	name := p.word()
	if name == "function" || name == "error" {
		// A function may itself be called error(...): then a bracket follows.
		if !p.peek('(') {
			name = p.word()
		}
	}
	if name == "" {
		return Function{}, "want the name of a function"
	}
	inputs, problem := p.params(0, true)
	if problem != "" {
		return Function{}, problem
	}
	if problem := checkSize(inputs); problem != "" {
		return Function{}, problem
	}
	return Function{name: name, inputs: inputs}, p.rest()
}

// rest accepts what Solidity allows after the arguments.
func (p *parser) rest() string {
	for {
		p.space()
		if p.take(';') {
			p.space()
			if p.at != len(p.s) {
				return "nothing may follow the semicolon"
			}
			return ""
		}
		if p.at == len(p.s) {
			return ""
		}
		start := p.at
		switch p.word() {
		case "external", "public", "internal", "private", "view", "pure", "payable", "nonpayable", "constant",
			"virtual", "override":
		case "returns":
			if _, problem := p.params(0, false); problem != "" {
				return problem
			}
		default:
			p.at = start
			return "unknown text after the arguments"
		}
	}
}

// params reads a list in brackets; only a function may have none.
func (p *parser) params(depth int, mayBeEmpty bool) ([]Param, string) {
	if depth > maxDepth {
		return nil, "nested more than " + strconv.Itoa(maxDepth) + " levels deep"
	}
	p.space()
	if !p.take('(') {
		return nil, "want ( and the arguments"
	}
	p.space()
	if mayBeEmpty && p.take(')') {
		return nil, ""
	}
	var out []Param
	for {
		param, problem := p.param(depth)
		if problem != "" {
			return nil, problem
		}
		out = append(out, param)
		p.space()
		if p.take(')') {
			return out, ""
		}
		if !p.take(',') {
			return nil, "a comma or ) is expected here"
		}
	}
}

func (p *parser) param(depth int) (Param, string) {
	param, problem := p.typ(depth)
	if problem != "" {
		return Param{}, problem
	}
	for {
		start := p.at
		switch w := p.word(); w {
		case "memory", "calldata", "storage", "indexed":
		case "payable":
			p.at = start
			return Param{}, "only an address can be payable"
		default:
			param.Name = w
			return param, ""
		}
	}
}

func (p *parser) typ(depth int) (Param, string) {
	p.space()
	start := p.at
	var base Param
	if name := p.word(); name != "" && name != "tuple" {
		var problem string
		if base, problem = leafParam(name); problem != "" {
			p.at = start
			return Param{}, problem
		}
		if after := p.at; name == "address" && p.word() != "payable" {
			p.at = after
		}
	} else if p.peek('(') {
		components, problem := p.params(depth+1, false)
		if problem != "" {
			return Param{}, problem
		}
		base = Param{Type: tupleType(components), Components: components}
	} else {
		p.at = start
		return Param{}, "want a type"
	}
	for levels := 0; ; levels++ {
		p.space()
		if !p.take('[') {
			return base, ""
		}
		if levels >= maxDepth {
			return Param{}, "more than " + strconv.Itoa(maxDepth) + " array dimensions"
		}
		digits := p.digits()
		if !p.take(']') {
			return Param{}, "want ] after the length of the array"
		}
		var problem string
		if base, problem = arrayParam(base, digits); problem != "" {
			return Param{}, problem
		}
	}
}

// arrayParam makes elem[] or elem[n].
func arrayParam(elem Param, digits string) (Param, string) {
	length := dynamic
	if digits != "" {
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > maxFixed || strconv.Itoa(n) != digits {
			return Param{}, "the length of an array must be from 1 to " + strconv.Itoa(maxFixed)
		}
		length = n
	}
	return Param{Type: elem.Type + arraySuffix(length), Elem: &elem, Length: length}, ""
}

func checkSize(inputs []Param) string {
	all := Param{Components: inputs}
	if len(inputs) > 0 && all.minWords() > maxWords {
		return "the arguments need more than " + strconv.Itoa(maxCallData) + " bytes"
	}
	return ""
}

func (p *parser) space() {
	for p.at < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.at]) >= 0 {
		p.at++
	}
}

func (p *parser) take(b byte) bool {
	if p.at < len(p.s) && p.s[p.at] == b {
		p.at++
		return true
	}
	return false
}

func (p *parser) peek(b byte) bool {
	p.space()
	return p.at < len(p.s) && p.s[p.at] == b
}

// word reads an identifier after spaces, or nothing.
func (p *parser) word() string {
	p.space()
	start := p.at
	for p.at < len(p.s) && isNameByte(p.s[p.at], p.at == start) {
		p.at++
	}
	return p.s[start:p.at]
}

func (p *parser) digits() string {
	p.space()
	start := p.at
	for p.at < len(p.s) && '0' <= p.s[p.at] && p.s[p.at] <= '9' {
		p.at++
	}
	digits := p.s[start:p.at]
	p.space()
	return digits
}

func isNameByte(b byte, first bool) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b == '_' || b == '$' || !first && '0' <= b && b <= '9'
}

func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i], i == 0) {
			return false
		}
	}
	return s != ""
}
