package wire

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The bounds of a tree: it mentions what is beyond, and does not show it.
const (
	maxNodes = 50_000
	maxDepth = 64
)

// node is one value of a document, or a heading. name and text are as received: a member's name without its quotes, a
// scalar with its quotes, escapes and digits; the drawing cleans both. kind is '{', '[', or the first byte of a scalar;
// lineKind is a header or a line of text, noteKind a remark of this program, 0 a heading.
type node struct {
	name   string
	text   string
	kind   byte
	kids   []*node
	open   bool
	parent *node
	index  int // index in an array
}

const (
	noteKind = 1
	lineKind = 2
)

// parse reads JSON into nodes below root. It accepts the output of a careless service: duplicate names and invalid
// characters show as they are. Anything that is not JSON becomes a remark at its place. cut says that the end of the
// body is missing.
func parse(root *node, body []byte, cut bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	p := parser{dec: dec, room: maxNodes}
	err := p.value(root, "", 0)
	if err == nil {
		if _, more := dec.ReadToken(); !errors.Is(more, io.EOF) {
			err = errMore
		}
	}
	switch {
	case err == nil:
	case errors.Is(err, errRoom):
		root.note("more values than this screen shows; Y copies all of them")
	case cut:
		root.note("the rest of the body was not kept")
	case len(root.kids) == 0:
		root.plain(body)
	default:
		root.note("from byte " + strconv.FormatInt(dec.InputOffset(), 10) + " on it is no JSON")
	}
}

var (
	errRoom = errors.New("too many values")
	errMore = errors.New("data after the end")
)

type parser struct {
	dec  *jsontext.Decoder
	room int
}

// value reads the next value as a child of at.
func (p *parser) value(at *node, name string, depth int) error {
	if p.room--; p.room < 0 || depth > maxDepth {
		return errRoom
	}
	n := &node{name: name, parent: at, index: len(at.kids)}
	switch kind := p.dec.PeekKind(); kind {
	case '{', '[':
		if _, err := p.dec.ReadToken(); err != nil {
			return err
		}
		n.kind = byte(kind)
		at.kids = append(at.kids, n)
		return p.members(n, depth)
	default:
		raw, err := p.dec.ReadValue()
		if err != nil {
			return err
		}
		n.kind, n.text = raw[0], string(raw)
		at.kids = append(at.kids, n)
		return nil
	}
}

// members reads the content of an object or an array, to its end.
func (p *parser) members(n *node, depth int) error {
	for {
		kind := p.dec.PeekKind()
		if kind == '}' || kind == ']' {
			_, err := p.dec.ReadToken()
			return err
		}
		name := ""
		if n.kind == '{' {
			raw, err := p.dec.ReadValue()
			if err != nil {
				return err
			}
			name = strings.TrimSuffix(strings.TrimPrefix(string(raw), `"`), `"`)
		}
		if err := p.value(n, name, depth+1); err != nil {
			return err
		}
	}
}

// note adds a remark.
func (n *node) note(text string) {
	n.kids = append(n.kids, &node{kind: noteKind, text: text, parent: n, index: len(n.kids)})
}

// plain shows a body that is not JSON, line by line.
func (n *node) plain(body []byte) {
	const most = 2000
	for i, line := range strings.Split(string(body), "\n") {
		if i == most {
			n.note("more lines than this screen shows")
			return
		}
		n.kids = append(n.kids, &node{kind: lineKind, text: line, parent: n, index: i})
	}
}

// container reports whether the node can be folded.
func (n *node) container() bool { return len(n.kids) > 0 }

// isDocument reports whether a JSON value begins here, not a heading or a remark.
func (n *node) isDocument() bool { return n.kind != 0 && n.kind != noteKind }

// place describes the place of the line for a reader.
func (n *node) place() string {
	switch {
	case n.kind == lineKind && n.name != "":
		return n.name
	case n.kind == lineKind:
		return "line " + strconv.Itoa(n.index+1)
	case n.pointer() == "":
		return "the whole body"
	}
	return n.pointer()
}

// pointer is the place of the value, as a JSON pointer from the heading's body; "" is the whole body.
func (n *node) pointer() string {
	if n.parent == nil || !n.parent.isDocument() {
		return ""
	}
	part := n.name
	if n.parent.kind == '[' {
		part = strconv.Itoa(n.index)
	}
	return n.parent.pointer() + "/" + strings.ReplaceAll(strings.ReplaceAll(part, "~", "~0"), "/", "~1")
}

// unfold opens or closes the node and everything below it.
func (n *node) unfold(open bool) {
	n.open = open
	for _, k := range n.kids {
		k.unfold(open)
	}
}

// line is one visible line of the tree.
type line struct {
	n     *node
	depth int
}

// flatten lists the visible lines below n, which is not listed itself.
func flatten(out []line, n *node, depth int) []line {
	for _, k := range n.kids {
		out = append(out, line{k, depth})
		if k.open {
			out = flatten(out, k, depth+1)
		}
	}
	return out
}

// walk calls fn for every node below n, in the order of the document, until fn returns false.
func walk(n *node, fn func(*node) bool) bool {
	for _, k := range n.kids {
		if !fn(k) || !walk(k, fn) {
			return false
		}
	}
	return true
}
