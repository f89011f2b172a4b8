package config

import (
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// atUI makes an Error of the table [ui] with the place of the key, in every form of the table; a key that is not in
// the file gets the place of what would contain it.
func atUI(path string, data []byte, key []string, problem string) *Error {
	full := append([]string{"ui"}, key...)
	e := &Error{Path: path, Key: strings.Join(full, "."), Problem: problem}
	for n := len(full); n > 0 && e.Line == 0; n-- {
		e.Line, e.Column = place(data, full[:n])
	}
	return e
}

// place finds the line and column of a key: in a header, as a (dotted) key, or inside an inline table. Zeros: the file
// does not have it.
func place(data []byte, want []string) (line, column int) {
	p := &unstable.Parser{}
	p.Reset(data)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			var last unstable.Range
			table, last = keyOf(e)
			if sameKey(table, want) {
				return position(p, last)
			}
		case unstable.KeyValue:
			if line, column := within(p, e, table, want); line > 0 {
				return line, column
			}
		}
	}
	return 0, 0
}

// within looks at one setting below the table, and into its inline table.
func within(p *unstable.Parser, e *unstable.Node, table, want []string) (line, column int) {
	own, last := keyOf(e)
	full := append(slices.Clone(table), own...)
	if sameKey(full, want) {
		return position(p, last)
	}
	if v := e.Value(); v.Kind == unstable.InlineTable && len(full) < len(want) && sameKey(full, want[:len(full)]) {
		for it := v.Children(); it.Next(); {
			if line, column := within(p, it.Node(), full, want); line > 0 {
				return line, column
			}
		}
	}
	return 0, 0
}

// keyOf returns the parts of the key of an expression and the range of the last part.
func keyOf(e *unstable.Node) (parts []string, last unstable.Range) {
	for it := e.Key(); it.Next(); {
		parts, last = append(parts, string(it.Node().Data)), it.Node().Raw
	}
	return parts, last
}

func position(p *unstable.Parser, r unstable.Range) (line, column int) {
	s := p.Shape(r).Start
	return s.Line, s.Column
}

// unquotedAction recognises an action of ui.keys without quotes, whose dot made a table.
func unquotedAction(key []string) bool {
	return len(key) > 3 && key[0] == "ui" && key[1] == "keys"
}

// sameKey compares keys as the decoder does: the names of settings in any letter case.
func sameKey(a, b []string) bool { return slices.EqualFunc(a, b, strings.EqualFold) }
