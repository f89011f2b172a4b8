package review

import (
	"slices"
	"strings"
	"time"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// sideBySide is the width of the body from which intent and operation are shown in two columns; below it one follows
// the other.
const sideBySide = 100

// layout lays a page out in w cells. Nothing is cut: text wraps. With beside the sections that a wide screen has beside
// a review are not repeated: the numbers of signatures and the folds of the checks and of the arithmetic. With roomy
// what leaves and what arrives have headings on their own lines.
type layout struct {
	th     theme.Theme
	w      int
	beside bool
	roomy  bool
	shown  []string // the facts of what was laid out
}

// page lays a page out and leaves out what the page of checks lists.
func (l *layout) page(p present.Page) []string {
	p = p.Without(0)
	l.shown = p.Paths()
	return slices.Concat(l.blocks(p)...)
}

// folded lays a page out in h lines, its folds at the end: first those that cannot be shut, which have to be read like
// the rest, then in one line those that are shut, then those that the person opened. need is the number of lines that
// have to be read. Headings and blank lines go where they would push text off the screen.
func (l *layout) folded(p present.Page, opened map[string]bool, h int) (lines []string, need int) {
	l.roomy = l.beside
	binding, shut, open := l.parts(p, opened)
	if l.roomy && len(binding)+len(shut) > h {
		l.roomy = false
		binding, shut, open = l.parts(p, opened)
	}
	if !l.beside { // the titles of panes are a line of their own
		binding = append([]string{""}, binding...)
	}
	all, need := tight(append(binding, shut...), len(binding), h)
	return append(all, open...), need
}

// parts are the lines of folded.
func (l *layout) parts(p present.Page, opened map[string]bool) (binding, shut, open []string) {
	binding = l.page(slices.DeleteFunc(p.Shut(nil), func(b present.Block) bool {
		return b.Kind == present.KindFold && !b.Fold.Open
	}))
	var titles []kit.Span
	add := func(b present.Block) {
		if len(titles) > 0 {
			titles = append(titles, kit.Plain("   "))
		}
		titles = append(titles, l.foldTitle(b, l.th.Signs.Closed))
	}
	for _, b := range p.Folds() {
		switch {
		case b.Fold.Open, l.beside && slices.Contains(besideFolds(), b.Fold.Key):
		case opened[b.Fold.Key]:
			open = append(open, l.block(b)...)
		default:
			add(b)
		}
	}
	if l.beside {
		add(present.Block{Label: "what went over the wire", Fold: present.Fold{Key: wireKey}})
	}
	if len(titles) > 0 {
		shut = kit.Prose(l.w, indent, titles...)
	}
	return binding, shut, open
}

// tight drops blank lines, the first and the last ones before those between, from the bottom up, until at most h lines
// are left. need is how many of the first n lines are left.
func tight(lines []string, n, h int) (left []string, need int) {
	var blanks []int
	for i, line := range lines {
		if line == "" {
			blanks = append(blanks, i)
		}
	}
	if n := len(blanks); n > 2 { // the one below the headline goes last
		between := slices.Clone(blanks[1 : n-1])
		slices.Reverse(between)
		blanks = slices.Concat(blanks[:1], blanks[n-1:], between)
	}
	drop := map[int]bool{}
	for _, i := range blanks[:min(len(blanks), max(0, len(lines)-h))] {
		drop[i] = true
	}
	for i, line := range lines {
		if !drop[i] {
			left = append(left, line)
			if i < n {
				need++
			}
		}
	}
	return left, need
}

// foldTitle is the heading of a fold: its sign, its letter, its name, and what it says of itself.
func (l *layout) foldTitle(b present.Block, sign string) kit.Span {
	text := sign + " " + b.Fold.Key + " " + b.Label
	for _, s := range l.spans(b.Spans) {
		text += " " + s.Text
	}
	return kit.Span{Text: text, Style: l.th.Dim, Whole: true}
}

// blocks lays each block out in lines of its own. Amounts of the same table share their column.
func (l *layout) blocks(list []present.Block) [][]string {
	var out [][]string
	for i, b := range list {
		if lines := l.ledgers(list, b); lines != nil {
			out = append(out, lines[i])
			continue
		}
		out = append(out, l.block(b))
	}
	return out
}

func (l *layout) block(b present.Block) []string {
	in := indent + 2*b.Level
	switch b.Kind {
	case present.KindBlank:
		return []string{""}
	case present.KindFold:
		out := kit.Prose(l.w, in, l.foldTitle(b, l.th.Signs.Open))
		return append(out, slices.Concat(l.blocks(b.Fold.Inside.Without(0))...)...)
	case present.KindRow:
		return l.row(b, in)
	case present.KindLedger:
		return l.ledger(b, in)
	case present.KindPairs:
		return l.pairs(b.Pairs)
	case present.KindChanges:
		return changeTable(l.th, b.Changes, l.w)
	}
	if len(b.Right) == 0 {
		return l.prose(b.Spans, in)
	}
	var right strings.Builder
	for _, s := range l.spans(b.Right) {
		right.WriteString(s.Style.Render(s.Text))
	}
	return sides(kit.Prose(l.w-present.Width(right.String())-1, in, l.spans(b.Spans)...), right.String(), l.w)
}

// prose lays a text out, its lines aligned behind the sign that it begins with.
func (l *layout) prose(list []present.Span, in int) []string {
	if len(list) == 0 || list[0].Sign != present.Before {
		return kit.Prose(l.w, in, l.spans(list)...)
	}
	rest := slices.Clone(list)
	rest[0].Sign = present.NoSign
	sign := l.th.Sign(meaning(list[0].Tone))
	lead := in + present.Width(sign) + 1
	lines := kit.Prose(l.w, lead, l.spans(rest)...)
	lines[0] = strings.Repeat(" ", in) + l.style(list[0].Tone).Render(sign) + " " + lines[0][lead:]
	return lines
}

// row lays a label and its value out. The label of a nested argument is indented further than its parent's as far as
// there is room, and never less; where it does not fit beside its value, the value follows on the next line.
func (l *layout) row(b present.Block, in int) []string {
	column := columnOf(b.Table)
	lead := min(2*b.Depth, max(0, l.w/3-in))
	if lead == 0 || lead+present.Width(b.Label) < column && column <= l.w/2 {
		return kit.Row(l.th, l.w, in, column, strings.Repeat(" ", lead)+b.Label, l.spans(b.Spans)...)
	}
	out := kit.Prose(l.w, in+lead, kit.Span{Text: b.Label, Style: l.th.Dim})
	return append(out, kit.Prose(l.w, in+2+lead, l.spans(b.Spans)...)...)
}

// columnOf is the width of the labels of a table, in cells.
func columnOf(t present.Table) int {
	return [...]int{
		present.TableOperation: labelW, present.TableMoves: movesW, present.TableAsked: 13, present.TableCosts: costW,
		present.TableExchanged: 17,
		present.TableNeeded:    labelW + 2, present.TableHashes: 16, present.TableMessage: 14, present.TableFound: 8,
		present.TableLimited: labelW, present.TableBeside: labelW,
	}[t]
}

// ledgers aligns the amounts of all blocks of a page that share the column of one of them, and returns the lines of
// each block by its place; nil where it is no such block.
func (l *layout) ledgers(list []present.Block, of present.Block) map[int][]string {
	if of.Kind != present.KindLedger || len(of.Spans) > 0 {
		return nil
	}
	var entries []kit.Entry
	var at []int       // the block of each entry
	var heads []string // what is above it
	for i, b := range list {
		if b.Kind == of.Kind && b.Table == of.Table && b.Level == of.Level && len(b.Spans) == 0 {
			all, above := l.entries(b)
			entries, heads = append(entries, all...), append(heads, above...)
			for range all {
				at = append(at, i)
			}
		}
	}
	out, column := map[int][]string{}, columnOf(of.Table)
	if l.roomy && of.Table == present.TableMoves {
		column = roomyW
	}
	for i, lines := range kit.LedgerRows(l.th, l.w, indent+2*of.Level, column, entries) {
		if heads[i] != "" {
			out[at[i]] = append(out[at[i]], " "+l.th.Dim.Render(heads[i]))
		}
		out[at[i]] = append(out[at[i]], lines...)
	}
	return out
}

// entries are the lines of a ledger. Of those with the same group the first one has its name, before its label or as a
// heading above it.
func (l *layout) entries(b present.Block) (out []kit.Entry, heads []string) {
	group := ""
	for _, e := range b.Entries {
		x, head := l.entry(e), ""
		if e.Group != "" {
			name := e.Group
			if name == group {
				name = ""
			}
			group = e.Group
			switch {
			case !l.roomy:
				x.Label = kit.Fit(name, movesW) + e.Label
			case e.Label == "":
				x.Label = name
			default:
				x.Label, head = "  "+e.Label, name
			}
			if a := e.Amount; a != nil && a.Decimals > fewDecimals { // 18 of them push the rest to the next line
				x.Figure.Zeros = ""
			}
		}
		out, heads = append(out, x), append(heads, head)
	}
	return out, heads
}

// ledger aligns amounts below their heading. A single one goes beside it when there is room.
func (l *layout) ledger(b present.Block, in int) []string {
	out := kit.Prose(l.w, indent, l.spans(b.Spans)...)
	entries, _ := l.entries(b)
	lines := kit.Ledger(l.th, l.w, in, 0, entries)
	if first := strings.TrimLeft(lines[0], " "); len(lines) == 1 &&
		present.Width(out[0])+present.Width(first)+3 <= l.w {
		return []string{out[0] + "   " + first}
	}
	return append(out, lines...)
}

// entry draws an amount as a line of a ledger.
func (l *layout) entry(x present.Entry) kit.Entry {
	e := kit.Entry{Label: x.Label, Figure: kit.Figure{Main: x.Text}, FigureLook: l.style(x.Tone)}
	switch x.Way {
	case present.Leaves:
		e.Lead = kit.Plain("- ")
	case present.Arrives:
		e.Lead = kit.Plain("+ ")
	}
	if a := x.Amount; a != nil {
		e.Figure, e.Unit, e.Aside = kit.Exact(a.Amount, a.Decimals), present.Clean(a.Symbol, 60), present.Worth(*a)
		switch {
		case a.Amount == nil:
			e.Figure, e.FigureLook = kit.Figure{Main: "unknown"}, l.th.Unknown
		case a.Decimals < 0:
			e.Figure = kit.Figure{Main: a.Amount.String()}
			e.Unit, e.Note = "base units", []kit.Span{{Text: "of " + present.Clean(a.Asset.Display(), 120),
				Style: l.th.Unknown}}
			if len(x.Note) > 0 {
				e.Note = append(e.Note, kit.Plain("  "))
			}
		}
		if a.Micro == nil {
			e.AsideLook = l.th.Unknown
		}
	}
	note := l.spans(x.Note)
	if l.beside && len(x.Note) > 0 && x.Note[0].Sign == present.Pending { // beside it, the signatures are listed
		note = note[min(2, len(note)):]
	}
	e.Note = append(e.Note, note...)
	return e
}

// pairs puts the frozen intent beside the calls decoded from the bytes to sign: in two columns with a line between
// them, row beside row, or one below the other.
func (l *layout) pairs(list []present.Pair) []string {
	strong := l.th.Strong.Render
	if l.w+1 < sideBySide {
		out, holds := []string{" " + strong(present.AskedTitle)}, []string{" " + strong(present.HoldsTitle)}
		for _, p := range list {
			out = append(out, slices.Concat(l.blocks(p.Brief)...)...)
			holds = append(holds, slices.Concat(l.blocks(p.Holds)...)...)
		}
		return append(out, holds...)
	}
	left := (l.w - 2) / 2
	join := func(a, b string) string { return kit.Fit(a, left) + " " + l.th.Rule.Render(l.th.Signs.Divider) + b }
	out := []string{join(" "+strong(present.AskedTitle), " "+strong(present.HoldsTitle))}
	for _, p := range list {
		a := (&layout{th: l.th, w: left}).blocks(p.Asked)
		b := (&layout{th: l.th, w: l.w - 2 - left}).blocks(p.Holds)
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

func (l *layout) style(t present.Tone) theme.Style {
	switch t {
	case present.ToneFigure:
		return l.th.Text
	case present.ToneStrong:
		return l.th.Strong
	case present.ToneDim, present.ToneZeros:
		return l.th.Dim
	case present.ToneGood, present.ToneWarn, present.ToneDanger, present.ToneUnknown:
		return l.th.Style(meaning(t))
	}
	return theme.Style{}
}

func meaning(t present.Tone) theme.Meaning {
	switch t {
	case present.ToneGood:
		return theme.Good
	case present.ToneWarn:
		return theme.Warn
	case present.ToneDanger:
		return theme.Danger
	case present.ToneUnknown:
		return theme.Unknown
	}
	return theme.None
}

// spans gives text its colours and signs.
func (l *layout) spans(list []present.Span) []kit.Span {
	var out []kit.Span
	for _, s := range list {
		text, sign := s.Text, l.th.Sign(meaning(s.Tone))
		switch {
		case s.Sign == present.Before:
			text = sign + " " + text
		case s.Sign == present.After && text != "":
			text += " " + sign
		case s.Sign == present.After:
			text = sign
		case s.Sign == present.Given:
			text += " [" + sign + "]"
		case s.Sign == present.Pending:
			text += " [ ]"
		}
		out = append(out, kit.Span{Text: text, Style: l.style(s.Tone), Whole: s.Whole})
	}
	return out
}

// fewDecimals is the number of decimals up to which the zeros at the end of a figure are drawn.
const fewDecimals = 8

const changeGap = 2

// changeTable puts old figures, dim, beside new ones in columns when all of them fit into w cells; else it lists one
// figure after another and cuts nothing.
func changeTable(th theme.Theme, list []present.Change, w int) []string {
	head := present.Change{Old: "old quote", New: "new quote", Diff: "difference"}
	label, old, now, diff := costW, present.Width(head.Old), present.Width(head.New), present.Width(head.Diff)
	for _, c := range list {
		label, old = max(label, present.Width(c.Label)+1), max(old, present.Width(c.Old))
		now, diff = max(now, present.Width(c.New)), max(diff, present.Width(diffText(th, c)))
	}
	var out []string
	if indent+label+old+now+diff+2*changeGap > w {
		for _, c := range list {
			out = append(out, kit.Row(th, w, indent, costW, c.Label, kit.Span{Text: c.New, Style: th.Strong},
				kit.Span{Text: "  was " + c.Old + "  ", Style: th.Dim},
				kit.Span{Text: diffText(th, c), Style: diffLook(th, c)})...)
		}
		return out
	}
	line := func(c present.Change, a, b, d theme.Style) string {
		return kit.Fit("", indent) + th.Dim.Render(kit.Fit(c.Label, label)) + a.Render(kit.FitRight(c.Old, old)) +
			kit.Fit("", changeGap) +
			b.Render(kit.FitRight(c.New, now)) + kit.Fit("", changeGap) + d.Render(diffText(th, c))
	}
	out = append(out, line(head, th.Dim, th.Dim, th.Dim))
	for _, c := range list {
		out = append(out, line(c, th.Dim, th.Strong, diffLook(th, c)))
	}
	return out
}

// diffText is the difference with its sign beside it; the head of the table has no sign.
func diffText(th theme.Theme, c present.Change) string {
	switch {
	case c.Label == "":
		return c.Diff
	case !c.Worse:
		return c.Diff
	}
	return c.Diff + " " + th.Sign(theme.Warn)
}

func diffLook(th theme.Theme, c present.Change) theme.Style {
	if !c.Worse {
		return th.Dim
	}
	return th.Warn
}

// about is what the pages of this operation are made of.
func (s *Screen) about() present.Review {
	zone := s.ctx.Clock().Location()
	return present.Review{Review: s.snap.Under(s.phase == phaseReview2), Catalog: s.ctx.Catalog,
		Previous: s.previous, Signatures: s.snap.SignaturesTotal, Person: s.person(), Names: s.deps.Names,
		GasTank:     present.GasTank(s.ctx.Network),
		Clock:       func(t time.Time) string { return clockText(t, zone) },
		AfterAdvice: " e changes the request, c lists all checks."}
}

// mainLines is the text of a review in w cells and h lines, and how many of its lines have to be read; beside says that
// other things are beside it. That of an expired quote is all dim: nothing in it can be accepted any more.
func (s *Screen) mainLines(f screen.Frame, w, h int, beside bool) (lines []string, need int) {
	l, r := layout{th: f.Theme, w: w - 1, beside: beside}, s.about()
	var out []string
	if s.deps.NoSigner != "" {
		out = append(l.warn(theme.Warn,
			"Read only: "+s.deps.NoSigner+". You can look at everything; nothing can be signed."), "")
	}
	if s.phase == phaseReview2 && s.expired(f.Now) {
		out = append(out, l.warn(theme.Danger,
			"This quote has expired. Its figures can no longer be accepted; r asks for new ones.")...)
		l.th, r.Previous = greyed(f.Theme), nil
	}
	lines, need = l.folded(reviewed(r), s.unfolded, h-len(out))
	s.shown = l.shown
	return append(out, lines...), need + len(out)
}

// reviewed is the page of a review.
func reviewed(r present.Review) present.Page {
	if r.Quote != nil {
		return present.Review2(r)
	}
	return present.Review1(r)
}

func (l *layout) warn(m theme.Meaning, text string) []string {
	return kit.Prose(l.w, indent, kit.Marked(l.th, m, text)...)
}

// refusedLines says which checks refused, which values they compared, and what to do.
func (s *Screen) refusedLines(f screen.Frame) []string {
	r, signed := s.about(), ""
	r.Report = s.report()
	if s.signed {
		signed = s.stillLive()
	}
	return s.lines(f, present.Rejected(r, s.snap.Problem, signed))
}

func (s *Screen) lines(f screen.Frame, p present.Page) []string {
	return (&layout{th: f.Theme, w: f.W - 1}).page(p)
}

// greyed is a theme in which every figure is dim.
func greyed(th theme.Theme) theme.Theme {
	for _, s := range []*theme.Style{&th.Text, &th.Strong, &th.Accent, &th.Good, &th.Warn, &th.Unknown} {
		*s = th.Dim
	}
	return th
}
