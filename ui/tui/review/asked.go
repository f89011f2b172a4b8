package review

import (
	"math/big"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// askedLay draws one call of the intent. Where its bytes equal those of the operation it decodes them the same way,
// else it shows the bytes. The brief form gives recipient and amount, and refers to the lines below it for the rest.
func (s *Screen) askedLay(th theme.Theme, c intent.Call, l verify.CallView, equal, brief bool) lay {
	return func(w int) [][]string {
		out := [][]string{kit.Prose(w, indent, kit.Span{Text: strconv.Itoa(l.Asked) + " " + askedName(c),
			Style: th.Strong})}
		row := func(label string, spans ...kit.Span) {
			out = append(out, kit.Row(th, w, indent+2, labelW, label, spans...))
		}
		row(targetLabel(c.Data), s.named(c.To)...)
		if v, ok := api.ParseWei(c.Value); !ok {
			row("value", kit.Plain(present.Clean(c.Value, 100)+" base units of the chain's own coin"))
		} else if v.Sign() > 0 {
			row("value", kit.Plain(s.coins(v)))
		}
		n := len(bytesOf(c.Data)) / 2
		switch {
		case !equal:
			row("data", kit.Plain(present.Groups(c.Data)))
		case n == 0:
		case l.Decoded:
			out = append(out, askedArgs(th, w, l, brief)...)
		case brief:
			row("data", kit.Plain(present.Plural(n, "byte", "bytes")+", as below"))
		default:
			row("data", kit.Plain(present.Plural(n, "byte", "bytes")+", as on the right"))
		}
		return out
	}
}

// askedArgs draws the arguments of a call. The brief form keeps addresses and the moved amount only, each in full.
func askedArgs(th theme.Theme, w int, l verify.CallView, brief bool) [][]string {
	var out [][]string
	left := 0
	for i, a := range l.Args {
		if brief && a.Type != "address" && !movedBy(a, l) {
			left++
			continue
		}
		out = append(out, argRow(th, w, i, a, l))
	}
	if left > 0 {
		out = append(out, kit.Prose(w, indent+2, kit.Span{Text: present.Plural(left, "more line", "more lines") +
			" of arguments, as below", Style: th.Dim}))
	}
	return out
}

// argRow draws one argument with its label. A nested label is indented further than its parent's as far as there is
// room, and never less; where it does not fit beside its value, the value follows on the next line.
func argRow(th theme.Theme, w, i int, a verify.ArgView, l verify.CallView) []string {
	depth, name := present.Nested(a.Name)
	label := argLabel(verify.ArgView{Name: name}, i)
	lead := min(2*depth, max(0, w/3-indent-2))
	if lead+present.Width(label) < labelW && labelW <= w/2 {
		return kit.Row(th, w, indent+2, labelW, strings.Repeat(" ", lead)+label, argSpans(th, a, l)...)
	}
	out := kit.Prose(w, indent+2+lead, kit.Span{Text: label, Style: th.Dim})
	return append(out, kit.Prose(w, indent+4+lead, argSpans(th, a, l)...)...)
}

// movedBy reports whether the argument is the amount that the call moves.
func movedBy(a verify.ArgView, l verify.CallView) bool {
	m := l.Amount
	return m != nil && m.Decimals >= 0 && m.Amount != nil && !m.Asset.IsNative() && a.Value == m.Amount.String() &&
		strings.HasPrefix(a.Type, "uint")
}

// targetLabel labels the target of a call: without data the call is a payment, whose recipient need not be a contract.
func targetLabel(data string) string {
	if bytesOf(data) == "" {
		return "to"
	}
	return "contract"
}

// target describes the target of a call of the operation: its name in the contact book, its address in full, and what
// is known about it.
func (s *Screen) target(th theme.Theme, l verify.CallView) []kit.Span {
	about := nameOn(l.ToName, s.snap.Review1.Chain.Name)
	switch named, pays := s.nameOf(l.To) != "", bytesOf(l.Data) == ""; {
	case l.ToName != "":
	case named && pays:
		return s.named(l.To)
	case named, pays:
		about = "on " + s.snap.Review1.Chain.Name
	}
	return append(s.named(l.To), kit.Plain(" "), kit.Span{Text: present.Clean(about, 80), Style: th.Dim, Whole: true})
}

// named writes an address in full, after its name in the contact book.
func (s *Screen) named(to string) []kit.Span {
	if name := s.nameOf(to); name != "" {
		return []kit.Span{kit.Plain(name + " "), address(to)}
	}
	return []kit.Span{address(to)}
}

func (s *Screen) nameOf(to string) string {
	if s.deps.Names == nil {
		return ""
	}
	return present.Clean(s.deps.Names(present.Checksummed(to)), 60)
}

// coins writes wei of the target chain in its own coin, exactly.
func (s *Screen) coins(wei *big.Int) string {
	if e, ok := s.ctx.Catalog.NativeOf(s.snap.Review1.Chain.ID); ok {
		return amount.Human(wei, e.Decimals) + " " + present.Clean(e.Symbol, 60)
	}
	return amount.Group(wei.String()) + " base units of the chain's own coin"
}

func (s *Screen) assumedLay(th theme.Theme, at []string) lay {
	return func(w int) [][]string {
		out := [][]string{kit.Prose(w, indent, marked(th, theme.Warn, present.AssumedWords(len(at)))...)}
		for _, a := range at {
			out = append(out, kit.Prose(w, indent+2, s.named(a)...))
		}
		return out
	}
}

// askedName is the function as the person wrote it.
func askedName(c intent.Call) string {
	switch {
	case c.Function != "":
		return present.Clean(c.Function, 600)
	case bytesOf(c.Data) == "":
		return "plain transfer of the chain's own coin"
	}
	return "a call with " + present.Plural(len(bytesOf(c.Data))/2, "byte", "bytes") + " of data"
}
