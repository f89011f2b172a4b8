package abicall

import (
	"strconv"
	"strings"
)

// Line is one line of a decoded call: a leaf with its text, or the heading of a tuple
// or array with the number of its items in Text.
type Line struct {
	Depth int    // 0 for an argument
	Label string // parameter name, or its position
	Type  string // canonical type
	Text  string
	Leaf  bool
}

// Lines flattens a form for a list view. Missing items are shown as such; the form is
// normally one that Decode returned.
func (f Function) Lines(values []Value) []Line {
	return appendLines(nil, 0, len(f.inputs), func(i int) *Param { return &f.inputs[i] }, values)
}

func appendLines(out []Line, depth, n int, param func(int) *Param, values []Value) []Line {
	for i := range min(n, len(values)) {
		p, v := param(i), values[i]
		line := Line{Depth: depth, Label: p.Name, Type: p.Type, Text: v.Text, Leaf: true}
		if line.Label == "" {
			line.Label = strconv.Itoa(i)
		}
		if !p.IsTuple() && !p.IsArray() {
			out = append(out, line)
			continue
		}
		line.Leaf, line.Text = false, strconv.Itoa(len(v.Items))+" items"
		if len(v.Items) == 1 {
			line.Text = "1 item"
		}
		out = append(out, line)
		if p.IsTuple() {
			out = appendLines(out, depth+1, len(p.Components), func(i int) *Param { return &p.Components[i] }, v.Items)
		} else {
			out = appendLines(out, depth+1, len(v.Items), func(int) *Param { return p.Elem }, v.Items)
		}
	}
	return out
}

// Format writes a decoded call on one line: transfer(to 0x…, amount 5). Text is never
// shortened, so that nothing that was decoded can hide.
func (f Function) Format(values []Value) string {
	return f.name + "(" + formatList(len(f.inputs), func(i int) *Param { return &f.inputs[i] }, values) + ")"
}

func formatList(n int, param func(int) *Param, values []Value) string {
	parts := make([]string, 0, n)
	for i := range min(n, len(values)) {
		p, text := param(i), ""
		switch {
		case p.IsTuple():
			text = "(" + formatList(len(p.Components), func(i int) *Param { return &p.Components[i] },
				values[i].Items) + ")"
		case p.IsArray():
			text = "[" + formatList(len(values[i].Items), func(int) *Param { return p.Elem }, values[i].Items) + "]"
		case p.leaf == leafString:
			text = `"` + strings.ReplaceAll(values[i].Text, `"`, `\x22`) + `"`
		default:
			text = values[i].Text
		}
		if p.Name != "" {
			text = p.Name + " " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
