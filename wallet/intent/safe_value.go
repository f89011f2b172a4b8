package intent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/api/op/abicall"
)

// formValue puts what a batch file gives for an input into the form that is encoded. The format has strings: a leaf as
// it is, an array or tuple as a list in brackets whose items may stand without quotes. Lists, objects and booleans of
// JSON are taken too; numbers of JSON are refused at every depth, because JavaScript rounds them before it computes the
// checksum. The problem is in words, "" when there is none.
func formValue(p abicall.Param, raw jsontext.Value) (abicall.Value, string) {
	s, isString := stringIn(raw)
	if isString && !p.IsArray() && !p.IsTuple() {
		return leafValue(p, node{kind: '"', text: s})
	}
	list := &listParser{s: s}
	if !isString {
		list = &listParser{s: string(raw), json: true}
	}
	n, problem := list.all()
	if problem != "" {
		return abicall.Value{}, problem
	}
	return nodeValue(p, n)
}

// node is a value of a list: '[' with items, '{' with items and their names, '"' quoted or 'w' bare with text.
type node struct {
	kind  byte
	text  string
	items []node
	names []string
}

func nodeValue(p abicall.Param, n node) (abicall.Value, string) {
	switch {
	case p.IsTuple():
		return tupleValue(p, n)
	case p.IsArray():
		if n.kind != '[' {
			return abicall.Value{}, "a list of " + p.Elem.Type + " in brackets"
		}
		return itemsValue(n.items, func(int) abicall.Param { return *p.Elem })
	}
	return leafValue(p, n)
}

func tupleValue(p abicall.Param, n node) (abicall.Value, string) {
	items := n.items
	if n.kind == '{' && len(items) == len(p.Components) {
		items = nil
		for _, c := range p.Components {
			if i := slices.Index(n.names, c.Name); i >= 0 && slices.Index(n.names[i+1:], c.Name) < 0 {
				items = append(items, n.items[i])
			}
		}
	}
	if n.kind != '[' && n.kind != '{' || len(items) != len(p.Components) {
		return abicall.Value{}, "the " + strconv.Itoa(len(p.Components)) + " members of " + p.Type + " in brackets"
	}
	return itemsValue(items, func(i int) abicall.Param { return p.Components[i] })
}

func itemsValue(items []node, param func(int) abicall.Param) (abicall.Value, string) {
	var out abicall.Value
	for i, it := range items {
		v, problem := nodeValue(param(i), it)
		if problem != "" {
			return abicall.Value{}, problem
		}
		out.Items = append(out.Items, v)
	}
	return out, ""
}

func leafValue(p abicall.Param, n node) (abicall.Value, string) {
	if n.kind != '"' && n.kind != 'w' {
		return abicall.Value{}, "a value of type " + p.Type
	}
	s := strings.TrimSpace(n.text)
	switch p.Type {
	case "string":
		if n.kind != '"' {
			return abicall.Value{}, "text in quotes"
		}
		// a form reads escapes, a batch file has none
		return abicall.Value{Text: strings.ReplaceAll(n.text, `\`, `\\`)}, ""
	case "bool":
		switch s = strings.ToLower(s); s {
		case "1":
			s = "true"
		case "0":
			s = "false"
		}
	}
	return abicall.Value{Text: s}, ""
}

// maxListDepth bounds the nesting of a list; abicall has fewer levels.
const maxListDepth = 32

// listParser reads the text of a list: JSON, but items may stand without quotes or in single ones.
type listParser struct {
	s     string
	at    int
	nodes int
	json  bool // the text is JSON of the file itself: no bare words but true and false
}

// all reads the whole text.
func (l *listParser) all() (node, string) {
	n, ok := l.value(0)
	l.space()
	if !ok || l.at != len(l.s) {
		return node{}, "a list in brackets, numbers in quotes where the file has no string (character " +
			strconv.Itoa(l.at+1) + ")"
	}
	return n, ""
}

func (l *listParser) value(depth int) (node, bool) {
	l.space()
	l.nodes++
	if l.at == len(l.s) || depth > maxListDepth || l.nodes > api.DefaultLimits().Values {
		return node{}, false
	}
	switch c := l.s[l.at]; c {
	case '[':
		return l.list(depth)
	case '{':
		return l.object(depth)
	case '"', '\'':
		text, ok := l.quoted(c)
		return node{kind: '"', text: text}, ok
	}
	return l.word()
}

func (l *listParser) list(depth int) (node, bool) {
	n := node{kind: '['}
	l.at++
	if l.take(']') {
		return n, true
	}
	for {
		item, ok := l.value(depth + 1)
		if !ok {
			return n, false
		}
		n.items = append(n.items, item)
		if l.take(']') {
			return n, true
		}
		if !l.take(',') {
			return n, false
		}
	}
}

func (l *listParser) object(depth int) (node, bool) {
	n := node{kind: '{'}
	l.at++
	if l.take('}') {
		return n, true
	}
	for {
		l.space()
		if l.at == len(l.s) || l.s[l.at] != '"' && l.s[l.at] != '\'' {
			return n, false
		}
		name, ok := l.quoted(l.s[l.at])
		if !ok || !l.take(':') {
			return n, false
		}
		item, ok := l.value(depth + 1)
		if !ok {
			return n, false
		}
		n.names, n.items = append(n.names, name), append(n.items, item)
		if l.take('}') {
			return n, true
		}
		if !l.take(',') {
			return n, false
		}
	}
}

// quoted reads a JSON string, or text in single quotes without escapes.
func (l *listParser) quoted(quote byte) (string, bool) {
	start := l.at
	for l.at++; l.at < len(l.s) && l.s[l.at] != quote; l.at++ {
		if l.s[l.at] == '\\' {
			l.at++
		}
	}
	if l.at >= len(l.s) {
		l.at = start
		return "", false
	}
	l.at++
	whole := l.s[start:l.at]
	if quote == '\'' {
		return whole[1 : len(whole)-1], !strings.Contains(whole, `\`)
	}
	b, err := jsontext.AppendUnquote(nil, whole)
	return string(b), err == nil
}

// word reads what stands without quotes: a number, an address, true, false.
func (l *listParser) word() (node, bool) {
	start := l.at
	for l.at < len(l.s) && strings.IndexByte(" \t\r\n,:[]{}\"'", l.s[l.at]) < 0 {
		l.at++
	}
	w := l.s[start:l.at]
	if w == "" || l.json && w != "true" && w != "false" {
		l.at = start
		return node{}, false
	}
	return node{kind: 'w', text: w}, true
}

func (l *listParser) space() {
	for l.at < len(l.s) && strings.IndexByte(" \t\r\n", l.s[l.at]) >= 0 {
		l.at++
	}
}

func (l *listParser) take(c byte) bool {
	l.space()
	if l.at < len(l.s) && l.s[l.at] == c {
		l.at++
		return true
	}
	return false
}
