package abicall

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// entry is one element of ABI JSON. Members that do not matter for calls are ignored.
type entry struct {
	Type   string      `json:"type"`
	Name   string      `json:"name"`
	Inputs []jsonParam `json:"inputs"`
}

type jsonParam struct {
	Name       string      `json:"name"`
	Type       string      `json:"type"`
	Components []jsonParam `json:"components"`
}

// ParseJSON reads the functions of ABI JSON: one entry, or an array of entries, of
// which those that are not functions are left out. At least one function must be there.
func ParseJSON(b []byte) ([]Function, error) {
	entries, err := readEntries(b)
	if err != nil {
		return nil, err
	}
	var out []Function
	for _, e := range entries {
		if e.Type == "" {
			e.Type = "function" // the default of the ABI specification
		}
		if e.Type != "function" {
			continue
		}
		f, problem := e.function()
		if problem != "" {
			return nil, &SyntaxError{Input: e.Name, At: -1, Problem: problem}
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		return nil, errors.New("the ABI holds no function")
	}
	return out, nil
}

func readEntries(b []byte) ([]entry, error) {
	if len(b) > maxJSON {
		return nil, errors.New("ABI JSON is larger than " + strconv.Itoa(maxJSON) + " bytes")
	}
	b = bytes.TrimSpace(b)
	if !json.Valid(b) {
		return nil, errors.New("not ABI JSON: not one JSON document")
	}
	var list []entry
	var err error
	if len(b) > 0 && b[0] == '[' {
		err = json.NewDecoder(bytes.NewReader(b)).Decode(&list)
	} else {
		list = make([]entry, 1)
		err = json.NewDecoder(bytes.NewReader(b)).Decode(&list[0])
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New("not ABI JSON: want an array of entries, or one entry")
	}
	return list, nil
}

func (e entry) function() (Function, string) {
	if !isName(e.Name) {
		return Function{}, "the name is not an identifier"
	}
	inputs, problem := jsonParams(e.Inputs, 0)
	if problem == "" {
		problem = checkSize(inputs)
	}
	if problem != "" {
		return Function{}, problem
	}
	return Function{name: e.Name, inputs: inputs}, ""
}

func jsonParams(list []jsonParam, depth int) ([]Param, string) {
	if depth > maxDepth {
		return nil, "nested more than " + strconv.Itoa(maxDepth) + " levels deep"
	}
	var out []Param
	for _, j := range list {
		p, problem := j.param(depth)
		if problem != "" {
			return nil, problem
		}
		out = append(out, p)
	}
	return out, ""
}

func (j jsonParam) param(depth int) (Param, string) {
	base, dims := j.Type, ""
	if i := strings.IndexByte(j.Type, '['); i >= 0 {
		base, dims = j.Type[:i], j.Type[i:]
	}
	p, problem := leafParam(base)
	if base == "tuple" {
		components, inner := jsonParams(j.Components, depth+1)
		if problem = inner; problem == "" && len(components) == 0 {
			problem = "a tuple without components"
		}
		p = Param{Type: tupleType(components), Components: components}
	}
	for levels := 0; problem == "" && dims != ""; levels++ {
		inner, rest, ok := strings.Cut(dims, "]")
		digits, opened := strings.CutPrefix(inner, "[")
		if !ok || !opened || levels >= maxDepth {
			return Param{}, "cannot read the array in type " + showText(j.Type)
		}
		p, problem = arrayParam(p, digits)
		dims = rest
	}
	if problem != "" {
		return Param{}, problem
	}
	if j.Name != "" && !isName(j.Name) {
		return Param{}, "the parameter name " + showText(j.Name) + " is not an identifier"
	}
	p.Name = j.Name
	return p, ""
}
