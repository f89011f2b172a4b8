package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits bound a foreign document (TH-L1).
type Limits struct {
	Bytes    int // size of the body after decompression
	Depth    int // nesting of objects and arrays
	Elements int // elements of one array or members of one object
	Values   int // values of the whole document
}

// DefaultLimits are the bounds of every answer and request: 4 MiB, 32 levels, 10 000 elements of one array or object,
// 100 000 values in all.
func DefaultLimits() Limits {
	return Limits{Bytes: 4 << 20, Depth: 32, Elements: 10_000, Values: 100_000}
}

// A DocumentError says why a body is not an acceptable JSON document. Code is the row of docs/threats.md: "L1" or "L2".
type DocumentError struct {
	Code   string
	Offset int64
	Reason string
}

func (e *DocumentError) Error() string {
	return fmt.Sprintf("not an acceptable JSON document at byte %d: %s", e.Offset, e.Reason)
}

// Document is a JSON document kept as the bytes that were received. Views are decoded from the bytes, signatures are
// spliced into them; it is never encoded again, so unknown members, spacing, key order and big numbers go back exactly
// as they came (TH-L6). A Document is immutable and safe for concurrent use.
type Document struct {
	raw    []byte
	root   *element
	limits Limits
	values int
	loose  []*element // numbers with a plain form of their own, in document order
}

// element is a value's place in the raw bytes: [start, end).
type element struct {
	start, end int
	kind       byte // '{', '[', or the first byte of a scalar
	members    []member
	items      []*element
	// of a whole number that is written with a fraction or an exponent, its RFC 8785 form; otherwise ""
	plain string
}

type member struct {
	name string
	val  *element
}

// ParseDocument passes raw through the lexical gate: one JSON value, valid UTF-8, no duplicate names, no names equal
// under case folding, no trailing data, within the limits. The bytes are copied. The error is a *DocumentError.
func ParseDocument(raw []byte, limits Limits) (*Document, error) {
	if len(raw) > limits.Bytes {
		return nil, &DocumentError{Code: "L1", Reason: fmt.Sprintf("larger than %d bytes", limits.Bytes)}
	}
	d := &Document{raw: bytes.Clone(raw), limits: limits}
	dec := jsontext.NewDecoder(bytes.NewReader(d.raw))
	root, err := d.scan(dec, 0)
	if err != nil {
		return nil, documentError(err, dec)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, &DocumentError{Code: "L2", Offset: dec.InputOffset(), Reason: "data after the end of the document"}
	}
	d.root = root
	return d, nil
}

func documentError(err error, dec *jsontext.Decoder) error {
	var de *DocumentError
	if errors.As(err, &de) {
		return de
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return &DocumentError{Code: "L2", Offset: dec.InputOffset(), Reason: "a member name appears twice"}
	}
	return &DocumentError{Code: "L2", Offset: dec.InputOffset(), Reason: "malformed JSON"}
}

// scan reads the next value and notes where it and its parts stand.
func (d *Document) scan(dec *jsontext.Decoder, depth int) (*element, error) {
	if depth > d.limits.Depth {
		return nil, &DocumentError{Code: "L1", Offset: dec.InputOffset(),
			Reason: fmt.Sprintf("nested deeper than %d", d.limits.Depth)}
	}
	if d.values++; d.values > d.limits.Values {
		return nil, &DocumentError{Code: "L1", Offset: dec.InputOffset(), Reason: "too many values"}
	}
	switch dec.PeekKind() {
	case '{':
		return d.scanObject(dec, depth)
	case '[':
		return d.scanArray(dec, depth)
	}
	v, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(dec.InputOffset())
	e := &element{start: end - len(v), end: end, kind: v[0], plain: plainForm(v)}
	if e.plain != "" {
		d.loose = append(d.loose, e)
	}
	return e, nil
}

// plainForm is the RFC 8785 form of a whole number up to 2^53-1 that is written like 137.0 or 1.37e2, as clients do
// that keep every number as a double; "" for anything else.
func plainForm(v []byte) string {
	if v[0] == '"' || !bytes.ContainsAny(v, ".eE") || v[0] != '-' && (v[0] < '0' || v[0] > '9') {
		return ""
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxSafe {
		return ""
	}
	return strconv.FormatInt(int64(f), 10)
}

// scalar is the text of a scalar, with a whole number in its plain form.
func (d *Document) scalar(e *element) string {
	if e.plain != "" {
		return e.plain
	}
	return string(d.raw[e.start:e.end])
}

// plain is the document with every whole number in its plain form.
func (d *Document) plain() []byte {
	if len(d.loose) == 0 {
		return d.raw
	}
	out, at := make([]byte, 0, len(d.raw)), 0
	for _, e := range d.loose {
		out = append(append(out, d.raw[at:e.start]...), e.plain...)
		at = e.end
	}
	return append(out, d.raw[at:]...)
}

func (d *Document) scanObject(dec *jsontext.Decoder, depth int) (*element, error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	e := &element{start: int(dec.InputOffset()) - 1, kind: '{'}
	folded := map[string]bool{}
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := tok.String()
		low := foldName(name)
		if folded[low] {
			return nil, &DocumentError{Code: "L2", Offset: dec.InputOffset(),
				Reason: "two member names differ only in case"}
		}
		folded[low] = true
		val, err := d.scan(dec, depth+1)
		if err != nil {
			return nil, err
		}
		if e.members = append(e.members, member{name, val}); len(e.members) > d.limits.Elements {
			return nil, &DocumentError{Code: "L1", Offset: dec.InputOffset(), Reason: "too many members"}
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	e.end = int(dec.InputOffset())
	return e, nil
}

func (d *Document) scanArray(dec *jsontext.Decoder, depth int) (*element, error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	e := &element{start: int(dec.InputOffset()) - 1, kind: '['}
	for dec.PeekKind() != ']' {
		item, err := d.scan(dec, depth+1)
		if err != nil {
			return nil, err
		}
		if e.items = append(e.items, item); len(e.items) > d.limits.Elements {
			return nil, &DocumentError{Code: "L1", Offset: dec.InputOffset(), Reason: "too many elements"}
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	e.end = int(dec.InputOffset())
	return e, nil
}

// foldName maps names that a careless decoder takes for one another to one string.
func foldName(s string) string { return strings.ToLower(strings.ToUpper(s)) }

// Raw returns a copy of the received bytes.
func (d *Document) Raw() []byte { return bytes.Clone(d.raw) }

// Len returns the number of bytes.
func (d *Document) Len() int { return len(d.raw) }

// Decode reads the whole document into v: names are matched exactly, unknown members are left out of the view (and stay
// in the document). A whole number is read however it is written: 137, 137.0 and 1.37e2 are one value, as in the RFC
// 8785 form.
func (d *Document) Decode(v any) error {
	if err := json.Unmarshal(d.plain(), v); err != nil {
		return fmt.Errorf("decode document: %w", err)
	}
	return nil
}

// At returns the bytes of the value at a JSON pointer such as "/originChainsOperations/0/userOp", and false when there
// is none.
func (d *Document) At(pointer string) ([]byte, bool) {
	e, err := d.find(pointer)
	if err != nil {
		return nil, false
	}
	return bytes.Clone(d.raw[e.start:e.end]), true
}

// Leaves calls fn with the pointer and bytes of every scalar and of every empty object or array, in document order.
func (d *Document) Leaves(fn func(pointer string, value []byte)) { d.leaves(d.root, "", fn) }

func (d *Document) leaves(e *element, pointer string, fn func(string, []byte)) {
	if len(e.members) == 0 && len(e.items) == 0 {
		fn(pointer, d.raw[e.start:e.end])
		return
	}
	for _, m := range e.members {
		d.leaves(m.val, pointer+"/"+escapePointer(m.name), fn)
	}
	for i, it := range e.items {
		d.leaves(it, pointer+"/"+strconv.Itoa(i), fn)
	}
}

// Members returns the member names of the object at pointer in document order, and false when there is no object.
func (d *Document) Members(pointer string) ([]string, bool) {
	e, err := d.find(pointer)
	if err != nil || e.kind != '{' {
		return nil, false
	}
	names := make([]string, len(e.members))
	for i, m := range e.members {
		names[i] = m.name
	}
	return names, true
}

var errNoSuchPlace = errors.New("no such place in the document")

func (d *Document) find(pointer string) (*element, error) {
	e := d.root
	if pointer == "" {
		return e, nil
	}
	if pointer[0] != '/' {
		return nil, fmt.Errorf("%w: %q is not a JSON pointer", errNoSuchPlace, pointer)
	}
	for _, part := range strings.Split(pointer[1:], "/") {
		next := e.child(unescapePointer(part))
		if next == nil {
			return nil, fmt.Errorf("%w: %q", errNoSuchPlace, pointer)
		}
		e = next
	}
	return e, nil
}

func (e *element) child(part string) *element {
	if e.kind == '[' {
		i, err := strconv.Atoi(part)
		if err != nil || i < 0 || i >= len(e.items) || strconv.Itoa(i) != part {
			return nil
		}
		return e.items[i]
	}
	for _, m := range e.members {
		if m.name == part {
			return m.val
		}
	}
	return nil
}

func escapePointer(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
}

func unescapePointer(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
}

// Edit puts Value, one JSON value, at Pointer. The parent must exist; the last part may name a new member of an object.
type Edit struct {
	Pointer string
	Value   []byte
}

// StringEdit is an Edit that writes a JSON string.
func StringEdit(pointer, s string) (Edit, error) {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return Edit{}, fmt.Errorf("edit %s: %w", pointer, err)
	}
	return Edit{Pointer: pointer, Value: b}, nil
}

// Splice returns a new document in which only the bytes of the edited values differ; new members are put after the last
// member of their object. Edits must not lie inside one another.
func (d *Document) Splice(edits ...Edit) (*Document, error) {
	cuts := make([]cut, 0, len(edits))
	for _, ed := range edits {
		c, err := d.cutFor(ed)
		if err != nil {
			return nil, err
		}
		cuts = append(cuts, c)
	}
	sort.SliceStable(cuts, func(i, j int) bool { return cuts[i].start < cuts[j].start })
	var out []byte
	at := 0
	for _, c := range cuts {
		if c.start < at {
			return nil, errors.New("splice: two edits overlap")
		}
		out = append(append(out, d.raw[at:c.start]...), c.text...)
		at = c.end
	}
	out = append(out, d.raw[at:]...)
	return ParseDocument(out, d.limits)
}

type cut struct {
	start, end int
	text       []byte
}

func (d *Document) cutFor(ed Edit) (cut, error) {
	if !jsontext.Value(ed.Value).IsValid() || !utf8.Valid(ed.Value) {
		return cut{}, fmt.Errorf("splice %s: the new value is not JSON", ed.Pointer)
	}
	if e, err := d.find(ed.Pointer); err == nil {
		return cut{e.start, e.end, ed.Value}, nil
	}
	i := strings.LastIndexByte(ed.Pointer, '/')
	if i < 0 {
		return cut{}, fmt.Errorf("splice: %w: %q", errNoSuchPlace, ed.Pointer)
	}
	parent, err := d.find(ed.Pointer[:i])
	if err != nil {
		return cut{}, fmt.Errorf("splice: %w", err)
	}
	if parent.kind != '{' {
		return cut{}, fmt.Errorf("splice %s: the parent is not an object", ed.Pointer)
	}
	text, err := jsontext.AppendQuote(nil, unescapePointer(ed.Pointer[i+1:]))
	if err != nil {
		return cut{}, fmt.Errorf("splice %s: %w", ed.Pointer, err)
	}
	text = append(append(text, ':'), ed.Value...)
	at := parent.start + 1
	if n := len(parent.members); n > 0 {
		at = parent.members[n-1].val.end
		text = append([]byte{','}, text...)
	}
	return cut{at, at, text}, nil
}

// Canonical returns the RFC 8785 form of the document without the values at the given pointers; a "*" part stands for
// every element of an array. Pointers that name nothing are ignored. Signed documents hold no fractions and no number
// above 2^53 (protocol §4.1).
func (d *Document) Canonical(without ...string) ([]byte, error) {
	drop := map[*element]bool{}
	for _, p := range without {
		d.match(d.root, strings.Split(strings.TrimPrefix(p, "/"), "/"), drop)
	}
	v := jsontext.Value(d.render(nil, d.root, drop))
	if err := v.Canonicalize(); err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	return v, nil
}

func (d *Document) match(e *element, parts []string, drop map[*element]bool) {
	if len(parts) == 0 {
		drop[e] = true
		return
	}
	if parts[0] == "*" && e.kind == '[' {
		for _, it := range e.items {
			d.match(it, parts[1:], drop)
		}
		return
	}
	if next := e.child(unescapePointer(parts[0])); next != nil {
		d.match(next, parts[1:], drop)
	}
}

func (d *Document) render(out []byte, e *element, drop map[*element]bool) []byte {
	switch e.kind {
	case '{':
		out = append(out, '{')
		first := true
		for _, m := range e.members {
			if drop[m.val] {
				continue
			}
			if !first {
				out = append(out, ',')
			}
			first = false
			out, _ = jsontext.AppendQuote(out, m.name) // names came from a decoder that checked them
			out = d.render(append(out, ':'), m.val, drop)
		}
		return append(out, '}')
	case '[':
		out = append(out, '[')
		for i, it := range e.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = d.render(out, it, drop)
		}
		return append(out, ']')
	}
	return append(out, d.raw[e.start:e.end]...)
}

// Encode makes a document from one of our own values.
func Encode(v any) (*Document, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return ParseDocument(b, DefaultLimits())
}
