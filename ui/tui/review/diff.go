package review

import (
	"slices"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/consent"
	"coffer/wallet/verify"
)

// sideBySide is the width of the body from which intent and operation are shown in two columns; below it one follows
// the other.
const sideBySide = 100

// lay draws one side of a pair in w cells: its rows, each of one or more lines.
type lay func(w int) [][]string

// pair is one item of the intent and its counterpart in the operation; nil is an empty side. brief is the asked side in
// fewer lines, for the layout in which the other side follows right below.
type pair struct{ asked, brief, holds lay }

// diffLines puts the frozen intent beside the calls decoded from the bytes to sign. It compares both again, byte for
// byte, and does not rely on the verdict that came with the view.
func (s *Screen) diffLines(th theme.Theme, w int) []string {
	pairs := s.pairs(th)
	if w+1 >= sideBySide {
		return besides(th, pairs, w)
	}
	out := []string{" " + th.Strong.Render("You asked")}
	for _, p := range pairs {
		if p.brief != nil {
			out = append(out, slices.Concat(p.brief(w)...)...)
		}
	}
	out = append(out, " "+th.Strong.Render("The operation contains"))
	for _, p := range pairs {
		if p.holds != nil {
			out = append(out, slices.Concat(p.holds(w)...)...)
		}
	}
	return out
}

// besides draws the pairs in two columns with a line between them, row beside row.
func besides(th theme.Theme, pairs []pair, w int) []string {
	left := (w - 2) / 2
	join := func(a, b string) string { return kit.Fit(a, left) + " " + th.Rule.Render(th.Signs.Divider) + b }
	out := []string{join(" "+th.Strong.Render("You asked"), " "+th.Strong.Render("The operation contains"))}
	for _, p := range pairs {
		var a, b [][]string
		if p.asked != nil {
			a = p.asked(left)
		}
		if p.holds != nil {
			b = p.holds(w - 2 - left)
		}
		for i := range max(len(a), len(b)) {
			x, y := at(a, i), at(b, i)
			for k := range max(len(x), len(y)) {
				out = append(out, join(at(x, k), at(y, k)))
			}
		}
	}
	return out
}

// at returns element i, or the zero value behind the end.
func at[T any](list []T, i int) (none T) {
	if i < len(list) {
		return list[i]
	}
	return none
}

// pairs lists everything on either side, in the order of execution.
func (s *Screen) pairs(th theme.Theme) []pair {
	v, d := s.snap.Review1, s.snap.Intent
	calls, allowed := make([]bool, len(d.Calls)), make([]bool, len(d.Allowances))
	var out []pair
	for _, l := range v.Lines {
		switch i := l.Asked - 1; {
		case l.Role != verify.RoleCall:
			out = append(out, s.allowancePair(th, l, allowed))
		case i < 0 || i >= len(calls):
			out = append(out, pair{holds: s.callLay(th, l, foreign)})
		default:
			how := same
			if calls[i] || !l.AsAsked || !consent.SameCall(d.Calls[i], l) {
				how = foreign
			}
			calls[i] = true
			out = append(out, pair{
				asked: s.askedLay(th, d.Calls[i], l, how == same, false),
				brief: s.askedLay(th, d.Calls[i], l, how == same, true), holds: s.callLay(th, l, how),
			})
		}
	}
	for i, done := range allowed {
		if !done {
			out = append(out, unused(s.allowLay(th, d.Allowances[i]), th))
		}
	}
	for i, done := range calls {
		if !done {
			asked := s.askedLay(th, d.Calls[i], verify.CallView{Asked: i + 1}, false, false)
			out = append(out, pair{asked, asked, words(marked(th, theme.Danger,
				"your call "+strconv.Itoa(i+1)+" is missing")...)})
		}
	}
	for _, t := range d.TokensRequired {
		needs := s.amountLay(th, "needs", t.AssetType, t.Amount)
		out = append(out, pair{asked: needs, brief: needs})
	}
	nothing, more := words(kit.Plain("nothing else")), words(kit.Plain("nothing else "),
		kit.Span{Text: th.Sign(theme.Good), Style: th.Good})
	if at := present.Assumed(d); len(at) > 0 {
		state := s.assumedLay(th, at)
		out = append(out, pair{asked: state, brief: state})
		more = words(marked(th, theme.Warn,
			"nothing else, but tried on an assumed state: the chain's own one decides when it runs")...)
	}
	if !s.faithful() {
		more = words(marked(th, theme.Danger, "not the same as what you asked")...)
	}
	return append(out, pair{nothing, nothing, more})
}

// words is a side that is one sentence.
func words(spans ...kit.Span) lay {
	return func(w int) [][]string { return [][]string{kit.Prose(w, indent, spans...)} }
}

// unused is an allowance for which the operation carries no approval.
func unused(asked lay, th theme.Theme) pair {
	return pair{asked, asked, words(kit.Span{Text: "no approval: the contract may already take that much",
		Style: th.Dim})}
}

func (s *Screen) amountLay(th theme.Theme, label, asset, text string) lay {
	return func(w int) [][]string {
		return [][]string{kit.Row(th, w, indent, labelW+2, label, s.askedAmount(th, asset, text)...)}
	}
}

// allowancePair puts an approval, or its revocation, beside the allowance that asks for it.
func (s *Screen) allowancePair(th theme.Theme, l verify.CallView, used []bool) pair {
	p := pair{holds: s.callLay(th, l, added)}
	for i, a := range s.snap.Intent.Allowances {
		if !consent.Allows(a, s.snap.Intent, l) {
			continue
		}
		switch {
		case used[i]: // the revocation of one that is shown already
			p.asked = words(kit.Span{Text: "the allowance above, taken back afterwards", Style: th.Dim})
			p.brief = nil
		default:
			p.asked = s.allowLay(th, a)
			p.brief = p.asked
		}
		used[i] = true
		return p
	}
	p.holds = s.callLay(th, l, foreign)
	return p
}

// allowLay draws a declared allowance as the intent has it.
func (s *Screen) allowLay(th theme.Theme, a api.AllowanceRequirement) lay {
	spender, _ := api.SpenderOf(a, consent.WireCalls(s.snap.Intent))
	return func(w int) [][]string {
		spans := append([]kit.Span{{Text: "allowance ", Style: th.Strong}}, s.askedAmount(th, a.AssetType, a.Amount)...)
		return [][]string{kit.Prose(w, indent, spans...), kit.Row(th, w, indent+2, labelW, "spender", address(spender))}
	}
}

func bytesOf(data string) string { return strings.TrimPrefix(strings.ToLower(data), "0x") }

// fit says how a call of the operation relates to the intent.
type fit int

const (
	same    fit = iota // a call of the intent, byte for byte
	added              // added for a declared allowance
	foreign            // not in the intent
)

func (f fit) mark(th theme.Theme) string {
	switch f {
	case same:
		return "same " + th.Mark(theme.Good)
	case added:
		return th.Warn.Render("added, as you allowed ") + th.Mark(theme.Warn)
	}
	return th.Danger.Render("not what you asked ") + th.Mark(theme.Danger)
}

// callLay draws one decoded call of the operation, and whether it was asked for.
func (s *Screen) callLay(th theme.Theme, l verify.CallView, how fit) lay {
	return func(w int) [][]string {
		mark := how.mark(th)
		in := w - present.Width(mark) - 1
		out := [][]string{sides(kit.Prose(in, indent, callTitle(th, l)...), mark, w)}
		out = append(out, kit.Row(th, w, indent+2, labelW, targetLabel(l.Data), s.target(th, l)...))
		for i, a := range l.Args {
			out = append(out, argRow(th, w, i, a, l))
		}
		if l.Value != nil && l.Value.Sign() > 0 {
			out = append(out, kit.Row(th, w, indent+2, labelW, "value", kit.Plain(s.coins(l.Value))))
		}
		if !l.Decoded {
			note := "Coffer cannot decode this call: what it does depends on the contract. Its " +
				present.Plural(max(0, (len(l.Data)-2)/2), "byte", "bytes") + ":"
			out = append(out, kit.Prose(w, indent+2, marked(th, theme.Unknown, note)...),
				kit.Prose(w, indent+2, kit.Plain(present.Groups(l.Data))))
		}
		return out
	}
}
