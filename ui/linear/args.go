package linear

import (
	"context"

	"slices"
	"strconv"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op/abicall"
)

// maxItems bounds the items of an array that is typed in.
const maxItems = 100

// form is a function whose arguments are being asked for. token is the target of the call, when that is a known token:
// the amount of a transfer is then typed in whole tokens.
type form struct {
	*session
	chain  caip.Chain
	fn     abicall.Function
	values []abicall.Value
	token  *named
}

// askArgs asks for every argument of a function, one question per leaf.
func (s *session) askArgs(ctx context.Context, chain caip.Chain, fn abicall.Function, to string) ([]abicall.Value,
	error) {
	f := &form{session: s, chain: chain, fn: fn, values: fn.Empty()}
	if e, ok := s.tokenAt(chain, to); ok {
		f.token = &named{e.Symbol, e.Decimals}
	}
	for i, p := range fn.Inputs() {
		label := "Argument " + itoa(i+1)
		if p.Name != "" {
			label += ", " + clean(p.Name, 60)
		}
		if err := f.fill(ctx, p, &f.values[i], []int{i}, label); err != nil {
			return nil, err
		}
	}
	return f.values, nil
}

// fill asks for one parameter: each member of a tuple, each item of an array, or a leaf.
func (f *form) fill(ctx context.Context, p abicall.Param, v *abicall.Value, path []int, label string) error {
	switch {
	case p.IsTuple():
		for i, m := range p.Components {
			name := clean(m.Name, 60)
			if name == "" {
				name = "member " + itoa(i+1)
			}
			if err := f.fill(ctx, m, &v.Items[i], append(slices.Clone(path), i), label+", "+name); err != nil {
				return err
			}
		}
		return nil
	case p.IsArray():
		return f.fillArray(ctx, p, v, path, label)
	}
	return f.fillLeaf(ctx, p, v, path, label)
}

func (f *form) fillArray(ctx context.Context, p abicall.Param, v *abicall.Value, path []int, label string) error {
	if p.Length < 0 {
		n, err := f.askCount(ctx, label+" ("+clean(p.Type, 100)+"): how many items?")
		if err != nil {
			return err
		}
		v.Items = make([]abicall.Value, n)
		for i := range v.Items {
			v.Items[i] = abicall.EmptyValue(*p.Elem)
		}
	}
	for i := range v.Items {
		if err := f.fill(ctx, *p.Elem, &v.Items[i], append(slices.Clone(path), i),
			label+", item "+itoa(i+1)); err != nil {
			return err
		}
	}
	return nil
}

func (f *form) askCount(ctx context.Context, text string) (int, error) {
	for {
		a, err := f.ask(ctx, question{text: text + " Type a number from 0 to " + itoa(maxItems) + ":"})
		if err != nil {
			return 0, err
		}
		if n, err := strconv.Atoi(a); err == nil && n >= 0 && n <= maxItems {
			return n, nil
		}
		f.out.say("That is not a number from 0 to " + itoa(maxItems) + ".")
	}
}

func (f *form) fillLeaf(ctx context.Context, p abicall.Param, v *abicall.Value, path []int, label string) error {
	units := f.inTokens(path)
	ask := label + " (" + clean(p.Type, 100) + ")"
	switch {
	case units:
		ask += ": how much " + f.token.symbol + "? Type an amount:"
	case p.Type == "address":
		ask += ": type an address, the symbol of a token, or a name of your address book:"
	case p.Type == "bool":
		ask += ": type true or false:"
	case p.Type == "string":
		ask += ": type the text, or \"\" for an empty one:"
	case p.Type == "bytes":
		ask += ": type 0x and hexadecimal digits, 0x alone for none:"
	default:
		ask += ": type the value:"
	}
	for {
		a, err := f.ask(ctx, question{text: ask})
		if err != nil {
			return err
		}
		problem := ""
		switch {
		case units:
			a, problem = f.tokens(a)
		case p.Type == "address":
			a, problem = f.resolve(f.chain, a)
		case p.Type == "string" && a == "\"\"":
			a = ""
		}
		if problem == "" {
			v.Text = a
			problem = f.wrong(path)
		}
		if problem == "" {
			if p.Type == "address" {
				f.out.fact(2, "That is", address(a))
			}
			return nil
		}
		f.out.say(problem)
	}
}

// inTokens reports whether the argument is the amount of a transfer of a known token.
func (f *form) inTokens(path []int) bool {
	if f.token == nil || len(path) != 1 || path[0] != len(f.values)-1 {
		return false
	}
	switch f.fn.Signature() {
	case "transfer(address,uint256)", "transferFrom(address,address,uint256)", "approve(address,uint256)":
		return true
	}
	return false
}

// tokens converts whole tokens to base units.
func (f *form) tokens(text string) (base, problem string) {
	v, err := amount.Parse(text, f.token.decimals)
	if err != nil {
		return "", capital(sentence(clean(err.Error(), 200)))
	}
	return v.String(), ""
}

// wrong says what is wrong with one leaf, "" when it can be encoded.
func (f *form) wrong(path []int) string {
	for _, e := range f.fn.Check(f.values) {
		if slices.Equal(e.Path, path) {
			return capital(sentence(clean(e.Problem, 200)))
		}
	}
	return ""
}

// readArgs prints the arguments of a decoded call.
func (s *session) readArgs(fn abicall.Function, values []abicall.Value, symbol string, decimals int, known bool) {
	f := form{session: s, fn: fn, values: values}
	if known {
		f.token = &named{symbol, decimals}
	}
	arg := -1
	for _, l := range fn.Lines(values) {
		if l.Depth == 0 {
			arg++
		}
		indent, label := 4+2*l.Depth, clean(l.Label, 60)
		switch {
		case l.Depth == 0 && l.Leaf && f.inTokens([]int{arg}):
			s.out.fact(indent, label, plain(moved(l.Text, *f.token)))
		case l.Type == "address" && l.Leaf:
			s.out.fact(indent, label, address(l.Text))
		default:
			s.out.fact(indent, label, plain(whole(l.Text)))
		}
	}
}
