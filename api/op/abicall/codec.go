package abicall

import (
	"bytes"
	"errors"
	"slices"
	"strconv"

	"coffer/api/op/internal/word"
)

// FieldError says which field of a form cannot be encoded. Path leads to it by item
// numbers from the arguments down; Field is the same in words, such as "items[2].a".
type FieldError struct {
	Path    []int
	Field   string
	Problem string
}

// Error returns one line such as "items[2].a: want true or false".
func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

// DecodeError says why call data is not a canonical call of a function.
type DecodeError struct {
	Function string // canonical signature
	Problem  string
}

// Error returns one line of plain words.
func (e *DecodeError) Error() string { return "not a call of " + e.Function + ": " + e.Problem }

// Encode writes the call data of a filled form: the selector and the arguments. The
// error is the first of Check.
func (f Function) Encode(args []Value) ([]byte, error) {
	data, problems := f.encode(args)
	if len(problems) > 0 {
		return nil, problems[0]
	}
	return data, nil
}

// Check lists every field that cannot be encoded, in the order of the form.
func (f Function) Check(args []Value) []*FieldError {
	_, problems := f.encode(args)
	return problems
}

func (f Function) encode(args []Value) ([]byte, []*FieldError) {
	e := &encoder{}
	selector := f.Selector()
	body := e.list(len(f.inputs), func(i int) *Param { return &f.inputs[i] }, args, "")
	if len(e.problems) == 0 && len(selector)+len(body) > maxCallData {
		e.problem("", "the call needs more than "+strconv.Itoa(maxCallData)+" bytes")
	}
	return append(selector[:], body...), e.problems
}

// encoder walks the form and keeps where it is.
type encoder struct {
	path     []int
	problems []*FieldError
}

func (e *encoder) problem(field, problem string) {
	if field == "" {
		field = "arguments"
	}
	e.problems = append(e.problems, &FieldError{Path: slices.Clone(e.path), Field: field, Problem: problem})
}

// list encodes n values side by side: heads, then the tails of the dynamic ones.
func (e *encoder) list(n int, param func(int) *Param, values []Value, field string) []byte {
	if len(values) != n {
		e.problem(field, "want "+strconv.Itoa(n)+" items, got "+strconv.Itoa(len(values)))
		return nil
	}
	headSize := 0
	for i := range n {
		headSize += param(i).headWords() * word.Size
	}
	var head, tail []byte
	for i := range n {
		p := param(i)
		e.path = append(e.path, i)
		encoded := e.value(p, values[i], fieldName(field, p, i))
		e.path = e.path[:len(e.path)-1]
		if p.isDynamic() {
			head = word.Uint64(head, uint64(headSize+len(tail)))
			tail = append(tail, encoded...)
		} else {
			head = append(head, encoded...)
		}
	}
	return append(head, tail...)
}

func (e *encoder) value(p *Param, v Value, field string) []byte {
	if p.IsTuple() || p.IsArray() {
		if v.Text != "" {
			e.problem(field, "has items, not text of its own")
			return nil
		}
		if p.IsTuple() {
			return e.list(len(p.Components), func(i int) *Param { return &p.Components[i] }, v.Items, field)
		}
		elem := func(int) *Param { return p.Elem }
		if p.Length != dynamic {
			return e.list(p.Length, elem, v.Items, field)
		}
		if len(v.Items) > maxWords {
			e.problem(field, "more than "+strconv.Itoa(maxWords)+" items")
			return nil
		}
		return append(word.Uint64(nil, uint64(len(v.Items))), e.list(len(v.Items), elem, v.Items, field)...)
	}
	if len(v.Items) != 0 {
		e.problem(field, "has text, not items")
		return nil
	}
	encoded, problem := p.encodeLeaf(v.Text)
	if problem != "" {
		e.problem(field, problem)
	}
	return encoded
}

// fieldName names item i of field: "items[2]" in an array, "items[2].a" in a tuple,
// "#3" for an argument without a name.
func fieldName(field string, p *Param, i int) string {
	switch {
	case p.Name != "" && field == "":
		return p.Name
	case p.Name != "":
		return field + "." + p.Name
	case field == "":
		return "#" + strconv.Itoa(i)
	}
	return field + "[" + strconv.Itoa(i) + "]"
}

// Decode reads call data of this function into a form. It accepts only the canonical
// encoding: every offset where the compiler puts it, zero padding, nothing left over.
func (f Function) Decode(data []byte) ([]Value, error) {
	selector := f.Selector()
	if len(data) > maxCallData {
		return nil, f.refuse("longer than " + strconv.Itoa(maxCallData) + " bytes")
	}
	if !bytes.HasPrefix(data, selector[:]) {
		return nil, f.refuse("another selector")
	}
	values, err := f.decodeArguments(data[len(selector):])
	if err != nil {
		return nil, err
	}
	if again, err := f.Encode(values); err != nil || !bytes.Equal(again, data) {
		return nil, f.refuse("encoding it again gives other bytes")
	}
	return values, nil
}

func (f Function) decodeArguments(body []byte) ([]Value, error) {
	r := word.NewReader(body)
	values := decodeList(r, len(f.inputs), func(i int) *Param { return &f.inputs[i] })
	if r.Err() == nil && r.Len() != 0 {
		return nil, f.refuse("bytes after the end")
	}
	if r.Err() != nil {
		return nil, f.refuse(r.Err().Error())
	}
	return values, nil
}

func (f Function) refuse(problem string) error {
	return &DecodeError{Function: f.Signature(), Problem: problem}
}

// errOffset marks an offset that does not point at the next free byte. Offsets are
// never followed, so overlapping data cannot be read twice.
var errOffset = errors.New("an offset does not point at the next argument")

func decodeList(r *word.Reader, n int, param func(int) *Param) []Value {
	headSize := 0
	for i := range n {
		headSize += param(i).headWords() * word.Size
	}
	head := word.NewReader(r.Raw(headSize))
	if r.Err() != nil || n == 0 {
		return nil
	}
	tail := r.Len()
	values := make([]Value, n)
	for i := range n {
		p := param(i)
		if !p.isDynamic() {
			values[i] = decodeValue(head, p)
			continue
		}
		if head.Int(maxCallData) != headSize+tail-r.Len() {
			r.Fail(errOffset)
		}
		values[i] = decodeValue(r, p)
		if r.Err() != nil {
			return nil
		}
	}
	if head.Err() != nil {
		r.Fail(head.Err())
	}
	return values
}

func decodeValue(r *word.Reader, p *Param) Value {
	if r.Err() != nil {
		return Value{}
	}
	switch {
	case p.IsTuple():
		return Value{Items: decodeList(r, len(p.Components), func(i int) *Param { return &p.Components[i] })}
	case p.IsArray():
		n := p.Length
		if n == dynamic {
			n = r.Int(r.Len() / word.Size)
		}
		return Value{Items: decodeList(r, n, func(int) *Param { return p.Elem })}
	}
	return Value{Text: p.decodeLeaf(r)}
}
