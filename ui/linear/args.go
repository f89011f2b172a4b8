package linear

import (
	"context"
	"slices"
	"strconv"

	"coffer/api/catalog"
	"coffer/api/op/abicall"
	"coffer/ui/compose"
	"coffer/ui/present"
)

// maxItems bounds the items of an array that is typed in.
const maxItems = 100

// args asks for the arguments of a call.
type args struct {
	*session
	at compose.Target
	c  *compose.Call
}

// askArgs asks for every argument of a call, one question per leaf.
func (s *session) askArgs(ctx context.Context, at compose.Target, c *compose.Call) error {
	var all []func(context.Context) error
	for i, n := range c.Args {
		label := "Argument " + itoa(i+1)
		if n.Param.Name != "" {
			label += ", " + clean(n.Param.Name, 60)
		}
		all = append(all, func(ctx context.Context) error { return args{s, at, c}.fill(ctx, n, []int{i}, label) })
	}
	return s.steps(ctx, all...)
}

// fill asks for one argument: each member of a tuple, each item of an array, or a leaf.
func (f args) fill(ctx context.Context, n *compose.Arg, path []int, label string) error {
	if n.IsLeaf() {
		return f.fillLeaf(ctx, n, path, label)
	}
	if n.IsList() {
		text := label + " (" + clean(n.Param.Type, 100) + "): how many items? Type a number from 0 to " +
			itoa(maxItems) +
			":"
		err := f.read(ctx, text, func(a string) string {
			count, err := strconv.Atoi(a)
			if err != nil || count < 0 || count > maxItems {
				return "that is not a number from 0 to " + itoa(maxItems)
			}
			n.Items = nil
			for range count {
				n.Add()
			}
			return ""
		})
		if err != nil {
			return err
		}
	}
	var all []func(context.Context) error
	for i, it := range n.Items {
		name := clean(it.Param.Name, 60)
		switch {
		case !n.Param.IsTuple():
			name = "item " + itoa(i+1)
		case name == "":
			name = "member " + itoa(i+1)
		}
		all = append(all, func(ctx context.Context) error {
			return f.fill(ctx, it, append(slices.Clone(path), i), label+", "+name)
		})
	}
	return f.steps(ctx, all...)
}

func (f args) fillLeaf(ctx context.Context, n *compose.Arg, path []int, label string) error {
	ask := label + " (" + clean(n.Param.Type, 100) + ")"
	isAddress := n.Param.Type == "address"
	switch {
	case n.Units:
		ask += ": how much " + f.at.Token.Symbol + "? Type an amount:"
	case isAddress:
		ask += ": type " + f.addresses(f.at.Chain, false) + ":"
	case n.Param.Type == "bool":
		ask += ": type true or false:"
	case n.Param.Type == "string":
		ask += ": type the text, or \"\" for an empty one:"
	case n.Param.Type == "bytes":
		ask += ": type 0x and hexadecimal digits, 0x alone for none:"
	default:
		ask += ": type the value:"
	}
	err := f.read(ctx, ask, func(a string) (problem string) {
		switch {
		case isAddress:
			if a, problem = f.Address(f.at.Chain, a); problem != "" {
				return problem
			}
		case n.Param.Type == "string" && a == "\"\"":
			a = ""
		}
		n.Text = a
		return f.c.ArgMistake(f.at, path)
	})
	if err == nil && isAddress {
		f.out.where(2, "That is", address(n.Text))
	}
	return err
}

// readArgs prints the arguments of a decoded call.
func (s *session) readArgs(fn abicall.Function, values []abicall.Value, token catalog.Entity, known bool) {
	arg := -1
	for _, l := range fn.Lines(values) {
		if l.Depth == 0 {
			arg++
		}
		indent, label := 4+2*l.Depth, clean(l.Label, 60)
		switch {
		case known && arg == len(values)-1 && compose.Moves(fn):
			s.out.fact(indent, label, present.Figure(s.Catalog, token.Asset.String(), l.Text))
		case l.Type == "address" && l.Leaf:
			s.out.where(indent, label, address(l.Text))
		default:
			s.out.fact(indent, label, present.Whole(l.Text))
		}
	}
}
