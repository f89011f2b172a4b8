package policy

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// places says at which byte of the file keys stand: tables ("pins.0x…"), keys ("chains") and elements of lists
// ("chains[1]").
type places map[string]int

// locate walks over a file that was decoded before and notes where its keys stand.
func locate(data []byte) places {
	out := places{}
	var p unstable.Parser
	p.Reset(data)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		name, raw := key(e)
		at := int(raw.Offset)
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = name + "."
			out[name] = at
		case unstable.KeyValue:
			out.note(table+name, at, e.Value())
		}
	}
	return out
}

// note keeps the place of a value and of what it holds: the elements of a list, the keys of an inline table.
func (l places) note(name string, at int, v *unstable.Node) {
	l[name] = at
	switch v.Kind {
	case unstable.Array:
		i := 0
		for it := v.Children(); it.Next(); i++ {
			if n := it.Node(); n.Raw.Length > 0 {
				at = int(n.Raw.Offset)
			}
			l[fmt.Sprintf("%s[%d]", name, i)] = at
		}
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			inner, raw := key(it.Node())
			l.note(name+"."+inner, int(raw.Offset), it.Node().Value())
		}
	}
}

// key joins the parts of a key and gives the place of the first.
func key(n *unstable.Node) (string, unstable.Range) {
	var parts []string
	var at unstable.Range
	for it := n.Key(); it.Next(); {
		if len(parts) == 0 {
			at = it.Node().Raw
		}
		parts = append(parts, string(it.Node().Data))
	}
	return strings.Join(parts, "."), at
}

// of finds line and column of a key, or of the nearest key around it; zeros when there is none.
func (l places) of(data []byte, key string) (line, column int) {
	for key != "" {
		if at, ok := l[key]; ok {
			before := data[:at]
			return 1 + bytes.Count(before, []byte{'\n'}), at - bytes.LastIndexByte(before, '\n')
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return 0, 0
}
